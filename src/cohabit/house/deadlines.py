"""Measures how long world code has run. Only time in which it computed or was blocked counts.

A thread that is ready to run may have to wait: for the CPU, on a machine with other work to do, or for Python's global
interpreter lock (GIL), in a house with other busy worlds. That is not the fault of its world, so it is not counted.

Linux tells how long a thread computed and how long it waited for the CPU. Elsewhere only a late measurement shows that
the process was kept from running: no more time is counted than there should have been between two measurements.
"""

import os
import sys
import time
from contextlib import suppress
from typing import NamedTuple

CHECKS = 8
"""The number of checks of a step until its deadline."""
GIL_CREDIT = 1
"""At most this many deadlines' worth of waiting for the GIL is left out of the count: otherwise many hung worlds would
protect each other."""


class Measurement(NamedTuple):
    """The time that a thread and its process have used since they started."""

    cpu_s: float = 0.0
    starved_s: float = 0.0  # it could have run, but did not get the CPU
    switches: int = 0  # how often it began to wait: it slept, or waited for a lock, a file or the GIL
    process_cpu_s: float = 0.0


def measure_thread(native_id: int | None) -> Measurement:
    """The time that a thread of this process has used. Where the system does not tell, it is as if the thread were
    blocked."""
    task = f"/proc/self/task/{native_id}"
    try:
        with open(f"{task}/schedstat") as times, open(f"{task}/status") as status:
            cpu, starved, _ = times.read().split()
            switches = next(line for line in status if line.startswith("voluntary"))
    except (OSError, ValueError, StopIteration):  # another system, or the thread has ended
        return Measurement()
    return Measurement(int(cpu) / 1e9, int(starved) / 1e9, int(switches.split()[1]), time.process_time())


def starved_by_thread(process: int) -> dict[str, float]:
    """The time that each thread of a process could have run, but did not get the CPU. Empty where the system does not
    tell."""
    found: dict[str, float] = {}
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{process}/task"):
            with suppress(OSError, ValueError), open(f"/proc/{process}/task/{thread}/schedstat") as times:
                found[thread] = int(times.read().split()[1]) / 1e9
    return found


def counted_s(before: Measurement, after: Measurement, wall_s: float, gil_s: float) -> tuple[float, float]:
    """The part of ``wall_s`` that counts, and the part that was spent waiting for the GIL: at most ``gil_s``.

    A thread that waits for the GIL wakes up once per switch interval, and another thread computes meanwhile.
    """
    cpu = after.cpu_s - before.cpu_s
    others = after.process_cpu_s - before.process_cpu_s - cpu
    waits = (after.switches - before.switches) * sys.getswitchinterval()
    for_gil = max(0.0, min(others, waits, gil_s))
    starved = max(0.0, after.starved_s - before.starved_s)
    return max(cpu, wall_s - starved - for_gil), for_gil


class StepTime:
    """The counted time of the step that a thread runs.

    ``is_due`` is called every ``every_s`` while a thread runs something. A measurement costs more, so it asks for one
    only when the step was not seen before, and when it may have reached its deadline.
    """

    def __init__(self, deadline_s: float, every_s: float) -> None:
        self.every_s = every_s
        self._deadline_s = deadline_s
        self._gil_credit_s = GIL_CREDIT * deadline_s
        self._step: object = None
        self._at = 0.0
        self._wall_s = 0.0  # since the last measurement
        self._last: Measurement | None = None
        self._counted_s = 0.0

    def is_due(self, step: object, at: float) -> bool:
        """True if this step should be measured now."""
        if step != self._step:
            self._step, self._last, self._counted_s = step, None, 0.0
            self._gil_credit_s = GIL_CREDIT * self._deadline_s
            self._wall_s, self._at = 0.0, at
            return True
        self._wall_s += min(at - self._at, self.every_s)
        self._at = at
        return self._counted_s + self._wall_s >= self._deadline_s

    def count(self, step: object, now: Measurement) -> float:
        """The time that this step has taken so far. The first measurement is its beginning."""
        if step != self._step:
            return 0.0  # another one has begun
        if self._last is not None:
            more, for_gil = counted_s(self._last, now, self._wall_s, self._gil_credit_s)
            self._counted_s += more
            self._gil_credit_s -= for_gil
        self._last, self._wall_s = now, 0.0
        return self._counted_s


def step_time(deadline_s: float) -> StepTime:
    """For steps with this deadline."""
    return StepTime(deadline_s, deadline_s / CHECKS)
