"""Crafter: steps and resets against the original, what more players cost, and the batch engine."""

import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from bench.common import Child, quotients, take_turns
from bench.report import Report

HOW = """
The peer is the original, `crafter` 1.8.3, which draws a picture in each step. All sides play random actions in maps of
64 x 64, on CPU time. Steps of one player: ours uses the original's random numbers, so it plays the same games, and
after each step it makes the player's whole observation with its text. Games end with death, and new ones are not
measured; resets are measured separately. "Cost of 4 players over one" divides the CPU time of a step with four players
by that of a step with one player; all of them act, are healed now and then, and no text is made.

The batch: games that are stepped together on arrays, each with its own keyed random numbers. Its steps are measured
without and with the resets of games that have ended. On two cores two processes play at the same time, and their
game-steps per CPU second are added up; all ratios are over one process of the original. On a GPU (one NVIDIA H200,
PyTorch 2.11, by hand with `python -m bench.crafter_device`) the same code made 420,000 game-steps a second with 32,768
games, and 3.46 million with 262,144.
""".strip()
MIN_STEPS, MIN_RESETS, MIN_BATCH = 12.0, 40.0, 100.0  # times the original
MAX_COST = {4: 4.4, 64: 70.0}  # players: times the cost of one
ACTIONS = 17
STOCK = "crafter 1.8.3"


class Stock:
    """The original, with random actions."""

    def __init__(self) -> None:
        import crafter

        self.env = crafter.Env(seed=1)
        self.env.reset()
        self.choose = random.Random(1).randrange

    def steps(self, number: int) -> float:
        """Steps per CPU second."""
        seconds = 0.0
        for _ in range(number):
            action = self.choose(ACTIONS)
            began = time.process_time()
            _, _, done, _ = self.env.step(action)
            seconds += time.process_time() - began
            if done:
                self.env.reset()
        return number / seconds

    def resets(self, number: int) -> float:
        """Resets per CPU second."""
        began = time.process_time()
        for _ in range(number):
            self.env.reset()
        return number / (time.process_time() - began)


class OnePlayer:
    """Our game with the original's random numbers, and with the player's whole text after each step, or without."""

    def __init__(self, with_text: bool) -> None:
        from cohabit.worlds.crafter.draws import StockDraws
        from cohabit.worlds.crafter.game import Game
        from cohabit.worlds.crafter.observing import observation_of

        self.observe, self.with_text = observation_of, with_text
        self.choose = random.Random(1).randrange
        self.seed = 0

        def new() -> Any:
            self.seed += 1
            return Game.new(StockDraws(self.seed))

        self.new = new
        self.game = new()

    def steps(self, number: int) -> float:
        seconds = 0.0
        for _ in range(number):
            game, actions = self.game, {0: self.choose(ACTIONS)}
            began = time.process_time()
            game.step(actions)
            if self.with_text:
                self.observe(game, game.players[0])
            seconds += time.process_time() - began
            if not game.players[0].alive:
                self.game = self.new()
        return number / seconds

    def resets(self, number: int) -> float:
        began = time.process_time()
        for _ in range(number):
            self.new()
        return number / (time.process_time() - began)


class Players:
    """A game with several players."""

    HEAL_EVERY = 5

    def __init__(self, players: int) -> None:
        from cohabit.worlds.crafter.draws import KeyedDraws
        from cohabit.worlds.crafter.game import Game

        self.game = Game.new(KeyedDraws(3), players)
        self.choose = random.Random(1).randrange

    def steps(self, number: int) -> float:
        """Steps of the whole game per CPU second."""
        game, seconds = self.game, 0.0
        for _ in range(0, number, self.HEAL_EVERY):
            for player in game.players:
                player.health = player.food = player.drink = player.energy = 9
            turns = [{player.number: self.choose(ACTIONS) for player in game.players} for _ in range(self.HEAL_EVERY)]
            began = time.process_time()
            for actions in turns:
                game.step(actions)
            seconds += time.process_time() - began
        return number / seconds


