"""Drinking and eating, and looking for water and cows."""

from collections.abc import Collection

from cohabit.agents.brains.crafter.map import distance
from cohabit.agents.brains.crafter.planting import eat_plant
from cohabit.agents.brains.crafter.situation import STRONG, Situation
from cohabit.model.action import Action
from cohabit.worlds.crafter.rules import COW_FOOD, MOST, SAND, WATER

EVENING = 0.98
"""When it gets darker than this, it sees to it that it does not go into the night thirsty or hungry."""
CRITICAL, LOW, LOW_IN_THE_EVENING, LOW_WITH_ZOMBIES = 2, 4, 6, 3
"""The amounts of food or drink at which it is hungry or thirsty."""
LOOK_FOR_WATER = 6
LOOK_FOR_COWS, LOOK_FOR_COWS_IN_THE_EVENING = 4, 6
"""It looks for water and cows that it does not know of when it has no more than this."""
NEAR_COW, WAY_TO_NEAR_COW = 5, 8
"""A cow that is so near is eaten in passing, if the way is shorter than this."""
NEAR_WATER = 25
"""It goes out at night to drink if it is no further than this."""
ENOUGH_FOR_THE_NIGHT, TOO_LITTLE = 6, 3


def satisfy(s: Situation) -> Action | None:
    """Drink and eat in time."""
    if s.zombies_out:
        return satisfy_at(s, LOW_WITH_ZOMBIES)
    return satisfy_at(s, LOW_IN_THE_EVENING if _is_evening(s) else LOW)


def satisfy_at(s: Situation, least: int) -> Action | None:
    """Drink or eat if there is not more left than this, and in passing."""
    action = _in_passing(s)
    if action is not None:
        return action
    thirsty, hungry = s.drink <= least, s.food <= least
    if thirsty and (not hungry or _drinks_first(s)):
        return _drink(s) or (_eat(s) if hungry else None)
    if hungry:
        return _eat(s) or (_drink(s) if thirsty else None)
    return None


def drink_at_night(s: Situation) -> Action | None:
    """Go to water that is near, if nothing dangerous is in view."""
    enough = ENOUGH_FOR_THE_NIGHT if s.getting_dark and s.health >= STRONG else TOO_LITTLE
    threats = any(name in ("zombie", "skeleton") for name in s.map.things.values())
    way = s.way_to_material((WATER,)) if s.drink <= enough and not threats and s.map.knows(WATER) else []
    return s.follow(way, "water is near") if 0 < len(way) <= NEAR_WATER else None


def explore(s: Situation, why: str, signs: Collection[int] = ()) -> Action | None:
    """Go to land that it has not seen, if possible next to one of these materials."""
    way = s.way_to_unknown(signs)
    return s.advance(way[-1], why) if way else None


def _is_evening(s: Situation) -> bool:
    return s.getting_dark and s.daylight < EVENING


def _in_passing(s: Situation) -> Action | None:
    if s.drink < MOST and s.map.cells[s.map.ahead] == WATER and s.map.ahead not in s.map.things:
        return Action("do", {}, "drinks its fill")
    cow = s.map.nearest_thing("cow") if s.food <= COW_FOOD and not s.dark else None
    if cow is not None and distance(cow, s.map.here) <= NEAR_COW:
        way = s.way_to_cell(cow)
        if 0 < len(way) < WAY_TO_NEAR_COW:
            return s.follow(way, "a cow is near")
    return None


def _drinks_first(s: Situation) -> bool:
    """When both are needed: whichever is nearer, unless one of them is at zero or no cow is known."""
    if min(s.drink, s.food) == 0 or not s.map.cows:
        return s.drink <= s.food
    water = s.way_to_material((WATER,)) if s.map.knows(WATER) else []
    return not water or min(distance(s.map.here, cow) for cow in s.map.cows) >= len(water)


def _drink(s: Situation) -> Action | None:
    way = s.way_to_material((WATER,)) if s.map.knows(WATER) else []
    if way:
        return s.follow(way, "thirsty")
    return explore(s, "looks for water", (SAND,)) if s.drink <= LOOK_FOR_WATER else None


def _eat(s: Situation) -> Action | None:
    """Go to the ripe plant or to the nearest cow that was seen, or look for one."""
    action = eat_plant(s)
    while action is None and s.map.cows:
        cow = min(s.map.cows, key=lambda cell: (distance(s.map.here, cell), cell))
        way = s.way_to_cell(cow)
        if way and (len(way) > 1 or cow in s.map.things):
            action = s.follow(way, "hungry")
        else:
            del s.map.cows[cow]
    if action is None and s.food <= (LOOK_FOR_COWS_IN_THE_EVENING if _is_evening(s) else LOOK_FOR_COWS):
        way = s.way_to_pasture()
        action = s.advance(way[-1], "looks for a cow") if way else None
    return action
