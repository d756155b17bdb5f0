"""Reading the fields of an answer, each by its type. What fits the schema takes the short way through.

Strict: a field that breaks the schema anywhere is dropped whole (ratings: entry by entry). Lenient: what can be
read as a number is, and only the entry that cannot is dropped. In both, entries that name nobody, or oneself, or
land one does not have go alone; ``true`` is no number, and neither is an infinite one.
"""

from collections.abc import Callable, Iterator
from typing import Any

from cohabit.worlds.statecraft.cessions import lies_beside, owners_of
from cohabit.worlds.statecraft.complaints import Complaints, named, short
from cohabit.worlds.statecraft.ledgers import Amounts, Standing, Texts
from cohabit.worlds.statecraft.rules import EVERYBODY
from cohabit.worlds.statecraft.schema import BEST, LARGEST_ORDER, REASONING_WORDS, TEXT_LIMITS, WORST

LONGEST_NUMERAL = 40
LONGEST_TEXT = max(TEXT_LIMITS.values())


class Unfit(Exception):
    """This breaks the schema; the words say how."""


class Desk:
    """Where the answer of one nation is read: who there is, how strict we are, and what we have to say about it."""

    __slots__ = ("_owners", "heard", "known", "lenient", "nation", "standing")

    def __init__(self, standing: Standing, lenient: bool) -> None:
        self.standing = standing
        self.known = standing.mils
        self.lenient = lenient
        self.nation = ""
        self.heard: Complaints | None = None  # most answers give no cause for any
        self._owners: dict[str, str] | None = None

    def next(self, nation: str) -> None:
        self.nation = nation
        self.heard = None

    @property
    def complaints(self) -> Complaints:
        """What is to be said about the answer at hand."""
        if self.heard is None:
            self.heard = Complaints(self.nation)
        return self.heard

    @property
    def owners(self) -> dict[str, str]:
        """territory -> its owner, at the start of the turn."""
        if self._owners is None:
            self._owners = owners_of(self.standing.territories)
        return self._owners

    def why_not_to(self, name: str) -> str | None:
        """Why nothing can be aimed at this name, if so."""
        if name == self.nation:
            return f"{short(name)}: that is yourself"
        return None if name in self.known else f"{short(name)}: there is no such nation"


Reader = Callable[[Desk, str, Any], Any]


# -- numbers ------------------------------------------------------------------------------------
def read_count(desk: Desk, field: str, value: Any) -> int:
    if type(value) is int and 0 <= value <= LARGEST_ORDER:
        return value
    try:
        return _bounded(desk, field, "", _at_least_0(desk, value))
    except Unfit as why:
        desk.complaints.add(field, str(why))
        return 0


def read_amounts(desk: Desk, field: str, value: Any) -> dict[str, int]:
    """Mils or money for others. Nothing for somebody is as good as not naming it."""
    whole = _as_it_is(value, desk.known, 1, LARGEST_ORDER, desk.nation)
    return dict(_amounts(desk, field, _entries(desk, field, value, _at_least_0))) if whole is None else whole


