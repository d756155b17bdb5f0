"""Whole games through the lab: beside two peers, in two processes, and beside Statecraft's engine alone."""

import json
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from bench.common import child, quotients, take_turns
from bench.report import Report
from bench.step import PettingZoo, TextArena

HOW = """
Whole games of random tic-tac-toe, per CPU second. Ours are played by `match`: for each game a room is opened and two
players are made; each decision is timed, made, authorized, validated, run, recorded (including the hash chain) and kept
for the transcript; the result, the transcript and the record are encoded. The peers' loops only play, as in the bench
of a step. Statecraft: turns of four scripted nations per CPU second, by `match`, by `cohabit statecraft run`, and by a
loop around the engine, which has no room, no record and no transcript. Two processes: Statecraft games of 40 turns per
second of wall time, without the time to start the processes.
""".strip()
NATIONS = ["hawk", "trader", "tit-for-tat", "opportunist"]


class Matches:
    """Games of tic-tac-toe by `match`, in memory."""

    def __init__(self, games: int) -> None:
        from cohabit.lab.match import match_design

        self.design = match_design("tictactoe", ["random", "random"], games=games)

    def round(self) -> float:
        from cohabit.lab.run import run

        began = time.process_time()
        played = run(self.design)
        return len(played.games) / (time.process_time() - began)


class PeerGames:
    """Games of a peer, by the loop of the bench of a step."""

    def __init__(self, peer: TextArena | PettingZoo) -> None:
        self.peer = peer
        self.games = 0
        reset = peer.env.reset

        def counted(**options: Any) -> Any:
            self.games += 1
            return reset(**options)

        peer.env.reset = counted

    def games_per_second(self, seconds: float) -> float:
        self.games, began = 0, time.process_time()
        self.peer.round(seconds)
        return self.games / (time.process_time() - began)


def arena_games() -> PeerGames:
    return PeerGames(TextArena("TicTacToe-v0"))


def zoo_games() -> PeerGames:
    return PeerGames(PettingZoo())


class Nations:
    """Turns of Statecraft: by `match`, by its experiments, and by a loop around the engine."""

    def __init__(self, games: int, turns: int) -> None:
        from cohabit.lab.match import match_design
        from cohabit.lab.statecraft.config import parse_experiment

        config = {"turns": turns, "map": "generated", "size": 24}
        self.design = match_design("statecraft", NATIONS, games=games, config=config)
        names = [name.replace("-", "_") for name in NATIONS]
        plan = {"name": "bench", "lineups": {"x": names}, "seeds": games, "turns": turns, "size": 24}
        self.experiment = parse_experiment(json.dumps(plan))
        self.turns = games * turns

    def matched(self) -> float:
        from cohabit.lab.run import run

        began = time.process_time()
        run(self.design)
        return self.turns / (time.process_time() - began)

    def experiments(self) -> float:
        from cohabit.lab.statecraft.play import play_round

        return self._rounds(play_round)

    def bare(self) -> float:
        from bench.bare_statecraft import play_bare

        return self._rounds(play_bare)

    def _rounds(self, play: Callable[[Any, Any], Any]) -> float:
        began = time.process_time()
        for place in self.experiment.places():
            play(self.experiment, place)
        return self.turns / (time.process_time() - began)


def games_per_second(games: int, workers: int) -> float:
    """Statecraft games per second of wall time. A run with twice as many games takes as long to start and to end."""
    return games / (_wall_seconds(2 * games, workers) - _wall_seconds(games, workers))


def _wall_seconds(games: int, workers: int) -> float:
    from cohabit.lab.match import match_design
    from cohabit.lab.run import run

    design = match_design("statecraft", NATIONS, games=games, config={"turns": 40})
    began = time.perf_counter()
    run(design, None, workers)
    return time.perf_counter() - began


def run(quick: bool) -> Report:
    seconds, games, times = (0.2, 100, 2) if quick else (1.0, 2000, 9)
    with (
        child("bench.match:Matches", 0, games=games) as ours,
        child("bench.match:arena_games", 0) as arena,
        child("bench.match:zoo_games", 0) as zoo,
        child("bench.match:Nations", 0, games=4 if quick else 24, turns=10 if quick else 24) as nations,
    ):
        found = take_turns(
            {
                "tic-tac-toe by match": partial(ours.ask, "round"),
                "TextArena TicTacToe-v0": partial(arena.ask, "games_per_second", seconds=seconds),
                "PettingZoo tictactoe_v3": partial(zoo.ask, "games_per_second", seconds=seconds),
            },
            times,
        )
        turns = take_turns(
            {
                "Statecraft by match": partial(nations.ask, "matched"),
                "Statecraft by its experiments": partial(nations.ask, "experiments"),
                "Statecraft by the engine alone": partial(nations.ask, "bare"),
            },
            times,
        )
    count = 20 if quick else 80
    walls = take_turns(
        {
            "Statecraft in one process": partial(games_per_second, count, 1),
            "Statecraft in two processes": partial(games_per_second, count, 2),
        },
        1 if quick else 3,
    )
    report = Report("match", "Whole games through match", HOW)
    for rows, unit in ((found, "games / CPU-s"), (turns, "turns / CPU-s"), (walls, "games / s")):
        for name, values in rows.items():
            report.measure(name, values, unit)
    mine, theirs, zoos = found.values()
    report.ratio("match: games over TextArena's loop", quotients(mine, theirs), 0.8)
    report.ratio("match: games over PettingZoo's loop", quotients(mine, zoos), 2.0)
    matched, experiments, bare = turns.values()
    report.ratio("match: Statecraft over its engine alone", quotients(matched, bare), 0.5)
    report.ratio("match: Statecraft's experiments over its engine alone", quotients(experiments, bare), 0.5)
    one, two = walls.values()
    report.ratio("match: two processes over one", quotients(two, one), 1.8)
    return report
