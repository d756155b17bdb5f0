"""The tiles of a picture: what is visible (``Scene``), and its colours with light and texture.

Everything that an eye does not see is left out of the scene, before anything is drawn. An unseen cell keeps its ground
from the public chart, and nothing else.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from cohabit.worlds.kingdoms.creatures import Effect
from cohabit.worlds.kingdoms.sim import City, Kingdom, Sim
from cohabit.worlds.kingdoms.species import SPECIES
from cohabit.worlds.kingdoms.terrain import LAND, SEA, SHORE
from cohabit.worlds.kingdoms.tiles import BUILDINGS, GROUND, GROUND_ROW, IS_WATER, TOP_ROW, TOPS

Colours = NDArray[np.uint8]
Seen = NDArray[np.bool_]
Shade = NDArray[np.int16]


# -- palette --------------------------------------------------------------------------------------
KINGDOM_COLOURS: tuple[str, ...] = (
    "#d7263d", "#2b6cf0", "#f5c211", "#8e3bd1", "#ff7f1f", "#17c3c9", "#e84bb0", "#f7f3e8", "#7a2e1d", "#1b1f3b",
    "#b08cff", "#a6e22e", "#c2185b", "#9ad1ff", "#5b5b12", "#ff9aa2", "#00876b", "#ffdf8e", "#3f51b5", "#6d4c41",
)  # fmt: skip
"""``Kingdom.colour`` is a row of this; after the last row it starts again."""


def colour_of(row: int) -> str:
    """The colour of a kingdom, as #rrggbb."""
    return KINGDOM_COLOURS[row % len(KINGDOM_COLOURS)]


def rgb(colours: Iterable[str]) -> Colours:
    """Colours written as #rrggbb, as rows of red, green and blue."""
    return np.array([list(bytes.fromhex(colour.removeprefix("#"))) for colour in colours], np.uint8)


KINGDOM_RGB = rgb(KINGDOM_COLOURS)
SPECIES_RGB = rgb(kind.colour for kind in SPECIES)
COVER_RGB = np.concatenate([rgb(kind.colour for kind in kinds) for kinds in (GROUND, TOPS, BUILDINGS)])
"""The visible cover of a cell: rows of GROUND, then of TOPS, then of BUILDINGS."""
FIRST_TOP, FIRST_BUILDING = len(GROUND), len(GROUND) + len(TOPS)


# -- what is visible ------------------------------------------------------------------------------
_USUAL_LEVEL = np.full(len(GROUND), 128, np.uint8)
for _band in SEA + LAND:
    _USUAL_LEVEL[GROUND_ROW[_band.ground]] = _band.floor


class Scene(Struct, frozen=True):
    """Maps of rows and columns of tiles, and what is on them."""

    cover: NDArray[np.uint8]  # row of COVER_RGB
    ground: NDArray[np.uint8]
    level: NDArray[np.uint8]
    owner: NDArray[np.int32]  # id of the kingdom that owns it; 0: none
    hidden: NDArray[np.bool_]
    burning: NDArray[np.int64]  # cells
    rows: NDArray[np.int64]  # of the visible creatures
    cities: list[City]


def scene(sim: Sim, seen: Seen | None) -> Scene:
    """The visible part of a world. ``seen`` has a flag for every cell; None: everything is visible."""
    land, creatures = sim.land, sim.creatures
    shown = np.ones(land.size, np.bool_) if seen is None else seen
    ground = np.where(shown, land.ground, land.chart)
    rows = np.flatnonzero(shown[land.cells(creatures.x, creatures.y)])
    if seen is not None:
        rows = rows[(creatures.effects[rows] & Effect.INVISIBLE) == 0]

    def as_map(layer: NDArray[Any]) -> NDArray[Any]:
        return layer.reshape(land.height, land.width)

    return Scene(
        cover=as_map(_cover(ground, land.top * shown, land.built * shown)),
        ground=as_map(ground),
        level=as_map(np.where(shown, land.level, _USUAL_LEVEL[ground])),
        owner=as_map(sim.owners()[land.city] * shown),
        hidden=as_map(~shown),
        burning=land.burning[shown[land.burning]],
        rows=rows,
        cities=[city for city in sim.cities.values() if shown[land.cell(city.x, city.y)]],
    )


def colours_by_id(kingdoms: dict[int, Kingdom]) -> NDArray[np.int64]:
    """The row of KINGDOM_COLOURS for every kingdom id."""
    rows = np.zeros(max(kingdoms, default=0) + 1, np.int64)
    for kingdom in kingdoms.values():
        rows[kingdom.id] = kingdom.colour % len(KINGDOM_COLOURS)
    return rows


