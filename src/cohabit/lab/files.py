"""Files of a run: written as a whole, or as a log with one JSON value per line."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TypeVar

import msgspec

from cohabit.errors import Conflict, RecordCorrupt

Value = TypeVar("Value")


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


def open_log(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)


def lock(handle: int, folder: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise Conflict(f"another run is writing to {folder}") from None


def append(handle: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(handle, left) :]


def read_log(path: Path, kind: type[Value]) -> tuple[list[Value], int]:
    """The values of a log, and the size of their lines in bytes.

    A crash can leave the last line incomplete: it is dropped. Any other broken line is an error.
    """
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
