"""Statecraft: turns per second of the engine, intake included, and how they grow with the nations."""

import time
from functools import partial
from typing import Any

from bench.common import quotients, take_turns
from bench.report import Report
from bench.statecraft_batch import add_batch

HOW = """
Games of 4, 32 and 128 nations, eight territories each, with dense orders: every nation buys, attacks two others,
grants to two, rates everybody on both scales and now and then cedes land; the answers are objects, read by the strict
intake. A round is turns one after the other, by processor time, in one process. An order is one entry of an answer.
The floors are the aims: 7,000 turns per second for four nations, and no more per order for many nations than for few.
""".strip()
TURNS = 7_000.0
SIZES = (4, 32, 128)
LAND = 8
EVERY = 8
DIFFERENT = 2 * EVERY
"""So many different turns are ordered in advance: making orders up is not what is measured."""


class Game:
    """A game of so many nations in a ring, and the orders of some turns."""

    def __init__(self, size: int) -> None:
        from cohabit.worlds.statecraft.ledgers import Standing
        from cohabit.worlds.statecraft.rules import Rules
        from cohabit.worlds.statecraft.turn import run_turn

        self.run_turn = run_turn
        self.rules = Rules(c_mil_purchase_price=5)
        self.names = [f"nation{i:03}" for i in range(size)]
        around = [f"{name}-{i}" for name in self.names for i in range(LAND)]
        self.start = Standing(
            turn=0,
            mils=dict.fromkeys(self.names, 12),
            territories={name: around[i * LAND : (i + 1) * LAND] for i, name in enumerate(self.names)},
            welfare=dict.fromkeys(self.names, 0),
            capitals={name: f"{name}-4" for name in self.names},
            graph={t: sorted((around[i - 1], around[(i + 1) % len(around)])) for i, t in enumerate(around)},
        )
        self.turns = [self._answers(turn) for turn in range(DIFFERENT)]
        self.orders = sum(_entries(answer) for answers in self.turns for answer in answers.values()) / DIFFERENT

    def _answers(self, turn: int) -> dict[str, Any]:
        return {name: self._answer(i, turn) for i, name in enumerate(self.names)}

    def _answer(self, i: int, turn: int) -> dict[str, Any]:
        def other(step: int) -> str:
            return self.names[(i + step) % len(self.names)]

        cedes: dict[str, list[str]] = {}
        if turn % 2 == 0 and i % EVERY == turn // 2:  # the last of its land, to the next one
            cedes = {other(1): [f"{self.names[i]}-{LAND - 1}"]}
        elif turn % 2 == 1 and (i - 1) % len(self.names) % EVERY == turn // 2:  # which gives it back
            cedes = {other(-1): [f"{other(-1)}-{LAND - 1}"]}
        ratings = {name: 1 + (i + j + turn) % 10 for j, name in enumerate(self.names)}
        return {
            "purchase_mils": 1 + turn % 3,
            "attacks": {other(1): 3 + turn % 4, other(2): 5},
            "cede_territories": cedes,
            "money_grants": {other(1): 9, other(3): 4 + turn},
            "keeps_word_report": ratings,
            "aggressor_report": dict(ratings),
        }

    def round(self, turns: int) -> float:
        """Turns per second of processor time."""
        standing, ordered, rules = self.start, self.turns, self.rules
        began = time.process_time()
        for turn in range(turns):
            standing = self.run_turn(standing, ordered[turn % DIFFERENT], rules).end
        return turns / (time.process_time() - began)


def _entries(answer: dict[str, Any]) -> int:
    return sum(len(value) if isinstance(value, dict) else 1 for value in answer.values())


def run(quick: bool) -> Report:
    rounds = 2 if quick else 7
    games = [Game(size) for size in SIZES]
    contestants = {
        f"{size} nations": partial(game.round, (512 if quick else 8_000) // size)
        for size, game in zip(SIZES, games, strict=True)
    }
    found = list(take_turns(contestants, rounds).items())
    report = Report("statecraft", "Statecraft: turns of the engine", HOW)
    for name, values in found:
        report.measure(name, values, "turns/CPU-s")
    few = found[0][1]
    report.ratio("statecraft: turns over the floor of 7,000", [v / TURNS for v in few], 1.0, "at least")
    for (name, values), game in zip(found[1:], games[1:], strict=True):
        more = game.orders / games[0].orders
        per_order = [cost / more for cost in quotients(few, values)]
        report.ratio(f"statecraft: cost of an order, {name} against 4", per_order, 1.0, "at most")
    add_batch(report, quick)
    return report
