"""New worlds for many games at once, equal to those of ``terrain`` with keyed draws."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cohabit.worlds.crafter import draws as purpose
from cohabit.worlds.crafter import terrain
from cohabit.worlds.crafter.batch.draws import StepDraws, over
from cohabit.worlds.crafter.batch.library import Array, Library
from cohabit.worlds.crafter.draws import KEY_WORDS, NOISE_WORDS
from cohabit.worlds.crafter.noise import permutations
from cohabit.worlds.crafter.rules import COAL, COW, DIAMOND, GRASS, IRON, PATH, SAND, SKELETON, TREE, ZOMBIE

_WORLDS_AT_ONCE, _WORLDS_AT_ONCE_ON_A_DEVICE = 16, 2048
"""On a CPU the arrays of a few worlds fit into its cache."""


class Worlds(NamedTuple):
    """New worlds: their maps, and their creatures in order of creation."""

    materials: Array  # worlds x width x height
    world: Array  # of each creature, ascending
    kind: Array
    x: Array
    y: Array


class WorldMaker:
    """Makes worlds of one size."""

    def __init__(self, library: Library, size: tuple[int, int]) -> None:
        self.library, self.size = library, size
        self.start = size[0] // 2, size[1] // 2
        self.tables = terrain.NoiseTables(size, library.xp, library.array)
        self.distance = library.array(self.tables.distance(self.start))

    def make(self, words: Sequence[Array]) -> Worlds:
        """A world for each seed, given by the words of the seeds."""
        xp = self.library.xp
        at_once = _WORLDS_AT_ONCE if xp is np else _WORLDS_AT_ONCE_ON_A_DEVICE
        parts = []
        worlds = words[0].shape[0]
        for first in range(0, worlds, at_once):
            made = self._make([word[first : min(first + at_once, worlds)] for word in words])
            parts.append(made._replace(world=made.world + first))
        return Worlds(*(xp.concat(arrays) for arrays in zip(*parts, strict=True)))

    def _make(self, words: Sequence[Array]) -> Worlds:
        library, xp = self.library, self.library.xp
        draws = StepDraws(library, words, xp.zeros_like(words[0]))
        worlds = words[0].shape[0]
        high, low = (library.host(words[KEY_WORDS + number]).tolist() for number in range(NOISE_WORDS))
        seeds = [first << 32 | second for first, second in zip(high, low, strict=True)]
        permutation = library.array(permutations(seeds), xp.int64)
        shapes = terrain.landscape(self.tables, permutation, self.start)
        self._put_trees_and_ore(draws, shapes)
        creatures = self._creatures(draws, shapes)
        return Worlds(xp.reshape(shapes.materials, (worlds, *self.size)), *creatures)

    def _draws(self, draws: StepDraws, what: int, chance: float, where: Any) -> tuple[Array, Array]:
        """The cells among those given in which a draw exceeds the chance, and a mask of them."""
        cells = self.library.where(where)
        number = self.tables.cells
        lucky = draws.bits(what, cells // number, cells % number) > over(chance)
        found = self.library.xp.zeros_like(where)
        found[where] = lucky
        return cells[lucky], found

    def _put_trees_and_ore(self, draws: StepDraws, shapes: terrain.Landscape) -> None:
        free = ~shapes.tree
        tree, _ = self._draws(draws, purpose.TREE_CELL, terrain.TREES_ABOVE, shapes.tree)
        self.library.put(shapes.materials, tree, TREE)
        for material, what, chance, where in (
            (COAL, purpose.COAL_CELL, terrain.COAL_ABOVE, shapes.coal),
            (IRON, purpose.IRON_CELL, terrain.IRON_ABOVE, shapes.iron),
            (DIAMOND, purpose.DIAMOND_CELL, terrain.DIAMONDS_ABOVE, shapes.diamond),
        ):
            cells, found = self._draws(draws, what, chance, where & free)
            self.library.put(shapes.materials, cells, material)
            free = free & ~found

    def _creatures(self, draws: StepDraws, shapes: terrain.Landscape) -> tuple[Array, ...]:
        """World, kind, x and y of the first creatures."""
        xp, materials = self.library.xp, shapes.materials
        worlds = materials.shape[0] // self.tables.cells
        grass, path = materials == GRASS, materials == PATH

        def beyond(distance: int) -> Array:
            far = xp.broadcast_to((self.distance > distance)[None, :], (worlds, self.tables.cells))
            return xp.reshape(far, (-1,))

        free = grass | path | (materials == SAND)
        kind = xp.zeros_like(materials)
        for creature, what, chance, where in (
            (COW, purpose.COW_CELL, terrain.COWS_ABOVE, grass & beyond(terrain.COW_DISTANCE)),
            (ZOMBIE, purpose.ZOMBIE_CELL, terrain.ZOMBIES_ABOVE, beyond(terrain.ZOMBIE_DISTANCE)),
            (SKELETON, purpose.SKELETON_CELL, terrain.SKELETONS_ABOVE, path & shapes.tunnels),
        ):
            cells, found = self._draws(draws, what, chance, where & free)
            self.library.put(kind, cells, creature)
            free = free & ~found
        cells = self.library.where(kind != 0)
        cell = cells % self.tables.cells
        kinds = xp.astype(kind[cells], xp.int64)
        return cells // self.tables.cells, kinds, cell // self.size[1], cell % self.size[1]
