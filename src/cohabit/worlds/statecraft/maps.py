"""Maps of territories as graphs: generated from a seed, the built-in map of the world, or supplied and validated."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from cohabit.errors import BadArgs
from cohabit.model.stream import Stream

Graph = dict[str, list[str]]
"""territory -> its neighbours; symmetric, all names sorted"""
Cell = tuple[int, int]

RIGHT, LEFT, UP, DOWN = (1, 0), (-1, 0), (0, 1), (0, -1)
DIRECTIONS = (RIGHT, LEFT, UP, DOWN)
SHAPES: dict[str, tuple[Cell, ...]] = {
    "elbow": (RIGHT, UP),
    "zigzag": (RIGHT, UP, RIGHT, UP),
    "arch": (UP, RIGHT, DOWN),
}
"""The directions in which a generated map grows, one after the other."""
DIRECTION_WEIGHT = 5
"""The factor by which the map grows more often in its direction than elsewhere."""


def make_map(choice: str | Mapping[str, Iterable[str]], seed: int, size: int, shape: str) -> Graph:
    """The map of a game: ``world``, ``generated`` with ``size`` territories, or a supplied graph."""
    if not isinstance(choice, str):
        return validate_map(choice)
    if choice == "world":
        return {name: list(neighbours) for name, neighbours in WORLD_MAP.items()}
    digits = len(str(size))
    return generate_map([f"T{number:0{digits}}" for number in range(1, size + 1)], seed, shape)


def generate_map(names: Sequence[str], seed: int, shape: str = "elbow") -> Graph:
    """A connected map of these territories. No territory has more than four neighbours."""
    return _connect_adjacent(place_on_grid(names, seed, shape))


def place_on_grid(names: Sequence[str], seed: int, shape: str = "elbow") -> dict[str, Cell]:
    """The grid cell of each territory of a generated map."""
    if shape not in SHAPES:
        raise BadArgs(f"shape: {shape!r} is not one of {', '.join(SHAPES)}")
    order = sorted(names)
    if len(dict.fromkeys(order)) < len(order):
        raise BadArgs("map: two territories have the same name")
    stream = Stream(seed, "statecraft map")
    stream.shuffle(order)
    occupied: dict[Cell, str] = {}
    directions = SHAPES[shape]
    for number, name in enumerate(order):
        direction = directions[number * len(directions) // len(order)]
        occupied[_next_cell(occupied, direction, stream)] = name
    return {name: cell for cell, name in sorted(occupied.items(), key=lambda item: item[1])}


def validate_map(graph: Mapping[str, Iterable[str]]) -> Graph:
    """The supplied map with all names sorted. BadArgs says what is wrong with it."""
    valid = {name: sorted(graph[name]) for name in sorted(graph)}
    for name, neighbours in valid.items():
        if not name or name != name.strip():
            raise BadArgs(f"map: {name!r} is not a valid name for a territory")
        for neighbour in neighbours:
            if neighbour == name:
                raise BadArgs(f"map: {name} is listed as its own neighbour")
            if neighbour not in valid:
                raise BadArgs(f"map: {name} has the neighbour {neighbour!r}, which is not a territory")
            if name not in valid[neighbour]:
                raise BadArgs(f"map: {name} lists {neighbour} as a neighbour, but {neighbour} does not list {name}")
        if len(dict.fromkeys(neighbours)) < len(neighbours):
            raise BadArgs(f"map: {name} lists a neighbour twice")
    return valid


def distances(graph: Graph, start: str) -> dict[str, int]:
    """The number of borders between a territory and each territory that can be reached from it."""
    found = {start: 0}
    frontier = [start]
    while frontier:
        reached = [neighbour for territory in frontier for neighbour in graph[territory] if neighbour not in found]
        for name in reached:
            found[name] = found[frontier[0]] + 1
        frontier = list(dict.fromkeys(reached))
    return found


def is_connected(graph: Graph, territories: Sequence[str]) -> bool:
    """True if these territories are connected without crossing other territories."""
    inside = {name: [n for n in graph[name] if n in territories] for name in territories}
    return not inside or len(distances(inside, territories[0])) == len(inside)


def _next_cell(occupied: Mapping[Cell, str], direction: Cell, stream: Stream) -> Cell:
    """A random free cell beside the map. Cells with many occupied neighbours, and cells ahead, are more likely."""
    if not occupied:
        return (0, 0)
    neighbour_counts: dict[Cell, int] = {}
    for cell in occupied:
        for step in DIRECTIONS:
            beside = (cell[0] + step[0], cell[1] + step[1])
            if beside not in occupied:
                neighbour_counts[beside] = neighbour_counts.get(beside, 0) + 1
    farthest = max(_progress(cell, direction) for cell in occupied)
    cells = sorted(neighbour_counts)
    weights = [
        neighbour_counts[cell] ** 2 * (DIRECTION_WEIGHT if _progress(cell, direction) > farthest else 1)
        for cell in cells
    ]
    return _weighted_choice(cells, weights, stream)


def _progress(cell: Cell, direction: Cell) -> int:
    """The distance of a cell in that direction; the same measure for all four directions."""
    return cell[0] * direction[0] + cell[1] * direction[1]


def _weighted_choice(cells: Sequence[Cell], weights: Sequence[int], stream: Stream) -> Cell:
    remaining = stream.below(sum(weights))
    for cell, weight in zip(cells, weights, strict=True):
        remaining -= weight
        if remaining < 0:
            return cell
    raise AssertionError("the drawn number is below the sum of the weights")


def _connect_adjacent(cells: Mapping[str, Cell]) -> Graph:
    name_at = {cell: name for name, cell in cells.items()}
    return {
        name: sorted(name_at[beside] for step in DIRECTIONS if (beside := (x + step[0], y + step[1])) in name_at)
        for name, (x, y) in sorted(cells.items())
    }


def _parse_borders(borders: str) -> Graph:
    found: dict[str, list[str]] = {}
    for line in borders.strip().splitlines():
        name, _, neighbours = line.partition(": ")
        for neighbour in neighbours.split(", "):
            found.setdefault(name, []).append(neighbour)
            found.setdefault(neighbour, []).append(name)
    return {name: sorted(dict.fromkeys(found[name])) for name in sorted(found)}


WORLD_MAP: Graph = _parse_borders(Path(__file__).with_name("borders.txt").read_text())
"""33 regions of the world, connected by land or by a short sea route."""
