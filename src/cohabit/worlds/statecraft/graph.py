"""Maps of territories as graphs: grown from a seed, or given and checked."""

from collections.abc import Iterable, Mapping, Sequence

from cohabit.errors import BadArgs
from cohabit.model.stream import Stream

Graph = dict[str, list[str]]
"""territory -> its neighbours, both ways; all in name order"""
Cell = tuple[int, int]

RIGHT, LEFT, UP, DOWN = (1, 0), (-1, 0), (0, 1), (0, -1)
AROUND = (RIGHT, LEFT, UP, DOWN)
SHAPES: dict[str, tuple[Cell, ...]] = {
    "elbow": (RIGHT, UP),
    "zigzag": (RIGHT, UP, RIGHT, UP),
    "arch": (UP, RIGHT, DOWN),
}
"""Where the land grows to, one stretch after the other."""
BOOST = 5


def generated(names: Sequence[str], seed: int, shape: str = "elbow") -> Graph:
    """A connected map of these territories, the same for the same seed; nobody has more than four neighbours."""
    return _joined(placed(names, seed, shape))


def placed(names: Sequence[str], seed: int, shape: str = "elbow") -> dict[str, Cell]:
    """Where each territory of the generated map lies on the grid."""
    if shape not in SHAPES:
        raise BadArgs(f"shape: {shape!r} is none of {', '.join(SHAPES)}")
    order = sorted(names)
    if len(dict.fromkeys(order)) < len(order):
        raise BadArgs("a map needs a different name for each territory")
    stream = Stream(seed, "statecraft map")
    stream.shuffle(order)
    land: dict[Cell, str] = {}
    for number, name in enumerate(order):
        stretches = SHAPES[shape]
        land[_next_cell(land, stretches[number * len(stretches) // len(order)], stream)] = name
    return {name: cell for cell, name in sorted(land.items(), key=lambda item: item[1])}


def checked(graph: Mapping[str, Iterable[str]]) -> Graph:
    """A given map in order, or BadArgs that names what is wrong with it."""
    found = {name: sorted(graph[name]) for name in sorted(graph)}
    for name, neighbours in found.items():
        if not name or name != name.strip():
            raise BadArgs(f"map: {name!r} is no name for a territory")
        for neighbour in neighbours:
            if neighbour == name:
                raise BadArgs(f"map: {name} is its own neighbour")
            if neighbour not in found:
                raise BadArgs(f"map: {name} has the neighbour {neighbour!r}, which is no territory")
            if name not in found[neighbour]:
                raise BadArgs(f"map: {neighbour} is a neighbour of {name}, and {name} is none of {neighbour}")
        if len(dict.fromkeys(neighbours)) < len(neighbours):
            raise BadArgs(f"map: {name} has a neighbour twice")
    return found


def distances(graph: Graph, start: str) -> dict[str, int]:
    """How many borders lie between a territory and each one that can be reached from it."""
    found = {start: 0}
    edge = [start]
    while edge:
        reached = [n for t in edge for n in graph[t] if n not in found]
        for name in reached:
            found[name] = found[edge[0]] + 1
        edge = list(dict.fromkeys(reached))
    return found


def connected(graph: Graph, territories: Sequence[str]) -> bool:
    """Do these territories hang together without crossing others?"""
    inside = {name: [n for n in graph[name] if n in territories] for name in territories}
    return not inside or len(distances(inside, territories[0])) == len(inside)


def _next_cell(land: Mapping[Cell, str], towards: Cell, stream: Stream) -> Cell:
    """A free cell that touches the land: rather where it fills a bay, and rather where it leads onward."""
    if not land:
        return (0, 0)
    touching: dict[Cell, int] = {}
    for cell in land:
        for step in AROUND:
            near = (cell[0] + step[0], cell[1] + step[1])
            if near not in land:
                touching[near] = touching.get(near, 0) + 1
    farthest = max(_along(cell, towards) for cell in land)
    cells = sorted(touching)
    weights = [touching[c] ** 2 * (BOOST if _along(c, towards) > farthest else 1) for c in cells]
    return _weighted(cells, weights, stream)


def _along(cell: Cell, towards: Cell) -> int:
    """How far a cell lies in that direction; the same measure for all four, so none favours inner cells."""
    return cell[0] * towards[0] + cell[1] * towards[1]


def _weighted(cells: Sequence[Cell], weights: Sequence[int], stream: Stream) -> Cell:
    left = stream.below(sum(weights))
    for cell, weight in zip(cells, weights, strict=True):
        left -= weight
        if left < 0:
            return cell
    raise AssertionError("the weights add up")


def _joined(places: Mapping[str, Cell]) -> Graph:
    at = {cell: name for name, cell in places.items()}
    return {
        name: sorted(at[near] for step in AROUND if (near := (x + step[0], y + step[1])) in at)
        for name, (x, y) in sorted(places.items())
    }
