"""Plays the rounds of an experiment on a Ray cluster. Their records come back with them and are kept here."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from msgspec.structs import replace

from cohabit.errors import Conflict
from cohabit.lab.cluster import Host, Link, WorkersDied, connected, in_cluster
from cohabit.lab.folder import record_lines, write_record
from cohabit.lab.on_ray import Code
from cohabit.lab.processes import WORKER_ENDED
from cohabit.lab.sources import sources_of
from cohabit.lab.statecraft.config import Experiment
from cohabit.lab.statecraft.folder import fingerprints
from cohabit.lab.statecraft.play import play_game
from cohabit.lab.statecraft.players import file_of
from cohabit.lab.statecraft.rounds import Place, Round

BATCH = 8
"""Rounds per task."""

Played = tuple[Round, str, bytes]
"""A round, the id of its game, and its record."""


def rounds_on_ray(
    experiment: Experiment, places: Sequence[Place], folder: Path, on: str, workers: int | None
) -> Iterator[Round]:
    """The rounds in order."""
    experiment = replace(experiment, folder=str(Path(experiment.folder).resolve()))
    names = dict.fromkeys(name for lineup in experiment.lineups.values() for name in lineup)
    files = [str(path) for name in names if (path := file_of(name, experiment.folder)) is not None]
    setup = experiment, Code(fingerprints(experiment), sources_of(files))
    try:
        with connected(on, workers) as (number, is_ours), closing(Host(lambda *_: setup, not is_ours)) as host:
            size = min(BATCH, max(1, len(places) // (number * 4)))
            jobs = (places[i : i + size] for i in range(0, len(places), size))
            with closing(in_cluster(play_places, jobs, number, host)) as batches:
                for _, batch in batches:
                    for played, game, record in batch:
                        write_record(folder, game, record)
                        yield played
    except WorkersDied:
        raise Conflict(f"{WORKER_ENDED}. The rounds that are finished are kept; run it again to go on") from None


# -- in a worker ------------------------------------------------------------------------------------
_begun: tuple[str, Experiment] | None = None


def play_places(link: Link, places: Sequence[Place]) -> list[Played]:
    global _begun
    if _begun is None or _begun[0] != link.run:
        _begun = link.run, _begin(*link.ask("begin"))
    found = []
    for place in places:
        played, game = play_game(_begun[1], place)
        found.append((played, game.spec.id, record_lines(game.lines())))
    return found


def _begin(experiment: Experiment, code: Code) -> Experiment:
    def moved(root: str) -> Experiment:
        return replace(experiment, folder=root + experiment.folder)

    return moved(code.opened(lambda root: fingerprints(moved(root))))
