"""The folder of an experiment: its description, the versions of its code, and the log with one line for each finished
round.

A line is on disk before the next round counts. A crash can leave an incomplete last line; it is dropped, and its round
is played again. Any other damage is reported and not repaired.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import msgspec

from cohabit.agents.brains.statecraft import NATIONS
from cohabit.errors import Conflict, RecordCorrupt, UnknownAsset
from cohabit.house.store.disk import sync_folder
from cohabit.lab.files import Log, encode_lines, read_log, write_atomically
from cohabit.lab.fingerprint import Prints, check_same, code_of, of_cohabit, of_file
from cohabit.lab.folder import FINGERPRINTS, RECORDS
from cohabit.lab.statecraft.config import Experiment, parse_experiment
from cohabit.lab.statecraft.players import file_of
from cohabit.lab.statecraft.rounds import Place, Round
from cohabit.worlds.statecraft.world import Statecraft

CONFIG_FILE = "experiment.json"
LOG_FILE = "rounds.jsonl"


# -- the description --------------------------------------------------------------------------------
def claim_folder(experiment: Experiment, folder: Path) -> None:
    """Create the folder for this experiment. A folder never mixes the rounds of different experiments or versions."""
    (folder / RECORDS).mkdir(parents=True, exist_ok=True)
    path, text = folder / CONFIG_FILE, experiment.as_file()
    if not path.exists() and (folder / LOG_FILE).exists():
        raise Conflict(f"{folder} contains rounds but no {CONFIG_FILE} that describes their experiment")
    if path.exists() and path.read_bytes() != text:
        raise Conflict(f"{folder} belongs to another experiment (its {CONFIG_FILE} differs); use another folder")
    _compare_versions(folder, fingerprints(experiment))
    if not path.exists():
        write_atomically(path, text)


def _compare_versions(folder: Path, prints: Prints) -> None:
    """Keep the fingerprints of a new run, or compare them with those that it began with."""
    path = folder / FINGERPRINTS
    if path.exists():
        check_same(prints, msgspec.json.decode(path.read_bytes()), folder)
    else:
        write_atomically(path, msgspec.json.format(msgspec.json.encode(prints)) + b"\n")


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


# -- the log ----------------------------------------------------------------------------------------
class RoundLog:
    """An open log, locked by this process."""

    def __init__(self, log: Log, rounds: list[Round]) -> None:
        self._log = log
        self.rounds = rounds

    def add(self, played: Round) -> None:
        """Append a round. It is on disk when this returns."""
        self._log.append(encode_lines([played]))
        self._log.sync()
        self.rounds.append(played)


@contextmanager
def open_log(folder: Path, planned: Sequence[Place]) -> Iterator[RoundLog]:
    """Open the log of this folder with the rounds that it contains; create it if there is none."""
    path = folder / LOG_FILE
    with closing(Log(path)) as log:
        log.lock()
        rounds, valid_bytes = read_log(path, Round)
        log.cut(valid_bytes)
        sync_folder(folder)
        _check_planned(rounds, planned, path)
        yield RoundLog(log, rounds)


def read_rounds(folder: Path) -> list[Round]:
    """The finished rounds, also while a run is in progress."""
    return read_log(folder / LOG_FILE, Round)[0]


def _check_planned(rounds: Sequence[Round], planned: Sequence[Place], path: Path) -> None:
    remaining = set(planned)
    for number, played in enumerate(rounds, 1):
        if played.place not in remaining:
            raise RecordCorrupt(
                f"{path.name}, line {number}: {played.place} is duplicated or not part of the experiment"
            )
        remaining.remove(played.place)
