"""World code on the event loop: which worlds may run there, and a watchdog that interrupts one that hangs.

The whole house waits while a world runs on its event loop. So only worlds that are part of Cohabit or that
the operator trusts run there. Others run on threads, even if they are `quick`.

Only the wall time of every section is measured: anything else costs more than most calls. A section that takes long
may have waited for the CPU, on a machine with other work to do, so it only makes its world suspect. What the next
sections of that world use is measured, and decides.
"""

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, NamedTuple

from cohabit.house.deadlines import StepTime, measure_thread
from cohabit.house.settings import Settings, split_names
from cohabit.house.threads import interrupt
from cohabit.registry import is_ours, lasting_source
from cohabit.room.base import WorldInterrupted
from cohabit.room.room import Room

LOOP_LIMIT_S = 0.2
"""World code on the event loop is interrupted after this time. Its room is opened again, and runs on a thread."""
CHECKS = 4
"""The number of checks of a section until then."""
SLOW_S = 0.05
"""A section that computes for longer than this is slow …"""
BLOCKED_S = 0.5
"""… and so is one that waits, and takes longer than this. It is longer, because a section may also have to wait for
another thread of the house."""
SLOW_RUNS, SLOW_WITHIN_MS = 3, 10_000
"""After this many slow sections in this period, a world runs on a thread for ``SLOW_FOR_MS``."""
SLOW_FOR_MS = 60_000


def may_run_on_loop(room: Room, settings: Settings) -> bool:
    """True if the world of a room is quick, and is trusted to be."""
    source = room.state.source
    return room.world.spec.quick and (is_ours(source) or _is_trusted(source, settings.trusted_worlds))


def _is_trusted(source: str, trusted: str) -> bool:
    """``trusted``: names and files, separated by commas. A file stands for every world in it."""
    names = set(map(lasting_source, split_names(trusted)))
    return source in names or source.rpartition(":")[0] in names


class Usage(NamedTuple):
    """CPU time and waits of the current thread since it started."""

    cpu_s: float
    waits: int
    """The number of times that it waited for something else than the CPU: it slept, or waited for a lock or a file."""


def thread_usage() -> Usage:
    return Usage(time.thread_time(), _waits())


def _waits() -> int:
    try:
        import resource
    except ImportError:  # Windows does not count them
        return 0
    # Only Linux counts those of one thread. With those of all threads, a long section is taken for one that waited.
    return resource.getrusage(getattr(resource, "RUSAGE_THREAD", resource.RUSAGE_SELF)).ru_nvcsw


class SlowSections:
    """Finds out whether a world is slow, by its sections that took longer than ``SLOW_S``."""

    def __init__(self, usage: Callable[[], Usage] = thread_usage) -> None:
        self.usage = usage
        self.suspect_until = 0  # what its sections use is measured until then
        self.until = 0  # the world runs on a thread until then
        self._times: tuple[int, ...] = ()  # of the last ones

    def add(self, at: int, took_s: float, before: Usage | None) -> bool:
        """Judge a section that took longer than ``SLOW_S``. ``before`` is the usage when it began, if it was measured.
        Returns whether the world must move to a thread."""
        self.suspect_until = at + SLOW_WITHIN_MS
        if before is None or not _is_slow(took_s, before, self.usage()):
            return False
        self._times = (*self._times, at)[-SLOW_RUNS:]
        if len(self._times) < SLOW_RUNS or at - self._times[0] >= SLOW_WITHIN_MS:
            return False
        self.until = at + SLOW_FOR_MS
        return True


def _is_slow(took_s: float, before: Usage, after: Usage) -> bool:
    """Otherwise the CPU was busy with something else."""
    return after.cpu_s - before.cpu_s > SLOW_S or (took_s > BLOCKED_S and after.waits > before.waits)


class Watchdog:
    """``with watchdog:`` around world code. A second thread periodically checks whether the same section is still
    running, and interrupts it after the limit."""

    def __init__(self, limit_s: float) -> None:
        self._limit = limit_s
        self._lock = threading.Lock()
        self._fired = False
        self._target = threading.get_ident()
        self._target_native = threading.get_native_id()
        self._closed = threading.Event()
        self.took = self._since = 0.0
        threading.Thread(target=self._watch, name="cohabit-watchdog", daemon=True).start()

    def __enter__(self) -> "Watchdog":
        self._since = time.perf_counter()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: Any, trace: TracebackType | None) -> None:
        with self._lock:
            self.took = time.perf_counter() - self._since
            self._since = 0.0
            fired, self._fired = self._fired, False
        if fired and kind is not WorldInterrupted:
            # The exception may be pending: let it be raised here, inside the section. Else the world swallowed it.
            for _ in range(10):
                time.sleep(0.001)
            raise WorldInterrupted

    def close(self) -> None:
        self._closed.set()

    def _watch(self) -> None:
        section = StepTime(self._limit, self._limit / CHECKS)
        while not self._closed.wait(section.every_s):
            with self._lock:
                if not self._since or self._fired:
                    continue
                if not section.is_due(self._since, time.perf_counter()):
                    continue
                if section.count(self._since, measure_thread(self._target_native)) >= self._limit:
                    self._fired = True
                    interrupt(self._target)
