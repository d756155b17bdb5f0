"""A board as arrays, and one game of a batch for the plain engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cohabit.worlds.array_library import compatible
from cohabit.worlds.statecraft.batch.arrays import NONE, Array, BatchState, Board
from cohabit.worlds.statecraft.state import GameState

Graph = Mapping[str, Sequence[str]]


def make_board(nations: Sequence[str], territories: Sequence[str], graph: Graph | None, xp: Any = np) -> Board:
    """The shared constants of games of these nations on this map."""
    places = tuple(sorted(territories))
    return Board(tuple(sorted(nations)), places, _neighbours(compatible(xp), places, graph or {}), graph is not None)


def _neighbours(xp: Any, places: Sequence[str], graph: Graph) -> Array:
    """Padded with the territory itself: the giver owns it, so it never counts as a neighbour of the receiver."""
    index = {place: i for i, place in enumerate(places)}
    lists = [[index[other] for other in graph.get(place, ())] for place in places]
    width = max((len(row) for row in lists), default=0) or 1
    rows = [row + [i] * (width - len(row)) for i, row in enumerate(lists)]
    return xp.reshape(xp.asarray(rows, dtype=xp.int64), (len(places), width))


def to_game_state(state: BatchState, game: int) -> GameState:
    """One game of a batch, for the plain engine. A batch has no notes, so neither has the state."""
    board = state.board
    places, capitals = board.territories, [int(state.capitals[game, i]) for i in range(board.size)]
    around = [sorted({int(board.neighbours[i, j]) for j in range(board.neighbours.shape[1])} - {i})
              for i in range(len(places))]  # without the padding  # fmt: skip
    return GameState(
        turn=state.turn,
        mils=amounts_in_game(board, state.mils, game),
        territories=territories_in_game(state, game),
        welfare=amounts_in_game(board, state.welfare, game),
        capitals={nation: places[i] for nation, i in zip(board.nations, capitals, strict=True) if i != NONE},
        graph={place: [places[j] for j in around[i]] for i, place in enumerate(places)} if board.has_map else None,
    )


def territories_in_game(state: BatchState, game: int) -> dict[str, list[str]]:
    """The territories of each nation in one game."""
    board = state.board
    owners = [int(state.owner[game, i]) for i in range(len(board.territories))]
    return {
        nation: [place for place, owner in zip(board.territories, owners, strict=True) if owner == i]
        for i, nation in enumerate(board.nations)
    }


def amounts_in_game(board: Board, table: Array, game: int) -> dict[str, int]:
    """One game's row of an array of games x nations, by name."""
    return {nation: int(table[game, i]) for i, nation in enumerate(board.nations)}
