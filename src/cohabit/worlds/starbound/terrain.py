"""The land of a planet from its seed: a surface line, caves, ores, pools, trees, and the guardian's vault.

Everything is drawn from named streams and computed with integers, so a planet is the same on every machine. Saves keep
only what has changed since.
"""

from functools import lru_cache

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from cohabit.model.stream import Stream
from cohabit.worlds.starbound.planets import HEIGHT, PLANET, WIDTH, PlanetKind
from cohabit.worlds.starbound.tiles import AIR, ALTAR, BUSH, CACTUS, ID, LEAVES, TREE

SEA_LEVEL = 36  # the row around which the surface rises and falls
ONE = 1 << 10  # noise values are from 0 to ONE - 1
LANDING = 128  # the column where ships land
VAULT_DEPTH = 78
Grid = NDArray[np.int64]


class Terrain(Struct, frozen=True):
    """A planet as it is made: tiles row by row from the top, and the row of the surface in each column."""

    tiles: bytes
    surface: tuple[int, ...]


@lru_cache(64)
def make_terrain(seed: int, name: str) -> Terrain:
    """The land of a planet."""
    kind = PLANET[name]
    draw = Stream(seed, f"terrain {name}")
    surface = _surface(draw.fork("surface"), kind.roughness)
    rows = np.arange(HEIGHT)[:, None]
    depth = rows - surface[None, :]  # 0 on the surface
    grid = np.where(depth < 0, AIR, ID[kind.ground[1]])
    grid[depth == 0] = ID[kind.ground[0]]
    soil = 3 + _noise(draw.fork("soil"), 16, 1)[0] * 4 // ONE
    grid[depth > soil[None, :]] = ID[kind.rock]
    if kind.rock == "obsidian":  # mostly stone near the surface, so that a pickaxe of stone gets somewhere
        grid[(depth > soil[None, :]) & (depth < 14)] = ID["stone"]
    for number, ore in enumerate(kind.ores):
        _put_ore(draw.fork(f"ore {number}"), grid, depth, ID[ore.tile], ore.share, ore.top)
    _dig_caves(draw.fork("caves"), grid, depth)
    _fill_pools(draw.fork("pools"), grid, surface, kind)
    if kind.deep:
        low = rows >= HEIGHT - 10
        grid[(grid == AIR) & low] = ID[kind.deep]
    grid[-2:] = ID["bedrock"]
    if kind.vault:
        _build_vault(grid)
    _clear_landing(grid, surface, kind)
    _plant(draw.fork("plants"), grid, surface, kind)
    return Terrain(grid.astype(np.uint8).tobytes(), tuple(surface.tolist()))


def _noise(draw: Stream, across: int, down: int, height: int = 1) -> Grid:
    """Smooth noise on ``height`` rows: random values on a lattice, and straight lines between them. It is periodic."""
    columns, rows = WIDTH // across, height // down + 2
    lattice = np.array([draw.below(ONE) for _ in range(columns * rows)], np.int64).reshape(rows, columns)
    x, y = np.arange(WIDTH), np.arange(height)
    left, fx = x // across, x % across
    top, fy = y // down, (y % down)[:, None]
    right = (left + 1) % columns
    upper = lattice[top][:, left] * (across - fx) + lattice[top][:, right] * fx
    lower = lattice[top + 1][:, left] * (across - fx) + lattice[top + 1][:, right] * fx
    mixed = (upper * (down - fy) + lower * fy) // (across * down)
    return mixed.astype(np.int64)


