"""Ceding territories. A territory changes hands only when its owner cedes it to the owner of a neighbour of it."""

from collections.abc import Iterator
from typing import NamedTuple

from cohabit.worlds.statecraft.maps import Graph
from cohabit.worlds.statecraft.state import GameState, Territories, Texts

LegalCessions = dict[str, dict[str, list[str]]]
"""giver -> receiver -> territories that can be ceded now, sorted; pairs without any are left out"""


class Cessions(NamedTuple):
    """The territories after the cessions of a turn, the cessions carried out, and those refused."""

    territories: Territories
    done: list[tuple[str, str, str]]  # giver, receiver, territory
    refused: list[tuple[str, str, str, str]]  # giver, receiver, territory, reason


def cede(state: GameState, intended: dict[str, dict[str, list[str]]]) -> Cessions:
    """Carry out cessions in the order of givers, receivers and lists, each checked on the map as it is by then."""
    if not any(intended.values()):
        return Cessions(state.territories, [], [])
    owners = owners_of(state.territories)
    done, refused = [], []
    for giver, receiver, territory in _in_order(intended):
        reason = _refusal(state, owners, giver, receiver, territory)
        if reason is None:
            owners[territory] = receiver
            done.append((giver, receiver, territory))
        else:
            refused.append((giver, receiver, territory, reason))
    return Cessions(_territories_after(state.territories, owners, done), done, refused)


def legal_cessions(state: GameState) -> LegalCessions:
    """All cessions that are legal now. They depend on the map and on who owns what."""
    owners, nations = owners_of(state.territories), state.nations
    found: dict[str, dict[str, dict[str, None]]] = {}
    for giver in nations:
        for territory in state.territories.get(giver, ()):
            if territory == state.capitals.get(giver):
                continue
            for receiver in _possible_receivers(state, owners, territory, nations):
                if receiver != giver:
                    found.setdefault(giver, {}).setdefault(receiver, {})[territory] = None
    return {giver: {to: sorted(ceded) for to, ceded in sorted(found[giver].items())} for giver in found}


def borders_on(graph: Graph | None, owners: Texts, territory: str, nation: str) -> bool:
    """True if this nation owns a neighbour of the territory. Without a map every nation counts as adjacent."""
    return graph is None or nation in [owners.get(neighbour) for neighbour in graph.get(territory, ())]


def owners_of(territories: Territories) -> Texts:
    """territory -> its owner."""
    return {territory: nation for nation, owned in territories.items() for territory in owned}


def _refusal(state: GameState, owners: Texts, giver: str, receiver: str, territory: str) -> str | None:
    """Why this cession is refused, or None if it is legal."""
    if owners.get(territory) != giver:
        return "the giver no longer owns it"
    if state.capitals.get(giver) == territory:
        return "it is the giver's capital"
    if not borders_on(state.graph, owners, territory, receiver):
        return "it is not adjacent to the receiver's territory"
    return None


def _in_order(intended: dict[str, dict[str, list[str]]]) -> Iterator[tuple[str, str, str]]:
    for giver in sorted([giver for giver, receivers in intended.items() if receivers]):
        for receiver in sorted(intended[giver]):
            for territory in intended[giver][receiver]:
                yield giver, receiver, territory


def _possible_receivers(state: GameState, owners: Texts, territory: str, nations: list[str]) -> list[str]:
    if state.graph is None:
        return nations
    return [owners[neighbour] for neighbour in state.graph.get(territory, ()) if neighbour in owners]


def _territories_after(territories: Territories, owners: Texts, done: list[tuple[str, str, str]]) -> Territories:
    """The territories of every nation. The lists of nations that neither gave nor received are reused."""
    changed: dict[str, dict[str, None]] = {}
    for giver, receiver, territory in done:
        for nation in (giver, receiver):
            if nation not in changed:
                changed[nation] = dict.fromkeys(territories.get(nation, ()))
        changed[receiver][territory] = None
    updated = {nation: sorted([t for t in owned if owners[t] == nation]) for nation, owned in changed.items()}
    return {**territories, **updated}
