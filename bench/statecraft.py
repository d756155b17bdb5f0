"""Statecraft: turns per second of the engine including the intake, and how the cost grows with the nations."""

import time
from functools import partial
from typing import Any

from bench.common import quotients, take_turns
from bench.report import Report
from bench.statecraft_batch import add_batch

HOW = """
Games of 4, 32 and 128 nations with eight territories each and dense orders: every nation buys mils, attacks two others,
grants to two, rates all nations on both scales and sometimes cedes a territory. The answers are objects, read by the
strict intake. A round plays turns one after the other in one process and measures CPU time. An order is one entry of an
answer. The aims: at least 7,000 turns per second for four nations, and no higher cost per order for more nations.
""".strip()
MIN_TURNS_PER_SECOND = 7_000.0
SIZES = (4, 32, 128)
TERRITORIES_PER_NATION = 8
CESSION_PERIOD = 8
PREPARED_TURNS = 2 * CESSION_PERIOD
"""Turns whose orders are created in advance, because creating them is not measured."""


class Game:
    """A game of nations whose territories form a ring, and the orders of some turns."""

    def __init__(self, size: int) -> None:
        from cohabit.worlds.statecraft.rules import Rules
        from cohabit.worlds.statecraft.state import GameState
        from cohabit.worlds.statecraft.turn import run_turn

        self.run_turn = run_turn
        self.rules = Rules(c_mil_purchase_price=5)
        self.names = [f"nation{i:03}" for i in range(size)]
        ring = [f"{name}-{i}" for name in self.names for i in range(TERRITORIES_PER_NATION)]
        self.start = GameState(
            turn=0,
            mils=dict.fromkeys(self.names, 12),
            territories={
                name: ring[i * TERRITORIES_PER_NATION : (i + 1) * TERRITORIES_PER_NATION]
                for i, name in enumerate(self.names)
            },
            welfare=dict.fromkeys(self.names, 0),
            capitals={name: f"{name}-4" for name in self.names},
            graph={t: sorted((ring[i - 1], ring[(i + 1) % len(ring)])) for i, t in enumerate(ring)},
        )
        self.turns = [self._answers(turn) for turn in range(PREPARED_TURNS)]
        self.orders = sum(_entries(answer) for answers in self.turns for answer in answers.values()) / PREPARED_TURNS

    def _answers(self, turn: int) -> dict[str, Any]:
        return {name: self._answer(i, turn) for i, name in enumerate(self.names)}

    def _answer(self, i: int, turn: int) -> dict[str, Any]:
        def other(step: int) -> str:
            return self.names[(i + step) % len(self.names)]

        ceded: dict[str, list[str]] = {}
        if turn % 2 == 0 and i % CESSION_PERIOD == turn // 2:  # its last territory to the next nation
            ceded = {other(1): [f"{self.names[i]}-{TERRITORIES_PER_NATION - 1}"]}
        elif turn % 2 == 1 and (i - 1) % len(self.names) % CESSION_PERIOD == turn // 2:  # which returns it
            ceded = {other(-1): [f"{other(-1)}-{TERRITORIES_PER_NATION - 1}"]}
        ratings = {name: 1 + (i + j + turn) % 10 for j, name in enumerate(self.names)}
        return {
            "purchase_mils": 1 + turn % 3,
            "attacks": {other(1): 3 + turn % 4, other(2): 5},
            "cede_territories": ceded,
            "money_grants": {other(1): 9, other(3): 4 + turn},
            "keeps_word_report": ratings,
            "aggressor_report": dict(ratings),
        }

    def round(self, turns: int) -> float:
        """Turns per CPU second."""
        state, answers, rules = self.start, self.turns, self.rules
        began = time.process_time()
        for turn in range(turns):
            state = self.run_turn(state, answers[turn % PREPARED_TURNS], rules).end
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
    results = list(take_turns(contestants, rounds).items())
    report = Report("statecraft", "Statecraft: turns of the engine", HOW)
    for name, values in results:
        report.measure(name, values, "turns/CPU-s")
    few = results[0][1]
    report.ratio("statecraft: turns over the floor of 7,000", [v / MIN_TURNS_PER_SECOND for v in few], 1.0, "at least")
    for (name, values), game in zip(results[1:], games[1:], strict=True):
        more_orders = game.orders / games[0].orders
        per_order = [cost / more_orders for cost in quotients(few, values)]
        report.ratio(f"statecraft: cost of an order, {name} against 4", per_order, 1.0, "at most")
    add_batch(report, quick)
    return report
