"""The state before the first turn: distant capitals, then territories assigned in turn, each nation connected.

The seed decides the first capital, which nation chooses first, and every tie, so each seed is another game.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from cohabit.errors import BadArgs
from cohabit.model.stream import Stream
from cohabit.worlds.statecraft.maps import Graph, distances, is_connected
from cohabit.worlds.statecraft.state import GameState, Territories, Texts


def initial_state(graph: Graph, nations: Sequence[str], mils: int, seed: int) -> GameState:
    """The start of a game on this map, with the same army for every nation."""
    territories, capitals = assign_territories(graph, nations, seed)
    names = sorted(nations)
    return GameState(
        turn=0,
        mils=dict.fromkeys(names, mils),
        territories=territories,
        welfare=dict.fromkeys(names, 0),
        capitals=capitals,
        graph=graph,
    )


def assign_territories(graph: Graph, nations: Sequence[str], seed: int) -> tuple[Territories, Texts]:
    """The territories of each nation and its capital. Territories that no nation can reach stay unowned."""
    order = sorted(nations)
    if len(order) > len(graph):
        raise BadArgs(f"map: {len(order)} nations need at least as many territories, but there are {len(graph)}")
    stream = Stream(seed, "statecraft territories")
    stream.shuffle(order)
    names = sorted(graph)
    stream.shuffle(names)
    ranks = {name: rank for rank, name in enumerate(names)}
    capitals = dict(zip(order, _choose_capitals(graph, len(order), ranks), strict=True))
    owned = {nation: [capital] for nation, capital in capitals.items()}
    assignment = _Assignment(graph, capitals, owned, _unassigned(graph, capitals), ranks)
    # A nation without free neighbours passes, and may continue after an exchange. Stop when every nation passes.
    while sum(assignment.take_one(nation) for nation in order):
        pass
    return (
        {nation: sorted(assignment.owned[nation]) for nation in sorted(order)},
        {nation: capitals[nation] for nation in sorted(order)},
    )


def _choose_capitals(graph: Graph, count: int, ranks: Mapping[str, int]) -> list[str]:
    """The first has the highest rank. Each next one is as far as possible from the nearest capital, then by rank."""
    unreachable = len(graph)  # farther than any reachable territory
    nearest = dict.fromkeys(sorted(graph), unreachable)
    chosen: list[str] = []
    while len(chosen) < count:
        chosen.append(max(nearest, key=lambda name: (nearest[name], ranks[name])))
        from_last = distances(graph, chosen[-1])
        nearest = {name: min(before, from_last.get(name, unreachable)) for name, before in nearest.items()}
    return chosen


def _unassigned(graph: Graph, capitals: Mapping[str, str]) -> dict[str, None]:
    taken = list(capitals.values())
    return {name: None for name in sorted(graph) if name not in taken}


class _Assignment(Struct):
    """An assignment of territories in progress."""

    graph: Graph
    capitals: dict[str, str]
    owned: dict[str, list[str]]
    free: dict[str, None]  # in name order; not a set, because it is iterated
    ranks: dict[str, int]  # decide ties

    def take_one(self, nation: str) -> bool:
        """Give this nation one more territory; False if there is none for it."""
        territory = self._best_free_neighbour(self.owned[nation])
        if territory is None:
            return self._exchange(nation)
        self._give(nation, territory)
        return True

    def _best_free_neighbour(self, territories: Sequence[str]) -> str | None:
        """The adjacent free territory with the most free neighbours; ties go by rank."""
        free = dict.fromkeys(n for t in territories for n in self.graph[t] if n in self.free)
        return max(free, key=lambda t: (sum(n in self.free for n in self.graph[t]), self.ranks[t]), default=None)

    def _exchange(self, nation: str) -> bool:
        """Take a territory from a neighbour that stays connected and can take a free one instead."""
        around = dict.fromkeys(n for t in self.owned[nation] for n in self.graph[t])
        for wanted in sorted(around, key=lambda t: self.ranks[t]):
            owner = next((other for other, owned in self.owned.items() if wanted in owned), nation)
            if owner == nation or wanted == self.capitals[owner]:
                continue
            remaining = [territory for territory in self.owned[owner] if territory != wanted]
            replacement = self._best_free_neighbour(remaining)
            if replacement is not None and is_connected(self.graph, remaining):
                self.owned[owner] = remaining
                self._give(owner, replacement)
                self.owned[nation].append(wanted)
                return True
        return False

    def _give(self, nation: str, territory: str) -> None:
        del self.free[territory]
        self.owned[nation].append(territory)
