"""Validity of a process of a cluster: it may answer only while its lease lasts, by its own clock.

Another house that takes over, or revokes a token, waits until the lease has ended. So a process that was paused or cut
off must answer nobody after that, until it has renewed its lease and knows what has changed meanwhile.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence

from cohabit.errors import Busy

log = logging.getLogger("cohabit")
RETRY_S = 1
ENDED = (
    "this house is not connected to its cluster at the moment: its lease has ended. It goes on by itself when it can "
    "reach the database again; try again soon, or use another house"
)
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def boot_time() -> float:
    """Seconds since the machine was started, those included in which it was suspended, where the system knows them. All
    processes of a machine have the same."""
    return time.clock_gettime(_CLOCK)


class Validity:
    """Valid while all ``sources`` say so: the own lease, and in a worker the front."""

    def __init__(self, sources: Sequence[str], now: Callable[[], float] = boot_time) -> None:
        self.now = now
        self.until = 0.0
        self.since = 0.0  # when it became valid the last time
        self.on_end: list[Callable[[], None]] = []  # called on the event loop when it is not valid any more
        self._until = dict.fromkeys(sources, 0.0)
        self._timer: asyncio.TimerHandle | None = None
        self._was_valid = False

    @property
    def is_valid(self) -> bool:
        return self.now() < self.until

    @property
    def problem(self) -> Busy | None:
        """The reason why nobody is answered; None: everybody is."""
        return None if self.now() < self.until else Busy(ENDED, retry_after_s=RETRY_S)

    def check(self) -> None:
        """Raise BUSY if nobody may be answered now."""
        if self.now() >= self.until:
            raise Busy(ENDED, retry_after_s=RETRY_S)

    def extend(self, source: str, until: float) -> None:
        """One of the sources says until when."""
        self._until[source] = until
        self.until = min(self._until.values())
        self._watch()

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _watch(self) -> None:
        """Notice the end. The timer may be late: it does not run while the process is paused."""
        self.close()
        left_s = self.until - self.now()
        if left_s > 0:
            if not self._was_valid:
                self._was_valid, self.since = True, self.now()
            self._timer = asyncio.get_running_loop().call_later(left_s, self._watch)
        elif self._was_valid:
            self._was_valid = False
            log.error("this process answers nobody any more: its lease has ended")
            for end in self.on_end:
                end()
