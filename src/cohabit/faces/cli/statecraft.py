"""``cohabit statecraft``: the engine of Statecraft without a house, and experiments with it."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from cohabit.faces.cli.match import checked_on, checked_workers, failed, worker_options
from cohabit.faces.cli.parser import add_verb
from cohabit.faces.cli.say import of_a_run, tell

if TYPE_CHECKING:
    from cohabit.lab.statecraft.config import Experiment
    from cohabit.lab.statecraft.rounds import Round

AGAIN = "`cohabit statecraft run`"


def statecraft_options(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(prog="cohabit statecraft", dest="what", metavar="resolve|run|report", required=True)
    resolving = add_verb(verbs, "resolve", "resolve one turn: a JSON document from stdin, the result to stdout")
    resolving.add_argument("--pretty", action="store_true", help="indent the result")
    running = add_verb(verbs, "run", "run or resume an experiment, and write its report")
    running.add_argument(
        "config", metavar="CONFIG.json", help="the description of the experiment; see docs/statecraft-experiments.md"
    )
    running.add_argument(
        "--out", metavar="FOLDER", required=True, help="the folder for all results; created if it does not exist"
    )
    worker_options(running)
    reporting = add_verb(verbs, "report", "write a report of the finished rounds")
    reporting.add_argument("folder", metavar="FOLDER", help="the folder of a run, finished or not")


def statecraft(args: argparse.Namespace) -> int:
    """Resolve a turn of Statecraft, or run experiments with it.

    `resolve` reads the state before a turn and the answer of every nation, and prints the result of the turn.
    It writes no files. The format is described in docs/statecraft.md.

    `run` plays an experiment: rounds × seeds × line-ups of nations. Each finished round is saved, and the same
    command resumes an interrupted run. `report` rewrites the tables and the report, even for an
    unfinished run. The exit code of both is 1 if more than 5 % of a player's decisions failed.

    Examples:
      cohabit statecraft resolve < turn.json
      cohabit statecraft resolve --pretty < turn.json
      cohabit statecraft run examples/statecraft/dilemma.json --out dilemma --workers 4
      cohabit statecraft report dilemma
    """
    return {"resolve": _resolve, "run": _run, "report": _report}[args.what](args)


# The lab is imported only when needed, so `cohabit --help` stays fast.


def _resolve(args: argparse.Namespace) -> int:
    from cohabit.lab.statecraft.single_turn import resolve_text

    result = resolve_text(sys.stdin.buffer.read())
    tell(json.dumps(result, indent=2 if args.pretty else None))
    return 0


def _run(args: argparse.Namespace) -> int:
    from cohabit.lab.progress import progress_bar
    from cohabit.lab.statecraft.config import parse_experiment
    from cohabit.lab.statecraft.run import run

    workers = checked_workers(args.workers)
    config, folder = Path(args.config), Path(args.out)
    experiment = parse_experiment(config.read_bytes(), folder=str(config.resolve().parent))
    with of_a_run(folder, AGAIN), progress_bar(experiment.name) as on_round:
        rounds = run(experiment, folder, workers, on_round, checked_on(args.on))
    return _show(experiment, rounds, folder)


def _report(args: argparse.Namespace) -> int:
    from cohabit.lab.statecraft.folder import read_experiment, read_rounds
    from cohabit.lab.statecraft.run import in_order

    folder = Path(args.folder)
    experiment = read_experiment(folder)
    with of_a_run(folder, AGAIN):
        rounds = in_order(read_rounds(folder), experiment.places())
    return _show(experiment, rounds, folder)


def _show(experiment: "Experiment", rounds: "list[Round]", folder: Path) -> int:
    """Write the report and say where it is. Exit code 1 if the results cannot be trusted."""
    from cohabit.lab.statecraft.report import write_report
    from cohabit.lab.statecraft.summaries import problems

    tell(f"{len(rounds)} rounds in {folder}; the report is {write_report(experiment, rounds, folder)}")
    return failed(problems(rounds))
