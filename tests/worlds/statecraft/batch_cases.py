"""States and ledgers of the plain engine as arrays of the batch engine, and back."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cohabit.worlds.array_library import compatible
from cohabit.worlds.statecraft.batch.arrays import NONE, Array, BatchOrders, BatchState, Board, games_last
from cohabit.worlds.statecraft.batch.convert import make_board
from cohabit.worlds.statecraft.state import GameState, Ledgers


def to_batch_state(states: Sequence[GameState], xp: Any = np) -> BatchState:
    """A batch of games that have the same nations, the same map and the same turn."""
    first = states[0]
    owned = {place for s in states for places in s.territories.values() for place in places}
    xp = compatible(xp)
    board = make_board(first.nations, sorted(owned | set(first.graph or ())), first.graph, xp)
    index = {place: i for i, place in enumerate(board.territories)}
    return BatchState(
        board=board,
        turn=first.turn,
        mils=_table(xp, [[s.mils[nation] for nation in board.nations] for s in states]),
        welfare=_table(xp, [[s.welfare.get(nation, 0) for nation in board.nations] for s in states]),
        owner=_table(xp, [_owners(s, board) for s in states]),
        capitals=_table(xp, [[index.get(s.capitals.get(n, ""), NONE) for n in board.nations] for s in states]),
    )


def _owners(state: GameState, board: Board) -> list[int]:
    owner = {place: i for i, nation in enumerate(board.nations) for place in state.territories.get(nation, ())}
    return [owner.get(place, NONE) for place in board.territories]


def to_batch_orders(board: Board, intentions: Sequence[Ledgers]) -> BatchOrders:
    """The intentions of phase 0 as arrays, with as many cession slots as the nation with most cessions needs."""
    xp, nations = board.xp, board.nations
    ceded = [[_cessions(board, ledgers, nation) for nation in nations] for ledgers in intentions]
    width = max((len(row) for game in ceded for row in game), default=0)
    padded = [[row + [(NONE, NONE)] * (width - len(row)) for row in game] for game in ceded]
    return BatchOrders(
        purchase=_table(xp, [[g.d_mil_purchase_intent.get(n, 0) for n in nations] for g in intentions]),
        attacks=_pairs(xp, board, [g.d_global_attacks for g in intentions]),
        grants=_pairs(xp, board, [g.d_money_grants for g in intentions]),
        disband=_table(xp, [[g.d_mils_disband_intent.get(n, 0) for n in nations] for g in intentions]),
        ceded=_slots(xp, padded, width, 0),
        ceded_to=_slots(xp, padded, width, 1),
        keeps_word=_pairs(xp, board, [g.d_keeps_word_report for g in intentions]),
        aggressor=_pairs(xp, board, [g.d_aggressor_report for g in intentions]),
    )


def _cessions(board: Board, ledgers: Ledgers, giver: str) -> list[tuple[int, int]]:
    """In processing order: receivers by name, then as listed, without repetitions and unknown territories."""
    index = {place: i for i, place in enumerate(board.territories)}
    to = ledgers.d_territory_cession.get(giver, {})
    return [
        (index[place], board.nations.index(receiver))
        for receiver in sorted(to)
        for place in dict.fromkeys(to[receiver])
        if place in index
    ]


def _table(xp: Any, rows: list[list[int]]) -> Array:
    return games_last(xp, xp.asarray(rows, dtype=xp.int64)) if rows[0] else xp.zeros((len(rows), 0), dtype=xp.int64)


def _pairs(xp: Any, board: Board, flows: Sequence[Mapping[str, Mapping[str, int]]]) -> Array:
    rows = [[[flow.get(a, {}).get(b, 0) for b in board.nations] for a in board.nations] for flow in flows]
    return games_last(xp, xp.asarray(rows, dtype=xp.int64))


def _slots(xp: Any, padded: list[list[list[tuple[int, int]]]], width: int, part: int) -> Array:
    if not width:
        return xp.zeros((len(padded), len(padded[0]), 0), dtype=xp.int64)
    return xp.asarray([[[order[part] for order in row] for row in game] for game in padded], dtype=xp.int64)


def flows_in_game(board: Board, table: Array, game: int) -> dict[str, dict[str, int]]:
    """One game's part of an array of games x nations x others, by name and without zeros."""
    rows = {a: {b: int(table[game, i, j]) for j, b in enumerate(board.nations)} for i, a in enumerate(board.nations)}
    return {a: {b: number for b, number in row.items() if number} for a, row in rows.items()}
