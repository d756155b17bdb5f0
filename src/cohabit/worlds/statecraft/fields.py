"""Reads the fields of an answer by type, and logs what was dropped or changed. Valid values take a fast path.

An invalid entry of an object or an array is dropped alone: a value of the wrong type, an unknown nation, the nation
itself, a territory that it cannot cede. Names are matched without regard to case. An integer may be written as ``2.0``;
in lenient mode also as ``"2"``, and a fraction is cut off. Booleans and non-finite numbers are never accepted.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from math import isinf, isnan
from typing import Any

from cohabit.model.suggest import nearest
from cohabit.worlds.statecraft import schema
from cohabit.worlds.statecraft.cessions import borders_on, owners_of
from cohabit.worlds.statecraft.rules import BROADCAST
from cohabit.worlds.statecraft.state import Amounts, Drop, DroppedInput, GameState, Texts
from cohabit.worlds.statecraft.untrusted_json import RepeatedKeys

WHOLE_ANSWER = "*"
MAX_NUMERAL_CHARS = 40
MAX_CHECKED_CHARS = max(schema.MAX_TEXT_CHARS.values())
MAX_REASONS_PER_FIELD, MAX_REASONS_PER_ANSWER = 20, 60
"""Further reasons are only counted, so that no agent can fill the log."""
MAX_SUGGESTIONS = 20
"""For each answer, because comparing names is slow."""
MAX_QUOTED_CHARS = 40
_FIELD_ORDER = {field: place for place, field in enumerate((WHOLE_ANSWER, *schema.FIELDS))}
_TYPE_NAMES = {
    bool: "a boolean", int: "an integer", float: "a number with a fraction", str: "a string", list: "an array",
    dict: "an object", type(None): "null",
}  # fmt: skip


class InvalidValue(Exception):
    """A value violates the schema. The message says how."""


class DropLog:
    """The log of the parts of a nation's answer that were dropped or changed."""

    def __init__(self, nation: str) -> None:
        self.nation = nation
        self.reasons: dict[str, list[DroppedInput]] = {}
        self.logged = 0
        self.omitted: dict[str, int] = {}

    def add(self, field: str, reason: str, kind: Drop) -> None:
        logged = len(self.reasons.get(field, ()))
        if self.logged >= MAX_REASONS_PER_ANSWER or logged >= MAX_REASONS_PER_FIELD:
            place = field if logged else WHOLE_ANSWER
            self.omitted[place] = self.omitted.get(place, 0) + 1
        else:
            self.logged += 1
            self.reasons.setdefault(field, []).append(DroppedInput(self.nation, field, reason, kind))

    def entries(self) -> list[DroppedInput]:
        """In the order of the schema, then unknown fields by name; at the end, how many fields are left out."""
        found = []
        for field in sorted(self.reasons, key=lambda name: (_FIELD_ORDER.get(name, len(_FIELD_ORDER)), name)):
            found += self.reasons[field]
            if field in self.omitted:
                found.append(DroppedInput(self.nation, field, f"and {self.omitted.pop(field):,} more"))
        if WHOLE_ANSWER in self.omitted:
            more = f"{self.omitted[WHOLE_ANSWER]:,} more problems in other fields"
            found.append(DroppedInput(self.nation, WHOLE_ANSWER, more))
        return found


class AnswerContext:
    """The context for reading the answer of one nation; reused for the next nation."""

    def __init__(self, state: GameState, lenient: bool) -> None:
        self.state = state
        self.known = state.mils
        self.lenient = lenient
        self.start("")

    def start(self, nation: str) -> None:
        self.nation = nation
        self.drop_log: DropLog | None = None  # created on demand, as most answers are valid
        self._suggestions = 0

    def drop(self, field: str, reason: str) -> None:
        """Log that a part of the answer is dropped."""
        self._log(field, reason, "dropped")

    def change(self, field: str, reason: str) -> None:
        """Log that a part of the answer counts, but not as it was written."""
        self._log(field, reason, "changed")

    def _log(self, field: str, reason: str, kind: Drop) -> None:
        if self.drop_log is None:
            self.drop_log = DropLog(self.nation)
        self.drop_log.add(field, reason, kind)

    @cached_property
    def owners(self) -> Texts:
        """territory -> its owner at the start of the turn."""
        return owners_of(self.state.territories)

    @cached_property
    def _nations_by_key(self) -> Texts:
        return names_by_key(self.known)

    @cached_property
    def _territories_by_key(self) -> Texts:
        return names_by_key(self.owners)

    def nation_named(self, name: str) -> str | None:
        """The nation of this name, in any case; None if there is none, or several."""
        return name if name in self.known else self._nations_by_key.get(name_key(name))

    def territory_named(self, name: str) -> str | None:
        """The territory of this name, in any case; None if there is none that has an owner, or several."""
        return name if name in self.owners else self._territories_by_key.get(name_key(name))

    def target_problem(self, name: str, nation: str | None) -> str | None:
        """Why this nation cannot be the target of an order, or None if it can."""
        return "this is your own nation" if nation == self.nation else self.recipient_problem(name, nation)

    def recipient_problem(self, name: str, nation: str | None) -> str | None:
        return None if nation is not None else f"unknown nation{self.suggestion(name, self.known)}"

    def suggestion(self, name: str, known: Iterable[str]) -> str:
        """The similar name to suggest, as the end of a reason; empty if there is none."""
        self._suggestions += 1
        similar = nearest(name, known, 1) if self._suggestions <= MAX_SUGGESTIONS else []
        return f" (did you mean {similar[0]}?)" if similar else ""


