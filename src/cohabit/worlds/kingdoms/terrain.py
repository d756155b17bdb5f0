"""Makes the land of a world from its seed: heights, then rivers, then climate and plants.

A continent is a smooth random field, distorted so that no coast is straight, and pushed under water towards the edge of
the map. Ridges add mountain chains. The sea level is chosen so that the wanted share of the map is dry, and the kinds
of ground are bands of height with fixed shares: every seed gets beaches, plains and peaks. Whole numbers only, so the
land of a seed is the same on every machine.
"""

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from cohabit.worlds.kingdoms import rivers
from cohabit.worlds.kingdoms.chance import U64, Chance
from cohabit.worlds.kingdoms.land import Land
from cohabit.worlds.kingdoms.tiles import CAN_GROW, GROUND_ROW, TOP_ROW

Field = NDArray[np.int32]
Degrees = NDArray[np.int64]


class Band(Struct, frozen=True):
    """A kind of ground by height: it begins at ``floor`` and covers ``share`` per mille of the sea or of the land."""

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
NOISE_MAX, NOISE_MIDDLE = 65535, 32768
"""A noise field has values from 0 to NOISE_MAX."""
_FLOORS = np.array([band.floor for band in SEA + LAND], np.int32)
_ROWS = np.array([GROUND_ROW[band.ground] for band in SEA + LAND], np.uint8)
_ONE, _SHIFT = 4096, 12  # the weight 1 of a blend, as a fixed-point number


def generate(seed: int, zones_x: int, zones_y: int) -> Land:
    """The land of this seed, ``zones_x`` by ``zones_y`` zones large."""
    land = Land(zones_x, zones_y)
    chance = Chance(seed)
    land.level[:] = _levels(chance, land.width, land.height).ravel()
    land.ground[:] = ground_at(land.level)
    rivers.carve(chance, land, SHORE, HILLS)
    _plant(chance, land)
    land.chart[:] = land.ground
    return land


