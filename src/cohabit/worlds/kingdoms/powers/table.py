"""All powers, by id, family after family; and the page that describes them."""

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
    "spawn": "A creature appears.",
    "weather": "What falls from the sky, and what heat and cold do.",
    "disaster": "What breaks, burns and drowns.",
    "blessing": "What helps creatures, cities and kingdoms.",
    "curse": "What harms them without a blow.",
    "terraform": "The shape of the land, and what covers it.",
    "order": "How a kingdom is told what to do. A player aims at the target; a god begins on the land of the kingdom it"
    " commands and drags to the target.",
    "law": "Switches for the whole world: used again, a law ends.",
}
WHO = {"own": "gods; players on their own land", "any": "gods; players for their own kingdom", "god": "gods"}


def _collected(powers: Iterable[Power]) -> dict[str, Power]:
    """By id, in the order of the families."""
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
    yield f"There are {len(POWERS)} of them. A player pays for a pulse with the faith of its kingdom; orders are free."
    yield "A player's power reaches its own people and the cells of its own land, whatever else is under the brush."
    yield "`radius` works where it says brush. Many powers roll dice: a pulse that is not accepted is nothing unusual."
    for family, words in FAMILIES.items():
        yield from ("", f"## {family.capitalize()}", "", words, "")
        yield "| id | what it does | who | brush | faith |"
        yield "|---|---|---|---|---|"
        for power in POWERS.values():
            if power.family == family:
                brush = "toggle" if power.toggle else "brush" if power.brush else ""
                yield f"| `{power.id}` | {power.words} | {WHO[power.aim]} | {brush} | {power.faith or ''} |"
