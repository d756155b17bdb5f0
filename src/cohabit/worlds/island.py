"""A square island of sea, rock and land, for small worlds. Cells are numbered row by row."""

from collections.abc import Sequence

from msgspec import Struct

from cohabit.world import Stream

SEA, ROCK, LAND = "~", "^", "."
_NEAR = range(-5, 6)
DISCS = [
    [(x, y, x * x + y * y) for y in _NEAR for x in _NEAR if x * x + y * y <= reach * reach + 1] for reach in range(5)
]
"""The cells around a cell, for every reach: offset across, offset down, squared distance."""


class Island(Struct, frozen=True):
    """All land is connected, and the rim is sea. Whole numbers only."""

    size: int
    ground: str

    def xy(self, cell: int) -> tuple[int, int]:
        return cell % self.size, cell // self.size

    def cell(self, x: int, y: int) -> int:
        return y * self.size + x

    def far(self, one: int, other: int) -> int:
        """The number of steps between two cells, ignoring obstacles."""
        (ax, ay), (bx, by) = self.xy(one), self.xy(other)
        return abs(ax - bx) + abs(ay - by)

    def beside(self, one: int, other: int) -> bool:
        """The same cell, or one of the eight around it."""
        (ax, ay), (bx, by) = self.xy(one), self.xy(other)
        return abs(ax - bx) <= 1 and abs(ay - by) <= 1

    def compass(self, start: int, goal: int) -> str:
        (ax, ay), (bx, by) = self.xy(start), self.xy(goal)
        vertical = "north" if by < ay else "south" if by > ay else ""
        across = "east" if bx > ax else "west" if bx < ax else ""
        return "-".join(part for part in (vertical, across) if part)

    def disc(self, centre: int, reach: int) -> list[tuple[int, int]]:
        """The cells within reach, and their squared distances."""
        x, y = self.xy(centre)
        size = self.size
        return [
            (centre + dy * size + dx, far) for dx, dy, far in DISCS[reach] if 0 <= x + dx < size and 0 <= y + dy < size
        ]

    def land(self, taken: Sequence[int] = ()) -> list[int]:
        return [i for i, g in enumerate(self.ground) if g == LAND and i not in taken]

    def shores(self, taken: Sequence[int] = ()) -> list[int]:
        return [c for c in self.land(taken) if any(self.ground[n] == SEA for n in self._next_to(c))]

    def corners(self) -> list[int]:
        """The land nearest to each corner, opposite corners first."""
        end = self.size - 1
        corners = [self.cell(x, y) for x, y in ((0, 0), (end, end), (end, 0), (0, end))]
        return [min(self.land(), key=lambda c: self.far(c, corner)) for corner in corners]

    def apart(self, stream: Stream, taken: Sequence[int], count: int) -> list[int]:
        """``count`` cells of land, as far from each other and from those taken as possible."""
        free = self.land(taken)
        stream.shuffle(free)
        found: list[int] = []
        for gap in (4, 3, 2, 1):
            for cell in free:
                if len(found) < count and all(self.far(cell, other) >= gap for other in [*taken, *found]):
                    found.append(cell)
        return found

    def around(self, cell: int) -> list[int]:
        """The land one step away."""
        return [n for n in self._next_to(cell) if self.ground[n] == LAND]

    def neighbours(self, cell: int) -> dict[str, int]:
        """The cells beside one that is land. They are on the map, because the rim is sea."""
        return {"up": cell - self.size, "right": cell + 1, "down": cell + self.size, "left": cell - 1}

    def _next_to(self, cell: int) -> list[int]:
        return [*self.neighbours(cell).values()]

    def ways(self, start: int) -> dict[int, int]:
        """Every cell that can be reached from here, with the cell before it on a shortest path."""
        found = {start: start}
        todo = [start]
        for cell in todo:
            for near in self.around(cell):
                if near not in found:
                    found[near] = cell
                    todo.append(near)
        return found

    def way(self, start: int, goal: int) -> list[int]:
        """The cells of a shortest path between two cells of land, without the start."""
        before = self.ways(goal)  # from the goal, so that following it backwards leads to the goal
        found: list[int] = []
        while start != goal:
            start = before[start]
            found.append(start)
        return found

    def drawn(self, cells: Sequence[str]) -> str:
        """A map of one character per cell, with numbered columns and rows."""
        side = range(self.size)
        tens = "    " + "".join(str(x // 10) if x >= 10 else " " for x in side)
        ones = "    " + "".join(str(x % 10) for x in side)
        rows = [f"{y:>3} " + "".join(cells[y * self.size : (y + 1) * self.size]) for y in side]
        return "\n".join([*([tens] if self.size > 10 else []), ones, *rows])


def make_island(stream: Stream, size: int) -> Island:
    """An island with a ragged coast and rocks. Only its largest connected part is land; the others become rock."""
    cells: list[str] = []
    for y in range(size):
        for x in range(size):
            rim = min(x, y, size - 1 - x, size - 1 - y)
            draw = stream.below(8)
            cells.append(SEA if rim == 0 or (rim == 1 and draw < 3) else ROCK if draw == 7 else LAND)
    cells[size // 2 * size + size // 2] = LAND
    draft = Island(size, "".join(cells))
    part: dict[int, int] = {}
    for cell in draft.land():
        if cell not in part and len(found := draft.ways(cell)) > len(part):
            part = found
    return Island(size, "".join(ROCK if g == LAND and i not in part else g for i, g in enumerate(cells)))
