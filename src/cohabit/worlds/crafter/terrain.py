"""Making a world: terrain from noise, and the first creatures."""

from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cohabit.worlds.crafter import draws as purpose
from cohabit.worlds.crafter import rules
from cohabit.worlds.crafter.draws import Draws
from cohabit.worlds.crafter.noise import Field, permutations

# A uniform draw above these puts one there.
TREES_ABOVE, COAL_ABOVE, IRON_ABOVE, DIAMONDS_ABOVE = 0.8, 0.85, 0.75, 0.994
COWS_ABOVE, ZOMBIES_ABOVE, SKELETONS_ABOVE = 0.985, 0.993, 0.95
COW_DISTANCE, ZOMBIE_DISTANCE = 3, 10  # from the start


class Terrain(NamedTuple):
    materials: NDArray[np.uint8]  # indexed by x, y
    tunnels: NDArray[np.bool_]


class Landscape(NamedTuple):
    """The shapes of new worlds, which noise decides. Arrays are of any library, with the cells of all maps in a row."""

    materials: Any  # without ore and trees
    tunnels: Any
    # The cells where draws decide whether there is one:
    tree: Any
    coal: Any
    iron: Any
    diamond: Any


class NoiseTables:
    """The fields of noise over the cells of a map of some size, which are numbered x first. Those used are kept."""

    def __init__(self, size: tuple[int, int], xp: Any = np, array: Callable[[Any], Any] = np.asarray) -> None:
        self.xp, self.array = xp, array
        self.cells = size[0] * size[1]
        x, y = np.meshgrid(np.arange(size[0]), np.arange(size[1]), indexing="ij")
        self.x, self.y = x.reshape(-1), y.reshape(-1)
        self.field = cache(self._field)

    def _field(self, z: int, size: int, scale_x: float = 1, scale_y: float = 1) -> Field:
        # A fifth is a division in the original, and a division rounds differently from a product.
        x = self.x / 5 if scale_x == 1 / 5 else self.x * scale_x
        y = self.y / 5 if scale_y == 1 / 5 else self.y * scale_y
        field = Field(x / size, y / size, z)
        return field if self.xp is np else field.moved_to(self.xp, self.array)

    def distance(self, start: tuple[int, int]) -> Any:
        """From the start to each cell."""
        return np.sqrt((self.x - start[0]) ** 2 + (self.y - start[1]) ** 2)


_numpy_tables = lru_cache(maxsize=4)(NoiseTables)


