"""``cohabit match``: games between agents in one world."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cohabit.faces.cli.say import UsageError, clean, of_a_run, paint, table, tell

if TYPE_CHECKING:
    from cohabit.lab.design import Design

MAX_WORKERS = 256


def match_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("world", metavar="WORLD", help="a world by name, or a file such as mygame.py")
    parser.add_argument("players", metavar="BRAIN", nargs="+", help="the players, such as random or ollama:qwen3:8b")
    parser.add_argument("--games", metavar="N", type=int, default=100, help="number of games (default: 100)")
    parser.add_argument("--seed", metavar="N", type=int, default=1, help="the first seed (default: 1)")
    parser.add_argument("--config", metavar="NAME=VALUE", action="append", default=[], help="a setting of the world")
    parser.add_argument("--max-decisions", metavar="N", type=int, help="stop a game after this many decisions")
    parser.add_argument("--max-ticks", metavar="N", type=int, help="stop a game of a real-time world after this")
    parser.add_argument(
        "--step-ticks", metavar="N", type=int, help="ticks of a step of the clock, in a real-time world"
    )
    parser.add_argument("--swap", choices=("rotate", "permute", "none"), default="rotate",
                        help="how players take turns on the seats (default: rotate)")  # fmt: skip
    run_options(parser)


def run_options(parser: argparse.ArgumentParser, required: bool = False) -> None:
    """The options of every run."""
    kept = "" if required else " (default: the results are shown, not kept)"
    parser.add_argument("--out", metavar="DIR", required=required, help=f"the folder for all results{kept}")
    worker_options(parser)
    parser.add_argument("--seconds", metavar="S", type=float, help="time limit of a decision")
    parser.add_argument("--max-cost", metavar="DOLLARS", type=float, help="the most that the models may cost")
    parser.add_argument("--cache", metavar="DIR", type=Path, help="keep answers of models; equal prompts are sent once")


def worker_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for where games are played."""
    parser.add_argument("--workers", metavar="N", type=int,
                        help="number of processes (default: 1; on a cluster: its CPUs)")  # fmt: skip
    parser.add_argument("--on", metavar="CLUSTER", default="",
                        help="play on a Ray cluster: ray, or its address such as ray://HOST:10001")  # fmt: skip


def match(args: argparse.Namespace) -> int:
    """Play games between agents, and compare them. The players take turns on the seats: with two players every
    seed is played twice. With --out the record of each game is kept, what each player was asked and answered, and
    the results; the same command resumes an interrupted match.

    If a player fails too often (5 % of its decisions), the match ends with exit code 1: its results say nothing
    about its play.

    Examples:
      cohabit match nim random nim-master
      cohabit match tictactoe random local --games 20 --out first
      cohabit match statecraft hawk trader diplomat --config turns=10 --workers 4
      cohabit match lanterns lamplighter random --games 2 --max-ticks 600 --out towers
      cohabit match nim random nim-master --games 10000 --out nim --on ray
    """
    from cohabit.lab.match import match_design

    limits = {
        name: getattr(args, name)
        for name in ("max_decisions", "max_ticks", "step_ticks", "seconds", "max_cost")
        if getattr(args, name) is not None
    }
    design = match_design(
        args.world, args.players, games=args.games, seed=args.seed, config=config_of(args.config), swap=args.swap,
        **limits,
    )  # fmt: skip
    return run_design(design, args)


def run_design(design: "Design", args: argparse.Namespace) -> int:
    """Play the games of a design with the options of a run, and show the results."""
    from cohabit.lab.progress import DecisionCount, progress_bar
    from cohabit.lab.run import run

    folder = Path(args.out) if args.out else None
    with of_a_run(folder):
        _check_ready(design, folder)
    count = DecisionCount()
    with of_a_run(folder), progress_bar(design.name, decisions=count.total) as on_game:
        results = run(design, folder, checked_workers(args.workers), on_game, count, args.cache, checked_on(args.on))
    return _show(results)


def _check_ready(design: "Design", folder: Path | None) -> None:
    """Report a model whose server cannot answer before games are played without it, unless all are played."""
    from cohabit.agents.brain import parse_brain
    from cohabit.agents.ready import make_once
    from cohabit.lab.folder import read_games
    from cohabit.registry import BACKENDS

    models = [name for name in map(design.brain, design.every_player()) if parse_brain(name).kind in BACKENDS]
    if models and not (folder is not None and folder.is_dir() and len(read_games(folder)) == len(design.specs())):
        for name in models:
            make_once(name)


def checked_workers(workers: int | None) -> int | None:
    if workers is not None and not 1 <= workers <= MAX_WORKERS:
        raise UsageError(f"--workers: must be from 1 to {MAX_WORKERS}")
    return workers


def checked_on(on: str) -> str:
    if on and on != "ray" and not on.startswith("ray://"):
        raise UsageError(f"--on {on}: must be ray, or the address of a Ray cluster such as ray://HOST:10001")
    return on


def config_of(given: list[str]) -> dict[str, Any]:
    """``NAME=VALUE`` pairs. Values are JSON, or else text."""
    found: dict[str, Any] = {}
    for pair in given:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise UsageError(f"--config {pair}: must be NAME=VALUE")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found


def _show(results: Any) -> int:
    """Print the closing table. Exit code 1 if the results cannot be trusted or are not complete."""
    from cohabit.lab.results import HEADINGS

    if results.games:
        tell(table(HEADINGS, results.rows()))
        place = f"; the results are in {clean(results.folder)}/" if results.folder is not None else ""
        tell(f"{len(results.games):,} of {results.planned:,} games{place}")
    for note in results.notes():
        tell(note)
    return failed(results.problems())


def failed(problems: Sequence[str]) -> int:
    """Print why results cannot be trusted. Returns the exit code."""
    for problem in problems:
        tell(paint("red", clean(f"FAILED: {problem}.")))
    return 1 if problems else 0
