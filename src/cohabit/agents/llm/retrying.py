"""A backend that waits and asks again when the server is busy or away, and never asks more often than allowed."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from random import Random

from cohabit.agents.llm.backend import Backend, BackendError, Completion, Request

FIRST_WAIT_S, LONGEST_WAIT_S = 0.5, 30.0
JITTER = 0.25
"""Waits differ by up to this share, so that agents that failed together do not return together."""


class RetryingBackend:
    """``retries`` times after the first request; at most ``per_minute`` requests, 0: no limit."""

    def __init__(
        self,
        backend: Backend,
        retries: int = 3,
        per_minute: int = 0,
        *,
        now: Callable[[], float] | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """``now`` and ``sleep``: the clock, in seconds."""
        self.name, self.constrains = backend.name, backend.constrains
        self._backend, self._retries, self._per_minute = backend, retries, per_minute
        self._asked: deque[float] = deque(maxlen=per_minute or 1)
        self._random = Random(backend.name)
        self._now, self._sleep = now or (lambda: asyncio.get_running_loop().time()), sleep

    async def complete(self, request: Request) -> Completion:
        for attempt in range(self._retries + 1):
            await self._keep_rate()
            try:
                return await self._backend.complete(request)
            except BackendError as wrong:
                if not wrong.retry or attempt == self._retries or (wrong.after_s or 0) > LONGEST_WAIT_S:
                    raise
                await self._sleep(self._wait_s(attempt, wrong.after_s))
        raise AssertionError("unreachable")

    def _wait_s(self, attempt: int, after_s: float | None) -> float:
        doubled: float = FIRST_WAIT_S * 2**attempt
        wait = min(LONGEST_WAIT_S, doubled) * (1 + self._random.uniform(-JITTER, JITTER))
        return min(LONGEST_WAIT_S, max(wait, after_s or 0.0))

    async def _keep_rate(self) -> None:
        if not self._per_minute:
            return
        now = self._now()
        start = max(now, self._asked[0] + 60) if len(self._asked) == self._per_minute else now
        self._asked.append(start)  # before waiting, so that two requests at once do not take the same place
        if start > now:
            await self._sleep(start - now)

    async def close(self) -> None:
        await self._backend.close()
