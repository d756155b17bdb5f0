"""Whole games in a batch: a line-up of scripted nations on assigned territories, for a number of turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from cohabit.errors import BadArgs
from cohabit.worlds.array_library import compatible
from cohabit.worlds.statecraft.batch import arrays
from cohabit.worlds.statecraft.batch.convert import make_board
from cohabit.worlds.statecraft.batch.deal import deal, random_numbers
from cohabit.worlds.statecraft.batch.engine import step
from cohabit.worlds.statecraft.batch.policies import POLICIES, Decision, Policy, Situation, View
from cohabit.worlds.statecraft.maps import generate_map, validate_map
from cohabit.worlds.statecraft.rules import Rules

TERRITORIES_PER_NATION = 5
"""On the map that is generated if none is given."""


class BatchResult(Struct, frozen=True):
    """The results of a batch. Nations are in name order. The first axis of the arrays is the turn."""

    nations: tuple[str, ...]
    end: arrays.BatchState
    welfare: arrays.Array  # turns x games x nations: gained in that turn
    income: arrays.Array
    mils: arrays.Array  # at the end of the turn
    attacking: arrays.Array  # mils sent
    damage: arrays.Array  # received
    given: arrays.Array  # grants paid


def play(
    lineup: Mapping[str, str], games: int, turns: int, rules: Rules, seed: int,
    *, mils: int = 0, graph: Mapping[str, Sequence[str]] | None = None, noise: int = 0, xp: Any = np,
) -> BatchResult:  # fmt: skip
    """Play ``games`` games of a line-up (nation -> one of POLICIES), each with its own assignment of territories.

    All games use one map: the given one, or one generated from the seed with five territories per nation. ``noise``:
    how many of 100 answers are lost. ``xp``: the array library, such as ``cupy``.
    """
    policies = [_policy(lineup[nation]) for nation in sorted(lineup)]
    if not 0 <= noise <= 100:
        raise BadArgs("noise: must be from 0 to 100")
    state = initial_batch_state(sorted(lineup), games, seed, mils=mils, graph=graph, xp=xp)
    memories: list[arrays.Array | None] = [None] * len(policies)
    last: arrays.BatchLedgers | None = None
    history: list[tuple[arrays.BatchState, arrays.BatchLedgers]] = []
    for turns_left in range(turns, 0, -1):
        decisions = decide(Situation(state, rules, last, turns_left), policies, memories)
        if noise:
            arrives = _arrives(state, seed, noise)
            decisions = [d.if_it(arrives[:, me], memories[me]) for me, d in enumerate(decisions)]
        memories = [decision.memory for decision in decisions]
        state, last = step(state, combine_decisions(state, decisions), rules)
        history.append((state, last))
    return _result(state, history)


def _arrives(state: arrays.BatchState, seed: int, noise: int) -> arrays.Array:
    """games x nations: whether the answer of the nation arrives in this turn."""
    drawn = random_numbers(seed, f"noise in turn {state.turn}", state.games, state.board.size)
    return state.xp.asarray(drawn.astype(np.int64) * 100 >= noise * 2**31)


def initial_batch_state(
    nations: Sequence[str], games: int, seed: int,
    *, mils: int = 0, graph: Mapping[str, Sequence[str]] | None = None, xp: Any = np,
) -> arrays.BatchState:  # fmt: skip
    """The start of a batch: one map, and for each game its own assignment of territories."""
    if games < 1:
        raise BadArgs("games: must be at least 1")
    default = [f"T{i:03}" for i in range(len(nations) * TERRITORIES_PER_NATION)]
    shared_map = validate_map(graph) if graph else generate_map(default, seed)
    if len(nations) > len(shared_map):
        raise BadArgs(f"map: {len(nations)} nations need at least as many territories, but there are {len(shared_map)}")
    xp = compatible(xp)
    owner, capitals = deal(xp, shared_map, len(nations), games, seed)
    army = arrays.games_last(xp, xp.full((games, len(nations)), mils, dtype=xp.int64))
    board = make_board(nations, list(shared_map), shared_map, xp)
    return arrays.BatchState(board=board, turn=0, mils=army, welfare=army * 0, owner=owner, capitals=capitals)


def _policy(kind: str) -> Policy:
    if kind not in POLICIES:
        raise BadArgs(f"lineup: unknown nation {kind!r}; the scripted nations are {', '.join(POLICIES)}")
    return POLICIES[kind]


def decide(situation: Situation, policies: Sequence[Policy], memories: Sequence[arrays.Array | None]) -> list[Decision]:
    """The decision of each nation, in name order."""
    return [
        policy(View(situation, me, memory)) for me, (policy, memory) in enumerate(zip(policies, memories, strict=True))
    ]


def combine_decisions(state: arrays.BatchState, decisions: Sequence[Decision]) -> arrays.BatchOrders:
    """The decisions of all nations as orders. Scripted nations cede nothing."""
    xp = state.xp
    ceded = xp.full((state.games, state.board.size, 0), arrays.NONE, dtype=xp.int64)
    return arrays.BatchOrders(
        purchase=arrays.by_nation(xp, [d.purchase for d in decisions]),
        attacks=arrays.by_pair(xp, [d.attacks for d in decisions]),
        grants=arrays.by_pair(xp, [d.grants for d in decisions]),
        disband=arrays.by_nation(xp, [d.disband for d in decisions]),
        ceded=ceded,
        ceded_to=ceded,
        keeps_word=arrays.by_pair(xp, [d.keeps_word for d in decisions]),
        aggressor=arrays.by_pair(xp, [d.aggressor for d in decisions]),
    )


def _result(end: arrays.BatchState, history: Sequence[tuple[arrays.BatchState, arrays.BatchLedgers]]) -> BatchResult:
    xp = end.xp

    def over_time(tables: list[arrays.Array]) -> arrays.Array:
        return xp.stack(tables, axis=0) if tables else xp.zeros((0, *end.mils.shape), dtype=xp.int64)

    return BatchResult(
        nations=end.board.nations,
        end=end,
        welfare=over_time([ledgers.total_welfare_this_turn for _, ledgers in history]),
        income=over_time([ledgers.gross_income for _, ledgers in history]),
        mils=over_time([state.mils for state, _ in history]),
        attacking=over_time([ledgers.attacking_mils for _, ledgers in history]),
        damage=over_time([ledgers.total_damage_received for _, ledgers in history]),
        given=over_time([xp.sum(ledgers.grants_paid, axis=2) for _, ledgers in history]),
    )
