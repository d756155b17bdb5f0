"""Runs an experiment: what is not in the log yet is played, here or in several processes, and logged in order.

In order, so that the same experiment gives the same file however many played it. A process may be a few rounds ahead of
the log; after a crash it plays those again.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from itertools import islice
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import BinaryIO

from cohabit.errors import Conflict, UnknownAsset
from cohabit.lab import log
from cohabit.lab.config import Experiment, parse_experiment
from cohabit.lab.play import play_round
from cohabit.lab.record import Place, Round

CONFIG = "experiment.json"
AHEAD = 4
"""Rounds handed out per process before the first of them must be done."""


def run(
    experiment: Experiment, folder: Path, workers: int = 1, on_round: Callable[[int, int], None] = lambda *_: None
) -> list[Round]:
    """Play what is missing and give back all of it; ``on_round`` is told how many there are and are to be."""
    folder.mkdir(parents=True, exist_ok=True)
    claim(experiment, folder)
    planned = list(experiment.places())
    with log.opened(folder, planned) as kept:
        done = {played.place for played in kept.rounds}
        on_round(len(done), len(planned))
        for played in _played(experiment, [place for place in planned if place not in done], workers):
            kept.add(played)
            on_round(len(kept.rounds), len(planned))
        return in_order(kept.rounds, planned)


def in_order(rounds: Iterable[Round], planned: Iterable[Place]) -> list[Round]:
    found = {played.place: played for played in rounds}
    return [found[place] for place in planned if place in found]


# -- the folder -------------------------------------------------------------------------------------
def claim(experiment: Experiment, folder: Path) -> None:
    """A folder belongs to one experiment: what was played under other rules must not be mixed with it."""
    path, text = folder / CONFIG, experiment.as_file()
    if not path.exists():
        if (folder / log.NAME).exists():
            raise Conflict(f"{folder} has rounds, but no {CONFIG} that says of what")
        write_whole(path, text)
    elif path.read_bytes() != text:
        raise Conflict(f"{folder} belongs to another experiment (its {CONFIG} differs); take another folder")


def experiment_of(folder: Path) -> Experiment:
    """The experiment that a folder belongs to. Its players may be gone: it is only read."""
    path = folder / CONFIG
    if not path.is_file():
        raise UnknownAsset(f"there is no experiment in {folder}: `cohabit statecraft run` makes one")
    return parse_experiment(path.read_bytes(), players=False)


@contextmanager
def whole(path: Path) -> Iterator[BinaryIO]:
    """A file to write that is there whole in the end, or as it was before."""
    part = path.with_name(path.name + ".part")
    with part.open("wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def write_whole(path: Path, text: bytes) -> None:
    with whole(path) as file:
        file.write(text)


# -- playing ----------------------------------------------------------------------------------------
def _played(experiment: Experiment, todo: list[Place], workers: int) -> Iterator[Round]:
    if workers <= 1 or len(todo) <= 1:
        for place in todo:
            yield play_round(experiment, place)
        return
    # Spawned, not forked: whoever runs us may have threads.
    pool = ProcessPoolExecutor(workers, get_context("spawn"), initializer=end_with_parent)
    try:
        yield from _in_order(pool, experiment, todo, workers * AHEAD)
    finally:
        pool.shutdown(cancel_futures=True)


def end_with_parent() -> None:
    """A process of a pool whose owner was killed would wait for work for ever; this ends it."""

    def watch() -> None:
        if (parent := parent_process()) is not None:
            parent.join()
            os._exit(1)

    Thread(target=watch, daemon=True).start()


def _in_order(pool: ProcessPoolExecutor, experiment: Experiment, todo: list[Place], window: int) -> Iterator[Round]:
    places = iter(todo)
    waiting: deque[Future[Round]] = deque(
        pool.submit(play_round, experiment, place) for place in islice(places, window)
    )
    while waiting:
        yield waiting.popleft().result()
        waiting.extend(pool.submit(play_round, experiment, place) for place in islice(places, 1))