class Batch:
    """A batch with random actions. Games that end are reset after the step."""

    def __init__(self, games: int, first_seed: int = 0) -> None:
        import numpy as np

        from cohabit.worlds.crafter.batch import CrafterBatch

        self.batch = CrafterBatch(range(first_seed, first_seed + games))
        self.chance = np.random.default_rng(first_seed)

    def steps(self, number: int) -> tuple[float, float]:
        """Game-steps per CPU second, without and with the resets."""
        stepping = resetting = 0.0
        games = len(self.batch)
        for actions in self.chance.integers(0, ACTIONS, (number, games)):
            began = time.process_time()
            result = self.batch.step(actions)
            stepped = time.process_time()
            self.batch.reset(result.over)
            stepping += stepped - began
            resetting += time.process_time() - stepped
        return number * games / stepping, number * games / (stepping + resetting)

    def resets(self) -> float:
        began = time.process_time()
        self.batch.reset()
        return len(self.batch) / (time.process_time() - began)


class TwoProcesses:
    """Two batches at the same time, each on a core of its own."""

    def __init__(self, games: int) -> None:
        self.children = [Child("bench.crafter:Batch", on, games=games, first_seed=on * games) for on in (0, 1)]

    def steps(self, number: int) -> tuple[float, float]:
        with ThreadPoolExecutor(2) as pool:
            both = list(pool.map(lambda child: child.ask("steps", number=number), self.children))
        return sum(one[0] for one in both), sum(one[1] for one in both)

    def end(self) -> None:
        for one in self.children:
            one.end()


class Latest:
    """A contestant that measures two things at once: its round is the first, and the second is kept."""

    def __init__(self, measure: Callable[[], tuple[float, float]]) -> None:
        self.measure = measure
        self.others: list[float] = []

    def __call__(self) -> float:
        value, other = self.measure()
        self.others.append(other)
        return value


def run(quick: bool) -> Report:
    report = Report("crafter", "Crafter: steps, resets and batches", HOW)
    games = 64 if quick else 2048
    with_text, without, stock = OnePlayer(True), OnePlayer(False), Stock()
    batch, two, fresh = Batch(games, 10_000_000), TwoProcesses(games), Batch(16 if quick else 128)
    on_one = Latest(partial(batch.steps, 3 if quick else 40))
    on_two = Latest(partial(two.steps, 3 if quick else 40))
    rounds = 2 if quick else 7
    players = {number: Players(number) for number in (1, *MAX_COST)}
    try:
        results = take_turns(
            {
                f"{STOCK}, steps": partial(stock.steps, 20 if quick else 400),
                "ours, steps with text": partial(with_text.steps, 100 if quick else 3_000),
                "ours, steps without text": partial(without.steps, 100 if quick else 4_000),
                f"{STOCK}, resets": partial(stock.resets, 1),
                "ours, resets": partial(without.resets, 2 if quick else 30),
                f"batch of {games:,} games": on_one,
                f"two batches of {games:,} games on two cores": on_two,
                f"batch of {len(fresh.batch)} games, resets": fresh.resets,
            }
            | {
                f"game with {number} player{'s' * (number > 1)}": partial(game.steps, 10 if quick else 4_000 // number)
                for number, game in players.items()
            },
            rounds,
        )
    finally:
        two.end()
    for name, values in results.items():
        unit = "resets/CPU-s" if "resets" in name else "game-steps/CPU-s" if "batch" in name else "steps/CPU-s"
        report.measure(name, values, unit)
    for name, latest in ((f"batch of {games:,} games", on_one), ("two such batches on two cores", on_two)):
        report.measure(f"{name}, with resets", latest.others[-rounds:], "game-steps/CPU-s")
    _ratios(report, list(results.values()), on_two.others[-rounds:])
    return report


def _ratios(report: Report, results: list[list[float]], two_with_resets: list[float]) -> None:
    stock, steps, bare, stock_resets, resets, one, two, batch_resets, single, *several = results
    report.ratio("crafter: steps with text over the original", quotients(steps, stock), MIN_STEPS)
    report.ratio("crafter: steps without text over the original", quotients(bare, stock))
    report.ratio("crafter: resets over the original", quotients(resets, stock_resets), MIN_RESETS)
    for (number, most), values in zip(MAX_COST.items(), several, strict=True):
        report.ratio(f"crafter: cost of {number} players over one", quotients(single, values), most, "at most")
    report.ratio("crafter: batch over the original, one core", quotients(one, stock))
    report.ratio("crafter: batch over the original, two cores", quotients(two, stock), MIN_BATCH)
    report.ratio("crafter: the same with resets", quotients(two_with_resets, stock))
    report.ratio("crafter: resets of a batch over the original", quotients(batch_resets, stock_resets))
