"""``cohabit lab``: experiments with any world, their reports and datasets."""

import argparse
from collections.abc import Iterator
from pathlib import Path

import msgspec

from cohabit.errors import UnknownRoom
from cohabit.faces.cli.match import failed, run_design, run_options
from cohabit.faces.cli.options import data_option
from cohabit.faces.cli.parser import add_verb
from cohabit.faces.cli.records import open_source, run_again, with_progress
from cohabit.faces.cli.say import UsageError, clean, of_a_run, tell
from cohabit.lab.dataset import ObservedRoom, Row, record_rows, run_rows, write_dataset
from cohabit.lab.design import checked, read_design
from cohabit.lab.folder import read_design_of
from cohabit.lab.progress import progress_bar
from cohabit.lab.report import problems_of, write_report
from cohabit.lab.results import Results
from cohabit.lab.tables import Format
from cohabit.registry import find_world

DATASET_FORMATS: tuple[Format, ...] = ("jsonl", "csv", "parquet")


def lab_options(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(prog="cohabit lab", dest="what", metavar="run|report|export", required=True)
    running = add_verb(verbs, "run", "run or resume an experiment")
    running.add_argument("design", metavar="FILE", help="the design of the experiment; see docs/lab.md")
    run_options(running, required=True)
    reporting = add_verb(verbs, "report", "write the report and the tables of a run, finished or not")
    reporting.add_argument("folder", metavar="DIR", help="the folder of a run or a match")
    reporting.add_argument("--no-tables", action="store_true", help="write the page alone, without CSV and other files")
    worlds_option(reporting)
    exporting = add_verb(verbs, "export", "write a dataset for trainers: one row per decision")
    exporting.add_argument(
        "source", metavar="DIR|RECORD|ROOM",
        help="the folder of a run, an exported record (.jsonl), or a room in the data folder of a house; with --data, "
        "a name is that of a room",
    )  # fmt: skip
    exporting.add_argument(
        "--format", choices=DATASET_FORMATS, help="(default: by the name of the output file, else jsonl)"
    )
    exporting.add_argument(
        "-o", "--output", metavar="FILE", help="output file (default: dataset.jsonl in DIR, or here)"
    )
    worlds_option(exporting)
    data_option(exporting)


def worlds_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--world", metavar="FILE", action="append", default=[],
        help="load this world, whose file the run names; files are not run unasked. May be repeated",
    )  # fmt: skip


def lab(args: argparse.Namespace) -> int:
    """Run experiments with any world. `run` plays the games of a design: worlds × configs × line-ups × seeds. Every
    finished game is saved, and the same command resumes an interrupted run. A folder never mixes designs or
    versions of players and worlds.

    `report` writes report.html, one page without external files, and the same numbers as CSV, JSON lines and Parquet.
    Its exit code is 1 if a player failed too often, or if games are missing.

    `export` writes what each player saw before a decision, its legal actions, what it did and what it gained.
    Observations contain only what the player's seat could see.

    Examples:
      cohabit lab run examples/lab/nim.json --out nim
      cohabit lab run examples/lab/nim.json --out nim --workers 4
      cohabit lab run examples/lab/nim.json --out nim --on ray
      cohabit lab report nim
      cohabit lab export nim --format parquet
      cohabit lab export nim -o decisions.csv
      cohabit lab export demo -o demo-decisions.jsonl
    """
    return {"run": _run, "report": _report, "export": _export}[args.what](args)


def _run(args: argparse.Namespace) -> int:
    design = read_design(Path(args.design))
    changes = {name: getattr(args, name) for name in ("seconds", "max_cost") if getattr(args, name) is not None}
    if changes:
        design = checked(msgspec.structs.replace(design, **changes), load=False)
    return run_design(design, args)


def _report(args: argparse.Namespace) -> int:
    for source in args.world:
        find_world(source)  # a wrong path is an error, not a report without curves
    with of_a_run(Path(args.folder)):
        results = Results.read(Path(args.folder), args.world)
        report = write_report(results, Path(args.folder), tables=not args.no_tables)
    tell(f"{len(results.games):,} of {results.planned:,} games; the report is {report.path}")
    if report.without_curve:
        tell(clean(report.without_curve))
    for source in results.worlds_not_loaded():
        tell(f"without curves, which need the code of {clean(source)}; if you trust it: --world {clean(source)}")
    return failed(problems_of(results))


def _export(args: argparse.Namespace) -> int:
    folder, form = Path(args.source), _format_of(args.format, args.output)
    is_room = args.data is not None and Path(args.source).name == args.source  # a room's name has no slash
    if folder.is_dir() and not is_room:
        title = read_design_of(folder).name
        path = Path(args.output or folder / f"dataset.{form}")
        with of_a_run(folder), progress_bar(title) as on_game:
            return _written(path, form, run_rows(folder, on_game, args.world))
    path = Path(args.output or f"dataset.{form}")
    if len(args.world) > 1:
        raise UsageError("a record has one world; give --world once")
    args.world = args.world[0] if args.world else None
    try:
        with open_source(args, args.source) as source:
            steps = with_progress(run_again(source, ObservedRoom), source.total, source.name)
            return _written(path, form, record_rows(steps, source.name.removesuffix(".jsonl")))
    except UnknownRoom as unknown:
        message = f"there is no folder of a run {args.source!r} here, and {unknown.message}"
        raise UnknownRoom(message, did_you_mean=unknown.did_you_mean) from None


def _format_of(given: Format | None, output: str | None) -> Format:
    """The format of a dataset. The name of its file must not say something else."""
    ending = Path(output).suffix.removeprefix(".").lower() if output is not None else ""
    named = next((form for form in DATASET_FORMATS if form == ending), None)
    if ending and named is None and given is None:
        raise UsageError(f"-o {output}: give --format, or a name that ends in {_endings()}")
    if named is not None and given not in (None, named):
        raise UsageError(f"-o {output}: --format {given} would write something else than the name says")
    return given or named or DATASET_FORMATS[0]


def _endings() -> str:
    *first, last = [f".{form}" for form in DATASET_FORMATS]
    return f"{', '.join(first)} or {last}"


def _written(path: Path, form: Format, rows: Iterator[Row]) -> int:
    tell(f"{path}: {write_dataset(path, form, rows):,} rows")
    return 0
