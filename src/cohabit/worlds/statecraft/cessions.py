"""Land changes hands only when its owner gives it away, to somebody who owns land beside it."""

from collections.abc import Iterator
from typing import NamedTuple

from cohabit.worlds.statecraft.ledgers import Standing

Land = dict[str, list[str]]


class Ceded(NamedTuple):
    """The land of the next standing, what was handed over, and what was not."""

    territories: Land
    done: list[tuple[str, str, str]]  # giver, receiver, territory
    refused: list[tuple[str, str, str, str]]  # and why


def cede(standing: Standing, wanted: dict[str, dict[str, list[str]]]) -> Ceded:
    """One by one: givers by name, their receivers by name, then as listed. Each is judged on the map as it now is."""
    if not any(wanted.values()):
        return Ceded(standing.territories, [], [])
    owners = owners_of(standing.territories)
    done, refused = [], []
    for giver, receiver, territory in _in_order(wanted):
        why = why_not(standing, owners, giver, receiver, territory)
        if why is None:
            owners[territory] = receiver
            done.append((giver, receiver, territory))
        else:
            refused.append((giver, receiver, territory, why))
    return Ceded(_after(standing.territories, owners, done), done, refused)


def legal_outbound(standing: Standing) -> dict[str, Land]:
    """giver -> receiver -> what could be handed over now, sorted; pairs with nothing are left out."""
    owners, names = owners_of(standing.territories), standing.nations
    found: dict[str, dict[str, dict[str, None]]] = {}
    for giver in names:
        for territory in standing.territories.get(giver, ()):
            if territory == standing.capitals.get(giver):
                continue
            for receiver in _beside(standing, owners, territory, names):
                if receiver != giver:
                    found.setdefault(giver, {}).setdefault(receiver, {})[territory] = None
    return {giver: {to: sorted(land) for to, land in sorted(found[giver].items())} for giver in found}


def why_not(standing: Standing, owners: dict[str, str], giver: str, receiver: str, territory: str) -> str | None:
    """Why this cannot be handed over on such a map, if so."""
    if owners.get(territory) != giver:
        return "no longer the giver's"
    if standing.capitals.get(giver) == territory:
        return "the giver's capital"
    return None if lies_beside(standing.graph, owners, territory, receiver) else "borders none of the receiver's land"


def lies_beside(graph: Land | None, owners: dict[str, str], territory: str, nation: str) -> bool:
    """Does this nation own a neighbour of that territory? Without a graph everybody lives beside everybody."""
    return graph is None or nation in [owners.get(near) for near in graph.get(territory, ())]


def owners_of(territories: Land) -> dict[str, str]:
    """territory -> its owner."""
    return {each: name for name, land in territories.items() for each in land}


def _in_order(wanted: dict[str, dict[str, list[str]]]) -> Iterator[tuple[str, str, str]]:
    for giver in sorted([giver for giver, receivers in wanted.items() if receivers]):
        for receiver in sorted(wanted[giver]):
            for territory in wanted[giver][receiver]:
                yield giver, receiver, territory


def _beside(standing: Standing, owners: dict[str, str], territory: str, names: list[str]) -> list[str]:
    if standing.graph is None:
        return names
    return [owners[near] for near in standing.graph.get(territory, ()) if near in owners]


def _after(territories: Land, owners: dict[str, str], done: list[tuple[str, str, str]]) -> Land:
    """The land of everybody; that of nations which neither gave nor received is left as it is."""
    touched: dict[str, dict[str, None]] = {}
    for giver, receiver, territory in done:
        for name in (giver, receiver):
            if name not in touched:
                touched[name] = dict.fromkeys(territories.get(name, ()))
        touched[receiver][territory] = None
    now = {name: sorted([t for t in land if owners[t] == name]) for name, land in touched.items()}
    return {**territories, **now}
