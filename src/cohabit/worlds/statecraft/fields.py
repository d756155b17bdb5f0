"""Reads the fields of an answer by type, and logs what was dropped or changed. Valid values take a fast path.

Strict: a field that violates the schema is dropped (ratings: entry by entry). Lenient: what can be read as a number
is, and only invalid entries are dropped. In both modes an entry is dropped alone if it names an unknown nation, the
nation itself, or a territory that it cannot cede. Booleans and non-finite numbers are never accepted as numbers.
"""

from collections.abc import Callable, Iterator
from math import isfinite
from typing import Any

from cohabit.worlds.statecraft.cessions import borders_on, owners_of
from cohabit.worlds.statecraft.rules import BROADCAST
from cohabit.worlds.statecraft.schema import (
    FIELDS,
    MAX_ORDER,
    MAX_RATING,
    MAX_REASONING_WORDS,
    MAX_TEXT_CHARS,
    MIN_RATING,
)
from cohabit.worlds.statecraft.state import Amounts, DroppedInput, GameState, Texts

WHOLE_ANSWER = "*"
MAX_NUMERAL_CHARS = 40
MAX_CHECKED_CHARS = max(MAX_TEXT_CHARS.values())
MAX_REASONS_PER_FIELD = 20
"""Further reasons are only counted, so that no agent can fill the log."""
MAX_QUOTED_CHARS = 40
_FIELD_ORDER = {field: place for place, field in enumerate((WHOLE_ANSWER, *FIELDS))}
_TYPE_NAMES = {
    bool: "a boolean", int: "an integer", float: "a number with a fraction", str: "a string", list: "an array",
    dict: "an object", type(None): "null",
}  # fmt: skip


class InvalidValue(Exception):
    """A value violates the schema. The message says how."""


class DropLog:
    """What was dropped from, or changed in, the answer of one nation."""

    def __init__(self, nation: str) -> None:
        self.nation = nation
        self.reasons: dict[str, list[str]] = {}
        self.omitted: dict[str, int] = {}

    def add(self, field: str, reason: str) -> None:
        reasons = self.reasons.setdefault(field, [])
        if len(reasons) < MAX_REASONS_PER_FIELD:
            reasons.append(reason)
        else:
            self.omitted[field] = self.omitted.get(field, 0) + 1

    def entries(self) -> list[DroppedInput]:
        """In the order of the schema, then unknown fields by name."""
        found = []
        for field in sorted(self.reasons, key=lambda name: (_FIELD_ORDER.get(name, len(_FIELD_ORDER)), name)):
            more = [f"and {self.omitted[field]:,} more"] if field in self.omitted else []
            found += [DroppedInput(self.nation, field, reason) for reason in (*self.reasons[field], *more)]
        return found


class AnswerContext:
    """What is needed to read the answer of one nation; reused for the next nation."""

    __slots__ = ("_owners", "drop_log", "known", "lenient", "nation", "state")

    def __init__(self, state: GameState, lenient: bool) -> None:
        self.state = state
        self.known = state.mils
        self.lenient = lenient
        self.nation = ""
        self.drop_log: DropLog | None = None  # created on demand, as most answers are valid
        self._owners: dict[str, str] | None = None

    def start(self, nation: str) -> None:
        self.nation = nation
        self.drop_log = None

    def drop(self, field: str, reason: str) -> None:
        """Log that a part of the answer is dropped or changed."""
        if self.drop_log is None:
            self.drop_log = DropLog(self.nation)
        self.drop_log.add(field, reason)

    @property
    def owners(self) -> dict[str, str]:
        """territory -> its owner at the start of the turn."""
        if self._owners is None:
            self._owners = owners_of(self.state.territories)
        return self._owners

    def target_problem(self, name: str) -> str | None:
        """Why this name cannot be the target of an order, or None if it can."""
        if name == self.nation:
            return f"{quote_name(name)}: this is your own nation"
        return None if name in self.known else f"{quote_name(name)}: unknown nation"


Reader = Callable[[AnswerContext, str, Any], Any]


