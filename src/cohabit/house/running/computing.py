"""Which worlds are running now, written to memory that another process can read when this one does not answer.

A world that holds the interpreter in native code, crashes it or eats its memory cannot be asked any more. Slots of a
fixed size hold the ids of rooms; writing one costs less than any call. The first slot is for the event loop.
"""

import mmap
import os
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

from cohabit.house.running.watchdog import Watchdog

SLOT_BYTES = 64
SLOTS = 64
SIZE = SLOT_BYTES * SLOTS
_NOBODY = bytes(SLOT_BYTES)
P = ParamSpec("P")
T = TypeVar("T")


def shared_memory() -> int:
    """A file descriptor of memory for ``Computing``, for this process and one that it starts."""
    import tempfile

    with tempfile.TemporaryFile() as file:
        file.truncate(SIZE)
        return os.dup(file.fileno())


def running_in(memory: mmap.mmap) -> list[str]:
    """The rooms whose worlds are running, or were when the process ended."""
    slots = (memory[at : at + SLOT_BYTES].rstrip(b"\0") for at in range(0, SIZE, SLOT_BYTES))
    return sorted({slot.decode("ascii", "replace") for slot in slots if slot})


class Computing:
    """See the module."""

    def __init__(self, descriptor: int) -> None:
        self._memory = mmap.mmap(descriptor, SIZE)
        self._lock = threading.Lock()
        self._free = list(range(SLOT_BYTES, SIZE, SLOT_BYTES))

    def marked(self, room: str, work: Callable[P, T]) -> Callable[P, T]:
        """Work on a thread that runs the world of a room."""
        name = _slot(room)

        def run(*args: P.args, **kwargs: P.kwargs) -> T:
            with self._lock:
                at = self._free.pop() if self._free else None
            if at is None:
                return work(*args, **kwargs)
            self._memory[at : at + SLOT_BYTES] = name
            try:
                return work(*args, **kwargs)
            finally:
                self._memory[at : at + SLOT_BYTES] = _NOBODY
                with self._lock:
                    self._free.append(at)

        return run

    def watch(self, room: str, watchdog: Watchdog) -> "MarkedWatchdog":
        """The watchdog for sections of this room on the event loop."""
        return MarkedWatchdog(watchdog, self._memory, _slot(room))


class MarkedWatchdog:
    """A watchdog that also notes the room."""

    def __init__(self, watchdog: Watchdog, memory: mmap.mmap, name: bytes) -> None:
        self._watchdog, self._memory, self._name = watchdog, memory, name

    def __enter__(self) -> Watchdog:
        self._memory[:SLOT_BYTES] = self._name
        return self._watchdog.__enter__()

    def __exit__(self, kind: type[BaseException] | None, value: Any, trace: TracebackType | None) -> None:
        try:
            self._watchdog.__exit__(kind, value, trace)
        finally:
            self._memory[:SLOT_BYTES] = _NOBODY


def _slot(room: str) -> bytes:
    return room.encode()[:SLOT_BYTES].ljust(SLOT_BYTES, b"\0")
