"""The player's situation: its body, its map, and the way it is on. Behaviours read it and answer with an action."""

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import lru_cache
from typing import Any

from cohabit.agents.brains.crafter.danger import add_danger
from cohabit.agents.brains.crafter.map import DIRECTIONS, OPEN, STRIDE, UNKNOWN, Map, around, distance, marks
from cohabit.agents.brains.crafter.pasture import best_pasture
from cohabit.agents.brains.crafter.paths import cheapest
from cohabit.model.action import Action
from cohabit.model.observation import Observation
from cohabit.worlds.crafter import rules

WALK, DIG, FELL, BRIDGE = 1, 2, 4, 4
"""Steps to enter a cell: open ground, rock, a tree (which is better kept for its wood), or water.

A bridge is a stone that is placed and dug away again."""
TUNNEL = 2
"""Skeletons live in tunnels, so these are no better than rock."""
MEADOW = (WALK, 3, 20)
"""Grass and sand by day, in the morning and at night, when zombies are there."""
DUSK, DAWN, MORNING = 0.65, 0.8, 0.97
"""The night begins and ends with this daylight; zombies stay on the meadows for some time."""
WEAK, STRONG = 2, 5
"""With so little health it rests until it has so much."""
PASSABLE = (*OPEN, rules.STONE, rules.COAL, rules.IRON, rules.DIAMOND, rules.TREE, rules.WATER)
"""Materials that a way can lead through, with the right tools."""
SEARCH_FURTHER = 30
"""The largest cost of the way to a promising place."""
NO_LIMIT, NIGHT_LIMIT = 1000, 90
"""The largest cost of a way."""
LOOK_AGAIN = 10
"""A path is planned again after this many steps, because by then more of the land is known."""


