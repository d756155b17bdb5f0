"""Walling oneself in: a room of two or four cells whose sides are all blocked.

The player can place a stone only in front of itself, and it faces a free cell only after a step towards it. So a wall
can be closed from inside if the cell on the other side of the player belongs to the room as well.
"""

from collections.abc import Iterator

from cohabit.agents.brains.crafter.map import DIRECTIONS, DOWN, OPEN, RIGHT, UNKNOWN, around, distance
from cohabit.agents.brains.crafter.paths import cheapest
from cohabit.agents.brains.crafter.situation import Situation
from cohabit.model.action import Action
from cohabit.worlds.crafter.rules import LAVA, STONE, WATER

Room = frozenset[int]
CLOSED_IN = 30
"""A player who can reach no more cells than this is closed in."""
SEARCHES = ((1, 8), (2, 15), (4, 20), (8, 20), (2, 100))
"""How many walls a room may need, and what the way to it may cost, one after the other."""
SEARCHES_AT_WATER = ((1, 20), (4, 20))
IMPOSSIBLE = 60
NEAR = 25
"""A room that was chosen further away is given up."""
WATER_IS_OPEN, WATER_IS_A_WALL = (*OPEN, WATER, LAVA, UNKNOWN), (*OPEN, LAVA, UNKNOWN)
"""Creatures cannot cross water, but arrows fly over it."""
ARCHERS_NEAR, ARCHERS_FORGOTTEN = 12, 200
"""How far away skeletons must be, or how long ago, for water to be as good as a wall."""


def is_closed_in(s: Situation) -> bool:
    """Whether nothing can come to the player, and nothing is with it."""
    return bool(closed_region(s))


def no_wall(s: Situation) -> tuple[int, ...]:
    """Materials through which something can come or hit the player."""
    archers = any(
        s.step - seen < ARCHERS_FORGOTTEN and distance(s.map.here, cell) <= ARCHERS_NEAR
        for cell, seen in s.map.skeletons.items()
    )
    return WATER_IS_OPEN if archers else WATER_IS_A_WALL


def closed_region(s: Situation) -> Room:
    """The cells that the player can reach without digging, if they are few and nothing else can come there."""
    reached = [s.map.here]
    seen = {s.map.here}
    passable = no_wall(s)
    for cell in reached:
        for beside in around(cell):
            if beside not in seen and s.map.cells[beside] in passable:
                if beside in s.map.things and not s.map.things[beside].endswith("plant"):
                    return frozenset()
                seen.add(beside)
                if beside not in s.map.things:
                    reached.append(beside)
                if len(reached) > CLOSED_IN:
                    return frozenset()
    return frozenset(reached)


def open_walls(s: Situation, room: Room) -> list[tuple[int, int]]:
    """The sides that have to be closed: cell of the room, direction."""
    passable = no_wall(s)
    return [
        (cell, d)
        for cell in sorted(room)
        for d in DIRECTIONS
        if cell + d not in room and s.map.cells[cell + d] in passable
    ]


def build(s: Situation, why: str) -> Action | None:
    """One step towards being closed in; None if there is no place for a room."""
    if not (s.room and _is_near(s) and _is_possible(s, s.room)):
        s.room = _nearest_room(s)
        if not s.room:
            return None
    if s.map.here not in s.room:
        return _enter(s, why)
    if not s.has("stone"):
        return _dig(s, why)
    for cell, d in open_walls(s, s.room):
        if s.map.here == cell and s.map.facing == d:
            if cell + d in s.map.things:
                return Action("do", {}, f"something stands where a wall must be: {why}")
            return Action("place_stone", {}, f"a wall: {why}")
    for cell, d in open_walls(s, s.room):
        if s.map.cells[cell + d] == WATER and s.map.here == cell:
            return s.turn(cell + d, why)
        action = s.face(cell + d, why, s.room)
        if action is not None:
            return action
    return None


def _dig(s: Situation, why: str) -> Action | None:
    """Dig out the rest of the room, for stones."""
    costs = s.costs(by_day=True)
    way = cheapest(costs, s.map.here, lambda cell: cell in s.room and s.map.cells[cell] == STONE, 8)
    return s.walk(way, why) if way else None


def _enter(s: Situation, why: str) -> Action | None:
    """Walk to the room, through a wall that can be closed behind."""
    costs = s.costs(by_day=True)
    for cell in s.room:
        for d in DIRECTIONS:
            if cell + d not in s.room and cell - d not in s.room and s.map.cells[cell + d] != WATER:
                costs[cell + d] = 0
    way = cheapest(costs, s.map.here, s.room.__contains__)
    if not way:
        s.room = frozenset()
        return None
    return s.walk(way, why)


def _nearest_room(s: Situation) -> Room:
    """A room that is near and needs few walls; if possible with water to drink."""
    costs = s.costs(by_day=True)
    searches = [(most_walls, limit, False) for most_walls, limit in SEARCHES]
    if s.map.knows(WATER) and no_wall(s) is WATER_IS_A_WALL:
        searches = [(most_walls, limit, True) for most_walls, limit in SEARCHES_AT_WATER] + searches
    for most_walls, limit, at_water in searches:
        found: list[Room] = []

        def has_room(
            cell: int, most_walls: int = most_walls, at_water: bool = at_water, found: list[Room] = found
        ) -> bool:
            for room in _rooms_with(cell):
                if _walls_needed(s, costs, room) <= most_walls and (not at_water or _touches_water(s, room)):
                    found.append(room)
                    return True
            return False

        cheapest(costs, s.map.here, has_room, limit)
        if found:
            return found[0]
    return frozenset()


def _touches_water(s: Situation, room: Room) -> bool:
    return any(s.map.cells[beside] == WATER for cell in room for beside in around(cell) if beside not in room)


def _rooms_with(cell: int) -> Iterator[Room]:
    for d in DIRECTIONS:
        yield frozenset((cell, cell + d))
    for across in (RIGHT, -RIGHT):
        for down in (DOWN, -DOWN):
            yield frozenset((cell, cell + across, cell + down, cell + across + down))


def _walls_needed(s: Situation, costs: bytearray, room: Room) -> int:
    """How many stones it takes; many if the room cannot be closed from inside, or not with the stones at hand."""
    for cell in room:
        if not costs[cell] and cell != s.map.here:
            return IMPOSSIBLE
    walls = open_walls(s, room)
    stones = s.count("stone") + sum(s.map.cells[cell] == STONE for cell in room)
    if len(walls) > stones or any(cell - d not in room or s.map.cells[cell + d] not in OPEN for cell, d in walls):
        return IMPOSSIBLE
    return len(walls)


def _is_near(s: Situation) -> bool:
    return all(distance(s.map.here, cell) <= NEAR for cell in s.room)


def _is_possible(s: Situation, room: Room) -> bool:
    return _walls_needed(s, s.costs(), room) < IMPOSSIBLE
