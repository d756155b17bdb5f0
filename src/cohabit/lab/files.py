"""The files of a run: those that are complete or not there, and logs that one process writes, a JSON value per line."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TypeVar

import msgspec

from cohabit.errors import Conflict, RecordCorrupt

Value = TypeVar("Value")
encode_lines = msgspec.json.Encoder().encode_lines


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write that replaces ``path`` when it is complete."""
    part = path.with_name(path.name + ".part")
    with part.open("wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def write_atomically(path: Path, data: bytes) -> None:
    with atomic_file(path) as file:
        file.write(data)


def read_log(path: Path, kind: type[Value]) -> tuple[list[Value], int]:
    """The values, and the size of their lines in bytes. A crash can leave the last line incomplete; it is dropped. A
    broken line that is not the last is an error."""
    found: list[Value] = []
    size = 0
    decode = msgspec.json.Decoder(kind).decode
    lines = path.read_bytes().split(b"\n") if path.exists() else []
    for number, line in enumerate(lines[:-1], 1):  # the part after the last newline is not a complete line
        try:
            found.append(decode(line))
        except (msgspec.MsgspecError, UnicodeDecodeError) as wrong:
            if number == len(lines) - 1 and not lines[-1]:
                break
            raise RecordCorrupt(f"{path.name}, line {number} cannot be read: {wrong}") from None
        size += len(line) + 1
    return found, size


class Log:
    """A file that is only appended to."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)

    def lock(self) -> None:
        """Keep other processes from writing to it as long as it is open."""
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Conflict(f"another run is writing to {self._path.parent}") from None

    def append(self, text: bytes) -> None:
        view = memoryview(text)
        while view:
            view = view[os.write(self._handle, view) :]

    def cut(self, size: int) -> None:
        """Remove what is after ``size`` bytes."""
        os.ftruncate(self._handle, size)

    def sync(self) -> None:
        os.fsync(self._handle)

    def close(self) -> None:
        os.close(self._handle)
