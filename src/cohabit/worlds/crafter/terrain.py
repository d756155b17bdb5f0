"""Making a world: terrain from noise, and the first creatures."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cohabit.worlds.crafter import draws as purpose
from cohabit.worlds.crafter.draws import Draws
from cohabit.worlds.crafter.noise import Floats, Noise
from cohabit.worlds.crafter.rules import (
    COAL,
    COW,
    DIAMOND,
    GRASS,
    IRON,
    LAVA,
    PATH,
    SAND,
    SKELETON,
    STONE,
    TREE,
    WATER,
    ZOMBIE,
)  # fmt: skip

_LARGEST_NOISE_SEED = 2**31 - 1


class Terrain(NamedTuple):
    materials: NDArray[np.uint8]  # indexed by x, y
    tunnels: NDArray[np.bool_]


def make_terrain(draws: Draws, size: tuple[int, int], start: tuple[int, int]) -> Terrain:
    """The map of a new world. Noise decides the shapes, draws decide where ore and trees are."""
    fields = _Fields(Noise(draws.below(_LARGEST_NOISE_SEED, purpose.NOISE, 0)), size)
    x, y = fields.x, fields.y
    home = 4 - np.sqrt((x - start[0]) ** 2 + (y - start[1]) ** 2)
    home += 2 * fields.at(8, (3, 1))
    home = 1 / (1 + np.exp(-home))
    water = fields.at(3, (15, 1), (5, 0.15)) + 0.1
    water -= 2 * home
    mountain = fields.at(0, (15, 1), (5, 0.3)) / 1.3
    mountain -= 4 * home + 0.3 * water

    made = np.zeros(x.shape, np.uint8)
    tunnels = np.zeros(x.shape, bool)
    rest = np.ones(x.shape, bool)  # cells without a material yet

    def put(material: int, where: NDArray[np.bool_]) -> None:
        made[where & rest] = material
        rest[where] = False

    put(GRASS, home > 0.5)
    high = rest & (mountain > 0.15)
    put(PATH, high & (mountain > 0.3) & fields.above(0.15, 6, 7, high & (mountain > 0.3)))
    for scale_x, scale_y in ((2, 1 / 5), (1 / 5, 2)):  # horizontal tunnels, then vertical ones
        dug = rest & high & fields.above(0.4, 7, 3, rest & high, scale_x, scale_y)
        tunnels |= dug
        put(PATH, dug)
    ore = rest & high
    low = rest & ~high
    beach = (water > 0.25) & (water <= 0.35)
    put(SAND, low & beach & fields.above(-0.2, 4, 9, low & beach))
    put(WATER, low & (water > 0.3))
    meadow = rest & ~high

    coal, iron = fields.above(0, 1, 8, ore), fields.above(0.4, 2, 6, ore)
    lava = (mountain > 0.3) & fields.above(0.35, 6, 5, ore & (mountain > 0.3))
    made[ore] = np.where(lava, LAVA, STONE)[ore]
    made[meadow] = GRASS
    tree = meadow & fields.above(0, 5, 7, meadow)
    # Draws are made cell by cell in the original's order, and only where something depends on them.
    uniform = draws.uniform
    cells = np.flatnonzero(tree | (ore & (coal | iron | (mountain > 0.18))))
    for cell, is_tree, may_coal, may_iron, may_diamond in zip(
        cells.tolist(), tree[cells].tolist(), coal[cells].tolist(), iron[cells].tolist(),
        (mountain[cells] > 0.18).tolist(), strict=True,
    ):  # fmt: skip
        if is_tree:
            if uniform(purpose.TREE_CELL, cell) > 0.8:
                made[cell] = TREE
        elif may_coal and uniform(purpose.COAL_CELL, cell) > 0.85:
            made[cell] = COAL
        elif may_iron and uniform(purpose.IRON_CELL, cell) > 0.75:
            made[cell] = IRON
        elif may_diamond and uniform(purpose.DIAMOND_CELL, cell) > 0.994:
            made[cell] = DIAMOND
    return Terrain(made.reshape(size), tunnels.reshape(size))


def first_creatures(draws: Draws, terrain: Terrain, start: tuple[int, int]) -> Iterator[tuple[int, int, int]]:
    """The creatures of a new world: kind, x, y."""
    uniform = draws.uniform
    height = terrain.materials.shape[1]
    materials, tunnels = terrain.materials.reshape(-1), terrain.tunnels.reshape(-1)
    cells = np.flatnonzero((materials == GRASS) | (materials == PATH) | (materials == SAND))
    away = np.sqrt((cells // height - start[0]) ** 2 + (cells % height - start[1]) ** 2)
    for cell, material, tunnel, distance in zip(
        cells.tolist(), materials[cells].tolist(), tunnels[cells].tolist(), away.tolist(), strict=True
    ):
        if distance > 3 and material == GRASS and uniform(purpose.COW_CELL, cell) > 0.985:
            yield COW, cell // height, cell % height
        elif distance > 10 and uniform(purpose.ZOMBIE_CELL, cell) > 0.993:
            yield ZOMBIE, cell // height, cell % height
        elif material == PATH and tunnel and uniform(purpose.SKELETON_CELL, cell) > 0.95:
            yield SKELETON, cell // height, cell % height


class _Fields:
    """Noise over the cells of a map, numbered x first."""

    def __init__(self, noise: Noise, size: tuple[int, int]) -> None:
        self.noise = noise
        x, y = np.meshgrid(np.arange(size[0]), np.arange(size[1]), indexing="ij")
        self.x, self.y = x.reshape(-1), y.reshape(-1)

    def at(self, z: int, *octaves: tuple[int, float]) -> Floats:
        """The sum of noises of several sizes, each with its weight."""
        value = np.zeros(self.x.shape)
        for size, weight in octaves:
            value += weight * self.noise(self.x / size, self.y / size, z)
        return value

    def above(
        self, limit: float, z: int, size: int, where: NDArray[np.bool_], scale_x: float = 1, scale_y: float = 1
    ) -> NDArray[np.bool_]:
        """Where the noise exceeds the limit; computed only in the given cells."""
        found = np.zeros(self.x.shape, bool)
        cells = np.flatnonzero(where)
        # A fifth is a division in the original, and a division rounds differently from a product.
        x = self.x[cells] / 5 if scale_x == 1 / 5 else self.x[cells] * scale_x
        y = self.y[cells] / 5 if scale_y == 1 / 5 else self.y[cells] * scale_y
        found[cells] = self.noise(x / size, y / size, z) > limit
        return found