def type_name(value: Any) -> str:
    """The type of a JSON value in words."""
    if type(value) is float and not isfinite(value):
        return "a non-finite number"
    return _TYPE_NAMES.get(type(value)) or f"a Python {type(value).__name__[:MAX_QUOTED_CHARS]}"


def quote_name(value: Any) -> str:
    """A name from an answer, shortened and without control characters; any other value by its type."""
    if type(value) is not str:
        return type_name(value)
    text = value if len(value) <= MAX_QUOTED_CHARS else value[: MAX_QUOTED_CHARS - 1] + "…"
    return "".join(letter if letter.isprintable() else "·" for letter in text)


# -- numbers ------------------------------------------------------------------------------------
def read_count(context: AnswerContext, field: str, value: Any) -> int:
    if type(value) is int and 0 <= value <= MAX_ORDER:
        return value
    try:
        return _capped(context, field, "", _non_negative(context, value))
    except InvalidValue as error:
        context.drop(field, str(error))
        return 0


def read_amounts(context: AnswerContext, field: str, value: Any) -> dict[str, int]:
    """Mils or money for other nations. Entries of 0 are left out."""
    valid = _copy_if_valid(value, context.known, 1, MAX_ORDER, context.nation)
    if valid is not None:
        return valid
    return dict(_amounts(context, field, _entries(context, field, value, _non_negative)))


