"""Plays batches of games in several processes of this machine."""

import asyncio
import logging
import os
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from itertools import islice
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import Any, TypeVar

from cohabit.agents.spending import Spending
from cohabit.lab.game import GameSpec
from cohabit.lab.games import Batch, Games, RunContext, RunStopped, batches, collect_less
from cohabit.lab.progress import DecisionCount
from cohabit.lab.results import Results

PENDING_PER_WORKER = 4
"""Jobs submitted per process before the first of them must be finished."""
BATCH = 16
"""Games per batch, if all players are scripted."""
PARTS = 4
"""Batches per worker at least, so that none is long without work at the end."""
REPORT_S = 1.0
"""The interval at which a worker process reports the number of its games' decisions."""
WORKER_ENDED = "a worker process ended unexpectedly, for example because memory ran out or the code of a world crashed"

Job = TypeVar("Job")
Result = TypeVar("Result")


def play_in_processes(
    context: RunContext, specs: Sequence[GameSpec], workers: int, count: DecisionCount, results: Results
) -> Generator[Batch]:
    """The games in batches, in order. The results have what was paid and reserved before, and get the sums at the
    end."""
    spawn = get_context("spawn")
    total = spawn.Array("d", results.spent)
    numbers = spawn.Value("i", 0)  # given to workers so far
    count.of_workers = decisions = spawn.RawArray("q", workers)
    initargs = (context, total, numbers, decisions)
    jobs = batches(specs, context.batch_size(len(specs), workers, BATCH, PARTS))
    try:
        with closing(in_processes(_play_batch, jobs, workers, _begin_worker, *initargs)) as played:
            yield from played
    except BrokenProcessPool:
        raise RunStopped(WORKER_ENDED) from None
    finally:
        results.spent = total[0], total[1]


def in_processes(
    play: Callable[[Job], Result], jobs: Iterator[Job], workers: int, begin: Callable[..., None], *arguments: Any
) -> Generator[Result]:
    """The results of ``play`` for each job, in order. Processes are only a few jobs ahead of the yielded results; each
    calls ``begin`` first. They are not forked, because the calling process may have threads."""
    pool = ProcessPoolExecutor(workers, get_context("spawn"), initializer=begin, initargs=arguments)
    try:
        pending = deque(pool.submit(play, job) for job in islice(jobs, workers * PENDING_PER_WORKER))
        while pending:
            yield pending.popleft().result()
            pending.extend(pool.submit(play, job) for job in islice(jobs, 1))
    finally:
        pool.shutdown(cancel_futures=True)


# -- in a worker process ----------------------------------------------------------------------------
class Worker:
    """This process, if it is a worker."""

    def __init__(self, context: RunContext, spending: Spending, decisions: Any, number: int) -> None:
        self._count = DecisionCount()
        self._games = Games(context, spending, self._count)
        self._runner = asyncio.Runner()
        self._decisions, self._number = decisions, number

    def play(self, specs: Sequence[GameSpec]) -> Batch:
        batch = Batch()
        self._runner.run(self._games.play_all(specs, batch))
        self.report()
        return batch

    def report(self) -> None:
        """Tell the parent how many decisions there have been here."""
        self._decisions[self._number] = self._count.total()


_worker: Worker | None = None


def _begin_worker(context: RunContext, total: Any, numbers: Any, decisions: Any) -> None:
    global _worker
    with numbers.get_lock():
        number = numbers.value
        numbers.value += 1
    _worker = Worker(context, context.spending(total), decisions, number)
    begin_worker(_worker.report)


def begin_worker(report: Callable[[], None] = lambda: None) -> None:
    """Prepare a worker process: as quiet as its parent, and ended when that dies. It would wait forever otherwise.

    ``report`` is called about once a second, on another thread."""
    logging.getLogger("cohabit.agents").setLevel(logging.ERROR)
    collect_less()

    def watch() -> None:
        if (parent := parent_process()) is not None:
            while parent.is_alive():
                parent.join(REPORT_S)
                report()
            os._exit(1)

    Thread(target=watch, daemon=True).start()


def _play_batch(specs: Sequence[GameSpec]) -> Batch:
    assert _worker is not None
    return _worker.play(specs)
