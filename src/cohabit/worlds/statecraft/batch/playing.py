"""Whole games in a batch: a line-up of scripted nations, dealt land, so many turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from cohabit.errors import BadArgs
from cohabit.worlds.statecraft.batch.arrays import (
    NOBODY,
    Array,
    BatchOrders,
    BatchStanding,
    BatchTurn,
    by_nation,
    by_pair,
)
from cohabit.worlds.statecraft.batch.convert import standing_of
from cohabit.worlds.statecraft.batch.engine import step
from cohabit.worlds.statecraft.batch.policies import POLICIES, Policy
from cohabit.worlds.statecraft.batch.seeing import Decision, Scene, View
from cohabit.worlds.statecraft.dealing import deal
from cohabit.worlds.statecraft.graph import generated
from cohabit.worlds.statecraft.ledgers import Standing
from cohabit.worlds.statecraft.rules import Rules

EACH = 5
"""Territories per nation on the map that is made where none is given."""


class Played(Struct, frozen=True):
    """What came of it. Nations are in name order; the first axis of the rest is the turn."""

    nations: tuple[str, ...]
    end: BatchStanding
    welfare: Array  # turns x games x nations: gained in that turn
    income: Array
    mils: Array  # at the end of the turn
    attacking: Array  # mils sent
    damage: Array  # received
    given: Array  # grants paid


def play(
    lineup: Mapping[str, str], games: int, turns: int, rules: Rules, seed: int,
    *, mils: int = 0, graph: Mapping[str, Sequence[str]] | None = None, xp: Any = np,
) -> Played:  # fmt: skip
    """Play ``games`` games of nation -> kind (see POLICIES), each with land of its own dealing.

    All games are on one map: the given one, or one made from the seed with five territories for each nation.
    """
    policies = [_policy(lineup[nation]) for nation in sorted(lineup)]
    standing = dealt(sorted(lineup), games, seed, mils=mils, graph=graph, xp=xp)
    memories: list[Array | None] = [None] * len(policies)
    last: BatchTurn | None = None
    kept: list[tuple[BatchStanding, BatchTurn]] = []
    for turns_left in range(turns, 0, -1):
        decisions = decide(Scene(standing, rules, last, turns_left), policies, memories)
        memories = [decision.memory for decision in decisions]
        standing, last = step(standing, orders_from(standing, decisions), rules)
        kept.append((standing, last))
    return _played(standing, kept)


def dealt(
    nations: Sequence[str], games: int, seed: int,
    *, mils: int = 0, graph: Mapping[str, Sequence[str]] | None = None, xp: Any = np,
) -> BatchStanding:  # fmt: skip
    """The beginning: one map, and for each game its own dealing of it."""
    if games < 1:
        raise BadArgs("games: there must be at least one")
    land = {place: list(around) for place, around in graph.items()} if graph else _made(len(nations), seed)
    return standing_of([_beginning(land, nations, seed + game, mils) for game in range(games)], xp)


def _beginning(land: dict[str, list[str]], nations: Sequence[str], seed: int, mils: int) -> Standing:
    territories, capitals = deal(land, nations, seed)
    armies, none = dict.fromkeys(nations, mils), dict.fromkeys(nations, 0)
    return Standing(turn=0, mils=armies, territories=territories, welfare=none, capitals=capitals, graph=land)


def _made(nations: int, seed: int) -> dict[str, list[str]]:
    return generated([f"T{i:03}" for i in range(nations * EACH)], seed)


def _policy(kind: str) -> Policy:
    if kind not in POLICIES:
        raise BadArgs(f"lineup: there is no {kind!r}; there are {', '.join(POLICIES)}")
    return POLICIES[kind]


def decide(scene: Scene, policies: Sequence[Policy], memories: Sequence[Array | None]) -> list[Decision]:
    """What each nation orders, in name order."""
    return [policy(View(scene, me, memory)) for me, (policy, memory) in enumerate(zip(policies, memories, strict=True))]


def orders_from(standing: BatchStanding, decisions: Sequence[Decision]) -> BatchOrders:
    """The decisions of all nations, side by side. Scripted nations cede nothing."""
    xp = standing.board.xp
    ceded = xp.full((standing.games, standing.board.size, 0), NOBODY, dtype=xp.int64)
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


def _played(end: BatchStanding, kept: Sequence[tuple[BatchStanding, BatchTurn]]) -> Played:
    xp = end.board.xp

    def over_time(tables: list[Array]) -> Array:
        return xp.stack(tables, axis=0) if tables else xp.zeros((0, *end.mils.shape), dtype=xp.int64)

    return Played(
        nations=end.board.nations,
        end=end,
        welfare=over_time([turn.total_welfare_this_turn for _, turn in kept]),
        income=over_time([turn.gross_income for _, turn in kept]),
        mils=over_time([standing.mils for standing, _ in kept]),
        attacking=over_time([turn.attacking_mils for _, turn in kept]),
        damage=over_time([turn.total_damage_received for _, turn in kept]),
        given=over_time([xp.sum(turn.grants_paid, axis=2) for _, turn in kept]),
    )
