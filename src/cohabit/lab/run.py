"""Plays the games of a design and keeps them in the order of the plan.

They are played in this process, in several, or on a Ray cluster. The order makes the files the same wherever they are
played.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any

from cohabit.agents.brain import parse_brain
from cohabit.agents.contract import kind_of
from cohabit.agents.isolated import made_once
from cohabit.agents.llm.metered import check_cap
from cohabit.agents.spending import TotalsHere
from cohabit.agents.wire import Facts
from cohabit.errors import BadArgs, CohabitError
from cohabit.lab import folder as stored
from cohabit.lab.design import Design, located
from cohabit.lab.fingerprint import fingerprints
from cohabit.lab.folder import Played
from cohabit.lab.game import GameSpec
from cohabit.lab.games import CONCURRENT, Batch, Games, RunContext, RunStopped, event_loop, quiet
from cohabit.lab.processes import play_in_processes
from cohabit.lab.progress import DecisionCount
from cohabit.lab.results import Results
from cohabit.lab.watch import Watch, files_outside

IN_PROCESS = ("local",)
"""Backends that compute in this process, so that concurrency gains nothing."""

Progress = Callable[[int, int], None]
"""Called with the numbers of finished and planned games."""


class CodeChanged(RunStopped):
    """The code of a player or a world was edited during the run."""


def run(
    design: Design,
    folder: Path | None = None,
    workers: int | None = None,
    on_game: Progress = lambda *_: None,
    count: DecisionCount | None = None,
    cache: Path | None = None,
    on: str = "",
) -> Results:
    """Play the missing games and return the results of all. Without a folder they are kept in memory.

    ``cache``: a folder for answers of language models. A prompt that has an answer there is not sent again.

    ``count`` says, on any thread, how many decisions there have been so far.

    ``on``: ``ray``, or the address of a Ray cluster; see ``lab.cluster``. ``workers`` is 1 by default, and on a cluster
    the number of its CPUs."""
    count = count or DecisionCount()
    specs = design.specs()
    made = {brain: made_once(brain) for brain in map(design.brain, design.every_player())}
    for brain, about in made.items() if design.max_cost is not None else ():
        check_cap(parse_brain(brain).label, about, design.max_cost)
    concurrent = CONCURRENT if any(_waits(*each) for each in made.items()) else 1
    if alone := [brain for brain, about in made.items() if getattr(about, "one_at_a_time", False)]:  # such as a person
        workers = concurrent = 1
        if on:
            raise BadArgs(f"{parse_brain(alone[0]).label} plays one game at a time, in this process; do not use {on}")
    context, watch = RunContext(design, folder, concurrent, cache), Watch(files_outside(design))
    opened = nullcontext() if folder is None else stored.open_folder(folder, design, fingerprints(design), specs)
    with quiet(), opened as kept:
        results = Results(design, kept.games if kept else [], folder=folder, planned=len(specs))
        results.worlds = sorted({located(spec.world, design.folder) for spec in specs})
        if kept:
            results.spent = stored.read_spending(kept.folder)
        on_game(len(results.games), len(specs))
        batches = _batches(context, specs[len(results.games) :], workers, count, results, on, made)
        try:
            with closing(batches):
                for played in (game for batch in _unchanged(batches, watch) for game in _until_stopped(batch)):
                    (kept.add if kept else results.keep)(played)
                    on_game(len(results.games), len(specs))
        except RunStopped as stopped:
            results.stopped = str(stopped)
            if kept and isinstance(stopped, CodeChanged):  # answers of unfinished games may be those of the other code
                kept.drop_answers()
        else:
            if kept:
                kept.drop_answers()
        if kept:
            results.spent = stored.read_spending(kept.folder)
    return results


def _batches(
    context: RunContext,
    specs: Sequence[GameSpec],
    workers: int | None,
    count: DecisionCount,
    results: Results,
    on: str,
    made: Mapping[str, Any],
) -> Generator[Batch]:
    """The games in batches, in order. The results have what was paid and reserved before, and get the sums at the
    end."""
    if on and specs:
        from cohabit.lab.on_ray import play_on_ray  # an extra

        return play_on_ray(context, specs, on, workers, count, results, made)
    if (workers or 1) > 1 and len(specs) > 1:
        return play_in_processes(context, specs, workers or 1, count, results)
    return _play_here(context, specs, count, results)


def _unchanged(batches: Iterator[Batch], watch: Watch) -> Iterator[Batch]:
    """The batches that were played before any code changed. An error may come from the change, so it is told first."""
    try:
        for batch in batches:
            _check_unchanged(watch)
            yield batch
    except CohabitError:
        _check_unchanged(watch)
        raise


def _check_unchanged(watch: Watch) -> None:
    if changed := watch.changed():
        raise CodeChanged(changed)


def _until_stopped(batch: Batch) -> Iterator[Played]:
    yield from batch.games
    if batch.stopped:
        raise RunStopped(batch.stopped)


def _play_here(
    context: RunContext, specs: Sequence[GameSpec], count: DecisionCount, results: Results
) -> Generator[Batch]:
    spent = TotalsHere(*results.spent)
    games, done = Games(context, context.spending(spent), count), 0
    try:
        with event_loop() as run_in_loop:
            while done < len(specs):
                batch = Batch()
                run_in_loop(games.play_some(specs[done:], batch))
                done += len(batch.games)
                yield batch
    finally:
        results.spent = spent[0], spent[1]


def _waits(brain: str, about: Any) -> bool:
    """True if a player waits for a backend, so that a process plays several games at the same time."""
    quick = about.quick if isinstance(about, Facts) else kind_of(about) == "quick"
    return not quick and parse_brain(brain).kind not in IN_PROCESS
