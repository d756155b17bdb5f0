"""The watchdog for world code that runs on the event loop."""

import threading
import time
from types import TracebackType
from typing import Any

from cohabit.house.running.threads import interrupt
from cohabit.room.recorded import WorldInterrupted

SAMPLE_EVERY = 64
"""Read the CPU time only every this many sections: reading it costs more than most calls."""


class Watchdog:
    """``with watchdog:`` around world code. A second thread periodically checks whether the same section is still
    running, and interrupts it after the deadline."""

    def __init__(self, deadline_s: float) -> None:
        self._deadline = deadline_s
        self._lock = threading.Lock()
        self._cpu_time = time.thread_time()
        self._entered = 0
        self._fired = False
        self._target = threading.get_ident()
        self._closed = threading.Event()
        self.took = self._since = 0.0
        threading.Thread(target=self._watch, name="cohabit-watchdog", daemon=True).start()

    def __enter__(self) -> "Watchdog":
        self._entered += 1
        if not self._entered % SAMPLE_EVERY:
            self._cpu_time = time.thread_time()
        self._since = time.perf_counter()
        return self

    def slow(self, limit_s: float) -> bool:
        """Whether the last section took longer than this. CPU time counts, not wall time, unless the wall time is very
        long: then the world was blocked."""
        if self.took <= limit_s:
            return False
        return time.thread_time() - self._cpu_time > limit_s or self.took > 10 * limit_s

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
        while not self._closed.wait(self._deadline / 4):
            with self._lock:
                late = self._since and time.perf_counter() - self._since > self._deadline
                if late and not self._fired:
                    self._fired = True
                    interrupt(self._target)
