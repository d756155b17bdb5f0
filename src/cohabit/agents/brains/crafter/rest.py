"""Resting: when to be in a shelter, and what to do there."""

from cohabit.agents.brains.crafter.map import around
from cohabit.agents.brains.crafter.paths import cheapest
from cohabit.agents.brains.crafter.shelter import build, is_closed_in
from cohabit.agents.brains.crafter.situation import Situation
from cohabit.model.action import Action
from cohabit.worlds.crafter.rules import MOST, STONE, WATER

TIRED, SLEEPY = 2, 4
"""With so little energy it goes to sleep by day, or at night."""
FULL_DAYLIGHT = 0.98


def rest(s: Situation) -> Action | None:
    """Be in a shelter when tired and when weak."""
    tired = s.energy <= (SLEEPY if s.dark else TIRED)
    asleep_again = s.energy < MOST - 1 and bool(s.room) and is_closed_in(s)
    if tired or asleep_again or s.weak:
        return shelter(s)
    if not s.zombies_out:
        s.room = frozenset()
    return None


def sit_out_siege(s: Situation) -> Action | None:
    """Stay in the shelter while zombies are around it in the morning; they vanish in the light."""
    morning = not s.getting_dark and s.daylight <= FULL_DAYLIGHT
    starving = min(s.food, s.drink) == 0
    if morning and not starving and s.map.nearest_thing("zombie") is not None and is_closed_in(s):
        return shelter(s)
    return None


def shelter(s: Situation) -> Action | None:
    """Build a shelter, and drink, sleep or wait in it."""
    if not is_closed_in(s):
        return build(s, "a shelter") or _to_rock(s)
    water = next((cell for cell in around(s.map.here) if s.map.cells[cell] == WATER), None)
    if water is not None and s.drink < MOST - 1:
        return s.use(water, "drinks in the shelter")
    if s.energy < MOST:
        return Action("sleep", {}, "sleeps in a shelter")
    return Action("noop", {}, "waits in a shelter")


def _to_rock(s: Situation) -> Action | None:
    """Go where a shelter can be dug."""
    way = cheapest(s.costs((STONE,), by_day=True), s.map.here, lambda cell: s.map.cells[cell] == STONE)
    return s.follow(way, "to the rock") if way else None
