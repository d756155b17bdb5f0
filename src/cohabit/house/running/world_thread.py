"""World code on a thread of its own: for all worlds but the trusted quick ones, and for those that were slow lately."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TypeVar

from cohabit.errors import Disabled, Quarantined, WorldTimeout
from cohabit.house.deadlines import Measurement, StepTime, step_time
from cohabit.house.threads import Worker
from cohabit.room.base import WorldInterrupted

T = TypeVar("T")
WHO_REOPENS = "A member with control_world or a host of the house can reopen it (`reopen_room`)"
GRACE = 3
"""A step that is late has this many times its deadline to return by itself, before it is interrupted."""
MAX_LATE = 4
"""At most this many worlds have that time at once. More of them would compete with the event loop for the CPU."""


_late: "set[WorldThread]" = set()


class WorldThread:
    """Runs one job at a time on a thread, with a deadline for each step of it.

    After a step that is late, no other step begins. ``returned`` is called if it still returns by itself, so the world
    was only slow, and ``hung`` if it does not and is interrupted.
    """

    def __init__(self, name: str, deadline_s: float, returned: Callable[[], None], hung: Callable[[], None]) -> None:
        self.is_running = False
        self._name = name
        self._deadline_s = deadline_s
        self._returned = returned
        self._hung = hung
        self._worker: Worker | None = None  # started by the first job
        self._step = 0
        self._is_late = False
        self._is_closed = False
        self._watched: StepTime | None = None  # of the last job
        self._timer: asyncio.TimerHandle | None = None

    def run(self, work: Callable[[Callable[[], None]], T], done: Callable[[T], None], late: Callable[[], None]) -> None:
        """Run ``work`` on the thread. It calls its argument at the beginning of each step and must not raise.

        On the event loop, ``done`` is called with the result, or ``late`` when a step exceeds the deadline.
        """
        loop = asyncio.get_running_loop()
        worker = self._worker = self._worker or Worker(self._name)
        time = self._watched = step_time(self._deadline_s)
        self.is_running = True

        def begin_step() -> None:
            if self._is_late:
                raise WorldInterrupted
            self._step += 1

        def finish(then: Callable[[], None]) -> None:
            self._stop_watching()
            self.is_running = False
            then()

        def job() -> None:
            try:
                result = work(begin_step)
            except WorldInterrupted:
                if self._timer is None:  # interrupted, not only late
                    raise
                then = self._returned
            else:
                then = partial(self._deliver, done, result)
            with suppress(RuntimeError):  # the loop is closed, so the result is no longer needed
                loop.call_soon_threadsafe(finish, then)

        def check() -> None:
            if not time.is_due(self._step, loop.time()):
                self._timer = loop.call_later(time.every_s, check)
                return
            # Files are read for it, and each time the thread may have to wait for the GIL: the event loop should not.
            try:
                measured = loop.run_in_executor(None, worker.measure)
            except RuntimeError:  # the house is closing, so nobody waits for this world any more
                return
            measured.add_done_callback(partial(judge, self._step))

        def judge(step: int, measured: "asyncio.Future[Measurement]") -> None:
            if self._timer is None or self._watched is not time:  # the job has ended meanwhile
                return
            took = time.count(step, measured.result())
            self._timer = loop.call_later(time.every_s, check)
            if took < self._deadline_s:
                return
            if self._is_closed:  # nobody waits for it any more, so it gets no time that others may need
                self.abandon()
                return
            if not self._is_late:
                self._is_late = True
                late()
            if took >= self._deadline_s * (1 + GRACE) or not self._has_grace():
                self.abandon()
                self._hung()

        self._timer = loop.call_later(time.every_s, check)
        worker.submit(job)

    def _deliver(self, done: Callable[[T], None], result: T) -> None:
        """A step that was late is not delivered: its room was quarantined, and is reopened instead."""
        if self._is_late:
            self._returned()
        else:
            done(result)

    def _has_grace(self) -> bool:
        if len(_late) < MAX_LATE:
            _late.add(self)
        return self in _late

    def abandon(self) -> None:
        """Interrupt the running job if possible, and stop."""
        self._stop_watching()
        if self._worker is not None:
            self._worker.abandon()

    def close(self) -> None:
        """Stop after the running job; interrupt it if it is late, or as soon as it is."""
        self._is_closed = True
        if self._is_late and self.is_running:
            self.abandon()
        elif self._worker is not None:
            self._worker.close()

    def _stop_watching(self) -> None:
        _late.discard(self)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


# -- what members are told -------------------------------------------------------------------------
def late_call(limit_s: float) -> WorldTimeout:
    """For a call that exceeds its deadline."""
    return WorldTimeout(
        f"the world did not return within {limit_s:g} s; the room is quarantined, and this call had no effect"
    )


def late_world(limit_s: float) -> Quarantined:
    """For calls after that one, until the world returns."""
    return Quarantined(
        f"this room is quarantined: its world did not return within {limit_s:g} s. The room is reopened as soon as its "
        f"world returns. {WHO_REOPENS} now"
    )


def failed_world(why: str) -> Quarantined:
    return Quarantined(f"this room is quarantined: {why}. {WHO_REOPENS}")


def moving_to_thread() -> Disabled:
    return Disabled("this room is being reopened, because its world took too long; reconnect in a moment")
