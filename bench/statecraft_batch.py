"""The batch part of the Statecraft bench: a thousand games at once, compared with the phases of `diplomacy`."""

import importlib.util
import random
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from bench.common import quotients, take_turns
from bench.report import Report

HOW = """
The batch: 1,024 games of eight nations at once with equally dense orders, created in advance as arrays. A game-turn is
one turn of one game; the aim is at least 100,000 per second. In the second measurement eight different scripted nations
decide in each game. The peer, `diplomacy`, has seven powers with random legal orders. Only its processing of a phase is
measured, not listing the legal orders nor setting them.
""".strip()
MIN_GAME_TURNS_PER_SECOND = 100_000.0
PEER = "diplomacy, a phase"
GAMES, NATIONS = 1024, 8
PREPARED_ORDERS = 8
"""Sets of orders that are created in advance and used in turn."""


class Batch:
    """Dense orders: every nation buys mils, attacks two others, grants to two, sometimes cedes, and rates all."""

    def __init__(self, games: int = GAMES, nations: int = NATIONS) -> None:
        from cohabit.worlds.statecraft.batch.games import initial_batch_state
        from cohabit.worlds.statecraft.rules import Rules

        names = [f"N{i:02}" for i in range(nations)]
        self.rules = Rules()
        self.start = initial_batch_state(names, games, 11, mils=12)
        self.orders = [_dense_orders(self.start, seed) for seed in range(PREPARED_ORDERS)]

    def round(self, turns: int) -> float:
        """Game-turns per CPU second. Each round plays the same games from the start."""
        from cohabit.worlds.statecraft.batch import step

        state = self.start
        began = time.process_time()
        for turn in range(turns):
            state, _ = step(state, self.orders[turn % PREPARED_ORDERS], self.rules)
        return turns * state.games / (time.process_time() - began)


def _dense_orders(state: Any, seed: int) -> Any:
    import numpy as np

    from cohabit.worlds.statecraft.batch.arrays import NONE, BatchOrders, games_last

    rng = np.random.default_rng(seed)
    games, n = state.games, state.board.size
    one, two = (np.arange(n) + 1) % n, (np.arange(n) + 3) % n  # two different other nations
    pairs = np.zeros((games, n, n), dtype=np.int64)
    attacks, grants = pairs.copy(), pairs.copy()
    for target in (one, two):
        attacks[:, np.arange(n), target] = rng.integers(1, 12, (games, n))
        grants[:, np.arange(n), target] = rng.integers(1, 25, (games, n))
    cedes = rng.random((games, n, 1)) < 1 / 8
    territory, receiver = _border_territories(state, rng)
    rated = [games_last(np, rng.integers(1, 11, (games, n, n))) for _ in range(2)]
    return BatchOrders(
        purchase=games_last(np, rng.integers(0, 3, (games, n))),
        attacks=games_last(np, attacks),
        grants=games_last(np, grants),
        disband=games_last(np, rng.integers(0, 2, (games, n))),
        ceded=np.where(cedes, territory, NONE),
        ceded_to=np.where(cedes, receiver, NONE),
        keeps_word=rated[0],
        aggressor=rated[1],
    )


def _border_territories(state: Any, rng: Any) -> tuple[Any, Any]:
    """For every nation one of its border territories (not the capital), and the nation on the other side."""
    import numpy as np

    neighbours = state.owner[:, state.board.neighbours]  # games x territories x neighbours
    foreign = (neighbours != state.owner[:, :, None]) & (neighbours >= 0)
    nation = np.arange(state.board.size)
    place = np.arange(state.owner.shape[1])
    own = state.owner[:, None, :] == nation[None, :, None]
    legal = own & foreign.any(axis=2)[:, None, :] & (place[None, None, :] != state.capitals[:, :, None])
    territory = np.argmax(legal * rng.random(legal.shape), axis=2)
    receivers = np.take_along_axis(neighbours, foreign.argmax(axis=2)[:, :, None], axis=2)[:, :, 0]
    return territory[:, :, None], np.take_along_axis(receivers, territory, axis=1)[:, :, None]


class Policies:
    """The scripted nations decide: one of each kind, except the passive one."""

    LINEUP = ("trader", "ring_builder", "free_rider", "hawk", "grudger", "tit_for_tat", "opportunist", "peace_enforcer")

    def __init__(self, games: int = GAMES) -> None:
        from cohabit.worlds.statecraft.batch.games import initial_batch_state
        from cohabit.worlds.statecraft.batch.policies import POLICIES
        from cohabit.worlds.statecraft.rules import Rules

        self.rules = Rules()
        self.policies = [POLICIES[kind] for kind in self.LINEUP]
        self.start = initial_batch_state([f"N{i}" for i in range(len(self.LINEUP))], games, 11, mils=4)

    def round(self, turns: int) -> float:
        from cohabit.worlds.statecraft.batch import step
        from cohabit.worlds.statecraft.batch.games import combine_decisions, decide
        from cohabit.worlds.statecraft.batch.policies import Situation

        state, last = self.start, None
        memories: list[Any] = [None] * len(self.policies)
        began = time.process_time()
        for left in range(turns, 0, -1):
            decisions = decide(Situation(state, self.rules, last, left), self.policies, memories)
            memories = [decision.memory for decision in decisions]
            state, last = step(state, combine_decisions(state, decisions), self.rules)
        return turns * state.games / (time.process_time() - began)


class Diplomacy:
    """The peer: seven powers with random legal orders. Only its ``process`` is measured; listing the legal orders and
    setting them cost it more.
    """

    def __init__(self) -> None:
        from diplomacy import Game  # type: ignore[import-not-found,unused-ignore]

        self.new = Game
        self.game = Game()
        self.choose = random.Random(1).choice

    def round(self, phases: int) -> float:
        """Phases processed per CPU second."""
        cpu_seconds = 0.0
        for _ in range(phases):
            if self.game.is_game_done:
                self.game = self.new()
            possible = self.game.get_all_possible_orders()
            for power in self.game.powers:
                places = self.game.get_orderable_locations(power)
                self.game.set_orders(power, [self.choose(possible[p]) for p in places if possible[p]])
            began = time.process_time()
            self.game.process()
            cpu_seconds += time.process_time() - began
        return phases / cpu_seconds


def add_batch(report: Report, quick: bool) -> None:
    """Measure the batch, and add it to the report of the plain engine."""
    games, turns, rounds = (64, 4, 2) if quick else (GAMES, 60, 7)
    batch = f"batch of {games:,} games"
    contestants: dict[str, Callable[[], float]] = {
        batch: partial(Batch(games).round, turns),
        "the same, nations deciding": partial(Policies(games).round, turns),
    }
    if importlib.util.find_spec("diplomacy"):
        contestants[PEER] = partial(Diplomacy().round, 5 if quick else 60)
    results = take_turns(contestants, rounds)
    report.how += "\n\n" + HOW
    for name, values in results.items():
        report.measure(name, values, "phases/CPU-s" if name == PEER else "game-turns/CPU-s")
    report.ratio(
        "statecraft: batch over the floor of 100,000",
        [v / MIN_GAME_TURNS_PER_SECOND for v in results[batch]],
        1.0,
        "at least",
    )
    if PEER in results:
        report.ratio("statecraft: batch over phases of diplomacy", quotients(results[batch], results[PEER]))
