"""``cohabit lab``: experiments with any world."""

import argparse
from pathlib import Path

from cohabit.faces.cli.match import checked_workers, run_options, show
from cohabit.faces.cli.parser import add_verb


def lab_options(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(prog="cohabit lab", dest="what", metavar="run", required=True)
    running = add_verb(verbs, "run", "run or resume an experiment")
    running.add_argument("design", metavar="FILE", help="the design of the experiment; see docs/lab.md")
    run_options(running, required=True)


def lab(args: argparse.Namespace) -> int:
    """Run experiments with any world. `run` plays the games of a design: worlds × configs × line-ups × seeds. Every
    finished game is saved, and the same command resumes an interrupted run. A folder never mixes designs or
    versions of players and worlds.

    Examples:
      cohabit lab run examples/lab/nim.json --out nim
      cohabit lab run examples/lab/nim.json --out nim --workers 4
    """
    return _run(args)


def _run(args: argparse.Namespace) -> int:
    import msgspec

    from cohabit.lab.design import checked, read_design
    from cohabit.lab.progress import progress_bar
    from cohabit.lab.run import run

    design = read_design(Path(args.design))
    changes = {name: getattr(args, name) for name in ("seconds", "max_cost") if getattr(args, name) is not None}
    if changes:
        design = checked(msgspec.structs.replace(design, **changes), load=False)
    with progress_bar(design.name) as on_game:
        results = run(design, Path(args.out), checked_workers(args.workers), on_game)
    return show(results)