class Situation:
    """The knowledge and the intentions of the expert at a step."""

    def __init__(self) -> None:
        self.map = Map()
        self.kept: set[int] = set()  # cells that must stay as they are: the fence of the plant
        self.plant: int | None = None
        self.growth = 0  # updates of the plant
        self.leash = 0  # a mask of the cells to stay on; 0 is everywhere
        self.room: frozenset[int] = frozenset()  # the shelter that it builds or lives in
        self.search_again = 0  # the step from which on it looks for a shelter again
        self.intended: Action | None = None  # what it made room for in the step before
        self.step = 0
        self.daylight = 0.0
        self.getting_dark = False
        self.weak = False
        self.dark = False
        self.zombies_out = False
        self._way: list[int] = []
        self._way_key: object = None
        self._way_planned = 0
        self._way_start = 0
        self._way_goal = UNKNOWN

    def see(self, observation: Observation) -> None:
        status: dict[str, Any] = observation.status
        self.step = observation.step
        self.map.see(status, self.step)
        self.inventory = observation.inventory
        self.health: int = status["health"]
        self.food: int = status["food"]
        self.drink: int = status["drink"]
        self.energy: int = status["energy"]
        self.sleeping: bool = status["sleeping"]
        if status["daylight"] != self.daylight:
            self.getting_dark = status["daylight"] < self.daylight
        self.daylight = status["daylight"]
        self.dark = self.daylight < DUSK or (self.dark and not self.getting_dark and self.daylight < DAWN)
        self.zombies_out = self.dark or (self.zombies_out and self.daylight < MORNING)
        if self.health <= WEAK:
            self.weak = True
        elif self.health >= STRONG:
            self.weak = False
        self.done = frozenset(status["achievements"])
        if self.plant is not None and distance(self.map.here, self.plant) < rules.ACTIVE_DISTANCE:
            self.growth += 1

    # -- what it has ---------------------------------------------------------------------------------------
    def has(self, item: str, amount: int = 1) -> bool:
        return self.count(item) >= amount

    def has_all(self, amounts: Mapping[str, int]) -> bool:
        return all(self.has(item, amount) for item, amount in amounts.items())

    def count(self, item: str) -> int:
        return int(self.inventory.get(item, 0))

    # -- ways ----------------------------------------------------------------------------------------------
    def costs(self, also: Iterable[int] = (), by_day: bool = False) -> bytearray:
        """The cost of entering each cell; materials in ``also`` can be the end of a way."""
        table = _cost_table(
            self.has("wood_pickaxe"), self.has("stone_pickaxe"), self.has("iron_pickaxe"), self.has("stone"),
            0 if by_day else self.dark + self.zombies_out, frozenset(also),
        )  # fmt: skip
        costs = bytearray(self.map.cells.translate(table))
        add_danger(self.map, costs, self.step)
        for cell in self.map.things:
            costs[cell] = 0
        for cell in self.kept:
            costs[cell] = 0
        if self.leash:
            return bytearray((int.from_bytes(costs, "little") & self.leash).to_bytes(len(costs), "little"))
        return costs

    def plant_at(self, cell: int) -> None:
        """Remember that a sapling was planted there; its fence must stay."""
        self.plant, self.growth = cell, 0
        self.kept = {cell, *around(cell)}

    def forget_plant(self) -> None:
        self.plant = None
        self.kept = set()

    @property
    def plant_is_growing(self) -> bool:
        return self.plant is not None and self.growth <= rules.RIPE_AFTER

    def stay_near_plant(self) -> None:
        """Plan only over cells from which the plant keeps growing, until ``leash`` is 0 again."""
        if self.plant is not None:
            self.leash = _near(self.plant)

    def way_to_material(self, materials: Iterable[int]) -> list[int]:
        """The way to the nearest cell of these materials."""
        wanted = frozenset(materials)
        goals = self.map.cells.translate(marks(wanted))
        return self.planned(
            wanted, lambda: cheapest(self.costs(wanted), self.map.here, goals.__getitem__, self._limit())
        )

    def way_to_unknown(self, signs: Collection[int]) -> list[int]:
        """The way to the nearest unknown cell; a little further if it is next to one of these materials."""
        cells = self.map.cells

        def has_sign(cell: int) -> bool:
            return cells[cell] == UNKNOWN and any(cells[beside] in signs for beside in around(cell))

        def plan() -> list[int]:
            costs = self.costs((UNKNOWN,))
            way = cheapest(costs, self.map.here, has_sign, SEARCH_FURTHER) if signs else []
            if way or (signs and self.dark):
                return way
            return cheapest(costs, self.map.here, lambda cell: cells[cell] == UNKNOWN, self._limit())

        return self.planned(("unknown", signs), plan)

    def way_to_pasture(self) -> list[int]:
        """The way to a large piece of grass that it has not seen for long, or never."""
        return self.planned(
            "pasture", lambda: self.way_to_cell(best_pasture(self.map, self.step), self.costs((UNKNOWN,)))
        )

    def _limit(self) -> int:
        return NIGHT_LIMIT if self.dark else NO_LIMIT

    def way_to_cell(self, goal: int, costs: bytearray | None = None) -> list[int]:
        """The way to one cell, which need not be free."""
        if costs is None:
            costs = self.costs()
        costs[goal] = costs[goal] or WALK
        return cheapest(costs, self.map.here, goal.__eq__, self._limit())

    def planned(self, key: object, plan: Callable[[], list[int]]) -> list[int]:
        """The way that was planned for this purpose, or a new one if it no longer holds."""
        if key != self._way_key or self.step - self._way_planned >= LOOK_AGAIN or not self._still_holds():
            self._way, self._way_key, self._way_planned = plan(), key, self.step
            self._way_start = self.map.here
            self._way_goal = self.map.cells[self._way[0]] if self._way else UNKNOWN
        return self._way

    def _still_holds(self) -> bool:
        way, here = self._way, self.map.here
        if way and way[-1] == here:
            way.pop()
        if not way:
            return here == self._way_start and self.step > self._way_planned
        following = way[-1]
        return (
            abs(following - here) in (1, STRIDE)
            and following not in self.map.things
            and self.map.cells[way[0]] == self._way_goal
            and (following == way[0] or self.map.cells[following] in PASSABLE)
        )

    # -- single steps ----------------------------------------------------------------------------------------
    def advance(self, cell: int, why: str) -> Action:
        """Enter a neighbouring cell, or do what has to be done before."""
        if self.map.cells[cell] in OPEN or self.map.ahead != cell:
            return self.turn(cell, why)
        if self.map.cells[cell] == rules.WATER:
            return Action("place_stone", {}, f"a bridge: {why}")
        return Action("do", {}, f"clears the way: {why}")

    def turn(self, cell: int, why: str) -> Action:
        """Move towards a neighbouring cell; if it is blocked, the player only turns."""
        if self.map.cells[cell] == rules.LAVA:
            return Action("noop", {}, "stays away from the lava")
        return Action(DIRECTIONS[cell - self.map.here], {}, why)

    def use(self, cell: int, why: str) -> Action:
        """Use, hit or collect what is on a neighbouring cell that is not free."""
        return Action("do", {}, why) if self.map.ahead == cell else self.turn(cell, why)

    def follow(self, way: list[int], why: str) -> Action:
        """One step on a way that ends at something to use."""
        return self.use(way[-1], why) if len(way) == 1 else self.advance(way[-1], why)

    def face(self, target: int, why: str, inside: Iterable[int] = ()) -> Action | None:
        """One step towards facing a free cell; None if that is impossible. The caller acts if it faces it already.

        Walking towards a free cell enters it. So the player comes to face it by a step in its direction, from the cell
        behind. With ``inside`` it uses these cells only.
        """
        costs = self.costs()
        if inside:
            costs = _only(costs, inside)
        costs[target] = 0
        here = self.map.here
        starts = {
            target - 2 * d: target - d
            for d in DIRECTIONS
            if (costs[target - d] or here == target - d) and (costs[target - 2 * d] or here == target - 2 * d)
        }
        if here in starts:
            return self.advance(starts[here], why)
        way = cheapest(costs, here, starts.__contains__)
        return self.advance(way[-1], why) if way else None


def _only(costs: bytearray, cells: Iterable[int]) -> bytearray:
    """The same costs, with all other cells impossible."""
    rest = bytearray(len(costs))
    for cell in cells:
        rest[cell] = costs[cell]
    return rest


@lru_cache(4)
def _near(plant: int) -> int:
    """A mask with 255 for each cell that is near enough to the plant."""
    mask = bytearray(STRIDE * STRIDE)
    for cell in range(len(mask)):
        if distance(cell, plant) < rules.ACTIVE_DISTANCE:
            mask[cell] = 255
    return int.from_bytes(mask, "little")


@lru_cache(256)
def _cost_table(wood: bool, stone: bool, iron: bool, stones: bool, zombies: int, also: frozenset[int]) -> bytes:
    """Costs by material, with these pickaxes, with or without stones to place, by day or at night."""
    table = bytearray(256)
    table[rules.GRASS] = table[rules.SAND] = MEADOW[zombies]
    table[rules.PATH] = TUNNEL
    table[rules.TREE] = FELL
    if wood:
        table[rules.STONE] = table[rules.COAL] = DIG
    if stone:
        table[rules.IRON] = DIG
    if iron:
        table[rules.DIAMOND] = DIG
    if wood and stones:
        table[rules.WATER] = BRIDGE
    for material in also:
        table[material] = table[material] or WALK
    return bytes(table)
