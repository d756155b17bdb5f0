"""The lock of a clone: one call at a time, across all processes of this machine.

The lock is a ``flock`` whose file descriptor git inherits, so it is held until the last git started under it has ended,
even if the process that started it was killed. The file says ``busy`` while the lock is held. A call that takes the
lock and still reads ``busy`` knows that the last holder was killed, and recovers before it goes on.
"""

import fcntl
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from cohabit.errors import Busy
from cohabit.workspace.limits import CALL_LOCK_TIMEOUT

BUSY, FREE = b"busy", b"free"
COUNTER_BYTES: Final = 8
RETAKE_TIMEOUT: Final = 600.0
"""The time that a call waits to retake the clone after it has released it: its work in between cannot be undone."""


class Lock:
    """Reentrant within a thread. ``recover`` runs under the lock if the last holder did not finish."""

    def __init__(self, path: Path, recover: Callable[[float], None]) -> None:
        """``recover`` gets the time at which the killed holder took the lock."""
        path.parent.mkdir(exist_ok=True)
        self.fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._recover = recover
        self._thread = threading.RLock()
        self._depth = 0
        self._owner: int | None = None
        self.taken_meanwhile = False
        """True if another call had the lock while this one had released it."""
        self.needs_recovery = False
        """Set by a holder whose git was killed: the next one recovers as if the holder had been killed too."""

    def close(self) -> None:
        os.close(self.fd)

    @property
    def mine(self) -> bool:
        """True if this thread holds it."""
        return self._owner == threading.get_ident()

    @property
    def outermost(self) -> bool:
        """True if the holder took the lock just once, so that nothing has been done under it yet."""
        return self._depth == 1

    @contextmanager
    def held(self, timeout: float = CALL_LOCK_TIMEOUT) -> Iterator[None]:
        if not self._thread.acquire(timeout=timeout):
            raise Busy("another call is running in this clone; try again in a moment")
        try:
            if self._depth == 0:
                self._take(timeout)
                self._owner = threading.get_ident()
                self.taken_meanwhile = False
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                if self._depth == 0:
                    self._owner = None
                    self._leave()
        finally:
            self._thread.release()

    @contextmanager
    def released(self) -> Iterator[None]:
        """Within the block other calls may have the clone; afterwards the caller has it again. If the caller does not
        hold it, nothing happens."""
        if not self.mine:
            yield
            return
        depth, meanwhile, takes = self._depth, self.taken_meanwhile, self._takes()
        self._depth, self._owner = 0, None
        self._leave()
        for _ in range(depth):
            self._thread.release()
        try:
            yield
        finally:
            for _ in range(depth):
                self._thread.acquire()
            self._take(RETAKE_TIMEOUT)
            self._depth, self._owner = depth, threading.get_ident()
            self.taken_meanwhile = meanwhile or self._takes() != takes + 1

    def _takes(self) -> int:
        """The number of times that the lock was taken, by any process."""
        return int.from_bytes(os.pread(self.fd, COUNTER_BYTES, len(BUSY)))

    def _take(self, timeout: float) -> None:
        pause, deadline = 0.001, time.monotonic() + timeout
        while True:
            try:
                fcntl.flock(self.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise Busy("another process is working in this clone; try again in a moment") from None
                time.sleep(pause)
                pause = min(pause * 2, 0.05)
        if os.pread(self.fd, 4, 0) == BUSY:
            self._run_recovery(os.fstat(self.fd).st_mtime)
        os.pwrite(self.fd, BUSY + (self._takes() + 1).to_bytes(COUNTER_BYTES), 0)

    def _run_recovery(self, began: float) -> None:
        """The mark and its time stay until recovery is complete, so that it runs again if it is killed."""
        self._depth += 1  # recovery may take the lock again
        try:
            self._recover(began)
        except BaseException:
            fcntl.flock(self.fd, fcntl.LOCK_UN)
            raise
        finally:
            self._depth -= 1

    def _leave(self) -> None:
        if not self.needs_recovery:
            os.pwrite(self.fd, FREE, 0)
        self.needs_recovery = False
        fcntl.flock(self.fd, fcntl.LOCK_UN)
