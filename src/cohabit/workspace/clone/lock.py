"""One call at a time in a clone, over all processes of this machine.

The lock is a ``flock`` whose file descriptor git inherits, so it is held until the last git started under it has
ended, also when the process that started it is killed. Whoever held it and did not get to the end leaves a mark in
the file; the next holder sees it, knows that nobody is at work, and clears up before going on.
"""

import fcntl
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from cohabit.errors import Busy
from cohabit.workspace.limits import LOCK_SECONDS

BUSY, FREE = b"busy", b"free"


class Lock:
    """Reentrant within a thread. ``recover`` runs, under the lock, when the last holder did not get to the end."""

    def __init__(self, path: Path, recover: Callable[[float], None]) -> None:
        """``recover`` is handed the time at which the holder that died took the lock."""
        path.parent.mkdir(exist_ok=True)
        self.fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._recover = recover
        self._thread = threading.RLock()
        self._depth = 0
        self.hurt = False
        """Set by a holder whose git was killed: the next one clears up, as if the holder had been killed too."""

    def close(self) -> None:
        os.close(self.fd)

    @property
    def outermost(self) -> bool:
        """Whether the holder took it just once, so that nothing was begun yet under it."""
        return self._depth == 1

    @contextmanager
    def held(self, seconds: float = LOCK_SECONDS) -> Iterator[None]:
        if not self._thread.acquire(timeout=seconds):
            raise Busy("another call works in this clone; try again in a moment")
        try:
            if self._depth == 0:
                self._take(seconds)
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                if self._depth == 0:
                    self._leave()
        finally:
            self._thread.release()

    def _take(self, seconds: float) -> None:
        wait, deadline = 0.001, time.monotonic() + seconds
        while True:
            try:
                fcntl.flock(self.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise Busy("another process works in this clone; try again in a moment") from None
                time.sleep(wait)
                wait = min(wait * 2, 0.05)
        if os.pread(self.fd, 4, 0) == BUSY:
            self._clear_up(os.fstat(self.fd).st_mtime)
        os.pwrite(self.fd, BUSY, 0)

    def _clear_up(self, died: float) -> None:
        """The mark, and its time, stay until all is cleared up: whoever is killed at it is cleared up after as well."""
        self._depth += 1  # what clears up may take the lock again
        try:
            self._recover(died)
        except BaseException:
            fcntl.flock(self.fd, fcntl.LOCK_UN)
            raise
        finally:
            self._depth -= 1

    def _leave(self) -> None:
        if not self.hurt:
            os.pwrite(self.fd, FREE, 0)
        self.hurt = False
        fcntl.flock(self.fd, fcntl.LOCK_UN)
