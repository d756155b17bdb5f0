"""Painting tiles: colours with a little light and texture, so that a map looks like land and not like a table.

Light falls from the upper left. The deeper the sea the darker it is. Each kind of tile has a grain of four by four
points, turned around differently from cell to cell, that shows once tiles are large enough.
"""

import numpy as np
from numpy.typing import NDArray

from cohabit.worlds.kingdoms.drawing.palette import COVER_RGB, FIRST_BUILDING, FIRST_TOP, KINGDOM_RGB, Colours
from cohabit.worlds.kingdoms.drawing.scene import Scene
from cohabit.worlds.kingdoms.landscape.terrain import SHORE
from cohabit.worlds.kingdoms.tiles import BUILDINGS, GROUND_ROW, IS_WATER, TOP_ROW

Shade = NDArray[np.int16]
LIGHT_MOST = 30
FOG = np.array([15, 20, 32], np.int16)
GRAIN = 4
"""Points on a side of a grain."""

_ROUND = ((2, 12, 6, -8), (12, 22, 4, -16), (4, 6, -12, -22), (-8, -14, -20, -10))
_TUFTS = ((0, 4, 0, -3), (-3, 0, 3, 0), (0, -4, 0, 5), (3, 0, -5, 0))
_PEAK = ((0, 10, -10, 0), (8, 16, -18, -6), (14, 8, -12, -20), (6, 2, -6, -12))
_ROOF = ((22, 30, 26, 8), (14, 20, 14, -8), (-4, -6, -10, -26), (-46, -52, -56, -62))
_ROWS = ((12, 12, 12, 12), (-12, -12, -12, -12), (12, 12, 12, 12), (-12, -12, -12, -12))
_WAVES = ((0, 3, 3, 0), (0, 0, 0, 0), (-2, 0, 0, -2), (0, 0, 0, 0))
_GRAINS = {
    **{FIRST_TOP + TOP_ROW[top]: _ROUND for top in ("forest", "jungle", "taiga", "mushrooms", "crystal")},
    **{FIRST_TOP + TOP_ROW[top]: _TUFTS for top in ("grass", "savanna", "swamp", "flowers", "wasteland", "burnt")},
    FIRST_TOP + TOP_ROW["farmland"]: _ROWS,
    **{GROUND_ROW[ground]: _PEAK for ground in ("hills", "mountains", "summit")},
    **{GROUND_ROW[ground]: _WAVES for ground in ("deep_ocean", "close_ocean", "shallow_waters", "river")},
}


def _grain_table() -> Shade:
    """The grain of every cover, four ways: as it is, and turned around. Rock is lit from the left and stays so."""
    table = np.zeros((len(COVER_RGB), 4, GRAIN, GRAIN), np.int16)
    for cover, grain in _GRAINS.items():
        points = np.array(grain, np.int16)
        mirrored = points if grain is _PEAK else points[:, ::-1]
        table[cover] = points, mirrored, points.T, points
    table[FIRST_BUILDING + 1 : FIRST_BUILDING + len(BUILDINGS)] = np.array(_ROOF, np.int16)
    return table.reshape(-1, GRAIN, GRAIN)


_GRAIN_TABLE = _grain_table()


def tiles(scene: Scene, colours: NDArray[np.int64]) -> Colours:
    """One point for every tile. ``colours`` are rows of the palette by ids of kingdoms."""
    painted = COVER_RGB[scene.cover].astype(np.int16)
    painted += (_light(scene) + _mottle(scene.cover.shape))[..., None]
    owned = scene.owner > 0
    painted[owned] = (painted[owned] * 3 + KINGDOM_RGB[colours[scene.owner[owned]]]) >> 2
    painted[scene.hidden] = (painted[scene.hidden] * 3 >> 3) + FOG
    return np.clip(painted, 0, 255).astype(np.uint8)


def grain(scene: Scene) -> Shade:
    """How much lighter or darker the grain makes every point of a map with four by four points a tile."""
    height, width = scene.cover.shape
    turned = scene.cover.astype(np.intp) * 4 + _hash(width, height) % 4
    by_tile = _GRAIN_TABLE[turned]  # rows and columns of tiles, and in each of them rows and columns of points
    by_tile[scene.hidden] = 0
    shade: Shade = by_tile.transpose(0, 2, 1, 3).reshape(height * GRAIN, width * GRAIN)
    return shade


def _light(scene: Scene) -> Shade:
    """Slopes that face the upper left are bright, those that turn away are dark; under water depth counts more."""
    height, width = scene.level.shape
    wide = np.pad(scene.level.astype(np.int16), 2, mode="edge")
    smooth = np.zeros((height + 2, width + 2), np.int16)
    for dy in range(3):
        for dx in range(3):
            smooth += wide[dy : dy + height + 2, dx : dx + width + 2]
    slope = np.clip((smooth[2:, 2:] - smooth[:-2, :-2]) // 4, -LIGHT_MOST, LIGHT_MOST)
    depth = np.minimum(scene.level, SHORE).astype(np.int16) // 4 - 14
    light: Shade = np.where(IS_WATER[scene.ground], slope // 3 + depth, slope)
    return light


def _mottle(shape: tuple[int, ...]) -> Shade:
    """No two tiles are quite alike."""
    height, width = shape
    return (_hash(width, height) // 4 % 9 - 4).astype(np.int16)


def _hash(width: int, height: int) -> NDArray[np.uint32]:
    """A number for every cell that looks random and is always the same."""
    bits = np.arange(width * height, dtype=np.uint32).reshape(height, width) * np.uint32(0x9E3779B1)
    bits = (bits ^ (bits >> np.uint32(15))) * np.uint32(0x85EBCA6B)
    return bits >> np.uint32(16)