# -- heights --------------------------------------------------------------------------------------
def ground_at(level: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The kind of ground at these heights."""
    rows: NDArray[np.uint8] = _ROWS[np.searchsorted(_FLOORS, level, side="right") - 1]
    return rows


def _levels(chance: Chance, width: int, height: int) -> Field:
    """The height of every tile, from 0 to 255."""
    heights = _continent(chance, width, height)
    dry_share = 470 + chance.one(70, "dry share", 0)
    (sea,) = _quantiles(heights, [1000 - dry_share])
    dry = heights >= sea
    levels = np.empty_like(heights)
    levels[~dry] = _banded(heights[~dry], SEA, SHORE - 1)
    levels[dry] = _banded(_with_ridges(chance, heights - sea)[dry], LAND, TOP)
    return levels


def _continent(chance: Chance, width: int, height: int) -> Field:
    spacing = max(32, min(256, min(width, height) // 3))
    reach = spacing // 2
    wide, tall = width + 2 * reach, height + 2 * reach
    plain = _noise(chance, "continent", wide, tall, spacing) - _rim(wide, tall, reach, reach + spacing * 3 // 4)
    bend_x = (_noise(chance, "bend x", width, height, spacing * 2 // 3, 6) - NOISE_MIDDLE) * reach >> 15
    bend_y = (_noise(chance, "bend y", width, height, spacing * 2 // 3, 6) - NOISE_MIDDLE) * reach >> 15
    x = np.arange(width, dtype=np.int32)[None, :] + reach + bend_x
    y = np.arange(height, dtype=np.int32)[:, None] + reach + bend_y
    return plain[y, x] - _rim(width, height, 0, 16)


def _rim(width: int, height: int, outer: int, inner: int) -> Field:
    """The amount by which the land is lowered: fully within ``outer`` tiles of the edge, not at all from ``inner``."""
    sides = []
    for length in (width, height):
        where = np.arange(length, dtype=np.int64)
        missing = inner - np.clip(np.minimum(where, length - 1 - where), outer, inner)
        sides.append((missing**2 * NOISE_MAX // (inner - outer) ** 2).astype(np.int32))
    across, down = sides
    return across[None, :] + down[:, None]


def _with_ridges(chance: Chance, above: Field) -> Field:
    """The height above the sea, with mountain chains where the land is wide enough."""
    height, width = above.shape
    crease = _noise(chance, "ridges", width, height, max(32, min(128, min(width, height) // 4)), 6)
    sharp = np.maximum(0, NOISE_MAX - 4 * np.abs(crease - NOISE_MIDDLE)) >> 3
    carried = np.clip(above, 0, 1 << 13)
    raised: Field = above + (sharp * carried >> 12)
    return raised


def _quantiles(values: Field, shares: list[int]) -> list[int]:
    """The values below which these shares (per mille) of all values lie."""
    flat = values.ravel()
    places = [flat.size * share // 1000 for share in shares]
    return [int(value) for value in np.partition(flat, places)[places]]


def _banded(values: Field, bands: tuple[Band, ...], top: int) -> Field:
    """Scale values to the levels of these bands, so that each band gets its share."""
    shares = [sum(band.share for band in bands[:i]) for i in range(1, len(bands))]
    starts = [int(values.min()), *_quantiles(values, shares)]
    ends = [*starts[1:], int(values.max()) + 1]
    floors = [*(band.floor for band in bands), top + 1]
    levels = np.empty_like(values)
    for i, (start, end) in enumerate(zip(starts, ends, strict=True)):
        here = (values >= start) & (values < end)
        room = floors[i + 1] - floors[i]
        levels[here] = floors[i] + (values[here] - start) * room // max(1, end - start)
    return levels


# -- climate and plants ---------------------------------------------------------------------------
def _plant(chance: Chance, land: Land) -> None:
    """Cover the ground according to warmth and rain."""
    warmth, rain = _warmth(chance, land), _rain(chance, land)
    soil = CAN_GROW[land.ground]
    rock = (land.ground == GROUND_ROW["hills"]) | (land.ground == GROUND_ROW["mountains"])
    for top, places in (
        ("grass", soil),
        ("savanna", soil & (warmth > 150) & (rain < 130)),
        ("desert", soil & (warmth > 140) & (rain < 85)),
        ("forest", soil & (rain > 140)),
        ("jungle", soil & (warmth > 165) & (rain > 125)),
        ("taiga", soil & (warmth < 75) & (rain > 90)),
        ("swamp", soil & (land.level < 118) & (warmth > 90) & (rain > 150)),
        ("snow", (soil & (warmth < 30)) | (rock & (warmth < 15))),
    ):
        land.top[places] = TOP_ROW[top]
    _sprinkle(chance, land)


def _warmth(chance: Chance, land: Land) -> Degrees:
    """The warmth of every cell, about 0 to 255: cold at the upper and lower edge of the map, and high up."""
    y = np.arange(land.height, dtype=np.int64)[:, None]
    from_edge = np.minimum(y, land.height - 1 - y) * 510 // land.height
    wobble = _noise(chance, "warmth", land.width, land.height, 64, 6) - NOISE_MIDDLE
    height = np.maximum(0, land.level.reshape(land.height, land.width).astype(np.int64) - 120)
    warmth: Degrees = (from_edge + (wobble >> 9) - height).ravel()
    return warmth


def _rain(chance: Chance, land: Land) -> Degrees:
    """The rain on every cell, about 0 to 255."""
    spacing = max(24, min(96, min(land.width, land.height) // 6))
    wide = _noise(chance, "rain", land.width, land.height, spacing) - NOISE_MIDDLE
    return ((wide * 3 >> 9) + 118).astype(np.int64).ravel()


def _sprinkle(chance: Chance, land: Land) -> None:
    """Add patches of flowers in the grass and of mushrooms in the woods."""
    patch = _noise(chance, "patches", land.width, land.height, 12, 3).ravel() > 42000
    few = chance.hits(1, 3, "sprinkle", 0, np.arange(land.size))
    flowers = (land.top == TOP_ROW["grass"]) & patch & few
    mushrooms = ((land.top == TOP_ROW["forest"]) | (land.top == TOP_ROW["taiga"])) & patch & few
    land.top[flowers] = TOP_ROW["flowers"]
    land.top[mushrooms] = TOP_ROW["mushrooms"]


# -- noise ----------------------------------------------------------------------------------------
def _noise(chance: Chance, purpose: str, width: int, height: int, spacing: int, octaves: int = 16) -> Field:
    """A smooth random field whose largest features are about ``spacing`` tiles wide.

    Each octave blends between random values on a lattice; the next has half the spacing and half the strength.
    """
    total = np.zeros((height, width), np.int32)
    for octave in range(octaves):
        total += _lattice(chance, purpose, octave, width, height, spacing) >> (octave + 1)
        spacing //= 2
        if spacing == 0:
            break
    return total


def _lattice(chance: Chance, purpose: str, octave: int, width: int, height: int, spacing: int) -> Field:
    across, down = width // spacing + 2, height // spacing + 2
    points = chance.bits(purpose, octave, np.arange(across * down)) >> U64(48)
    rows = _stretched(points.astype(np.int32).reshape(down, across), spacing, height)
    return _stretched(np.ascontiguousarray(rows.T), spacing, width).T


def _stretched(points: Field, spacing: int, length: int) -> Field:
    """Blend smoothly from each row to the next over ``spacing`` rows; returns the first ``length`` rows."""
    where = np.arange(length)
    start = where // spacing
    along = where % spacing * _ONE // spacing
    weight = (along * along * (3 * _ONE - 2 * along) >> (2 * _SHIFT)).astype(np.int32)[:, None]
    stretched: Field = (points[start] * (_ONE - weight) + points[start + 1] * weight) >> _SHIFT
    return stretched
