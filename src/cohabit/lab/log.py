"""The log of an experiment: one line for each finished round, only ever added to, on disk before the next one counts.

A crash can leave half a line at the end; that is dropped, and its round is played again. Anything else that is wrong
with the file is not ours to repair, and says so.
"""

import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from cohabit.errors import Conflict, RecordCorrupt
from cohabit.lab.record import Place, Round

NAME = "rounds.jsonl"
_decode = msgspec.json.Decoder(Round, strict=True).decode
_encode = msgspec.json.Encoder().encode


class Log:
    """An open log, held by this process alone."""

    def __init__(self, handle: int, rounds: list[Round]) -> None:
        self._handle = handle
        self.rounds = rounds

    def add(self, played: Round) -> None:
        """Returns when it is on disk."""
        line = memoryview(_encode(played) + b"\n")
        while line:
            line = line[os.write(self._handle, line) :]
        os.fsync(self._handle)
        self.rounds.append(played)


@contextmanager
def opened(folder: Path, planned: Sequence[Place]) -> Iterator[Log]:
    """The log of this folder, made where there is none, with what is in it already."""
    path = folder / NAME
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Conflict(f"another run is writing into {folder}") from None
        rounds, good = _read(path)
        os.ftruncate(handle, good)
        _sync_folder(folder)
        _check(rounds, planned, path)
        yield Log(handle, rounds)
    finally:
        os.close(handle)


def read_rounds(folder: Path) -> list[Round]:
    """What is finished so far, also while a run goes on."""
    return _read(folder / NAME)[0]


def _read(path: Path) -> tuple[list[Round], int]:
    """The rounds, and how many bytes of the file they are. Only a last line may be broken: a crash left it."""
    rounds: list[Round] = []
    good = 0
    lines = path.read_bytes().split(b"\n") if path.exists() else []
    for number, line in enumerate(lines[:-1], 1):  # what follows the last newline is no line yet
        try:
            rounds.append(_decode(line))
        except (msgspec.MsgspecError, UnicodeDecodeError) as wrong:
            if number == len(lines) - 1 and not lines[-1]:
                break
            raise RecordCorrupt(f"{path.name}, line {number}, is no round: {wrong}") from None
        good += len(line) + 1
    return rounds, good


def _check(rounds: Sequence[Round], planned: Sequence[Place], path: Path) -> None:
    wanted = set(planned)
    for number, played in enumerate(rounds, 1):
        if played.place not in wanted:
            raise RecordCorrupt(f"{path.name}, line {number}: {played.place} is there twice, or was never asked for")
        wanted.remove(played.place)


def _sync_folder(folder: Path) -> None:
    """A new file is only there after a power cut when its folder was synced, too."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
