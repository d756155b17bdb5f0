"""Staying alive: fighting, drinking, eating, sleeping."""

from cohabit.agents.brains.crafter.map import STRIDE, around, distance
from cohabit.agents.brains.crafter.shelter import build, is_closed_in
from cohabit.agents.brains.crafter.situation import Situation
from cohabit.model.action import Action
from cohabit.worlds.crafter.rules import GRASS, MOST, VIEW_HEIGHT, VIEW_WIDTH, WATER

DARK, BRIGHT = 0.35, 0.5
"""It goes into a shelter at daylight below the first, and leaves it above the second."""
THIRSTY, HUNGRY, TIRED = 3, 3, 2
"""With so little left, the need comes before all plans."""
WEAK, STRONG = 4, 7
"""With so little health it rests, until it has so much."""
MEADOW = 10
"""Cells of grass in view from which on zombies are to be expected at night."""


def survive(s: Situation) -> Action | None:
    """What must be done now to stay alive; None if nothing is urgent."""
    if s.sleeping and s.energy < MOST:
        return Action("sleep", {}, "asleep")
    return fight(s) or _needs(s) or _rest(s)


def fight(s: Situation) -> Action | None:
    """Hit a creature that stands next to the player."""
    for name in ("zombie", "skeleton"):
        for cell in around(s.map.here):
            if s.map.things.get(cell) == name:
                return s.use(cell, f"a {name} is next to me")
    return None


def _needs(s: Situation) -> Action | None:
    if s.drink <= THIRSTY and s.drink <= s.food:
        return drink(s, "very thirsty")
    if s.food <= HUNGRY:
        return eat(s, "very hungry") or (drink(s, "very thirsty") if s.drink <= THIRSTY else None)
    return None


def drink(s: Situation, why: str) -> Action | None:
    way = s.way_to_material((WATER,)) if s.map.knows(WATER) else []
    return s.follow(way, why) if way else None


def eat(s: Situation, why: str) -> Action | None:
    """Go to the nearest cow that was seen."""
    if not s.map.cows:
        return None
    cow = min(s.map.cows, key=lambda cell: (distance(s.map.here, cell) - s.map.cows[cell] // 100, cell))
    way = s.way_to_cell(cow)
    if not way:
        del s.map.cows[cow]
        return None
    if len(way) == 1 and cow not in s.map.things:
        del s.map.cows[cow]
        return None
    return s.follow(way, why)


def _rest(s: Situation) -> Action | None:
    """Sleep or wait in a shelter: at night, when tired, and when weak."""
    closed_in = is_closed_in(s)
    if not _wants_rest(s, closed_in):
        s.room = frozenset()
        return None
    if closed_in:
        if s.energy < MOST:
            return Action("sleep", {}, "sleeps in a shelter")
        return Action("noop", {}, "waits in a shelter")
    return build(s, "a shelter")


def _wants_rest(s: Situation, closed_in: bool) -> bool:
    if closed_in:
        return s.daylight < BRIGHT or s.health < STRONG or s.energy < MOST - 2
    if s.energy <= TIRED or s.health <= WEAK:
        return True
    return s.daylight < DARK and (grass_in_view(s) >= MEADOW or s.energy < STRONG)


def grass_in_view(s: Situation) -> int:
    first = s.map.here - VIEW_WIDTH // 2 - VIEW_HEIGHT // 2 * STRIDE
    return sum(
        s.map.cells[row : row + VIEW_WIDTH].count(GRASS) for row in range(first, first + VIEW_HEIGHT * STRIDE, STRIDE)
    )
