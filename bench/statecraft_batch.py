"""The batch side of the Statecraft bench: a thousand games at once, and `diplomacy` processing its phases beside it."""

import importlib.util
import random
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from bench.common import quotients, take_turns
from bench.report import Report

HOW = """
The batch: 1,024 games of eight nations at once, with orders just as dense, made beforehand as arrays; a game-turn is
one turn of one game, and the floor is 100,000 of them. With the scripted nations deciding, eight kinds of them sit at
each table. The peer, `diplomacy`, has seven powers with random legal orders; only the processing of a phase is on
its clock, neither listing what is legal nor taking the orders in.
""".strip()
FLOOR = 100_000.0
PEER = "diplomacy, a phase"
GAMES, NATIONS, EACH = 1024, 8, 4
VARIANTS = 8
"""So many sets of orders are made beforehand and handed in by turns."""


class Batch:
    """Dense orders: every nation buys, attacks two others, grants to two, cedes now and then, rates all."""

    def __init__(self, games: int = GAMES, nations: int = NATIONS) -> None:
        from cohabit.worlds.statecraft.batch.playing import dealt
        from cohabit.worlds.statecraft.rules import Rules

        names = [f"N{i:02}" for i in range(nations)]
        self.rules = Rules()
        self.begun = dealt(names, games, 11, mils=12)
        self.orders = [_dense(self.begun, seed) for seed in range(VARIANTS)]

    def round(self, turns: int) -> float:
        """Game-turns per second of processor time, always the same games from their beginning."""
        from cohabit.worlds.statecraft.batch import step

        standing = self.begun
        began = time.process_time()
        for turn in range(turns):
            standing, _ = step(standing, self.orders[turn % VARIANTS], self.rules)
        return turns * standing.games / (time.process_time() - began)


def _dense(standing: Any, seed: int) -> Any:
    import numpy as np

    from cohabit.worlds.statecraft.batch.arrays import NOBODY, BatchOrders, games_last

    chance = np.random.default_rng(seed)
    games, n = standing.games, standing.board.size
    one, two = (np.arange(n) + 1) % n, (np.arange(n) + 3) % n  # whom: two others, different from each other
    pairs = np.zeros((games, n, n), dtype=np.int64)
    attacks, grants = pairs.copy(), pairs.copy()
    for whom in (one, two):
        attacks[:, np.arange(n), whom] = chance.integers(1, 12, (games, n))
        grants[:, np.arange(n), whom] = chance.integers(1, 25, (games, n))
    cedes = chance.random((games, n, 1)) < 1 / 8
    what, to = _border_land(standing, chance)
    rated = [games_last(np, chance.integers(1, 11, (games, n, n))) for _ in range(2)]
    return BatchOrders(
        purchase=games_last(np, chance.integers(0, 3, (games, n))),
        attacks=games_last(np, attacks),
        grants=games_last(np, grants),
        disband=games_last(np, chance.integers(0, 2, (games, n))),
        ceded=np.where(cedes, what, NOBODY),
        ceded_to=np.where(cedes, to, NOBODY),
        keeps_word=rated[0],
        aggressor=rated[1],
    )


def _border_land(standing: Any, chance: Any) -> tuple[Any, Any]:
    """For every nation one of its territories at a border (but not the capital), and the neighbour behind it."""
    import numpy as np

    beside = standing.owner[:, standing.board.neighbours]  # games x territories x neighbours
    foreign = (beside != standing.owner[:, :, None]) & (beside >= 0)
    nation = np.arange(standing.board.size)
    place = np.arange(standing.owner.shape[1])
    own = standing.owner[:, None, :] == nation[None, :, None]
    fit = own & foreign.any(axis=2)[:, None, :] & (place[None, None, :] != standing.capitals[:, :, None])
    what = np.argmax(fit * chance.random(fit.shape), axis=2)
    behind = np.take_along_axis(beside, foreign.argmax(axis=2)[:, :, None], axis=2)[:, :, 0]
    return what[:, :, None], np.take_along_axis(behind, what, axis=1)[:, :, None]


class Policies:
    """The scripted nations decide as well: every kind but one that does nothing."""

    LINEUP = ("trader", "ring_builder", "free_rider", "hawk", "grudger", "tit_for_tat", "opportunist", "peace_enforcer")

    def __init__(self, games: int = GAMES) -> None:
        from cohabit.worlds.statecraft.batch.playing import dealt
        from cohabit.worlds.statecraft.batch.policies import POLICIES
        from cohabit.worlds.statecraft.rules import Rules

        self.rules = Rules()
        self.policies = [POLICIES[kind] for kind in self.LINEUP]
        self.begun = dealt([f"N{i}" for i in range(len(self.LINEUP))], games, 11, mils=4)

    def round(self, turns: int) -> float:
        from cohabit.worlds.statecraft.batch import step
        from cohabit.worlds.statecraft.batch.playing import decide, orders_from
        from cohabit.worlds.statecraft.batch.seeing import Scene

        standing, last = self.begun, None
        memories: list[Any] = [None] * len(self.policies)
        began = time.process_time()
        for left in range(turns, 0, -1):
            decisions = decide(Scene(standing, self.rules, last, left), self.policies, memories)
            memories = [decision.memory for decision in decisions]
            standing, last = step(standing, orders_from(standing, decisions), self.rules)
        return turns * standing.games / (time.process_time() - began)


class Diplomacy:
    """The peer, seven powers with random legal orders. Only its ``process`` is on the clock: not listing what is
    legal and not taking orders in, both of which cost it more.
    """

    def __init__(self) -> None:
        from diplomacy import Game  # type: ignore[import-not-found,unused-ignore]

        self.new = Game
        self.game = Game()
        self.choose = random.Random(1).choice

    def round(self, phases: int) -> float:
        """Phases processed per second of processor time."""
        spent = 0.0
        for _ in range(phases):
            if self.game.is_game_done:
                self.game = self.new()
            possible = self.game.get_all_possible_orders()
            for power in self.game.powers:
                places = self.game.get_orderable_locations(power)
                self.game.set_orders(power, [self.choose(possible[p]) for p in places if possible[p]])
            began = time.process_time()
            self.game.process()
            spent += time.process_time() - began
        return phases / spent


def add_batch(report: Report, quick: bool) -> None:
    """Measure, and put it into a report beside the plain engine."""
    games, turns, rounds = (64, 4, 2) if quick else (GAMES, 60, 7)
    batch = f"batch of {games:,} games"
    contestants: dict[str, Callable[[], float]] = {
        batch: partial(Batch(games).round, turns),
        "the same, nations deciding": partial(Policies(games).round, turns),
    }
    if importlib.util.find_spec("diplomacy"):
        contestants[PEER] = partial(Diplomacy().round, 5 if quick else 60)
    found = take_turns(contestants, rounds)
    report.how += "\n\n" + HOW
    for name, values in found.items():
        report.measure(name, values, "phases/CPU-s" if name == PEER else "game-turns/CPU-s")
    report.ratio("statecraft: batch over the floor of 100,000", [v / FLOOR for v in found[batch]], 1.0, "at least")
    if PEER in found:
        report.ratio("statecraft: batch over phases of diplomacy", quotients(found[batch], found[PEER]))
