"""Walling oneself in: a room of two or four cells whose sides are all blocked.

The player can place a stone only in front of itself, and it faces a free cell only after a step towards it. So a wall
can be closed from inside if the cell on the other side of the player belongs to the room as well.
"""

from typing import NamedTuple

from cohabit.agents.brains.crafter.map import DIRECTIONS, DOWN, LEFT, OPEN, RIGHT, UNKNOWN, UP, around, distance
from cohabit.agents.brains.crafter.paths import cheapest
from cohabit.agents.brains.crafter.situation import Situation
from cohabit.model.action import Action
from cohabit.worlds.crafter.rules import LAVA, STONE, WATER

Room = frozenset[int]
CLOSED_IN = 30
"""A player who can reach no more cells than this is closed in."""
SEARCHES = (
    (1, 20, True), (4, 20, True),
    (1, 8, False), (2, 15, False), (4, 20, False), (8, 20, False), (2, 60, False),
)  # fmt: skip
"""The most walls to build, the largest cost of the way, and if the room must have water; tried in this order."""
WATER_SEARCHES = 2
SEARCH_AGAIN = 5
"""Steps after a search without success."""
IMPOSSIBLE = 60
NEAR = 25
"""A room that was chosen further away is given up."""
WATER_IS_OPEN, WATER_IS_A_WALL = (*OPEN, WATER, LAVA, UNKNOWN), (*OPEN, LAVA, UNKNOWN)
"""Creatures cannot cross water, but arrows fly over it."""
ARCHERS_NEAR, ARCHERS_FORGOTTEN = 12, 200
"""The distance of skeletons, or the time since they were seen, from which on water is as good as a wall."""


def is_closed_in(s: Situation) -> bool:
    """True if nothing can come to the player, and nothing is with it."""
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
    return s.advance(way[-1], why) if way else None


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
    return s.advance(way[-1], why)


def _nearest_room(s: Situation) -> Room:
    """A room that is near and needs few walls; if possible with water to drink."""
    if s.step < s.search_again:
        return frozenset()
    costs, passable = s.costs(by_day=True), no_wall(s)
    with_water = s.map.knows(WATER) and passable is WATER_IS_A_WALL
    known: dict[int, list[tuple[int, bool, Room]]] = {}  # the rooms at the cells that were looked at
    for most_walls, limit, at_water in SEARCHES if with_water else SEARCHES[WATER_SEARCHES:]:
        found: list[Room] = []

        def has_room(
            cell: int, most_walls: int = most_walls, at_water: bool = at_water, found: list[Room] = found
        ) -> bool:
            if cell not in known:
                known[cell] = _rooms_at(s, costs, passable, cell)
            found += [room for walls, wet, room in known[cell] if walls <= most_walls and wet >= at_water]
            return bool(found)

        cheapest(costs, s.map.here, has_room, limit)
        if found:
            return found[0]
    s.search_again = s.step + SEARCH_AGAIN
    return frozenset()


def _rooms_at(s: Situation, costs: bytearray, passable: tuple[int, ...], cell: int) -> list[tuple[int, bool, Room]]:
    """The rooms with this cell that can be closed: number of walls to build, whether there is water, cells."""
    found = []
    for shape in SHAPES:
        room = [cell + offset for offset in shape.cells]
        if all(costs[part] or part == s.map.here for part in room):
            walls, wet = _walls(s, shape, passable, cell)
            if walls <= s.count("stone") + sum(s.map.cells[part] == STONE for part in room):
                found.append((walls, wet, frozenset(room)))
    return found


def _walls(s: Situation, shape: "Shape", passable: tuple[int, ...], cell: int) -> tuple[int, bool]:
    """The number of walls to build, ``IMPOSSIBLE`` if one cannot be built; and True if there is water."""
    walls, wet = 0, False
    for offset, can_be_faced in shape.sides:
        material = s.map.cells[cell + offset]
        if material == WATER:
            wet = True
        if material in passable:
            if material != WATER and not (can_be_faced and material in OPEN):
                return IMPOSSIBLE, wet
            walls += 1
    return walls, wet


def _is_near(s: Situation) -> bool:
    return all(distance(s.map.here, cell) <= NEAR for cell in s.room)


def _is_possible(s: Situation, room: Room) -> bool:
    costs = s.costs()
    walls = open_walls(s, room)
    stones = s.count("stone") + sum(s.map.cells[cell] == STONE for cell in room)
    return (
        all(costs[cell] or cell == s.map.here for cell in room)
        and len(walls) <= stones
        and all(
            s.map.cells[cell + d] == WATER or (cell - d in room and s.map.cells[cell + d] in OPEN) for cell, d in walls
        )
    )


class Shape(NamedTuple):
    """A form of rooms, as offsets from one of its cells."""

    cells: tuple[int, ...]
    sides: tuple[tuple[int, bool], ...]  # cells around it, and whether they can be faced from inside


def _shape(*cells: int) -> Shape:
    sides = [
        (cell + d, cell - d in cells)  # to face a free cell, the player comes from the other side
        for cell in cells
        for d in DIRECTIONS
        if cell + d not in cells
    ]
    return Shape(cells, tuple(sides))


SHAPES = (
    *(_shape(0, d) for d in DIRECTIONS),
    *(_shape(0, across, down, across + down) for across in (LEFT, RIGHT) for down in (UP, DOWN)),
)
