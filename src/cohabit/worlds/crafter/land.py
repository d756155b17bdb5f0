"""The map and what stands on it.

The map has a border of cells that are ``OUTSIDE``, so neither a rule nor a view has to check the edge. A cell is one
number, so that its four neighbours are at fixed distances.
"""

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from cohabit.model.travel import scaled
from cohabit.worlds.crafter import rules
from cohabit.worlds.crafter.player import Player
from cohabit.worlds.crafter.repeats import Repeats

BORDER = rules.VIEW_WIDTH // 2  # cells
FOUR_DIRECTIONS = ((-1, 0), (1, 0), (0, -1), (0, 1))


class Thing(Struct, eq=False):
    """Something that stands on a cell and is not a player."""

    kind: int
    x: int
    y: int
    cell: int
    health: int
    timer: int = 0  # a zombie's pause, a skeleton's reload, a plant's growth
    dx: int = 0  # the flight of an arrow
    dy: int = 0
    items: list[int] | None = None  # the contents of a bundle
    killed: bool = False  # by a player in this step: nobody else can kill it again
    removed: bool = False  # it acts once more in the step in which it is removed

    @property
    def ripe(self) -> bool:
        return self.timer > rules.RIPE_AFTER


class Chunk(Struct, eq=False):
    """A square of 12 x 12 cells. Creatures are spawned and removed chunk by chunk."""

    number: int
    x: int
    y: int
    width: int
    height: int
    grass: int = 0
    path: int = 0
    creatures: dict[int, dict[Thing, None]] = {}  # by kind; a dict is a set in the order of entering


class Land:
    """The cells, the things on them, and the chunks they are counted by."""

    def __init__(self, materials: NDArray[np.uint8]) -> None:
        self.width, self.height = int(materials.shape[0]), int(materials.shape[1])
        self.things: dict[Thing, None] = {}  # in the order of their creation, which is the order in which they act
        self.stride = self.height + 2 * BORDER
        padded = np.zeros((self.width + 2 * BORDER, self.stride), np.uint8)
        padded[BORDER:-BORDER, BORDER:-BORDER] = materials
        self.material = bytearray(padded.tobytes())
        self.at: list[Thing | Player | None] = [None] * len(self.material)
        down = -(-self.height // rules.CHUNK)
        self.grid = [
            Chunk(
                across * down + row, x, y, min(rules.CHUNK, self.width - x), min(rules.CHUNK, self.height - y),
                creatures={rules.ZOMBIE: {}, rules.SKELETON: {}, rules.COW: {}},
            )
            for across, x in enumerate(range(0, self.width, rules.CHUNK))
            for row, y in enumerate(range(0, self.height, rules.CHUNK))
        ]  # fmt: skip
        self.chunk_at = [
            x // rules.CHUNK * down + y // rules.CHUNK if 0 <= x < self.width and 0 <= y < self.height else -1
            for x in range(-BORDER, self.width + BORDER)
            for y in range(-BORDER, self.height + BORDER)
        ]
        for chunk in self.grid:
            part = materials[chunk.x : chunk.x + chunk.width, chunk.y : chunk.y + chunk.height]
            chunk.grass, chunk.path = int((part == rules.GRASS).sum()), int((part == rules.PATH).sum())
        self.chunks: dict[int, Chunk] = {}  # those that something has entered, in that order
        self.damage: dict[int, float] = {}  # players who take more or less of it than usual, by their numbers
        self.repeats = Repeats()

    def harm(self, player: Player, damage: int) -> int:
        """The part of the damage from a creature that a player takes."""
        factor = self.damage.get(player.number, 1.0)
        return damage if factor == 1.0 else min(rules.MOST, scaled(damage, factor))

    def cell(self, x: int, y: int) -> int:
        return (x + BORDER) * self.stride + y + BORDER

    def materials(self) -> NDArray[np.uint8]:
        """The map, indexed by x and y."""
        return np.frombuffer(self.material, np.uint8).reshape(-1, self.stride)[BORDER:-BORDER, BORDER:-BORDER]

    def set_material(self, cell: int, material: int) -> None:
        chunk = self.grid[self.chunk_at[cell]]
        for kind, change in ((self.material[cell], -1), (material, 1)):
            if kind == rules.GRASS:
                chunk.grass += change
            elif kind == rules.PATH:
                chunk.path += change
        self.material[cell] = material

    def add(self, kind: int, x: int, y: int) -> Thing:
        thing = Thing(kind, x, y, self.cell(x, y), rules.FIRST_HEALTH[kind])
        self.things[thing] = None
        self.at[thing.cell] = thing
        self.enter(thing)
        return thing

    def enter(self, thing: Thing | Player) -> None:
        number = self.chunk_at[thing.cell]
        chunk = self.chunks.get(number)
        if chunk is None:
            chunk = self.chunks[number] = self.grid[number]
        if thing.kind in chunk.creatures:
            chunk.creatures[thing.kind][thing] = None  # type: ignore[index]  # a player's kind is not among them

    def remove(self, thing: Thing) -> None:
        if thing.removed:
            return
        thing.removed = True
        del self.things[thing]
        self.at[thing.cell] = None
        creatures = self.grid[self.chunk_at[thing.cell]].creatures.get(thing.kind)
        if creatures is not None:
            del creatures[thing]

    def move(self, thing: Thing | Player, dx: int, dy: int, walks: frozenset[int] = rules.CREATURES_WALK) -> bool:
        """Move by one cell if it is free. Also true of a creature that is gone: it acts once more, but stays put."""
        target = thing.cell + dx * self.stride + dy
        if self.at[target] is not None or self.material[target] not in walks:
            return False
        if thing.removed:
            return True
        self.at[thing.cell] = None
        self.at[target] = thing
        old, new = self.chunk_at[thing.cell], self.chunk_at[target]
        thing.x += dx
        thing.y += dy
        thing.cell = target
        if old != new:
            creatures = self.grid[old].creatures.get(thing.kind)
            if creatures is not None:
                del creatures[thing]  # type: ignore[arg-type]  # a player's kind is not among them
            self.enter(thing)
        return True
