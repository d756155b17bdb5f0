"""Runs an experiment: plays the missing rounds, in this process or in several, and logs them in order.

The order makes the log the same for any number of processes. A process may be a few rounds ahead of the log; after a
crash those rounds are played again. The record of each round is kept for `cohabit replay`.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from cohabit.lab.run import begin_worker, quiet, results_in_order
from cohabit.lab.statecraft.config import Experiment
from cohabit.lab.statecraft.folder import claim_folder, open_rounds
from cohabit.lab.statecraft.play import play_round
from cohabit.lab.statecraft.rounds import Place, Round


def run(
    experiment: Experiment, folder: Path, workers: int = 1, on_round: Callable[[int, int], None] = lambda *_: None
) -> list[Round]:
    """Play the missing rounds and return all rounds. ``on_round`` is called with the finished and planned numbers."""
    claim_folder(experiment, folder)
    planned = list(experiment.places())
    with open_rounds(folder, planned) as log, quiet():
        done = {played.place for played in log.rounds}
        on_round(len(done), len(planned))
        for played in _play_rounds(experiment, [place for place in planned if place not in done], workers, folder):
            log.add(played)
            on_round(len(log.rounds), len(planned))
        return in_order(log.rounds, planned)


def in_order(rounds: Iterable[Round], planned: Iterable[Place]) -> list[Round]:
    found = {played.place: played for played in rounds}
    return [found[place] for place in planned if place in found]


def _play_rounds(experiment: Experiment, places: list[Place], workers: int, folder: Path) -> Iterator[Round]:
    if workers <= 1 or len(places) <= 1:
        for place in places:
            yield play_round(experiment, place, folder)
        return
    # Spawned, not forked, because the calling process may have threads.
    pool = ProcessPoolExecutor(workers, get_context("spawn"), initializer=begin_worker)
    try:
        yield from results_in_order(pool, partial(play_round, experiment, folder=folder), iter(places), workers)
    finally:
        pool.shutdown(cancel_futures=True)
