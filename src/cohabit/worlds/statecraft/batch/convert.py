"""From the plain engine's standings and ledgers to arrays and back, for as many games as there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cohabit.errors import BadArgs
from cohabit.worlds.statecraft.batch.arrays import NOBODY, Array, BatchOrders, BatchStanding, Board, games_last
from cohabit.worlds.statecraft.ledgers import Ledgers, Standing

Graph = Mapping[str, Sequence[str]]


def board_of(nations: Sequence[str], territories: Sequence[str], graph: Graph | None, xp: Any = np) -> Board:
    """What games of these nations on this map share."""
    places = tuple(sorted(territories))
    return Board(xp, tuple(sorted(nations)), places, None if graph is None else _neighbours(xp, places, graph))


def _neighbours(xp: Any, places: Sequence[str], graph: Graph) -> Array:
    """Padded with the territory itself: that is the giver's, so it never speaks for a receiver."""
    at = {place: i for i, place in enumerate(places)}
    lists = [[at[other] for other in graph.get(place, ())] for place in places]
    width = max((len(row) for row in lists), default=0) or 1
    return xp.asarray([row + [i] * (width - len(row)) for i, row in enumerate(lists)], dtype=xp.int64)


def adjacency(board: Board) -> Array:
    """territories x territories: true where two touch."""
    xp, n = board.xp, len(board.territories)
    if board.neighbours is None:
        return xp.zeros((n, n), dtype=xp.bool)
    touching = board.neighbours[:, :, None] == xp.arange(n, dtype=xp.int64)[None, None, :]
    return xp.any(touching, axis=1) & ~xp.eye(n, dtype=xp.bool)


def standing_of(standings: Sequence[Standing], xp: Any = np) -> BatchStanding:
    """One batch of games that have the same nations, the same map and the same turn."""
    first = standings[0]
    if any((s.nations, s.graph, s.turn) != (first.nations, first.graph, first.turn) for s in standings):
        raise BadArgs("standings: the games of a batch have the same nations, map and turn")
    owned = {place for s in standings for places in s.territories.values() for place in places}
    board = board_of(first.nations, sorted(owned | set(first.graph or ())), first.graph, xp)
    at = {place: i for i, place in enumerate(board.territories)}
    return BatchStanding(
        board=board,
        turn=first.turn,
        mils=_table(xp, [[s.mils[nation] for nation in board.nations] for s in standings]),
        welfare=_table(xp, [[s.welfare.get(nation, 0) for nation in board.nations] for s in standings]),
        owner=_table(xp, [_owners(s, board) for s in standings]),
        capitals=_table(xp, [[at.get(s.capitals.get(n, ""), NOBODY) for n in board.nations] for s in standings]),
    )


def _owners(standing: Standing, board: Board) -> list[int]:
    whose = {place: i for i, nation in enumerate(board.nations) for place in standing.territories.get(nation, ())}
    return [whose.get(place, NOBODY) for place in board.territories]


def orders_of(board: Board, intents: Sequence[Ledgers], slots: int | None = None) -> BatchOrders:
    """The intentions of phase 0 as arrays, with as many cession slots as the busiest nation needs."""
    xp, nations = board.xp, board.nations
    ceded = [[_cessions(board, ledgers, nation) for nation in nations] for ledgers in intents]
    most = max((len(row) for game in ceded for row in game), default=0) if slots is None else slots
    if any(len(row) > most for game in ceded for row in game):
        raise BadArgs(f"slots: a nation cedes more than {most} territories in one turn")
    padded = [[row + [(NOBODY, NOBODY)] * (most - len(row)) for row in game] for game in ceded]
    return BatchOrders(
        purchase=_table(xp, [[g.d_mil_purchase_intent.get(n, 0) for n in nations] for g in intents]),
        attacks=_pairs(xp, board, [g.d_global_attacks for g in intents]),
        grants=_pairs(xp, board, [g.d_money_grants for g in intents]),
        disband=_table(xp, [[g.d_mils_disband_intent.get(n, 0) for n in nations] for g in intents]),
        ceded=_slots(xp, padded, most, 0),
        ceded_to=_slots(xp, padded, most, 1),
        keeps_word=_pairs(xp, board, [g.d_keeps_word_report for g in intents]),
        aggressor=_pairs(xp, board, [g.d_aggressor_report for g in intents]),
    )


def _cessions(board: Board, ledgers: Ledgers, giver: str) -> list[tuple[int, int]]:
    """In the order in which they are carried out: receivers by name, then as listed, each once. Land that is
    nobody's anywhere is left out.
    """
    at = {place: i for i, place in enumerate(board.territories)}
    to = ledgers.d_territory_cession.get(giver, {})
    return [
        (at[place], board.nations.index(receiver))
        for receiver in sorted(to)
        for place in dict.fromkeys(to[receiver])
        if place in at
    ]


def _table(xp: Any, rows: list[list[int]]) -> Array:
    return games_last(xp, xp.asarray(rows, dtype=xp.int64)) if rows[0] else xp.zeros((len(rows), 0), dtype=xp.int64)


def _pairs(xp: Any, board: Board, flows: Sequence[Mapping[str, Mapping[str, int]]]) -> Array:
    rows = [[[flow.get(a, {}).get(b, 0) for b in board.nations] for a in board.nations] for flow in flows]
    return games_last(xp, xp.asarray(rows, dtype=xp.int64))


def _slots(xp: Any, padded: list[list[list[tuple[int, int]]]], most: int, part: int) -> Array:
    if not most:
        return xp.zeros((len(padded), len(padded[0]), 0), dtype=xp.int64)
    return xp.asarray([[[order[part] for order in row] for row in game] for game in padded], dtype=xp.int64)


def territories_of(standing: BatchStanding, game: int) -> dict[str, list[str]]:
    """Who owns what in one game, as the plain engine has it."""
    board = standing.board
    owners = [int(standing.owner[game, i]) for i in range(len(board.territories))]
    return {
        nation: [place for place, owner in zip(board.territories, owners, strict=True) if owner == i]
        for i, nation in enumerate(board.nations)
    }


def amounts_of(board: Board, table: Array, game: int) -> dict[str, int]:
    """One game's row of a table games x nations, by name."""
    return {nation: int(table[game, i]) for i, nation in enumerate(board.nations)}


def flows_of(board: Board, table: Array, game: int) -> dict[str, dict[str, int]]:
    """One game's part of a table games x nations x others, by names, zeros left out."""
    rows = {a: {b: int(table[game, i, j]) for j, b in enumerate(board.nations)} for i, a in enumerate(board.nations)}
    return {a: {b: number for b, number in row.items() if number} for a, row in rows.items()}