class _Fields:
    """Noise over the cells of several maps, given by the permutations of their seeds."""

    def __init__(self, tables: NoiseTables, permutation: Any) -> None:
        self.tables, self.permutation = tables, permutation

    def at(self, z: int, *octaves: tuple[int, float]) -> Any:
        """The sum of noises of several sizes, each with its weight."""
        total: Any = 0.0
        for size, weight in octaves:
            field = self.tables.field(z, size)
            total = total + weight * field.everywhere(field.gradients(self.permutation))
        return self.tables.xp.reshape(total, (-1,))

    def above(self, limit: float, z: int, size: int, where: Any, scale_x: float = 1, scale_y: float = 1) -> Any:
        """The cells in which the noise exceeds the limit; computed only in the given cells."""
        field = self.tables.field(z, size, scale_x, scale_y)
        cells = self.tables.xp.nonzero(where)[0]
        found = self.tables.xp.zeros_like(where)
        if cells.shape[0]:
            gradients = field.gradients(self.permutation)
            noise = field.at(gradients, cells // self.tables.cells, cells % self.tables.cells)
            found[where] = noise > limit
        return found


def landscape(tables: NoiseTables, permutation: Any, start: tuple[int, int]) -> Landscape:
    """The shapes of new worlds. ``permutation``: of the noise of each world, worlds x 256."""
    xp, fields = tables.xp, _Fields(tables, permutation)
    worlds = permutation.shape[0]
    home = xp.reshape(2 * fields.at(8, (3, 1)), (worlds, -1)) + tables.array(4 - tables.distance(start))[None, :]
    home = xp.reshape(1 / (1 + xp.exp(-home)), (-1,))
    water = fields.at(3, (15, 1), (5, 0.15)) + 0.1
    water -= 2 * home
    mountain = fields.at(0, (15, 1), (5, 0.3)) / 1.3
    mountain -= 4 * home + 0.3 * water

    made = xp.zeros_like(home, dtype=xp.uint8)
    tunnels = xp.zeros_like(home, dtype=xp.bool)
    rest = xp.ones_like(tunnels)  # cells without a material yet

    def put(material: int, where: Any) -> None:
        made[where & rest] = material
        rest[where] = False

    put(rules.GRASS, home > 0.5)
    high = rest & (mountain > 0.15)
    put(rules.PATH, high & (mountain > 0.3) & fields.above(0.15, 6, 7, high & (mountain > 0.3)))
    for scale_x, scale_y in ((2, 1 / 5), (1 / 5, 2)):  # horizontal tunnels, then vertical ones
        dug = rest & high & fields.above(0.4, 7, 3, rest & high, scale_x, scale_y)
        tunnels |= dug
        put(rules.PATH, dug)
    ore = rest & high
    low = rest & ~high
    beach = (water > 0.25) & (water <= 0.35)
    put(rules.SAND, low & beach & fields.above(-0.2, 4, 9, low & beach))
    put(rules.WATER, low & (water > 0.3))
    meadow = rest & ~high

    made[ore] = rules.STONE
    made[fields.above(0.35, 6, 5, ore & (mountain > 0.3))] = rules.LAVA
    made[meadow] = rules.GRASS
    return Landscape(
        made, tunnels, fields.above(0, 5, 7, meadow), fields.above(0, 1, 8, ore), fields.above(0.4, 2, 6, ore),
        ore & (mountain > 0.18),
    )  # fmt: skip


def make_terrain(draws: Draws, size: tuple[int, int], start: tuple[int, int]) -> Terrain:
    """The map of a new world. Noise decides the shapes, draws decide where ore and trees are."""
    permutation = permutations([draws.noise_seed()])
    made, tunnels, tree, coal, iron, diamond = landscape(_numpy_tables(size), permutation, start)
    # Draws are made cell by cell in the original's order, and only where something depends on them.
    uniform = draws.uniform
    cells = np.flatnonzero(tree | coal | iron | diamond)
    for cell, is_tree, may_coal, may_iron, may_diamond in zip(
        cells.tolist(), *(where[cells].tolist() for where in (tree, coal, iron, diamond)), strict=True
    ):
        if is_tree:
            if uniform(purpose.TREE_CELL, cell) > TREES_ABOVE:
                made[cell] = rules.TREE
        elif may_coal and uniform(purpose.COAL_CELL, cell) > COAL_ABOVE:
            made[cell] = rules.COAL
        elif may_iron and uniform(purpose.IRON_CELL, cell) > IRON_ABOVE:
            made[cell] = rules.IRON
        elif may_diamond and uniform(purpose.DIAMOND_CELL, cell) > DIAMONDS_ABOVE:
            made[cell] = rules.DIAMOND
    return Terrain(made.reshape(size), tunnels.reshape(size))


def first_creatures(draws: Draws, terrain: Terrain, start: tuple[int, int]) -> Iterator[tuple[int, int, int]]:
    """The creatures of a new world: kind, x, y."""
    uniform = draws.uniform
    height = terrain.materials.shape[1]
    materials, tunnels = terrain.materials.reshape(-1), terrain.tunnels.reshape(-1)
    cells = np.flatnonzero((materials == rules.GRASS) | (materials == rules.PATH) | (materials == rules.SAND))
    away = np.sqrt((cells // height - start[0]) ** 2 + (cells % height - start[1]) ** 2)
    for cell, material, tunnel, distance in zip(
        cells.tolist(), materials[cells].tolist(), tunnels[cells].tolist(), away.tolist(), strict=True
    ):
        if distance > COW_DISTANCE and material == rules.GRASS and uniform(purpose.COW_CELL, cell) > COWS_ABOVE:
            yield rules.COW, cell // height, cell % height
        elif distance > ZOMBIE_DISTANCE and uniform(purpose.ZOMBIE_CELL, cell) > ZOMBIES_ABOVE:
            yield rules.ZOMBIE, cell // height, cell % height
        elif material == rules.PATH and tunnel and uniform(purpose.SKELETON_CELL, cell) > SKELETONS_ABOVE:
            yield rules.SKELETON, cell // height, cell % height
