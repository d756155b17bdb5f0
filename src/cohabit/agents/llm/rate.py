"""Limits the rate of requests: all agents of a process with the same service and key share one count."""

from bisect import insort
from hashlib import sha256
from threading import Lock
from typing import Any

MINUTE_S = 60.0


class RateLimit:
    """The requests of one account. Agents may run on several event loops, so it is safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._starts: list[float] = []  # in order; those of requests that still wait are in the future

    def reserve(self, now: float, per_minute: int) -> float:
        """When a request may start, so that no minute has more than ``per_minute``. Its place is taken by asking."""
        with self._lock:
            starts = self._starts
            while starts and starts[0] <= now - MINUTE_S:
                del starts[0]
            start = max(now, starts[-per_minute] + MINUTE_S) if len(starts) >= per_minute else now
            insort(starts, start)
            return start


_limits: dict[str, RateLimit] = {}
_making = Lock()


def rate_limit_of(account: str) -> RateLimit:
    """The limit that all backends with this account share."""
    with _making:
        return _limits.setdefault(account, RateLimit())


def account_of(service: str, url: str, key: str | None) -> str:
    """Names an account without its key."""
    return f"{service}@{url}#{sha256((key or '').encode()).hexdigest()[:16]}"


def account_of_backend(backend: Any) -> str:
    """A backend that names no account, such as a model of this process, is an account of its own."""
    return str(getattr(backend, "account", "") or backend.name)
