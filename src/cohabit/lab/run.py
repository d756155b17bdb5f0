"""Plays the games of a design, in this process or in several, and keeps them in the order of the plan.

The order makes the files the same for any number of processes. Games of players that wait for a backend are played
concurrently within a process, unless a player is ``one_at_a_time``.
"""

import asyncio
import gc
import logging
import os
import time
from collections import deque
from collections.abc import Callable, Coroutine, Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager, nullcontext
from itertools import islice
from math import inf
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar

from msgspec import Struct

from cohabit.agents.brain import parse_brain
from cohabit.agents.contract import Agent, Direct, PlayerLeft, Setting, kind_of
from cohabit.agents.decision import PlayerDecision
from cohabit.agents.isolated import made_once, open_agent
from cohabit.agents.llm.metered import check_cap
from cohabit.agents.process import end_idle_processes
from cohabit.agents.spending import Spending, SpendingLog, Totals, TotalsHere
from cohabit.agents.wire import Facts
from cohabit.lab import folder as stored
from cohabit.lab.answers import AnswerLog, CapReached, OtherQuestion, logged
from cohabit.lab.design import Design, located
from cohabit.lab.files import encode_lines
from cohabit.lab.fingerprint import fingerprints
from cohabit.lab.folder import DecisionLine, Played, TimingLine
from cohabit.lab.game import Game, GameSpec, purposes
from cohabit.lab.progress import DecisionCount
from cohabit.lab.results import Results

PENDING_PER_WORKER = 4
"""Jobs submitted per process before the first of them must be finished."""
BATCH = 16
"""Games per batch, if all players are scripted."""
MOMENT_S = 0.05
"""How long games are played in this process before they are kept. Starting the event loop costs as much as a game."""
CONCURRENT = 8
"""Games that a process plays at the same time, if players wait for a backend."""
GC_THRESHOLD = 10_000
"""How many more objects there are when Python next searches for garbage."""
REPORT_S = 1.0
"""How often a worker process reports how many decisions its games have had."""
IN_PROCESS = ("local",)
"""Backends that compute in this process, so that concurrency gains nothing."""

Job = TypeVar("Job")
Result = TypeVar("Result")
Progress = Callable[[int, int], None]
"""Called with the numbers of finished and planned games."""


class RunContext(Struct, frozen=True):
    """What a process has to know of the run."""

    design: Design
    folder: Path | None
    concurrent: int
    cache: Path | None = None

    def spending(self, totals: Totals) -> Spending:
        """What the games of a run spend, in all processes."""
        log = SpendingLog(stored.spending_path(self.folder)) if self.folder is not None else None
        return Spending(self.design.max_cost, totals, log)


class Batch(Struct):
    """Games, in the order of the plan. ``stopped``: why they end here, if not all are played."""

    games: list[Played] = []
    stopped: str = ""


class RunStopped(BaseException):
    """The run ends here, and the text says why. Not an Exception, because it is no failure of a game."""


# -- the run ----------------------------------------------------------------------------------------
def run(
    design: Design,
    folder: Path | None = None,
    workers: int = 1,
    on_game: Progress = lambda *_: None,
    count: DecisionCount | None = None,
    cache: Path | None = None,
) -> Results:
    """Play the missing games and return the results of all. Without a folder they are kept in memory.

    ``cache``: a folder for answers of language models. A prompt that has an answer there is not sent again.

    ``count`` says, on any thread, how many decisions there have been so far."""
    count = count or DecisionCount()
    specs = design.specs()
    made = {brain: made_once(brain) for brain in map(design.brain, design.every_player())}
    for brain, about in made.items() if design.max_cost is not None else ():
        check_cap(parse_brain(brain).label, about, design.max_cost)
    concurrent = CONCURRENT if any(_waits(*each) for each in made.items()) else 1
    if any(getattr(about, "one_at_a_time", False) for about in made.values()):  # such as a person
        workers = concurrent = 1
    context = RunContext(design, folder, concurrent, cache)
    opened = nullcontext() if folder is None else stored.open_folder(folder, design, fingerprints(design), specs)
    with quiet(), opened as kept:
        results = Results(design, kept.games if kept else [], folder=folder, planned=len(specs))
        if kept:
            results.worlds = sorted({located(spec.world, design.folder) for spec in specs})
            results.spent = stored.read_spending(kept.folder)
        on_game(len(results.games), len(specs))
        try:
            for played in _play(context, specs[len(results.games) :], workers, count, results):
                (kept.add if kept else results.keep)(played)
                on_game(len(results.games), len(specs))
        except RunStopped as stopped:
            results.stopped = str(stopped)
        else:
            if kept:
                kept.finish()
        if kept:
            results.spent = stored.read_spending(kept.folder)
    return results