def _cover(ground: NDArray[np.uint8], top: NDArray[np.uint8], built: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The uppermost thing on every cell."""
    cover = np.where(top > 0, top + np.uint8(FIRST_TOP), ground)
    return np.where(built > 0, built + np.uint8(FIRST_BUILDING), cover)


# -- colours of the tiles -------------------------------------------------------------------------
MAX_LIGHT = 30
FOG = np.array([15, 20, 32], np.int16)
GRAIN = 4
"""Points on a side of a grain: the texture of a tile, shown when tiles are large enough."""
_ROUND = ((2, 12, 6, -8), (12, 22, 4, -16), (4, 6, -12, -22), (-8, -14, -20, -10))
_TUFTS = ((0, 4, 0, -3), (-3, 0, 3, 0), (0, -4, 0, 5), (3, 0, -5, 0))
_PEAK = ((0, 10, -10, 0), (8, 16, -18, -6), (14, 8, -12, -20), (6, 2, -6, -12))
_ROOF = ((22, 30, 26, 8), (14, 20, 14, -8), (-4, -6, -10, -26), (-46, -52, -56, -62))
_FURROWS = ((12, 12, 12, 12), (-12, -12, -12, -12), (12, 12, 12, 12), (-12, -12, -12, -12))
_WAVES = ((0, 3, 3, 0), (0, 0, 0, 0), (-2, 0, 0, -2), (0, 0, 0, 0))
_GRAINS = {
    **{FIRST_TOP + TOP_ROW[top]: _ROUND for top in ("forest", "jungle", "taiga", "mushrooms", "crystal")},
    **{FIRST_TOP + TOP_ROW[top]: _TUFTS for top in ("grass", "savanna", "swamp", "flowers", "wasteland", "burnt")},
    FIRST_TOP + TOP_ROW["farmland"]: _FURROWS,
    **{GROUND_ROW[ground]: _PEAK for ground in ("hills", "mountains", "summit")},
    **{GROUND_ROW[ground]: _WAVES for ground in ("deep_ocean", "close_ocean", "shallow_waters", "river")},
}


def _grain_table() -> Shade:
    """The grain of every cover in four variants, turned and mirrored. Rock is not mirrored, because of the light."""
    table = np.zeros((len(COVER_RGB), 4, GRAIN, GRAIN), np.int16)
    for cover, grain in _GRAINS.items():
        points = np.array(grain, np.int16)
        mirrored = points if grain is _PEAK else points[:, ::-1]
        table[cover] = points, mirrored, points.T, points
    table[FIRST_BUILDING + 1 : FIRST_BUILDING + len(BUILDINGS)] = np.array(_ROOF, np.int16)
    return table.reshape(-1, GRAIN, GRAIN)


_GRAIN_TABLE = _grain_table()


def paint(scene: Scene, colours: NDArray[np.int64]) -> Colours:
    """One point for every tile. ``colours`` comes from ``colours_by_id``."""
    painted = COVER_RGB[scene.cover].astype(np.int16)
    painted += (_light(scene) + _mottle(scene.cover.shape))[..., None]
    owned = scene.owner > 0
    painted[owned] = (painted[owned] * 3 + KINGDOM_RGB[colours[scene.owner[owned]]]) >> 2
    painted[scene.hidden] = (painted[scene.hidden] * 3 >> 3) + FOG
    return np.clip(painted, 0, 255).astype(np.uint8)


def texture(scene: Scene) -> Shade:
    """The brightness that the grain adds to or takes from every point of a map, with four by four points per tile."""
    height, width = scene.cover.shape
    turned = scene.cover.astype(np.intp) * 4 + _hash(width, height) % 4
    by_tile = _GRAIN_TABLE[turned]  # rows and columns of tiles, and for each of them rows and columns of points
    by_tile[scene.hidden] = 0
    shade: Shade = by_tile.transpose(0, 2, 1, 3).reshape(height * GRAIN, width * GRAIN)
    return shade


def _light(scene: Scene) -> Shade:
    """Light from the upper left: slopes that face it are bright, others dark. Under water depth counts more."""
    height, width = scene.level.shape
    wide = np.pad(scene.level.astype(np.int16), 2, mode="edge")
    smooth = np.zeros((height + 2, width + 2), np.int16)
    for dy in range(3):
        for dx in range(3):
            smooth += wide[dy : dy + height + 2, dx : dx + width + 2]
    slope = np.clip((smooth[2:, 2:] - smooth[:-2, :-2]) // 4, -MAX_LIGHT, MAX_LIGHT)
    depth = np.minimum(scene.level, SHORE).astype(np.int16) // 4 - 14
    light: Shade = np.where(IS_WATER[scene.ground], slope // 3 + depth, slope)
    return light


def _mottle(shape: tuple[int, ...]) -> Shade:
    """A small variation from tile to tile."""
    height, width = shape
    return (_hash(width, height) // 4 % 9 - 4).astype(np.int16)


def _hash(width: int, height: int) -> NDArray[np.uint32]:
    """A fixed pseudo-random number for every cell."""
    bits = np.arange(width * height, dtype=np.uint32).reshape(height, width) * np.uint32(0x9E3779B1)
    bits = (bits ^ (bits >> np.uint32(15))) * np.uint32(0x85EBCA6B)
    return bits >> np.uint32(16)
