"""Runs an experiment: plays the missing rounds, in this process, in several or on Ray, and logs them in order.

The order makes the log the same wherever they are played. A process may be a few rounds ahead of the log; after a
crash those rounds are played again. The record of each round is kept for `cohabit replay`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from cohabit.errors import Conflict
from cohabit.lab.files import encode_lines
from cohabit.lab.games import quiet
from cohabit.lab.processes import begin_worker, in_processes
from cohabit.lab.statecraft.config import Experiment
from cohabit.lab.statecraft.folder import open_folder
from cohabit.lab.statecraft.play import play_round
from cohabit.lab.statecraft.players import file_of
from cohabit.lab.statecraft.rounds import Place, Round
from cohabit.lab.watch import Watch


def run(
    experiment: Experiment,
    folder: Path,
    workers: int | None = None,
    on_round: Callable[[int, int], None] = lambda *_: None,
    on: str = "",
) -> list[Round]:
    """Play the missing rounds and return all rounds. ``on_round`` is called with the finished and planned numbers.
    ``on``: a cluster, as in ``lab.run``."""
    planned, watch = list(experiment.places()), Watch(_files(experiment))
    with open_folder(folder, experiment) as (log, rounds), quiet():
        done = {played.place for played in rounds}
        missing = [place for place in planned if place not in done]
        on_round(len(rounds), len(planned))
        for played in _play(experiment, missing, folder, workers or 0, on):
            if changed := watch.changed():
                raise Conflict(changed)
            log.append(encode_lines([played]))
            log.sync()  # it is on disk before it counts
            rounds.append(played)
            on_round(len(rounds), len(planned))
        return in_order(rounds, planned)


def _files(experiment: Experiment) -> dict[str, list[Path]]:
    """The files of players, by title."""
    names = dict.fromkeys(name for lineup in experiment.lineups.values() for name in lineup)
    found = {f"player {name}": file_of(name, experiment.folder) for name in names}
    return {title: [path] for title, path in found.items() if path is not None}


def _play(experiment: Experiment, missing: Sequence[Place], folder: Path, workers: int, on: str) -> Iterator[Round]:
    if on and missing:
        from cohabit.lab.statecraft.on_ray import rounds_on_ray  # an extra

        return rounds_on_ray(experiment, missing, folder, on, workers or None)
    play = partial(play_round, experiment, folder=folder)
    if workers > 1 and len(missing) > 1:
        return in_processes(play, iter(missing), workers, begin_worker)
    return map(play, missing)


def in_order(rounds: Iterable[Round], planned: Iterable[Place]) -> list[Round]:
    found = {played.place: played for played in rounds}
    return [found[place] for place in planned if place in found]
