"""Cancelling the network command of a call from another thread, because its client no longer waits, and noticing that
a call uses the network, so that others need not wait for it.

Only commands that talk to the remote are cancelled. They are the slow ones, and stopping them is safe: a fetch or a
push moves its refs at the very end or not at all. Commands that change the clone take milliseconds and run to their
end.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class Cancellation:
    """The cancellation of one call. Once cancelled, later network commands of the call end immediately too."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kill: Callable[[], None] | None = None
        self.cancelled = False
        self.on_remote: Callable[[], None] = lambda: None
        """Is called when the call begins to wait for the remote, or to let others push first."""

    def cancel(self) -> None:
        """Cancel the call."""
        with self._lock:
            self.cancelled = True
            if self._kill is not None:
                self._kill()

    @contextmanager
    def on_cancel(self, kill: Callable[[], None]) -> Iterator[None]:
        """Within the block, cancelling calls ``kill``."""
        with self._lock:
            self._kill = kill
            if self.cancelled:
                kill()
        try:
            yield
        finally:
            with self._lock:
                self._kill = None


CANCELLATION: ContextVar[Cancellation | None] = ContextVar("cancellation", default=None)
"""The cancellation of the call that runs in this thread, if it can be cancelled."""


def remote_begins() -> None:
    """Tell that the call that runs in this thread begins to wait for the remote."""
    current = CANCELLATION.get()
    if current is not None:
        current.on_remote()


def is_cancelled() -> bool:
    """True if the call that runs in this thread was cancelled."""
    current = CANCELLATION.get()
    return current is not None and current.cancelled
