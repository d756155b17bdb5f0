"""Staying alive: fighting, drinking, eating, sleeping."""

from collections.abc import Collection

from cohabit.agents.brains.crafter.danger import arrow_cells, is_in_danger, way_out
from cohabit.agents.brains.crafter.map import around, distance
from cohabit.agents.brains.crafter.paths import cheapest
from cohabit.agents.brains.crafter.shelter import build, is_closed_in
from cohabit.agents.brains.crafter.situation import Situation
from cohabit.model.action import Action
from cohabit.worlds.crafter.rules import MOST, SAND, STONE, WATER

EVENING = 0.98
"""When it gets darker than this, it sees to it that it does not go into the night thirsty or hungry."""
TIRED, SLEEPY = 2, 4
"""With so little energy it goes to sleep by day, or at night."""
NEAR_WATER = 12
"""It goes out at night to drink if it is no further than this."""


def keep_alive(s: Situation) -> Action | None:
    """What must be done at once to stay alive."""
    if s.sleeping and s.energy < MOST:
        return Action("sleep", {}, "asleep")
    return _dodge(s) or fight(s) or _finish(s)


def prepare(s: Situation) -> Action | None:
    """Drink, eat and rest in time."""
    if s.dark:
        return _drink_at_night(s) or _rest(s)
    evening = s.getting_dark and s.daylight < EVENING
    return _besieged(s) or _needs(s, 2) or _rest(s) or _needs(s, 3 if s.zombies_out else 7 if evening else 5)


def _drink_at_night(s: Situation) -> Action | None:
    enough = 6 if s.getting_dark else 3
    if s.drink <= enough and s.map.nearest_thing("zombie") is None and s.map.knows(WATER):
        way = s.way_to_material((WATER,))
        if 0 < len(way) <= NEAR_WATER:
            return s.follow(way, "water is near")
    return None


def _finish(s: Situation) -> Action | None:
    """Place what it made room for."""
    action, s.intended = s.intended, None
    return action if action is not None and s.map.is_free(s.map.ahead) else None


def _besieged(s: Situation) -> Action | None:
    """Wait in the shelter while zombies are around it in the morning; they vanish in the light."""
    if s.getting_dark or s.daylight > 0.98 or min(s.food, s.drink) < 1:
        return None
    if s.map.nearest_thing("zombie") is None or not is_closed_in(s):
        return None
    return shelter(s)


def _dodge(s: Situation) -> Action | None:
    """Step out of the way of an arrow, or stop it with a stone."""
    if not is_in_danger(s.map):
        return None
    cell = way_out(s.map)
    if cell is not None:
        return s.turn(cell, "dodges an arrow")
    if s.has("stone") and s.map.ahead in arrow_cells(s.map, 8) and s.map.is_free(s.map.ahead):
        return Action("place_stone", {}, "stops an arrow")
    return None


def fight(s: Situation) -> Action | None:
    """Hit a creature that stands next to the player."""
    for name in ("zombie", "skeleton"):
        for cell in around(s.map.here):
            if s.map.things.get(cell) == name:
                return s.use(cell, f"a {name} is next to me")
    return None


def _needs(s: Situation, least: int) -> Action | None:
    """Drink or eat if there is not more left than this."""
    if s.drink < MOST and s.map.cells[s.map.ahead] == WATER and s.map.ahead not in s.map.things:
        return Action("do", {}, "drinks its fill")
    if s.food <= 6 and not s.dark:
        cow = s.map.nearest_thing("cow")
        if cow is not None and distance(cow, s.map.here) <= 5:
            way = s.way_to_cell(cow)
            if way and len(way) < 8:
                return s.follow(way, "a cow is near")
    thirsty, hungry = s.drink <= least, s.food <= least
    if thirsty and hungry and min(s.drink, s.food) > 0 and s.map.cows:
        water = s.way_to_material((WATER,)) if s.map.knows(WATER) else []
        cow = min(distance(s.map.here, cow) for cow in s.map.cows)
        if water and cow < len(water):
            return _eat(s) or _drink(s)
        return _drink(s) or _eat(s)
    if thirsty and s.drink <= s.food:
        return _drink(s) or (_eat(s) if hungry else None)
    if hungry:
        return _eat(s) or (_drink(s) if thirsty else None)
    return _drink(s) if thirsty else None


def _drink(s: Situation) -> Action | None:
    way = s.way_to_material((WATER,)) if s.map.knows(WATER) else []
    if way:
        return s.follow(way, "thirsty")
    return explore(s, "looks for water", (SAND,)) if s.drink <= 6 else None


def _eat(s: Situation) -> Action | None:
    """Go to the ripe plant or to the nearest cow that was seen, or look for one."""
    if s.plant is not None and not s.plant_is_growing:
        action = eat_plant(s)
        if action is not None:
            return action
    while s.map.cows:
        cow = min(s.map.cows, key=lambda cell: (distance(s.map.here, cell), cell))
        way = s.way_to_cell(cow)
        if way and (len(way) > 1 or cow in s.map.things):
            return s.follow(way, "hungry")
        del s.map.cows[cow]
    if s.food > (6 if s.getting_dark and s.daylight < EVENING else 4):
        return None
    way = s.way_to_pasture()
    return s.walk(way, "looks for a cow") if way else None


def eat_plant(s: Situation) -> Action | None:
    """Go to the plant and eat it when it is ripe."""
    if s.plant is None or s.plant_is_growing:
        return None
    kept, s.kept = s.kept, set()
    way = s.way_to_cell(s.plant)
    s.kept = kept
    if not way:
        return None
    if len(way) == 1 and s.map.ahead == s.plant and s.map.things.get(s.plant) == "plant":
        return Action("noop", {}, "waits until the plant is ripe")
    if s.map.ahead == s.plant and s.map.things.get(s.plant) == "ripe plant":
        s.growth = 0
    return s.follow(way, "to the ripe plant")


def explore(s: Situation, why: str, signs: Collection[int] = ()) -> Action | None:
    """Go to land that it has not seen, if possible next to one of these materials."""
    way = s.way_to_unknown(signs)
    return s.walk(way, why) if way else None


def _rest(s: Situation) -> Action | None:
    """Be in a shelter when tired and when weak."""
    closed_in = bool(s.room) and is_closed_in(s)
    tired = s.energy <= (SLEEPY if s.dark else TIRED)
    resting = closed_in and s.energy < MOST - 1
    if tired or resting or s.weak:
        return shelter(s)
    s.room = frozenset()
    return None


def shelter(s: Situation) -> Action | None:
    if is_closed_in(s):
        water = next((cell for cell in around(s.map.here) if s.map.cells[cell] == WATER), None)
        if water is not None and s.drink < MOST - 1:
            return s.use(water, "drinks in the shelter")
        if s.energy < MOST:
            return Action("sleep", {}, "sleeps in a shelter")
        return Action("noop", {}, "waits in a shelter")
    return build(s, "a shelter") or _to_rock(s)


def _to_rock(s: Situation) -> Action | None:
    """Go where a shelter can be dug."""
    costs = s.costs((STONE,), by_day=True)
    way = cheapest(costs, s.map.here, lambda cell: s.map.cells[cell] == STONE)
    return s.follow(way, "to the rock") if way else None
