"""The folder of an experiment: its description, the versions of its code, and the log with one line for each finished
round.

A line is on disk before the next round counts. A crash can leave an incomplete last line; it is dropped, and its round
is played again. Any other damage is reported and not repaired.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from cohabit.agents.brains.statecraft import NATIONS
from cohabit.errors import RecordCorrupt, UnknownAsset
from cohabit.house.store.disk import sync_folder
from cohabit.lab.files import Log, read_log
from cohabit.lab.fingerprint import Prints, code_of, of_cohabit, of_file
from cohabit.lab.folder import RECORDS, claim
from cohabit.lab.statecraft.config import Experiment, parse_experiment
from cohabit.lab.statecraft.players import file_of
from cohabit.lab.statecraft.rounds import Place, Round
from cohabit.worlds.statecraft.world import Statecraft

CONFIG_FILE = "experiment.json"
LOG_FILE = "rounds.jsonl"


def fingerprints(experiment: Experiment) -> Prints:
    """Of everything that decides how rounds go: Cohabit, the world, and each player."""
    found: Prints = {
        "cohabit": of_cohabit(*(f"lab/statecraft/{name}.py" for name in ("play", "players"))),
        "world statecraft": {"version": Statecraft.spec.version, "code": code_of(Statecraft)},
    }
    for name in dict.fromkeys(name for lineup in experiment.lineups.values() for name in lineup):
        path = file_of(name, experiment.folder)
        found[f"player {name}"] = {"code": code_of(NATIONS[name])} if path is None else of_file(path)
    return found


def read_experiment(folder: Path) -> Experiment:
    """The experiment that a folder belongs to. Its players are not loaded."""
    path = folder / CONFIG_FILE
    if not path.is_file():
        raise UnknownAsset(f"there is no experiment in {folder}; create one with `cohabit statecraft run`")
    return parse_experiment(path.read_bytes(), players=False)


@contextmanager
def open_folder(folder: Path, experiment: Experiment) -> Iterator[tuple[Log, list[Round]]]:
    """The log and the finished rounds of an experiment. A folder never mixes the rounds of different experiments or
    versions, and this process alone writes to it."""
    (folder / RECORDS).mkdir(parents=True, exist_ok=True)
    path = folder / LOG_FILE
    with closing(Log(path)) as log:
        log.lock()
        claim(folder, CONFIG_FILE, experiment.as_file(), fingerprints(experiment), LOG_FILE)
        rounds, valid_bytes = read_log(path, Round)
        log.cut(valid_bytes)
        sync_folder(folder)
        _check_planned(rounds, experiment.places(), path)
        yield log, rounds


def read_rounds(folder: Path) -> list[Round]:
    """The finished rounds, also while a run is in progress."""
    return read_log(folder / LOG_FILE, Round)[0]


def _check_planned(rounds: Sequence[Round], planned: Iterable[Place], path: Path) -> None:
    remaining = set(planned)
    for number, played in enumerate(rounds, 1):
        if played.place not in remaining:
            raise RecordCorrupt(
                f"{path.name}, line {number}: {played.place} is duplicated or not part of the experiment"
            )
        remaining.remove(played.place)
