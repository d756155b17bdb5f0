"""A way to end the network command of a call from another thread: the client does not wait for it any more.

Only what talks to the remote is ended. It is what takes long, and to end it is safe: a fetch or a push moves its refs
at the very end or not at all. Commands that change the clone take milliseconds and are left to finish.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class Hangup:
    """One call's. Once hung up, the next network command of the call ends at once too."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kill: Callable[[], None] | None = None
        self.happened = False

    def now(self) -> None:
        with self._lock:
            self.happened = True
            if self._kill is not None:
                self._kill()

    @contextmanager
    def can(self, kill: Callable[[], None]) -> Iterator[None]:
        """As long as this lasts, hanging up means ``kill``."""
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
"""That of the call which runs in this thread, if somebody may hang up."""
