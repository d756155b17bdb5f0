"""New worlds for many games at once."""

from typing import NamedTuple

import numpy as np

from cohabit.worlds.crafter.batch.library import Array, Library
from cohabit.worlds.crafter.draws import KeyedDraws
from cohabit.worlds.crafter.terrain import first_creatures, make_terrain


class Worlds(NamedTuple):
    materials: Array  # games x width x height
    creature_game: Array  # ascending
    creature_kind: Array
    creature_x: Array
    creature_y: Array


def make_worlds(library: Library, words, size: tuple[int, int], start: tuple[int, int], seeds=()) -> Worlds:
    mats, cs = [], []
    for n, seed in enumerate(seeds):
        d = KeyedDraws(seed)
        t = make_terrain(d, size, start)
        mats.append(t.materials)
        cs += [(n, *c) for c in first_creatures(d, t, start)]
    c = np.array(cs, np.int64).reshape(-1, 4)
    return Worlds(library.array(np.array(mats)), *(library.array(np.ascontiguousarray(c[:, i])) for i in range(4)))
