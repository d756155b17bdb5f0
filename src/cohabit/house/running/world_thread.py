"""World code on a thread of its own: for worlds that are not quick, or were slow lately."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from cohabit.house.running.threads import Worker

T = TypeVar("T")


class WorldThread:
    """Runs one job at a time on a thread, with a deadline for each step of it."""

    def __init__(self, name: str, deadline_s: float) -> None:
        self._name = name
        self._deadline_s = deadline_s
        self._worker: Worker | None = None  # started by the first job
        self._step_began = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def run(self, work: Callable[[Callable[[], None]], T], done: Callable[[T], None], late: Callable[[], None]) -> None:
        """Run ``work`` on the thread. It calls its argument at the beginning of each step and must not raise.

        On the event loop, ``done`` is called with the result, or ``late`` when a step exceeds the deadline.
        """
        loop = asyncio.get_running_loop()

        def begin_step() -> None:
            self._step_began = loop.time()

        def finish(result: T) -> None:
            if self._timer is not None:
                self._timer.cancel()
            done(result)

        def job() -> None:
            result = work(begin_step)
            with suppress(RuntimeError):  # the loop is closed, so the result is no longer needed
                loop.call_soon_threadsafe(finish, result)

        def check() -> None:
            left = self._step_began + self._deadline_s - loop.time()
            if left <= 0:
                late()
            else:
                self._timer = loop.call_later(left, check)

        if self._worker is None:
            self._worker = Worker(self._name)
        self._timer = loop.call_later(self._deadline_s, check)
        self._worker.submit(job)

    def abandon(self) -> None:
        """Interrupt the running job if possible, and stop."""
        if self._worker is not None:
            self._worker.abandon()

    def close(self) -> None:
        """Stop after the running job."""
        if self._worker is not None:
            self._worker.close()
