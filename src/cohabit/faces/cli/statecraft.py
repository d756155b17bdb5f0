"""``cohabit statecraft``: the engine of the world Statecraft by itself, without a house."""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from cohabit.faces.cli.say import UsageError, clean, tell

MOST_WORKERS = 256


def statecraft_options(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(prog="cohabit statecraft", dest="what", metavar="resolve|run|report", required=True)
    resolving = verbs.add_parser("resolve", help="work out one turn: a JSON document on stdin, another one on stdout")
    resolving.add_argument("--pretty", action="store_true", help="with line breaks, for reading")
    running = verbs.add_parser("run", help="play an experiment, or go on with one, and write its report")
    running.add_argument("config", metavar="CONFIG.json", help="what is played; see docs/statecraft-experiments.md")
    running.add_argument(
        "--out", metavar="FOLDER", required=True, help="where everything goes; made where it is not there"
    )
    running.add_argument("--workers", metavar="N", type=int, default=1, help="processes that play (default 1)")
    reporting = verbs.add_parser("report", help="write the report of what is played so far")
    reporting.add_argument("folder", metavar="FOLDER", help="of a run, finished or not")


def statecraft(args: argparse.Namespace) -> int:
    """Work with the engine of Statecraft.

    `resolve` reads the state before a turn and what every nation handed in, and prints what comes of it.
    The format is in docs/statecraft.md. Nothing is kept.

    `run` plays an experiment: rounds × seeds × line-ups of nations. Each round is on disk when it is finished,
    and the same command goes on where it was stopped. `report` writes the tables and the report anew, also of
    a run that is not finished.

    Examples:
      cohabit statecraft resolve < turn.json
      cohabit statecraft resolve --pretty < turn.json
      cohabit statecraft run examples/statecraft/dilemma.json --out dilemma --workers 4
      cohabit statecraft report dilemma
    """
    return {"resolve": _resolve, "run": _run, "report": _report}[args.what](args)


def _resolve(args: argparse.Namespace) -> int:
    from cohabit.lab.resolve import resolve_text

    found = resolve_text(sys.stdin.buffer.read())
    tell(json.dumps(found, indent=2 if args.pretty else None))
    return 0


# -- experiments ----------------------------------------------------------------------------------
def _run(args: argparse.Namespace) -> int:
    from cohabit.lab.config import parse_experiment
    from cohabit.lab.report import write_report
    from cohabit.lab.run import run

    if not 1 <= args.workers <= MOST_WORKERS:
        raise UsageError(f"--workers: from 1 to {MOST_WORKERS}")
    config, folder = Path(args.config), Path(args.out)
    experiment = parse_experiment(config.read_bytes(), folder=str(config.resolve().parent))
    with _bar(experiment.name) as on_round:
        rounds = run(experiment, folder, args.workers, on_round)
    tell(f"{len(rounds)} rounds in {folder}; the report is {write_report(experiment, rounds, folder)}")
    return 0


def _report(args: argparse.Namespace) -> int:
    from cohabit.lab.log import read_rounds
    from cohabit.lab.report import write_report
    from cohabit.lab.run import experiment_of, in_order

    folder = Path(args.folder)
    experiment = experiment_of(folder)
    rounds = in_order(read_rounds(folder), experiment.places())
    tell(f"{len(rounds)} rounds in {folder}; the report is {write_report(experiment, rounds, folder)}")
    return 0


@contextmanager
def _bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """Progress on stderr, for whoever waits."""
    if not sys.stderr.isatty():
        yield lambda done, planned: None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(escape(clean(what)), total=None)
        yield lambda done, planned: progress.update(task, completed=done, total=planned)