def _amounts(desk: Desk, field: str, entries: Iterator[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    for name, amount in entries:
        if why := desk.why_not_to(name):
            desk.complaints.add(field, why)
        elif amount:
            yield name, _bounded(desk, field, f"{name}: ", amount)


def read_ratings(desk: Desk, field: str, value: Any) -> dict[str, int]:
    whole = _as_it_is(value, desk.known, WORST, BEST)
    return dict(_ratings(desk, field, value)) if whole is None else whole


def _ratings(desk: Desk, field: str, value: Any) -> Iterator[tuple[str, int]]:
    for name, rating in _entries(desk, field, value, _rating, one_by_one=True):
        if name in desk.known:
            yield name, rating
        else:
            desk.complaints.add(field, f"{short(name)}: there is no such nation")


def _number(desk: Desk, value: Any) -> int:
    """A whole number; where we are lenient also one that has to be made out of something."""
    if type(value) is int:
        return value
    if desk.lenient and (type(value) is float or (type(value) is str and len(value) <= LONGEST_NUMERAL)):
        try:
            return int(value)
        except (ValueError, OverflowError):
            pass
    raise Unfit(f"must be a whole number, not {named(value)}")


def _at_least_0(desk: Desk, value: Any) -> int:
    number = _number(desk, value)
    if number < 0:
        raise Unfit("must be at least 0")
    return number


def _rating(desk: Desk, value: Any) -> int:
    number = _number(desk, value)
    if not WORST <= number <= BEST:
        raise Unfit(f"must be from {WORST} to {BEST}")
    return number


def _bounded(desk: Desk, field: str, whose: str, number: int) -> int:
    if number > LARGEST_ORDER:
        desk.complaints.add(field, f"{whose}counted as {LARGEST_ORDER}, the most there is")
        return LARGEST_ORDER
    return number


# -- land ---------------------------------------------------------------------------------------
def read_cessions(desk: Desk, field: str, value: Any) -> dict[str, list[str]]:
    """receiver -> territories, as far as they were the giver's to give when the turn began."""
    if type(value) is dict and not value:
        return {}
    return dict(_cessions(desk, field, _entries(desk, field, value, _names)))


def _cessions(desk: Desk, field: str, entries: Iterator[tuple[str, list[str]]]) -> Iterator[tuple[str, list[str]]]:
    for name, listed in entries:
        if why := desk.why_not_to(name):
            desk.complaints.add(field, why)
            continue
        ceded: dict[str, None] = {}
        for territory in listed:
            if why := _why_not_ceded(desk, name, territory, ceded):
                desk.complaints.add(field, f"{short(territory)} to {name}: {why}")
            else:
                ceded[territory] = None
        if ceded:
            yield name, list(ceded)


def _why_not_ceded(desk: Desk, receiver: str, territory: str, ceded: dict[str, None]) -> str | None:
    if desk.owners.get(territory) != desk.nation:
        return "not yours"
    if territory in ceded:
        return "named twice"
    return None if lies_beside(desk.standing.graph, desk.owners, territory, receiver) else "borders none of its land"


def _names(desk: Desk, value: Any) -> list[str]:
    if type(value) is not list:
        raise Unfit(f"must be a list of territories, not {named(value)}")
    texts = [name for name in value if type(name) is str]
    if len(texts) < len(value):
        if not desk.lenient:
            raise Unfit("must be a list of territories, and nothing else in it")
        desk.complaints.add("cede_territories", f"{len(value) - len(texts):,} of a list: not the name of a territory")
    return texts


# -- texts --------------------------------------------------------------------------------------
def read_text(desk: Desk, field: str, value: Any) -> str:
    try:
        return _cut(desk, field, _text(desk, value))
    except Unfit as why:
        desk.complaints.add(field, str(why))
        return ""


def read_reasoning(desk: Desk, field: str, value: Any) -> str:
    text = read_text(desk, field, value)
    words = text.split(None, REASONING_WORDS)
    if len(words) <= REASONING_WORDS:
        return text
    desk.complaints.add(field, f"cut to {REASONING_WORDS} words")
    return text[: len(text) - len(words[-1])].rstrip()


def read_messages(desk: Desk, field: str, value: Any) -> Texts:
    """To others, to oneself, or to all."""
    return dict(_messages(desk, field, _entries(desk, field, value, _text)))


def _messages(desk: Desk, field: str, entries: Iterator[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for name, text in entries:
        if name in desk.known or name == EVERYBODY:
            yield name, _cut(desk, field, text)
        else:
            desk.complaints.add(field, f"{short(name)}: there is no such nation")


def _text(desk: Desk, value: Any) -> str:
    if type(value) is not str:
        raise Unfit(f"must be a text, not {named(value)}")
    try:
        value[:LONGEST_TEXT].encode()
    except UnicodeEncodeError:
        raise Unfit("must be a text that can be written; this one has half a letter in it") from None
    return value


def _cut(desk: Desk, field: str, text: str) -> str:
    limit = TEXT_LIMITS[field]
    if len(text) <= limit:
        return text
    desk.complaints.add(field, f"cut to {limit} characters")
    return text[:limit]


# -- objects ------------------------------------------------------------------------------------
def _as_it_is(value: Any, known: Amounts, least: int, most: int, but: str = "") -> dict[str, int] | None:
    """A copy by name, where every entry counts; otherwise None, and somebody has to look at them one by one."""
    if type(value) is not dict:
        return None
    ordered, before = True, ""
    for name, number in value.items():
        if type(number) is not int or not least <= number <= most or name not in known or name == but:
            return None
        if name < before:
            ordered = False
        before = name
    # By name, so that the order in which somebody wrote them down can reach nothing.
    return value.copy() if ordered else {name: value[name] for name in sorted(value)}


def _entries(
    desk: Desk, field: str, value: Any, read: Callable[[Desk, Any], Any], *, one_by_one: bool = False
) -> Iterator[tuple[str, Any]]:
    """The entries of an object by name, each value read. Strictly, one unfit value is enough, and there are none."""
    if type(value) is not dict:
        desk.complaints.add(field, f"must be an object, not {named(value)}")
        return iter(())
    found: list[tuple[str, Any]] = []
    if any(type(key) is not str for key in value):
        desk.complaints.add(field, "the names in an object must be texts")
    for name in sorted(key for key in value if type(key) is str):
        try:
            found.append((name, read(desk, value[name])))
        except Unfit as why:
            desk.complaints.add(field, f"{short(name)}: {why}")
            if not (desk.lenient or one_by_one):
                return iter(())
    return iter(found)
