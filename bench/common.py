"""Separate processes on separate cores, and alternating rounds, so noise affects all sides equally."""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
WORLDS = Path(__file__).parent / "worlds"
STOP_S = 60
"""How long a child may take to end. A house with many rooms has to store them."""


def core_count() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def core(number: int | None) -> int | None:
    """The ``number``-th available core. None if there is only one, if cores cannot be chosen, or none is asked for."""
    if number is None or not hasattr(os, "sched_getaffinity"):
        return None
    cores = sorted(os.sched_getaffinity(0))
    return cores[number % len(cores)] if len(cores) > 1 else None


def pin(chosen: int | None) -> None:
    if chosen is not None:
        os.sched_setaffinity(0, {chosen})


def allow_many_files() -> None:
    """Raise the limit of open files: a thousand connections need two thousand."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


class Child:
    """A child process that creates ``module:name`` with arguments and answers requests. ``on``: its core; None: any.
    ``python``: the interpreter, for a peer whose packages do not fit ours."""

    def __init__(self, target: str, on: int | None, /, python: str = sys.executable, **args: Any) -> None:
        import psutil  # type: ignore[import-untyped]  # here, because the children do without

        self.process = subprocess.Popen(
            [python, "-m", "bench.child", target], cwd=ROOT, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        self._ps = psutil.Process(self.process.pid)
        self._say({"args": args, "core": core(on)})
        self.hello = self._answer()

    def _answer(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.process.args!r} ended early ({self.process.wait()}); see its output above")
        return json.loads(line)

    def ask(self, what: str, **args: Any) -> Any:
        self._say([what, args])
        return self._answer()

    def _say(self, what: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(what) + "\n")
        self.process.stdin.flush()

    @property
    def cpu(self) -> float:
        """CPU seconds of all its threads, and of the processes that it has started."""
        times = [process.cpu_times() for process in self._family()]
        return float(sum(each.user + each.system for each in times))

    @property
    def memory(self) -> int:
        """Memory that only this process and those that it has started use, in bytes."""
        return int(sum(process.memory_full_info().uss for process in self._family()))

    def _family(self) -> list[Any]:
        return [self._ps, *self._ps.children(recursive=True)]

    def end(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()


@contextmanager
def child(target: str, on: int | None, /, **args: Any) -> Iterator[Child]:
    made = Child(target, on, **args)
    try:
        yield made
    finally:
        made.end()


def ask_all(children: Sequence[Child], what: str, **args: Any) -> list[Any]:
    """Ask several children at the same time."""
    with ThreadPoolExecutor(len(children)) as threads:
        return list(threads.map(lambda each: each.ask(what, **args), children))


@contextmanager
def folder() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="cohabit-bench-") as path:
        yield path


def take_turns(contestants: Mapping[str, Callable[[], float]], times: int) -> dict[str, list[float]]:
    """One warm-up each, then A B C, C B A, A B C …, so noise affects all sides equally."""
    found: dict[str, list[float]] = {name: [] for name in contestants}
    for run in contestants.values():
        run()
    order = list(contestants)
    for i in range(times):
        for name in order if i % 2 == 0 else reversed(order):
            found[name].append(contestants[name]())
    return found


def quotients(mine: Sequence[float], theirs: Sequence[float]) -> list[float]:
    """Ratios round by round, so a slow minute of the machine cancels out."""
    return [a / b for a, b in zip(mine, theirs, strict=True)]


def percentile(values: Sequence[float], p: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(p * len(ordered)))]


median = statistics.median
