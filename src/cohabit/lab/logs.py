"""Logs with one JSON value per line. A crash can leave the last line incomplete; it is dropped."""

from pathlib import Path
from typing import TypeVar

import msgspec

from cohabit.errors import RecordCorrupt

Value = TypeVar("Value")


def read_log(path: Path, kind: type[Value]) -> tuple[list[Value], int]:
    """The values, and the size of their lines in bytes. A broken line that is not the last is an error."""
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