def name_key(name: str) -> str:
    """The form of a name in which names are compared."""
    return name.strip().casefold()


def names_by_key(names: Iterable[str]) -> Texts:
    """Names by their key, without those that only case tells apart."""
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(name_key(name), []).append(name)
    return {key: alike[0] for key, alike in found.items() if len(alike) == 1}


Reader = Callable[[AnswerContext, str, Any], Any]


def type_name(value: Any) -> str:
    """The type of a JSON value in words."""
    if type(value) is float and (isnan(value) or isinf(value)):
        return "NaN" if isnan(value) else "an infinite number"
    return _TYPE_NAMES.get(type(value)) or f"a Python {type(value).__name__[:MAX_QUOTED_CHARS]}"


def quote_name(value: Any) -> str:
    """A name from an answer, shortened and without control characters; any other value by its type."""
    if type(value) is not str:
        return type_name(value)
    text = value if len(value) <= MAX_QUOTED_CHARS else value[: MAX_QUOTED_CHARS - 1] + "…"
    return "".join(letter if letter.isprintable() else "·" for letter in text)


# -- numbers ------------------------------------------------------------------------------------
def read_count(context: AnswerContext, field: str, value: Any) -> int:
    if type(value) is int and 0 <= value <= schema.MAX_ORDER:
        return value
    try:
        return _capped(context, field, "", _non_negative(context, value))
    except InvalidValue as error:
        context.drop(field, str(error))
        return 0


def read_amounts(context: AnswerContext, field: str, value: Any) -> dict[str, int]:
    """Mils or money for other nations. Entries of 0 are left out."""
    valid = _copy_if_valid(value, context.known, 1, schema.MAX_ORDER, context.nation)
    if valid is not None:
        return valid
    entries = _entries(context, field, value, _non_negative, context.target_problem)
    return {name: _capped(context, field, f"{name}: ", amount) for name, amount in entries if amount}


def read_ratings(context: AnswerContext, field: str, value: Any) -> dict[str, int]:
    valid = _copy_if_valid(value, context.known, schema.MIN_RATING, schema.MAX_RATING)
    return dict(_entries(context, field, value, _rating, context.recipient_problem)) if valid is None else valid


def _integer(context: AnswerContext, value: Any) -> int:
    """An integer, which may be written as ``2.0``. In lenient mode also what can be converted to one."""
    if type(value) is int:
        return value
    if type(value) is float and (value.is_integer() or (context.lenient and not isnan(value) and not isinf(value))):
        return int(value)
    if context.lenient and type(value) is str and len(value) <= MAX_NUMERAL_CHARS:
        try:
            return int(value)
        except ValueError:
            pass
    raise InvalidValue(f"must be an integer, not {type_name(value)}")


def _non_negative(context: AnswerContext, value: Any) -> int:
    number = _integer(context, value)
    if number < 0:
        raise InvalidValue("must be at least 0")
    return number


def _rating(context: AnswerContext, value: Any) -> int:
    number = _integer(context, value)
    if not schema.MIN_RATING <= number <= schema.MAX_RATING:
        raise InvalidValue(f"must be from {schema.MIN_RATING} to {schema.MAX_RATING}")
    return number


def _capped(context: AnswerContext, field: str, prefix: str, number: int) -> int:
    if number > schema.MAX_ORDER:
        context.change(field, f"{prefix}reduced to the maximum, {schema.MAX_ORDER}")
        return schema.MAX_ORDER
    return number


