"""Something that fails for a while and works again, as the log tells it: once, then at most once a minute."""

import logging
import threading
import time
from collections.abc import Callable

log = logging.getLogger("cohabit")
REPEAT_S = 60.0
"""The time between two warnings."""


class Outage:
    """``what``, ``fails`` and ``works`` are the words of the log, such as "the database", "cannot be reached" and
    "answers again". Any thread may call it."""

    def __init__(self, what: str, fails: str, works: str, now: Callable[[], float] = time.monotonic) -> None:
        self._what, self._fails, self._works, self._now = what, fails, works, now
        self._lock = threading.Lock()
        self._since: float | None = None
        self._warned: float | None = None  # the last time, also of an earlier outage
        self._is_told = False  # of this outage

    @property
    def is_over(self) -> bool:
        return self._since is None

    def failed(self, why: str) -> None:
        """It has failed, perhaps not for the first time."""
        with self._lock:
            now = self._now()
            began, self._since = self._since is None, now if self._since is None else self._since
            if self._warned is not None and now - self._warned < REPEAT_S:
                return
            self._warned, self._is_told = now, True
            lasts = "" if began else f" for {now - self._since:.0f} s"
        log.warning("%s %s%s: %s", self._what, self._fails, lasts, why)

    def over(self) -> None:
        """It works."""
        if self.is_over:  # most of the time, so without the lock
            return
        with self._lock:
            since, is_told = self._since, self._is_told
            self._since, self._is_told = None, False
        if is_told and since is not None:
            log.info("%s %s, after %.1f s", self._what, self._works, self._now() - since)
