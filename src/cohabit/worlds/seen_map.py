"""A map of what one player has seen: the worlds in which players explore keep one for each of them.

A cell has the code of what was seen there last, which may have changed since. Time is kept for blocks of cells. Nothing
else of the world is in it, so it shows a player nothing that it has not seen.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from cohabit.errors import GameRejected

MAX_FRONTIER = 12
"""The number of places at the edge of the unseen that a reply names."""
NEVER = -1
ME = "@"
LABELLED_COLUMNS = 10

Codes = NDArray[np.uint8]


class SavedMap(Struct, array_like=True, forbid_unknown_fields=True):
    """A map as bytes: the blocks of which something was seen, with their numbers, their steps and their codes."""

    numbers: bytes
    steps: bytes
    codes: bytes


class ExploredMap(Struct, omit_defaults=True):
    """What a player has seen. ``rows`` begin at the corner, with a letter for each cell and a blank for what was never
    seen; ``scale`` is how many of the world's tiles a letter is, across and down, and all places are in tiles.
    ``frontier`` are places [x, y] from which one can go on into the unseen, the nearest first. ``last_seen`` has a row
    for each row of blocks, from the origin of the world: the last step in which a part of the block was in view, -1:
    never. ``block`` is how many tiles a block is, across and down."""

    text: str
    step: int
    size: tuple[int, int]
    corner: tuple[int, int]
    rows: list[str]
    legend: dict[str, str]
    seen: int  # letters
    frontier: list[tuple[int, int]]
    frontier_cells: int  # all of them
    last_seen: list[list[int]]
    block: tuple[int, int]
    scale: tuple[int, int] = (1, 1)
    you: tuple[int, int] | None = None
    place: str = ""


def no_map(size: tuple[int, int], step: int) -> ExploredMap:
    """The map of an eye that plays no seat."""
    text = "Only players have a map of what they have seen. `view` shows what you may see."
    return ExploredMap(text, step, size, (0, 0), [], {}, 0, [], 0, [], (1, 1))


class Letters(Struct, frozen=True):
    """The drawing of codes. ``names`` by letter; ``open_codes`` are those of cells that one can enter."""

    letters: str  # by code; 0 is what was never seen
    names: Mapping[str, str]
    open_codes: frozenset[int]


class SeenMap:
    """See the module. ``size``: of the world, in tiles; ``is_round``: the last column is next to the first; ``block``:
    cells per side of a block; ``scale``: tiles in a cell, across and down."""

    def __init__(
        self, size: tuple[int, int], *, is_round: bool = False, block: int = 8, scale: tuple[int, int] = (1, 1)
    ) -> None:
        self.size, self.is_round, self.block, self.scale = size, is_round, block, scale
        # As many cells as have their middle in the world.
        self.width, self.height = (-(-(tiles - each // 2) // each) for tiles, each in zip(size, scale, strict=True))
        self.codes: Codes = np.zeros((self.height, self.width), np.uint8)
        self.blocks = np.full((-(-self.height // block), -(-self.width // block)), NEVER, np.int32)

    def see(self, land: Codes, left: int, top: int, right: int, bottom: int, step: int) -> None:
        """All cells of a rectangle within the land are seen; ``land`` has the codes of all cells."""
        self.codes[top:bottom, left:right] = land[top:bottom, left:right]
        block = self.block
        self.blocks[top // block : -(-bottom // block), left // block : -(-right // block)] = step

    def see_cells(self, xs: NDArray[np.intp], ys: NDArray[np.intp], codes: Codes, step: int) -> None:
        """Some cells are seen."""
        self.codes[ys, xs] = codes
        self.blocks[ys // self.block, xs // self.block] = step

    def copy(self) -> "SeenMap":
        made = SeenMap(self.size, is_round=self.is_round, block=self.block, scale=self.scale)
        made.codes, made.blocks = self.codes.copy(), self.blocks.copy()
        return made

    # -- saves ------------------------------------------------------------------------------------
    def save(self) -> SavedMap:
        numbers = np.flatnonzero(self.blocks.ravel() != NEVER)
        return SavedMap(
            numbers.astype("<u2").tobytes(),
            self.blocks.ravel()[numbers].astype("<i4").tobytes(),
            self._in_blocks()[numbers].tobytes(),
        )

    def load(self, saved: SavedMap, codes: int) -> None:
        """Take over a saved map, into one that is new. Raises GameRejected if it is not one of this size with codes
        below ``codes``."""
        block, count = self.block, len(saved.numbers) // 2
        if (len(saved.numbers), len(saved.steps), len(saved.codes)) != (2 * count, 4 * count, block * block * count):
            raise GameRejected("this is not a save: the map of a player is damaged")
        numbers = np.frombuffer(saved.numbers, "<u2")
        seen = np.frombuffer(saved.codes, np.uint8).reshape(count, block * block)
        if count and (int(numbers.max()) >= self.blocks.size or int(seen.max()) >= codes):
            raise GameRejected("this is not a save: the map of a player is damaged")
        self.blocks.ravel()[numbers] = np.frombuffer(saved.steps, "<i4")
        blocks = self._in_blocks()
        blocks[numbers] = seen
        down, across = self.blocks.shape
        whole = blocks.reshape(down, across, block, block).swapaxes(1, 2).reshape(down * block, across * block)
        self.codes[:] = whole[: self.height, : self.width]

    def _in_blocks(self) -> Codes:
        """The codes, a row for each block. Blocks at the edge are filled up."""
        (down, across), block = self.blocks.shape, self.block
        whole = np.zeros((down * block, across * block), np.uint8)
        whole[: self.height, : self.width] = self.codes
        return whole.reshape(down, block, across, block).swapaxes(1, 2).reshape(down * across, block * block)

    # -- what it shows ----------------------------------------------------------------------------
    def explored(
        self, how: Letters, step: int, you: tuple[int, int] | None, near: tuple[int, int] | None = None, place: str = ""
    ) -> ExploredMap:
        """All that was seen. ``near``: what is nearest to it comes first; if it is left out, to the player. Places are
        in tiles."""
        across, down = self.scale
        here = self._cell(you) if you is not None else None
        centre = self._cell(near) if near is not None else here or (self.width // 2, self.height // 2)
        xs, ys = self._window(centre)
        picture = np.array(list(how.letters))[self.codes[np.ix_(ys, xs)]]
        drawn = set(picture.ravel().tolist())
        if here is not None:
            picture[np.ix_(ys == here[1], xs == here[0])] = ME
        found = [(x * across, y * down) for x, y in self._frontier(how.open_codes, centre)]
        reply = ExploredMap(
            "", step, self.size, (int(xs[0]) * across, int(ys[0]) * down),
            ["".join(row) for row in picture], {name: of for name, of in how.names.items() if name in drawn},
            int(np.count_nonzero(self.codes)), found[:MAX_FRONTIER], len(found), self.blocks.tolist(),
            (self.block * across, self.block * down), self.scale, you, place,
        )  # fmt: skip
        reply.text = _text(reply, xs, ys, self)
        return reply

    def _cell(self, place: tuple[int, int]) -> tuple[int, int]:
        """The cell of a tile, or the nearest one to a place outside."""
        x = place[0] % self.width if self.is_round else place[0] // self.scale[0]
        return min(max(x, 0), self.width - 1), min(max(place[1] // self.scale[1], 0), self.height - 1)

    def _window(self, centre: tuple[int, int]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The columns and rows to show, without those at the sides in which nothing was seen. A round world is cut
        open opposite of a place."""
        xs = np.arange(self.width)
        if self.is_round:
            xs = (xs + centre[0] - self.width // 2) % self.width
        seen = self.codes[:, xs] > 0
        return xs[_used(seen.sum(axis=0))], np.arange(self.height)[_used(seen.sum(axis=1))]

    def _frontier(self, open_codes: frozenset[int], near: tuple[int, int]) -> list[tuple[int, int]]:
        """Open cells beside one that was never seen, the nearest first."""
        unseen = self.codes == 0
        beside = np.zeros_like(unseen)
        beside[1:] |= unseen[:-1]
        beside[:-1] |= unseen[1:]
        beside[:, 1:] |= unseen[:, :-1]
        beside[:, :-1] |= unseen[:, 1:]
        if self.is_round:
            beside[:, 0] |= unseen[:, -1]
            beside[:, -1] |= unseen[:, 0]
        ys, xs = np.nonzero(beside & np.isin(self.codes, list(open_codes)))
        across = abs(xs - near[0])
        if self.is_round:
            across = np.minimum(across, self.width - across)
        order = np.lexsort((xs, ys, across + abs(ys - near[1])))
        return [(int(xs[i]), int(ys[i])) for i in order]


def _used(seen: NDArray[np.intp]) -> slice:
    used = np.flatnonzero(seen)
    return slice(int(used[0]), int(used[-1]) + 1) if len(used) else slice(0, 1)


# -- text -------------------------------------------------------------------------------------------
def _text(found: ExploredMap, xs: NDArray[np.intp], ys: NDArray[np.intp], of: SeenMap) -> str:
    across, down = found.scale
    cells, letter = of.width * of.height, f" a letter is {across} x {down} tiles;" if found.scale != (1, 1) else ""
    where = f" on {found.place}" if found.place else ""
    you = f" You are at {found.you[0]},{found.you[1]}." if found.you is not None else ""
    heads = xs[::LABELLED_COLUMNS] * across
    rows = [f"{y * down:>4} {row}".rstrip() for y, row in zip(ys, found.rows, strict=True)]
    names = {ME: "you", **found.legend} if found.you is not None else found.legend
    return "\n".join(
        [
            f"Seen{where}: {found.seen} of {cells} cells, step {found.step}.{you}",
            f"MAP (x to the right, y down;{letter} a blank was never seen, the rest is as you saw it last):",
            f"{'':>5}{''.join(f'{x:<{LABELLED_COLUMNS}}' for x in heads).rstrip()}",
            *rows,
            ", ".join(f"{letter} {name}" for letter, name in names.items()),
            _frontier_text(found),
            *_ages(found, xs, ys, of.block),
        ]
    )


def _frontier_text(found: ExploredMap) -> str:
    if not found.frontier:
        return "The unseen begins nowhere that you could enter."
    more = found.frontier_cells - len(found.frontier)
    places = " ".join(f"{x},{y}" for x, y in found.frontier)
    return f"The unseen begins at {places}{f' and {more} more places' if more else ''} (the nearest first)."


def _ages(found: ExploredMap, xs: NDArray[np.intp], ys: NDArray[np.intp], block: int) -> list[str]:
    """When the blocks that are shown were last in view."""
    columns, rows = (list(dict.fromkeys((cells // block).tolist())) for cells in (xs, ys))
    heads = [str(column * found.block[0]) for column in columns]
    table = {row: [_step(found.last_seen[row][column]) for column in columns] for row in rows}
    wide = max(map(len, [*heads, *(step for steps in table.values() for step in steps)]))
    title = f"Step when a part of each {found.block[0]} x {found.block[1]} tiles was last in view:"
    lines = [_padded(f"y{row * found.block[1]}", steps, wide) for row, steps in table.items()]
    return [title, _padded("x", heads, wide), *lines]


def _step(step: int) -> str:
    return "-" if step == NEVER else str(step)


def _padded(head: str, cells: Sequence[str], wide: int) -> str:
    return f"{head:<4} " + " ".join(f"{cell:>{wide}}" for cell in cells)
