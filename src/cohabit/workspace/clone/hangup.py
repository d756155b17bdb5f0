"""Cancelling the network command of a call from another thread, because its client no longer waits.

Only commands that talk to the remote are cancelled. They are the slow ones, and stopping them is safe: a fetch or a
push moves its refs at the very end or not at all. Commands that change the clone take milliseconds and run to their
end.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class Hangup:
    """The cancellation of one call. Once cancelled, later network commands of the call end at once too."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kill: Callable[[], None] | None = None
        self.happened = False

    def now(self) -> None:
        """Cancel."""
        with self._lock:
            self.happened = True
            if self._kill is not None:
                self._kill()

    @contextmanager
    def can(self, kill: Callable[[], None]) -> Iterator[None]:
        """Within the block, cancelling calls ``kill``."""
        with self._lock:
            self._kill = kill
            if self.happened:
                kill()
        try:
            yield
        finally:
            with self._lock:
                self._kill = None


HANGUP: ContextVar[Hangup | None] = ContextVar("hangup", default=None)
"""The cancellation of the call that runs in this thread, if it can be cancelled."""
