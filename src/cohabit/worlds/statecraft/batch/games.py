"""Whole games in a batch: a line-up of scripted nations on assigned territories, for a number of turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from cohabit.errors import BadArgs
from cohabit.worlds.statecraft.batch.arrays import (
    NONE,
    Array,
    BatchLedgers,
    BatchOrders,
    BatchState,
    by_nation,
    by_pair,
)
from cohabit.worlds.statecraft.batch.convert import to_batch_state
from cohabit.worlds.statecraft.batch.engine import step
from cohabit.worlds.statecraft.batch.policies import POLICIES, Decision, Policy, Situation, View
from cohabit.worlds.statecraft.maps import Graph, generate_map
from cohabit.worlds.statecraft.rules import Rules
from cohabit.worlds.statecraft.setup import initial_state

TERRITORIES_PER_NATION = 5
"""On the map that is generated if none is given."""


class BatchResult(Struct, frozen=True):
    """The results of a batch. Nations are in name order. The first axis of the arrays is the turn."""

    nations: tuple[str, ...]
    end: BatchState
    welfare: Array  # turns x games x nations: gained in that turn
    income: Array
    mils: Array  # at the end of the turn
    attacking: Array  # mils sent
    damage: Array  # received
    given: Array  # grants paid


def play(
    lineup: Mapping[str, str], games: int, turns: int, rules: Rules, seed: int,
    *, mils: int = 0, graph: Mapping[str, Sequence[str]] | None = None, xp: Any = np,
) -> BatchResult:  # fmt: skip
    """Play ``games`` games of a line-up (nation -> one of POLICIES), each with its own assignment of territories.

    All games use one map: the given one, or one generated from the seed with five territories per nation.
    """
    policies = [_policy(lineup[nation]) for nation in sorted(lineup)]
    state = initial_batch_state(sorted(lineup), games, seed, mils=mils, graph=graph, xp=xp)
    memories: list[Array | None] = [None] * len(policies)
    last: BatchLedgers | None = None
    history: list[tuple[BatchState, BatchLedgers]] = []
    for turns_left in range(turns, 0, -1):
        decisions = decide(Situation(state, rules, last, turns_left), policies, memories)
        memories = [decision.memory for decision in decisions]
        state, last = step(state, combine_decisions(state, decisions), rules)
        history.append((state, last))
    return _result(state, history)


def initial_batch_state(
    nations: Sequence[str], games: int, seed: int,
    *, mils: int = 0, graph: Mapping[str, Sequence[str]] | None = None, xp: Any = np,
) -> BatchState:  # fmt: skip
    """The start of a batch: one map, and for each game its own assignment of territories."""
    if games < 1:
        raise BadArgs("games: must be at least 1")
    shared_map = {place: list(around) for place, around in graph.items()} if graph else _default_map(len(nations), seed)
    return to_batch_state([initial_state(shared_map, nations, mils, seed + game) for game in range(games)], xp)


def _default_map(nations: int, seed: int) -> Graph:
    return generate_map([f"T{i:03}" for i in range(nations * TERRITORIES_PER_NATION)], seed)


def _policy(kind: str) -> Policy:
    if kind not in POLICIES:
        raise BadArgs(f"lineup: unknown nation {kind!r}; the scripted nations are {', '.join(POLICIES)}")
    return POLICIES[kind]


def decide(situation: Situation, policies: Sequence[Policy], memories: Sequence[Array | None]) -> list[Decision]:
    """The decision of each nation, in name order."""
    return [
        policy(View(situation, me, memory)) for me, (policy, memory) in enumerate(zip(policies, memories, strict=True))
    ]


def combine_decisions(state: BatchState, decisions: Sequence[Decision]) -> BatchOrders:
    """The decisions of all nations as orders. Scripted nations cede nothing."""
    xp = state.board.xp
    ceded = xp.full((state.games, state.board.size, 0), NONE, dtype=xp.int64)
    return BatchOrders(
        purchase=by_nation(xp, [d.purchase for d in decisions]),
        attacks=by_pair(xp, [d.attacks for d in decisions]),
        grants=by_pair(xp, [d.grants for d in decisions]),
        disband=by_nation(xp, [d.disband for d in decisions]),
        ceded=ceded,
        ceded_to=ceded,
        keeps_word=by_pair(xp, [d.keeps_word for d in decisions]),
        aggressor=by_pair(xp, [d.aggressor for d in decisions]),
    )


def _result(end: BatchState, history: Sequence[tuple[BatchState, BatchLedgers]]) -> BatchResult:
    xp = end.board.xp

    def over_time(tables: list[Array]) -> Array:
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
