"""The log of calls: time, tool, duration and outcome of each call, but not its texts. It stays on this machine."""

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

import msgspec

from cohabit.errors import CohabitError

MAX_LOG_BYTES: Final = 4 * 1024 * 1024
"""Size at which the log is rotated; one older log is kept."""


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
            record |= _describe(self.error)
        try:
            return msgspec.json.encode(record) + b"\n"
        except UnicodeEncodeError:  # the name of a workspace in a settings file that was edited
            return json.dumps(record).encode() + b"\n"


class CallLog:
    """``calls.jsonl`` in a folder. If it cannot be written, the call still succeeds."""

    def __init__(self, folder: Path, max_bytes: int = MAX_LOG_BYTES) -> None:
        self.path = folder / "calls.jsonl"
        self.max_bytes = max_bytes

    def write(self, call: Call) -> None:
        with suppress(OSError):
            line = call.line()
            with self._opened() as fd:
                if os.fstat(fd).st_size < self.max_bytes:
                    os.write(fd, line)  # one write, so that lines of several processes do not mix
                    return
                self._rotate(fd)
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
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            return os.open(self.path, flags, 0o600)
        except FileNotFoundError:
            # Two levels only: the clone that this log belongs to may have been removed.
            for folder in (self.path.parent.parent, self.path.parent):
                folder.mkdir(mode=0o700, exist_ok=True)
            return os.open(self.path, flags, 0o600)

    def _rotate(self, fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_EX)
        if os.stat(self.path).st_ino == os.fstat(fd).st_ino:  # otherwise another process has done it
            os.replace(self.path, self.path.with_name("calls.1.jsonl"))


def sizes(args: Mapping[str, Any], known: tuple[str, ...]) -> dict[str, int]:
    """The size of each declared argument: characters of a text, elements of a list."""
    return {name: len(args[name]) if hasattr(args[name], "__len__") else 1 for name in known if name in args}


def _describe(error: BaseException) -> dict[str, Any]:
    if isinstance(error, CohabitError):
        return {"code": error.code}
    frames = traceback.extract_tb(error.__traceback__)
    at = f"{Path(frames[-1].filename).name}:{frames[-1].lineno} in {frames[-1].name}" if frames else "unknown"
    return {"code": "INTERNAL", "bug": type(error).__name__, "at_line": at}
