"""The log of calls: what was asked when and how it went, never what it said. It stays on this machine."""

import fcntl
import json
import os
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from cohabit.errors import CohabitError

LARGEST: Final = 4 * 1024 * 1024
"""Bytes of the log before it is put aside; one older log is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One line of the log."""

    at: datetime
    tool: str
    workspace: str | None
    agent: str | None
    ms: float
    sizes: Mapping[str, int]
    error: BaseException | None = None

    def line(self) -> bytes:
        record: dict[str, Any] = {
            "at": self.at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "tool": self.tool,
            "workspace": self.workspace,
            "agent": self.agent,
            "ok": self.error is None,
            "ms": round(self.ms, 1),
            "sizes": dict(self.sizes),
        }
        if self.error is not None:
            record |= _told(self.error)
        return json.dumps(record).encode() + b"\n"


class Calls:
    """``calls.jsonl`` in a folder. A log that cannot be written is no reason to fail a call."""

    def __init__(self, folder: Path, largest: int = LARGEST) -> None:
        self.path = folder / "calls.jsonl"
        self.largest = largest

    def write(self, call: Call) -> None:
        with suppress(OSError):
            line = call.line()
            with self._opened() as fd:
                if os.fstat(fd).st_size < self.largest:
                    os.write(fd, line)  # one write, so that lines of several processes do not mix
                    return
                self._put_aside(fd)
            with self._opened() as fd:
                os.write(fd, line)

    @contextmanager
    def _opened(self) -> Iterator[int]:
        fd = self._open()
        try:
            yield fd
        finally:
            os.close(fd)

    def _open(self) -> int:
        how = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            return os.open(self.path, how, 0o600)
        except FileNotFoundError:
            # No further up: the clone that this was the log of may have been put aside.
            for folder in (self.path.parent.parent, self.path.parent):
                folder.mkdir(mode=0o700, exist_ok=True)
            return os.open(self.path, how, 0o600)

    def _put_aside(self, fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_EX)
        if os.stat(self.path).st_ino == os.fstat(fd).st_ino:  # else another process was faster
            os.replace(self.path, self.path.with_name("calls.1.jsonl"))


def sizes(args: Mapping[str, Any], known: tuple[str, ...]) -> dict[str, int]:
    """How large each argument is: characters of a text, things in a list. Names that no tool declares are left out."""
    return {name: len(args[name]) if hasattr(args[name], "__len__") else 1 for name in known if name in args}


def _told(error: BaseException) -> dict[str, Any]:
    if isinstance(error, CohabitError):
        return {"code": error.code}
    where = traceback.extract_tb(error.__traceback__)
    place = f"{Path(where[-1].filename).name}:{where[-1].lineno} in {where[-1].name}" if where else "unknown"
    return {"code": "INTERNAL", "bug": type(error).__name__, "at_line": place}
