"""A backend that waits and asks again when the server is busy or away, and never asks more often than allowed."""

import asyncio
from collections import deque
from random import Random

from cohabit.agents.llm.backend import Backend, BackendError, Completion, Request

FIRST_WAIT_S, LONGEST_WAIT_S = 0.5, 30.0
JITTER = 0.25
"""Waits differ by up to this share, so that agents that failed together do not return together."""


class RetryingBackend:
    """``retries`` times after the first request; at most ``per_minute`` requests, 0: no limit."""

    def __init__(self, backend: Backend, retries: int = 3, per_minute: int = 0) -> None:
        self.name, self.constrains = backend.name, backend.constrains
        self._backend, self._retries, self._per_minute = backend, retries, per_minute
        self._asked: deque[float] = deque(maxlen=per_minute or 1)
        self._random = Random(backend.name)

    async def complete(self, request: Request) -> Completion:
        for attempt in range(self._retries + 1):
            await self._keep_rate()
            try:
                return await self._backend.complete(request)
            except BackendError as wrong:
                if not wrong.retry or attempt == self._retries:
                    raise
                await asyncio.sleep(self._wait_s(attempt, wrong.after_s))
        raise AssertionError("unreachable")

    def _wait_s(self, attempt: int, after_s: float | None) -> float:
        doubled: float = FIRST_WAIT_S * 2**attempt
        wait = min(LONGEST_WAIT_S, doubled) * (1 + self._random.uniform(-JITTER, JITTER))
        return min(LONGEST_WAIT_S, max(wait, after_s or 0.0))

    async def _keep_rate(self) -> None:
        if not self._per_minute:
            return
        now = asyncio.get_running_loop().time()
        if len(self._asked) == self._per_minute and (wait := self._asked[0] + 60 - now) > 0:
            await asyncio.sleep(wait)
        self._asked.append(asyncio.get_running_loop().time())

    async def close(self) -> None:
        await self._backend.close()
