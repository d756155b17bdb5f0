"""The rules as tables that are indexed by arrays, made from ``rules``.

A cell of the map is one byte: the material in the lower half, and in the upper half what stands there (0 for nothing,
otherwise the number of the thing less that of the player, plus one).
"""

from typing import Any

import numpy as np
from msgspec import Struct

from cohabit.worlds.crafter import rules
from cohabit.worlds.crafter.batch.library import Array, Library
from cohabit.worlds.crafter.land import BORDER, FOUR_DIRECTIONS

MATERIAL_BITS, THING_BITS = 0x0F, 0xF0
NO_ITEM = len(rules.ITEMS)
STAY = len(FOUR_DIRECTIONS)  # a direction that leads nowhere


def standing(kind: int) -> int:
    """The upper half of a cell's byte for this thing."""
    return (kind - rules.PLAYER + 1) << 4


class Tables(Struct, frozen=True):
    """The constants that all games of one size share."""

    width: int
    height: int
    stride: int  # from a cell to its neighbour on the right
    cells: int
    chunks: int
    delta: Array  # from a cell to its neighbour, by direction
    dx: Array
    dy: Array
    chunk_at: Array  # by cell; 0 outside
    chunk_cells: Array  # chunk x 144 cells, by x and then y; cell 0, which is outside, where the chunk is smaller
    around: Array  # the twelve cells within two steps, relative to one
    view: Array  # 63 cells of the view, row by row, relative to the player
    # By the byte of a cell:
    walk: Array  # whether a creature can enter it
    player_walks: Array
    fly: Array
    eats_plants: Array  # whether one that eats plants stands there
    seen: Array  # the number in NAMES of what is seen
    # By material:
    collect_tool: Array
    collect_item: Array
    collect_leaves: Array
    collect_achievement: Array  # -1: nothing to collect
    collect_chance: Array
    # By action, from the first one that places or makes:
    first_place: int
    first_make: int
    place_item: Array
    place_amount: Array
    place_where: Array  # action x byte, flat
    place_result: Array
    place_achievement: Array
    make_uses: Array  # action x item
    make_furnace: Array  # whether a furnace is needed, besides a table
    make_result: Array
    make_achievement: Array
    # By the step of the day:
    light: Array
    zombies: Array
    cows: Array


def make_tables(library: Library, width: int, height: int) -> Tables:
    xp = library.xp
    stride = height + 2 * BORDER
    cells = (width + 2 * BORDER) * stride
    down = -(-height // rules.CHUNK)
    chunks = -(-width // rules.CHUNK) * down
    x, y = np.meshgrid(np.arange(width), np.arange(height), indexing="ij")
    chunk_at = np.zeros((width + 2 * BORDER, stride), np.int64)
    chunk_at[BORDER:-BORDER, BORDER:-BORDER] = x // rules.CHUNK * down + y // rules.CHUNK
    chunk_cells = np.zeros((chunks, rules.CHUNK * rules.CHUNK), np.int64)
    chunk_cells[x // rules.CHUNK * down + y // rules.CHUNK, x % rules.CHUNK * rules.CHUNK + y % rules.CHUNK] = (
        (x + BORDER) * stride + y + BORDER
    )
    view_y, view_x = np.meshgrid(np.arange(rules.VIEW_HEIGHT), np.arange(rules.VIEW_WIDTH), indexing="ij")
    view = (view_x - rules.VIEW_WIDTH // 2) * stride + view_y - rules.VIEW_HEIGHT // 2
    light = [rules.daylight(step) for step in range(rules.DAY)]

    def numbers(values: Any) -> Array:
        return library.array(np.asarray(values), xp.int64)

    def truths(values: Any) -> Array:
        return library.array(np.asarray(values), xp.bool)

    def by_byte(materials: frozenset[int]) -> list[bool]:
        return [byte in materials for byte in range(256)]

    collected = [rules.COLLECT.get(material) for material in range(len(rules.MATERIALS))]
    placed, made = list(rules.PLACE.values()), list(rules.MAKE.values())
    plant_eaters = {standing(kind) for kind in (rules.COW, rules.ZOMBIE, rules.SKELETON)}
    assert all(rules.TABLE in making.nearby for making in made)
    return Tables(
        width=width, height=height, stride=stride, cells=cells, chunks=chunks,
        delta=numbers([dx * stride + dy for dx, dy in (*FOUR_DIRECTIONS, (0, 0))]),
        dx=library.array(np.array([dx for dx, _ in (*FOUR_DIRECTIONS, (0, 0))]), xp.int16),
        dy=library.array(np.array([dy for _, dy in (*FOUR_DIRECTIONS, (0, 0))]), xp.int16),
        chunk_at=numbers(chunk_at.reshape(-1)),
        chunk_cells=numbers(chunk_cells.reshape(-1)),
        around=numbers([
            dx * stride + dy for dx in range(-2, 3) for dy in range(-2, 3) if 0 < abs(dx) + abs(dy) <= 2
        ]),
        view=numbers(view.reshape(-1)),
        walk=truths(by_byte(rules.CREATURES_WALK)),
        player_walks=truths(by_byte(rules.PLAYERS_WALK)),
        fly=truths(by_byte(rules.ARROWS_FLY)),
        eats_plants=truths([byte & THING_BITS in plant_eaters for byte in range(256)]),
        seen=library.array(np.array([_seen(byte) for byte in range(256)]), xp.uint8),
        collect_tool=numbers([NO_ITEM if c is None or c.tool is None else c.tool for c in collected]),
        collect_item=numbers([NO_ITEM if c is None or c.item is None else c.item for c in collected]),
        collect_leaves=numbers([material if c is None else c.leaves for material, c in enumerate(collected)]),
        collect_achievement=numbers([-1 if c is None else c.achievement for c in collected]),
        collect_chance=numbers([int((1.0 if c is None else c.chance) * 2**32) for c in collected]),
        first_place=min(rules.PLACE), first_make=min(rules.MAKE),
        place_item=numbers([p.item for p in placed]),
        place_amount=numbers([p.amount for p in placed]),
        place_where=truths([where for p in placed for where in by_byte(p.where)]),
        place_result=numbers([p.places for p in placed]),
        place_achievement=numbers([p.achievement for p in placed]),
        make_uses=numbers([[dict(m.uses).get(item, 0) for item in range(len(rules.ITEMS))] for m in made]),
        make_furnace=truths([len(m.nearby) > 1 for m in made]),
        make_result=numbers([m.gives for m in made]),
        make_achievement=numbers([m.achievement for m in made]),
        light=library.array(np.array(light), xp.float64),
        zombies=numbers([int(3.5 - 3 * value) for value in light]),
        cows=numbers([int(1.5 + value) for value in light]),
    )  # fmt: skip


def _seen(byte: int) -> int:
    thing, material = byte >> 4, byte & MATERIAL_BITS
    number = rules.PLAYER + thing - 1 if thing else material
    return number if number < len(rules.NAMES) else 0
