"""Dealing the land: capitals far apart, then a territory each in turn, so that everybody's land hangs together."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from cohabit.errors import BadArgs
from cohabit.model.stream import Stream
from cohabit.worlds.statecraft.graph import Graph, connected, distances


def deal(graph: Graph, nations: Sequence[str], seed: int) -> tuple[dict[str, list[str]], dict[str, str]]:
    """What each nation owns (in name order) and its capital. Land that nobody can reach stays unowned."""
    order = sorted(nations)
    if len(order) > len(graph):
        raise BadArgs(f"map: {len(order)} nations need at least as many territories, and there are {len(graph)}")
    capitals = dict(zip(order, _far_apart(graph, len(order), seed), strict=True))
    table = _Table(graph, capitals, {nation: [capital] for nation, capital in capitals.items()}, _free(graph, capitals))
    # A nation without room sits a round out; a swap may give it room again. It ends when a round gave nothing.
    while sum(table.take(nation) for nation in order):
        pass
    return {nation: sorted(table.owned[nation]) for nation in order}, capitals


def _far_apart(graph: Graph, count: int, seed: int) -> list[str]:
    """The first by chance; each next where the nearest of those before is farthest, the first by name of equals."""
    names = sorted(graph)
    chosen = [Stream(seed, "statecraft capitals").choice(names)]
    beyond = len(graph)  # farther than anything that can be reached
    nearest = dict.fromkeys(names, beyond)
    while len(chosen) < count:
        ways = distances(graph, chosen[-1])
        nearest = {name: min(nearest[name], ways.get(name, beyond)) for name in names}
        chosen.append(max((n for n in names if n not in chosen), key=lambda n: nearest[n]))
    return chosen


def _free(graph: Graph, capitals: Mapping[str, str]) -> dict[str, None]:
    taken = list(capitals.values())
    return {name: None for name in sorted(graph) if name not in taken}


class _Table(Struct):
    """The deal while it goes on."""

    graph: Graph
    capitals: dict[str, str]
    owned: dict[str, list[str]]
    free: dict[str, None]  # in name order; a dict, because what is walked must have an order

    def take(self, nation: str) -> bool:
        """Let this nation have one more territory; False where there is none for it."""
        found = self._best(self.owned[nation])
        if found is None:
            return self._swap(nation)
        self._give(nation, found)
        return True

    def _best(self, land: Sequence[str]) -> str | None:
        """The free territory beside this land that leaves most room to go on, the first by name of equals."""
        beside = sorted(dict.fromkeys(n for t in land for n in self.graph[t] if n in self.free))
        return max(beside, key=lambda t: sum(n in self.free for n in self.graph[t]), default=None)

    def _swap(self, nation: str) -> bool:
        """Take a neighbour's territory, where the neighbour stays whole and gets a free one for it."""
        for wanted in sorted(dict.fromkeys(n for t in self.owned[nation] for n in self.graph[t])):
            loser = next((other for other, land in self.owned.items() if wanted in land), nation)
            if loser == nation or wanted == self.capitals[loser]:
                continue
            rest = [t for t in self.owned[loser] if t != wanted]
            instead = self._best(rest)
            if instead is not None and connected(self.graph, rest):
                self.owned[loser] = rest
                self._give(loser, instead)
                self.owned[nation].append(wanted)
                return True
        return False

    def _give(self, nation: str, territory: str) -> None:
        del self.free[territory]
        self.owned[nation].append(territory)
