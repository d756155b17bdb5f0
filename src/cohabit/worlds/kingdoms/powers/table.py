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
WHO = {"own": "gods; players on their own land", "any": "gods; players for their own kingdom", "god": "gods"}


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
    yield f"There are {len(POWERS)} powers. A player pays for each pulse with its kingdom's faith; orders are free."
    yield "A player's power affects only its own people and its own land, whatever else is under the brush."
    yield "Powers marked *brush* take a `radius`. Many powers are random, so `accepted: false` is normal."
    for family, description in FAMILIES.items():
        yield from ("", f"## {family.capitalize()}", "", description, "")
        yield "| id | what it does | who | brush | faith |"
        yield "|---|---|---|---|---|"
        for power in POWERS.values():
            if power.family == family:
                brush = "toggle" if power.toggle else "brush" if power.brush else ""
                yield f"| `{power.id}` | {power.description} | {WHO[power.aim]} | {brush} | {power.faith or ''} |"