def _play(
    context: RunContext, specs: Sequence[GameSpec], workers: int, count: DecisionCount, results: Results
) -> Iterator[Played]:
    """The games in order. The results have what was paid and reserved before, and get the sums at the end."""
    spent = results.spent
    if workers <= 1 or len(specs) <= 1:
        here = TotalsHere(*spent)
        try:
            yield from _play_here(Games(context, context.spending(here), count), specs)
        finally:
            results.spent = here[0], here[1]
        return
    spawn = get_context("spawn")
    total = spawn.Array("d", spent)
    numbers = spawn.Value("i", 0)  # given to workers so far
    count.of_workers = decisions = spawn.RawArray("q", workers)
    initargs = (context, total, numbers, decisions)
    jobs = _batches(context, specs, workers)
    try:
        with closing(in_processes(_play_batch, jobs, workers, _begin_worker, *initargs)) as batches:
            for batch in batches:
                yield from _until_stopped(batch)
    except BrokenProcessPool:
        raise RunStopped(
            "a worker process ended unexpectedly, for example because memory ran out or the code of a world crashed"
        ) from None
    finally:
        results.spent = total[0], total[1]


def _batches(context: RunContext, specs: Sequence[GameSpec], workers: int) -> Iterator[Sequence[GameSpec]]:
    size = context.concurrent if context.concurrent > 1 else min(BATCH, max(1, len(specs) // (workers * 4)))
    return (specs[i : i + size] for i in range(0, len(specs), size))


def _until_stopped(batch: Batch) -> Iterator[Played]:
    yield from batch.games
    if batch.stopped:
        raise RunStopped(batch.stopped)


def in_processes(
    play: Callable[[Job], Result], jobs: Iterator[Job], workers: int, begin: Callable[..., None], *arguments: Any
) -> Generator[Result]:
    """What ``play`` returns for each job, in order. Processes are only a few jobs ahead of what is yielded; each calls
    ``begin`` first. They are not forked, because the calling process may have threads."""
    pool = ProcessPoolExecutor(workers, get_context("spawn"), initializer=begin, initargs=arguments)
    try:
        pending = deque(pool.submit(play, job) for job in islice(jobs, workers * PENDING_PER_WORKER))
        while pending:
            yield pending.popleft().result()
            pending.extend(pool.submit(play, job) for job in islice(jobs, 1))
    finally:
        pool.shutdown(cancel_futures=True)


def _play_here(games: "Games", specs: Sequence[GameSpec]) -> Iterator[Played]:
    done = 0
    with event_loop() as run_in_loop:
        while done < len(specs):
            batch = Batch()
            run_in_loop(games.play_some(specs[done:], batch))
            done += len(batch.games)
            yield from _until_stopped(batch)


@contextmanager
def event_loop() -> Iterator[Callable[[Coroutine[Any, Any, None]], None]]:
    """Runs coroutines to their end. A notebook already has an event loop; then they run on another thread."""
    if not _has_loop():
        with asyncio.Runner() as runner:
            yield runner.run
        return
    with ThreadPoolExecutor(1, "lab") as thread:
        yield lambda work: thread.submit(asyncio.run, work).result()


def _has_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _waits(brain: str, about: Any) -> bool:
    """Whether a player waits for a backend, so that a process plays several games at the same time."""
    quick = about.quick if isinstance(about, Facts) else kind_of(about) == "quick"
    return not quick and parse_brain(brain).kind not in IN_PROCESS


@contextmanager
def quiet() -> Iterator[None]:
    """Failures of players are counted and reported, so they need not be logged one by one."""
    log = logging.getLogger("cohabit.agents")
    level = log.level
    log.setLevel(logging.ERROR)
    threshold = gc.get_threshold()
    _collect_less()
    try:
        yield
    finally:
        gc.unfreeze()
        gc.set_threshold(*threshold)
        log.setLevel(level)
        end_idle_processes()


def _collect_less() -> None:
    """What is loaded by now need not be searched for garbage after every few games, and a game frees what it used."""
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD)


# -- in one process ----------------------------------------------------------------------------------
# What a coroutine of a runner returns would be turned into text, which costs as much as some turns: when the runner
# removes its handler of Ctrl+C, Python makes the text of that handler, of its task and of the result of the task.
class Games:
    """Plays games of a run in this process."""

    def __init__(self, context: RunContext, spending: Spending, count: DecisionCount) -> None:
        self._context, self._spending, self._count = context, spending, count
        self._setting = Setting(cache=context.cache)

    async def play_some(self, specs: Sequence[GameSpec], batch: Batch) -> None:
        """The first games: as many as are played concurrently, or as can be played in a moment."""
        if self._context.concurrent > 1:
            await self.play_all(specs[: self._context.concurrent], batch)
        else:
            await self._play_in_turn(specs, batch, MOMENT_S)

    async def play_all(self, specs: Sequence[GameSpec], batch: Batch) -> None:
        if self._context.concurrent == 1:
            await self._play_in_turn(specs, batch)
            return
        batches = [Batch() for _ in specs]
        await asyncio.gather(*(self._play_in_turn([spec], its) for spec, its in zip(specs, batches, strict=True)))
        for its in batches:
            batch.games += its.games
            batch.stopped = its.stopped
            if batch.stopped:
                break

    async def _play_in_turn(self, specs: Sequence[GameSpec], batch: Batch, seconds: float = inf) -> None:
        """One game after another; after these ``seconds`` no other is begun.

        If the run has to stop, that is noted in the batch and not raised: other games of this process may wait for
        answers, which are paid for and have to be logged."""
        ends = time.perf_counter() + seconds
        try:
            for spec in specs:
                batch.games.append(await self.play(spec))
                if time.perf_counter() > ends:
                    break
        except CapReached as reached:
            cap = self._context.design.max_cost
            batch.stopped = f"the run has reached its spending cap of ${cap:g}: {reached}"
        except (OtherQuestion, PlayerLeft) as stop:
            batch.stopped = str(stop)

    async def play(self, spec: GameSpec) -> Played:
        """Play a game, with the answers that were logged when it was played before."""
        design, folder = self._context.design, self._context.folder
        log = AnswerLog(self._spending, stored.answers_path(folder, spec.id) if folder is not None else None)
        decisions: list[DecisionLine] = []
        took: list[list[float]] = [[] for _ in spec.players]
        names = spec.named

        def on_decision(seat: int, decision: PlayerDecision, seconds: float) -> None:
            if decision.outcome == "timeout":
                log.timed_out(seat)
            if not quick[seat]:
                log.decided(seat)
            decisions.append(DecisionLine(spec.id, seat, names[seat], decision))
            took[seat].append(seconds)

        began = time.perf_counter()
        agents = [self._agent(spec, seat, why, log) for seat, why in enumerate(purposes(spec))]
        quick = [isinstance(agent, Direct) for agent in agents]  # nothing of these is logged
        game = Game(
            spec,
            agents=agents,
            on_decision=on_decision,
            seconds=time.perf_counter,
            source=located(spec.world, design.folder),
        )
        self._count.begin(game)
        try:
            result = await game.play()
        finally:
            self._count.end(game)
            log.close()
        for tally in result.tallies:
            tally.seconds = 0.0  # times are kept in another file, because they differ from run to run
        record = stored.record_lines(game.lines())
        if folder is not None:
            stored.write_record(folder, spec.id, record)
            record = b""
        timing = TimingLine(spec.id, time.perf_counter() - began, took)
        return Played(result, encode_lines(decisions), timing, record)

    def _agent(self, spec: GameSpec, seat: int, purpose: str, log: AnswerLog) -> Agent:
        brain = located(spec.players[seat], self._context.design.folder)
        return logged(open_agent(brain, purpose, self._setting), seat, log)


# -- in a worker process ----------------------------------------------------------------------------
class Worker:
    """What this process is, if it is a worker."""

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
    _collect_less()

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
