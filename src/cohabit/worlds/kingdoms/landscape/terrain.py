"""A world's land, made from its seed: first how high everything lies, then rivers, then what grows.

A continent is a smooth field, bent a little so that no coast is straight, and pushed under water towards the rim of the
map. Ridges raise mountain chains on it. The sea stands where the wanted share of the map is dry, and the kinds of
ground are bands of height, each with its share: every seed has its beaches, its plains and its peaks.
"""

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from cohabit.worlds.kingdoms.chance import Chance
from cohabit.worlds.kingdoms.land import Land
from cohabit.worlds.kingdoms.landscape import climate, noise, rivers
from cohabit.worlds.kingdoms.landscape.noise import Field
from cohabit.worlds.kingdoms.tiles import GROUND_ROW


class Band(Struct, frozen=True):
    """A kind of ground by height: it begins at ``floor`` and makes up ``share`` per mille of the sea or of the land."""

    ground: str
    floor: int
    share: int


SEA = (Band("deep_ocean", 0, 450), Band("close_ocean", 40, 300), Band("shallow_waters", 72, 250))
LAND = (
    Band("sand", 96, 60),
    Band("soil_low", 104, 450),
    Band("soil_high", 150, 280),
    Band("hills", 186, 130),
    Band("mountains", 216, 60),
    Band("summit", 244, 20),
)
SHORE, HILLS, TOP = LAND[0].floor, LAND[3].floor, 255
_FLOORS = np.array([band.floor for band in SEA + LAND], np.int32)
_ROWS = np.array([GROUND_ROW[band.ground] for band in SEA + LAND], np.uint8)


def generate(seed: int, zones_x: int, zones_y: int) -> Land:
    """The land of this seed, ``zones_x`` by ``zones_y`` zones large."""
    land = Land(zones_x, zones_y)
    chance = Chance(seed)
    land.level[:] = _levels(chance, land.width, land.height).ravel()
    land.ground[:] = ground_at(land.level)
    rivers.carve(chance, land, SHORE, HILLS)
    climate.grow(chance, land)
    land.chart[:] = land.ground
    return land


def ground_at(level: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The kind of ground that lies at these heights."""
    rows: NDArray[np.uint8] = _ROWS[np.searchsorted(_FLOORS, level, side="right") - 1]
    return rows


def _levels(chance: Chance, width: int, height: int) -> Field:
    """How high every tile lies, from 0 to 255."""
    heights = _continent(chance, width, height)
    dry_share = 470 + chance.one(70, "dry share", 0)
    (sea,) = _cuts(heights, [1000 - dry_share])
    dry = heights >= sea
    levels = np.empty_like(heights)
    levels[~dry] = _banded(heights[~dry], SEA, SHORE - 1)
    levels[dry] = _banded(_with_ridges(chance, heights - sea)[dry], LAND, TOP)
    return levels


def _continent(chance: Chance, width: int, height: int) -> Field:
    spacing = max(32, min(256, min(width, height) // 3))
    reach = spacing // 2
    wide, tall = width + 2 * reach, height + 2 * reach
    plain = noise.field(chance, "continent", wide, tall, spacing) - _rim(wide, tall, reach, reach + spacing * 3 // 4)
    bend_x = (noise.field(chance, "bend x", width, height, spacing * 2 // 3, 6) - noise.MIDDLE) * reach >> 15
    bend_y = (noise.field(chance, "bend y", width, height, spacing * 2 // 3, 6) - noise.MIDDLE) * reach >> 15
    x = np.arange(width, dtype=np.int32)[None, :] + reach + bend_x
    y = np.arange(height, dtype=np.int32)[:, None] + reach + bend_y
    return plain[y, x] - _rim(width, height, 0, 16)


def _rim(width: int, height: int, outer: int, inner: int) -> Field:
    """How far the land is pushed down: all the way up to ``outer`` tiles from the edge, no more from ``inner`` on."""
    sides = []
    for length in (width, height):
        where = np.arange(length, dtype=np.int64)
        missing = inner - np.clip(np.minimum(where, length - 1 - where), outer, inner)
        sides.append((missing**2 * noise.MOST // (inner - outer) ** 2).astype(np.int32))
    across, down = sides
    return across[None, :] + down[:, None]


def _with_ridges(chance: Chance, above: Field) -> Field:
    """The height above the sea, with mountain chains added where the land is wide enough to carry them."""
    height, width = above.shape
    crease = noise.field(chance, "ridges", width, height, max(32, min(128, min(width, height) // 4)), 6)
    sharp = np.maximum(0, noise.MOST - 4 * np.abs(crease - noise.MIDDLE)) >> 3
    carried = np.clip(above, 0, 1 << 13)
    raised: Field = above + (sharp * carried >> 12)
    return raised


def _cuts(values: Field, shares: list[int]) -> list[int]:
    """The values below which these shares (per mille) of all values lie."""
    flat = values.ravel()
    places = [flat.size * share // 1000 for share in shares]
    return [int(value) for value in np.partition(flat, places)[places]]


def _banded(values: Field, bands: tuple[Band, ...], top: int) -> Field:
    """Stretch values over the levels of these bands, so that each band gets its share."""
    shares = [sum(band.share for band in bands[:i]) for i in range(1, len(bands))]
    starts = [int(values.min()), *_cuts(values, shares)]
    ends = [*starts[1:], int(values.max()) + 1]
    floors = [*(band.floor for band in bands), top + 1]
    levels = np.empty_like(values)
    for i, (start, end) in enumerate(zip(starts, ends, strict=True)):
        here = (values >= start) & (values < end)
        room = floors[i + 1] - floors[i]
        levels[here] = floors[i] + (values[here] - start) * room // max(1, end - start)
    return levels
