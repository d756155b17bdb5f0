"""The state before the first turn: distant capitals, then territories assigned in turn, each nation connected."""

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
    capitals = dict(zip(order, _choose_capitals(graph, len(order), seed), strict=True))
    owned = {nation: [capital] for nation, capital in capitals.items()}
    assignment = _Assignment(graph, capitals, owned, _unassigned(graph, capitals))
    # A nation without free neighbours passes, and may continue after an exchange. Stop when every nation passes.
    while sum(assignment.take_one(nation) for nation in order):
        pass
    return {nation: sorted(assignment.owned[nation]) for nation in order}, capitals


def _choose_capitals(graph: Graph, count: int, seed: int) -> list[str]:
    """The first is random. Each next one is as far as possible from the nearest capital; ties go by name."""
    names = sorted(graph)
    chosen = [Stream(seed, "statecraft capitals").choice(names)]
    unreachable = len(graph)  # farther than any reachable territory
    nearest = dict.fromkeys(names, unreachable)
    while len(chosen) < count:
        from_last = distances(graph, chosen[-1])
        nearest = {name: min(nearest[name], from_last.get(name, unreachable)) for name in names}
        chosen.append(max((name for name in names if name not in chosen), key=lambda name: nearest[name]))
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

    def take_one(self, nation: str) -> bool:
        """Give this nation one more territory; False if there is none for it."""
        territory = self._best_free_neighbour(self.owned[nation])
        if territory is None:
            return self._exchange(nation)
        self._give(nation, territory)
        return True

    def _best_free_neighbour(self, territories: Sequence[str]) -> str | None:
        """The adjacent free territory with the most free neighbours; ties go by name."""
        free = sorted(dict.fromkeys(n for t in territories for n in self.graph[t] if n in self.free))
        return max(free, key=lambda t: sum(n in self.free for n in self.graph[t]), default=None)

    def _exchange(self, nation: str) -> bool:
        """Take a territory from a neighbour that stays connected and can take a free one instead."""
        for wanted in sorted(dict.fromkeys(n for t in self.owned[nation] for n in self.graph[t])):
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