def _surface(draw: Stream, roughness: int) -> Grid:
    wide = _noise(draw.fork("hills"), 32, 1)[0]
    fine = _noise(draw.fork("bumps"), 8, 1)[0]
    line = SEA_LEVEL + ((wide - ONE // 2) * roughness * 2 + (fine - ONE // 2) * 4) // ONE
    clipped: Grid = np.clip(line, 14, 58)
    return clipped


def _put_ore(draw: Stream, grid: Grid, depth: Grid, tile: int, share: int, top: int) -> None:
    """Veins of up to six tiles, more of them further down."""
    for _ in range(WIDTH * (HEIGHT - SEA_LEVEL) * share // 2000):
        x, y = draw.below(WIDTH), draw.between(10, HEIGHT - 4)
        if depth[y, x] < top:
            continue
        for _ in range(draw.between(2, 6)):
            if 0 <= y < HEIGHT and depth[y, x] >= top:
                grid[y, x] = tile
            x, y = (x + draw.between(-1, 1)) % WIDTH, y + draw.between(-1, 1)


def _dig_caves(draw: Stream, grid: Grid, depth: Grid) -> None:
    """Winding tunnels where two noises are near their middle, and halls where a third is high."""
    one = _noise(draw.fork("one"), 16, 8, HEIGHT)
    other = _noise(draw.fork("other"), 8, 6, HEIGHT)
    tunnel = abs(one + other // 2 - 3 * ONE // 4) < ONE // 18
    hall = _noise(draw.fork("hall"), 16, 12, HEIGHT) > ONE * 78 // 100
    deep = depth > 5 + other // 256
    grid[(tunnel | hall) & deep] = AIR
    mouths = [draw.below(WIDTH) for _ in range(7)]
    for mouth in mouths:
        x, y = mouth, int(np.argmax(depth[:, mouth] >= 0))
        lean = draw.choice((-1, 1))
        for _ in range(14):
            for dx in (0, 1):
                for dy in (0, -1):
                    if 0 < y + dy < HEIGHT - 3:
                        grid[y + dy, (x + dx) % WIDTH] = AIR
            x, y = (x + (lean if draw.chance(2, 3) else 0)) % WIDTH, y + (1 if draw.chance(2, 3) else 0)


def _fill_pools(draw: Stream, grid: Grid, surface: Grid, kind: PlanetKind) -> None:
    liquid, count = kind.pools
    for _ in range(count):
        x, half = draw.below(WIDTH), draw.between(3, 6)
        if abs(x - LANDING) < 16:
            continue
        columns = [(x + step) % WIDTH for step in range(-half, half + 1)]
        level = max(int(surface[column]) for column in columns)
        for step, column in zip(range(-half, half + 1), columns, strict=True):
            bottom = level + max(1, (half - abs(step)) // 2 + 1)
            grid[: level + 1, column] = AIR
            grid[level:bottom, column] = ID[liquid]
            grid[bottom : bottom + 2, column] = ID[kind.ground[1]]
            surface[column] = level if liquid == "ice" else bottom


def _clear_landing(grid: Grid, surface: Grid, kind: PlanetKind) -> None:
    """A level place for ships to land."""
    level = int(surface[LANDING])
    for column in range(LANDING - 4, LANDING + 5):
        grid[:level, column] = AIR
        grid[level, column] = ID[kind.ground[0]]
        grid[level + 1 : level + 4, column] = ID[kind.ground[1]]
        surface[column] = level


def _build_vault(grid: Grid) -> None:
    """A hall of brick far below the landing site's opposite side, with an altar in it."""
    top, left, right = VAULT_DEPTH - 6, 10, 30
    grid[top : VAULT_DEPTH + 2, left : right + 1] = ID["brick"]
    grid[top + 1 : VAULT_DEPTH + 1, left + 1 : right] = AIR
    grid[VAULT_DEPTH - 2 : VAULT_DEPTH + 1, left] = AIR
    grid[VAULT_DEPTH, (left + right) // 2] = ALTAR


def _plant(draw: Stream, grid: Grid, surface: Grid, kind: PlanetKind) -> None:
    """Trees, bushes and cacti on open ground, mushrooms on the floors of caves."""
    ground = ID[kind.ground[0]]
    last_tree = -9
    for x in range(2, WIDTH - 2):
        y = int(surface[x])
        roll = draw.below(100)
        if grid[y, x] != ground or grid[y - 1, x] != AIR or abs(x - LANDING) < 2:
            continue
        if roll < kind.trees and x - last_tree > 3:
            grow_tree(grid, x, y - 1, draw.between(3, 5))
            last_tree = x
        elif kind.trees <= roll < kind.trees + kind.bushes:
            grid[y - 1, x] = BUSH
        elif roll >= 100 - kind.cacti:
            grid[y - 1 - draw.below(2) : y, x] = CACTUS
    for _ in range(60):
        x, y = draw.below(WIDTH), draw.between(SEA_LEVEL, HEIGHT - 5)
        if grid[y, x] == AIR and grid[y + 1, x] == ID["stone"] and y > surface[x] + 3:
            grid[y, x] = ID["mushroom"]


def grow_tree(grid: Grid, x: int, base: int, height: int) -> None:
    """A trunk with leaves around its top."""
    top = base - height + 1
    for y, half in ((top - 1, 1), (top, 2), (top + 1, 1)):
        for column in range(x - half, x + half + 1):
            if 0 <= y < HEIGHT and grid[y, column % WIDTH] == AIR:
                grid[y, column % WIDTH] = LEAVES
    grid[top : base + 1, x] = TREE