# -- territories --------------------------------------------------------------------------------
def read_cessions(context: AnswerContext, field: str, value: Any) -> dict[str, list[str]]:
    """receiver -> territories that the nation owned, adjacent to the receiver, when the turn began."""
    if type(value) is dict and not value:
        return {}
    found: dict[str, list[str]] = {}
    for receiver, names in _entries(context, field, value, _array, context.target_problem):
        ceded: dict[str, None] = {}
        for name in names:
            territory = context.territory_named(name) if type(name) is str else None
            if problem := _cession_problem(context, receiver, name, territory, ceded):
                context.drop(field, f"{quote_name(name)} to {receiver}: {problem}")
            elif territory is not None:
                ceded[territory] = None
        if ceded:
            found[receiver] = list(ceded)
    return found


def _cession_problem(
    context: AnswerContext, receiver: str, name: Any, territory: str | None, ceded: dict[str, None]
) -> str | None:
    if type(name) is not str:
        return "must be the name of a territory"
    if territory is None or context.owners[territory] != context.nation:
        return "you do not own it"
    if territory in ceded:
        return "listed twice"
    if not borders_on(context.state.graph, context.owners, territory, receiver):
        return "not adjacent to the receiver's territory"
    return None


def _array(context: AnswerContext, value: Any) -> list[Any]:
    if type(value) is not list:
        raise InvalidValue(f"must be an array of territories, not {type_name(value)}")
    return value


# -- texts --------------------------------------------------------------------------------------
def read_text(context: AnswerContext, field: str, value: Any) -> str:
    try:
        return _truncated(context, field, _string(context, value))
    except InvalidValue as error:
        context.drop(field, str(error))
        return ""


def read_reasoning(context: AnswerContext, field: str, value: Any) -> str:
    text = read_text(context, field, value)
    words = text.split(None, schema.MAX_REASONING_WORDS)
    if len(words) <= schema.MAX_REASONING_WORDS:
        return text
    context.change(field, f"truncated to {schema.MAX_REASONING_WORDS} words")
    return text[: len(text) - len(words[-1])].rstrip()


def read_messages(context: AnswerContext, field: str, value: Any) -> Texts:
    """Messages to other nations, to the nation itself, or to all."""
    entries = _entries(context, field, value, _string, context.recipient_problem, broadcast=True)
    return {name: _truncated(context, field, text) for name, text in entries}


def _string(context: AnswerContext, value: Any) -> str:
    if type(value) is not str:
        raise InvalidValue(f"must be a string, not {type_name(value)}")
    try:
        value[:MAX_CHECKED_CHARS].encode()
    except UnicodeEncodeError:
        raise InvalidValue("must be valid Unicode; it has an unpaired surrogate") from None
    return value


def _truncated(context: AnswerContext, field: str, text: str) -> str:
    limit = schema.MAX_TEXT_CHARS[field]
    if len(text) <= limit:
        return text
    context.change(field, f"truncated to {limit} characters")
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
    problem_with: Callable[[str, str | None], str | None],
    *,
    broadcast: bool = False,
) -> Iterator[tuple[str, Any]]:
    """The valid entries of an object by nation, in name order. Each invalid one is dropped alone."""
    if not isinstance(value, dict):
        context.drop(field, f"must be an object, not {type_name(value)}")
        return
    if isinstance(value, RepeatedKeys):
        drop_repeated(context, value, field)
    if any(type(key) is not str for key in value):
        context.drop(field, "the keys of an object must be strings")
    named = [(_recipient(context, key, broadcast), key) for key in value if type(key) is str]
    previous = None
    # The exact name comes first, so that it counts if the same nation is also named in another case.
    for nation, key in sorted(named, key=lambda entry: (entry[0] or entry[1], entry[0] != entry[1], entry[1])):
        nothing = type(value[key]) is int and value[key] == 0  # tables of all nations have 0 for the nation itself
        if nation == context.nation and nothing and read is _non_negative:
            continue
        if problem := problem_with(key, nation):
            context.drop(field, f"{quote_name(key)}: {problem}")
        elif nation == previous:
            context.drop(field, f"{quote_name(key)}: {nation} is named twice")
        elif nation is not None:
            previous = nation
            try:
                yield nation, read(context, value[key])
            except InvalidValue as error:
                context.drop(field, f"{quote_name(key)}: {error}")


def drop_repeated(context: AnswerContext, value: RepeatedKeys, field: str = "") -> None:
    """Log the keys that an object has more than once; without a field, under the key itself."""
    for key in value.repeated:
        reason = "given more than once; only the last one counts"
        context.drop(field or quote_name(key), f"{quote_name(key)}: {reason}" if field else reason)


def _recipient(context: AnswerContext, name: str, broadcast: bool) -> str | None:
    nation = context.nation_named(name)
    return BROADCAST if nation is None and broadcast and name_key(name) == BROADCAST else nation
