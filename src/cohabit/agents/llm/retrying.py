"""A backend that waits and asks again when the server is busy or away, and never asks more often than allowed."""

import asyncio
from collections.abc import Awaitable, Callable
from random import Random

from cohabit.agents.contract import Call
from cohabit.agents.llm.backend import Backend, BackendError, Completion, Request, WrappedBackend
from cohabit.agents.llm.calls import attempt as current_attempt
from cohabit.agents.llm.calls import note
from cohabit.agents.llm.rate import RateLimit

FIRST_WAIT_S, LONGEST_WAIT_S = 0.5, 30.0
JITTER = 0.25
"""Waits differ by up to this share, so that agents that failed together do not return together."""


class RetryingBackend(WrappedBackend):
    """``retries`` times after the first request; at most ``per_minute`` requests, 0: no limit.

    ``rate`` counts them, together with those of other backends that share it.
    """

    def __init__(
        self,
        backend: Backend,
        retries: int = 3,
        per_minute: int = 0,
        *,
        rate: RateLimit | None = None,
        now: Callable[[], float] | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """``now`` and ``sleep``: the clock, in seconds."""
        super().__init__(backend)
        self.retries, self._per_minute = retries, per_minute
        self._rate = rate or RateLimit()
        self._random = Random(backend.name)
        self._now, self._sleep = now or (lambda: asyncio.get_running_loop().time()), sleep

    async def complete(self, request: Request) -> Completion:
        for attempt in range(self.retries + 1):
            await self._keep_rate()
            token = current_attempt.set(attempt + 1)
            try:
                return await self.backend.complete(request)
            except BackendError as wrong:
                if not wrong.retry or attempt == self.retries or (wrong.after_s or 0) > LONGEST_WAIT_S:
                    raise
                wait_s = self._wait_s(attempt, wrong.after_s)
            finally:
                current_attempt.reset(token)
            await self._sleep(wait_s)
        raise AssertionError("unreachable")

    def _wait_s(self, attempt: int, after_s: float | None) -> float:
        doubled: float = FIRST_WAIT_S * 2**attempt
        wait = min(LONGEST_WAIT_S, doubled) * (1 + self._random.uniform(-JITTER, JITTER))
        return min(LONGEST_WAIT_S, max(wait, after_s or 0.0))

    async def _keep_rate(self) -> None:
        if not self._per_minute:
            return
        now = self._now()
        start = self._rate.reserve(now, self._per_minute)
        if start > now:
            try:
                await self._sleep(start - now)
            except asyncio.CancelledError:
                note(Call("rate_limit", f"not sent yet: {self._per_minute} requests per minute are allowed"))
                raise