def _amounts(context: AnswerContext, field: str, entries: Iterator[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    for name, amount in entries:
        if problem := context.target_problem(name):
            context.drop(field, problem)
        elif amount:
            yield name, _capped(context, field, f"{name}: ", amount)


def read_ratings(context: AnswerContext, field: str, value: Any) -> dict[str, int]:
    valid = _copy_if_valid(value, context.known, MIN_RATING, MAX_RATING)
    return dict(_ratings(context, field, value)) if valid is None else valid


def _ratings(context: AnswerContext, field: str, value: Any) -> Iterator[tuple[str, int]]:
    for name, rating in _entries(context, field, value, _rating, each_alone=True):
        if name in context.known:
            yield name, rating
        else:
            context.drop(field, f"{quote_name(name)}: unknown nation")


def _integer(context: AnswerContext, value: Any) -> int:
    """An integer. In lenient mode also a float or a string that can be converted to one."""
    if type(value) is int:
        return value
    if context.lenient and (type(value) is float or (type(value) is str and len(value) <= MAX_NUMERAL_CHARS)):
        try:
            return int(value)
        except (ValueError, OverflowError):
            pass
    raise InvalidValue(f"must be an integer, not {type_name(value)}")


def _non_negative(context: AnswerContext, value: Any) -> int:
    number = _integer(context, value)
    if number < 0:
        raise InvalidValue("must be at least 0")
    return number


def _rating(context: AnswerContext, value: Any) -> int:
    number = _integer(context, value)
    if not MIN_RATING <= number <= MAX_RATING:
        raise InvalidValue(f"must be from {MIN_RATING} to {MAX_RATING}")
    return number


def _capped(context: AnswerContext, field: str, prefix: str, number: int) -> int:
    if number > MAX_ORDER:
        context.drop(field, f"{prefix}reduced to the maximum, {MAX_ORDER}")
        return MAX_ORDER
    return number


# -- territories --------------------------------------------------------------------------------
def read_cessions(context: AnswerContext, field: str, value: Any) -> dict[str, list[str]]:
    """receiver -> territories that the nation owned, adjacent to the receiver, when the turn began."""
    if type(value) is dict and not value:
        return {}
    return dict(_cessions(context, field, _entries(context, field, value, _territory_names)))


def _cessions(
    context: AnswerContext, field: str, entries: Iterator[tuple[str, list[str]]]
) -> Iterator[tuple[str, list[str]]]:
    for receiver, names in entries:
        if problem := context.target_problem(receiver):
            context.drop(field, problem)
            continue
        ceded: dict[str, None] = {}
        for territory in names:
            if problem := _cession_problem(context, receiver, territory, ceded):
                context.drop(field, f"{quote_name(territory)} to {receiver}: {problem}")
            else:
                ceded[territory] = None
        if ceded:
            yield receiver, list(ceded)


def _cession_problem(context: AnswerContext, receiver: str, territory: str, ceded: dict[str, None]) -> str | None:
    if context.owners.get(territory) != context.nation:
        return "you do not own it"
    if territory in ceded:
        return "listed twice"
    if not borders_on(context.state.graph, context.owners, territory, receiver):
        return "not adjacent to the receiver's territory"
    return None


def _territory_names(context: AnswerContext, value: Any) -> list[str]:
    if type(value) is not list:
        raise InvalidValue(f"must be an array of territories, not {type_name(value)}")
    names = [name for name in value if type(name) is str]
    if len(names) < len(value):
        if not context.lenient:
            raise InvalidValue("must be an array of territory names only")
        context.drop("cede_territories", f"{len(value) - len(names):,} array items are not territory names")
    return names


# -- texts --------------------------------------------------------------------------------------
def read_text(context: AnswerContext, field: str, value: Any) -> str:
    try:
        return _truncated(context, field, _string(context, value))
    except InvalidValue as error:
        context.drop(field, str(error))
        return ""


def read_reasoning(context: AnswerContext, field: str, value: Any) -> str:
    text = read_text(context, field, value)
    words = text.split(None, MAX_REASONING_WORDS)
    if len(words) <= MAX_REASONING_WORDS:
        return text
    context.drop(field, f"truncated to {MAX_REASONING_WORDS} words")
    return text[: len(text) - len(words[-1])].rstrip()


def read_messages(context: AnswerContext, field: str, value: Any) -> Texts:
    """Messages to other nations, to the nation itself, or to all."""
    return dict(_messages(context, field, _entries(context, field, value, _string)))


def _messages(context: AnswerContext, field: str, entries: Iterator[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for name, text in entries:
        if name in context.known or name == BROADCAST:
            yield name, _truncated(context, field, text)
        else:
            context.drop(field, f"{quote_name(name)}: unknown nation")


def _string(context: AnswerContext, value: Any) -> str:
    if type(value) is not str:
        raise InvalidValue(f"must be a string, not {type_name(value)}")
    try:
        value[:MAX_CHECKED_CHARS].encode()
    except UnicodeEncodeError:
        raise InvalidValue("must be valid Unicode; it has an unpaired surrogate") from None
    return value


def _truncated(context: AnswerContext, field: str, text: str) -> str:
    limit = MAX_TEXT_CHARS[field]
    if len(text) <= limit:
        return text
    context.drop(field, f"truncated to {limit} characters")
    return text[:limit]


# -- objects ------------------------------------------------------------------------------------
def _copy_if_valid(value: Any, known: Amounts, minimum: int, maximum: int, excluded: str = "") -> dict[str, int] | None:
    """A copy sorted by name if every entry is valid; otherwise None."""
    if type(value) is not dict:
        return None
    ordered, previous = True, ""
    for name, number in value.items():
        if type(number) is not int or not minimum <= number <= maximum or name not in known or name == excluded:
            return None
        if name < previous:
            ordered = False
        previous = name
    # Sorted, so that the order of the entries in an answer cannot affect the result.
    return value.copy() if ordered else {name: value[name] for name in sorted(value)}


def _entries(
    context: AnswerContext,
    field: str,
    value: Any,
    read: Callable[[AnswerContext, Any], Any],
    *,
    each_alone: bool = False,
) -> Iterator[tuple[str, Any]]:
    """The entries of an object sorted by name, with their values read. In strict mode one invalid value drops all."""
    if type(value) is not dict:
        context.drop(field, f"must be an object, not {type_name(value)}")
        return iter(())
    found: list[tuple[str, Any]] = []
    if any(type(key) is not str for key in value):
        context.drop(field, "the keys of an object must be strings")
    for name in sorted(key for key in value if type(key) is str):
        try:
            found.append((name, read(context, value[name])))
        except InvalidValue as error:
            context.drop(field, f"{quote_name(name)}: {error}")
            if not (context.lenient or each_alone):
                return iter(())
    return iter(found)
