"""All powers by id, ordered by family, and their reference page."""

from collections.abc import Iterable, Iterator

from cohabit.worlds.kingdoms.powers import (
    blessings,
    curses,
    disasters,
    laws,
    orders,
    spawns,
    storms,
    terraform,
    weather,
)  # fmt: skip
from cohabit.worlds.kingdoms.powers.power import Power

FAMILIES = {
    "spawn": "New creatures.",
    "weather": "Rain, snow, lightning, heat and cold.",
    "disaster": "Explosions, earthquakes, floods and fires.",
    "blessing": "Help for creatures, cities and kingdoms.",
    "curse": "Harm to creatures, cities and kingdoms without violence.",
    "terraform": "The shape of the land, and what covers it.",
    "order": "Orders to a kingdom. A player aims at the target; a god drags to the target from the land of the kingdom"
    " that gets the order.",
    "law": "Switches for the whole world. Using a law again ends it.",
}
LISTED_AS_IDS = {
    "Spawns ": "One creature each",
    "Paints the ground: ": "Paint one kind of ground each",
    "Paints the cover of the ground: ": "Paint one cover of the ground each",
}
"""The beginnings of descriptions of powers that say no more than their ids. The page lists these without a row each."""


def _collected(powers: Iterable[Power]) -> dict[str, Power]:
    """The powers by id, in the order of the families."""
    every = list(powers)
    found = {power.id: power for family in FAMILIES for power in every if power.family == family}
    if len(found) != len(every):
        raise ValueError("two powers have the same id, or one has no family")
    return found


POWERS: dict[str, Power] = _collected(
    power
    for family in (spawns, weather, storms, disasters, blessings, curses, terraform, orders, laws)
    for power in family.POWERS
)


def page() -> str:
    """The reference page of the powers, as Markdown."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "# The powers of Kingdoms"
    yield ""
    yield f"There are {len(POWERS)} powers. Gods can use all of them. Players can use orders, which are free, and the"
    yield "powers with a price in faith, paid for each pulse. A player's power affects only its own people and its own"
    yield "land, whatever else is under the brush. Powers marked *brush* take a `radius`. Many powers are random, so"
    yield "`accepted: false` is normal."
    for family, description in FAMILIES.items():
        powers = [power for power in POWERS.values() if power.family == family]
        yield from ("", f"## {family.capitalize()}", "", description, "")
        yield from _lists(powers)
        yield from _table([power for power in powers if not _beginning(power)])


def _beginning(power: Power) -> str:
    """The beginning that this power's description has in common with others; empty: it has a row of its own."""
    return next((words for words in LISTED_AS_IDS if power.description.startswith(words)), "")


def _lists(powers: list[Power]) -> Iterator[str]:
    """A line for each group of powers that differ only in what they spawn or paint."""
    groups: dict[tuple[str, bool, int], list[str]] = {}
    for power in powers:
        if begins := _beginning(power):
            groups.setdefault((begins, power.brush, power.faith), []).append(f"`{power.id}`")
    for (begins, brush, faith), ids in groups.items():
        notes = ", ".join([*(["*brush*"] if brush else []), *([f"{faith} faith"] if faith else [])])
        yield f"{LISTED_AS_IDS[begins]}{f' ({notes})' if notes else ''}: {', '.join(ids)}."
        yield ""


def _table(powers: list[Power]) -> Iterator[str]:
    if powers:
        yield "| id | what it does | faith |"
        yield "|---|---|--:|"
    for power in powers:
        brush = " *brush*" if power.brush else ""
        yield f"| `{power.id}` | {power.description}{brush} | {power.faith or ''} |"
