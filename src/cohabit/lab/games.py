"""Plays games of a run in this process, with everything that they log.

Games of players that wait for a backend are played concurrently, unless a player is ``one_at_a_time``.
"""

import asyncio
import gc
import logging
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from math import inf
from pathlib import Path
from traceback import extract_tb
from typing import Any

from msgspec import Struct

from cohabit.agents.contract import Agent, AnswerCache, Direct, PlayerLeft, Setting
from cohabit.agents.decision import PlayerDecision
from cohabit.agents.isolated import open_agent
from cohabit.agents.process import end_idle_processes
from cohabit.agents.secrets import in_public
from cohabit.agents.spending import Spending, SpendingLog, Totals
from cohabit.errors import GameCrash
from cohabit.lab import folder as stored
from cohabit.lab.answers import AnswerFile, AnswerLog, Answers, CapReached, OtherQuestion, logged
from cohabit.lab.design import Design, located
from cohabit.lab.files import encode_lines
from cohabit.lab.folder import DecisionLine, Played, TimingLine
from cohabit.lab.game import Game, GameSpec, purposes
from cohabit.lab.progress import DecisionCount
from cohabit.lab.sources import moved

MOMENT_S = 0.05
"""The time that games are played here before they are kept. Starting the event loop costs as much as a game."""
CONCURRENT = 8
"""Games that a process plays at the same time, if players wait for a backend."""
GC_THRESHOLD = 10_000
"""The number of additional objects after which Python next searches for garbage."""


class RunContext(Struct, frozen=True):
    """The facts about the run that a process needs."""

    design: Design
    folder: Path | None
    concurrent: int
    cache: Path | None = None
    places: dict[str, str] = {}  # of worlds and brains in files, on the machine where the run began, if on another
    root: str = ""  # the folder under which those files are here, if they were copied

    def located(self, source: str) -> str:
        """A world or a brain, as records name it."""
        return self.places.get(source) or located(source, self.design.folder)

    def opened(self, source: str) -> str:
        """A world or a brain, as it is opened on this machine."""
        return moved(self.located(source), self.root)

    def answers_of(self, game: str) -> Answers | None:
        """The log of the answers of a game, if they are logged."""
        return AnswerFile(stored.answers_path(self.folder, game)) if self.folder is not None else None

    def batch_size(self, games: int, workers: int, most: int, parts: int) -> int:
        """The number of games sent to a worker at a time. Each should get at least this many ``parts``."""
        return self.concurrent if self.concurrent > 1 else min(most, max(1, games // (workers * parts)))

    def spending(self, totals: Totals) -> Spending:
        """The spending of the games of a run, in all processes."""
        log = SpendingLog(stored.spending_path(self.folder)) if self.folder is not None else None
        return Spending(self.design.max_cost, totals, log)


class Batch(Struct):
    """Games, in the order of the plan. ``stopped``: why they end here, if not all are played."""

    games: list[Played] = []
    stopped: str = ""


def batches(specs: Sequence[GameSpec], size: int) -> Iterator[Sequence[GameSpec]]:
    return (specs[i : i + size] for i in range(0, len(specs), size))


class RunStopped(BaseException):
    """The run ends here, and the text says why. Not an Exception, because it is no failure of a game."""


# The result of a runner's coroutine would be turned into text, which costs as much as some turns: when the runner
# removes its handler of Ctrl+C, Python makes the text of that handler, of its task and of the result of the task.
class Games:
    """Plays games of a run in this process. ``answers`` and ``cache`` are those of the context, unless given."""

    def __init__(
        self,
        context: RunContext,
        spending: Spending,
        count: DecisionCount,
        answers: Callable[[str], Answers | None] | None = None,
        cache: AnswerCache | None = None,
    ) -> None:
        self._context, self._spending, self._count = context, spending, count
        self._answers = answers or context.answers_of
        self._setting = Setting(cache=cache or context.cache)

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
        folder = self._context.folder
        log = AnswerLog(self._spending, self._answers(spec.id))
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
        with explained(spec):
            game = Game(
                spec,
                agents=agents,
                on_decision=on_decision,
                seconds=time.perf_counter,
                source=self._context.located(spec.world),
                load_from=self._context.opened(spec.world),
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
        return logged(open_agent(self._context.opened(spec.players[seat]), purpose, self._setting), seat, log)


@contextmanager
def explained(spec: GameSpec) -> Iterator[None]:
    """The crash of a world, with the game and with the exception. Members of a room may not see that, but who plays
    games with a world can mend it."""
    try:
        yield
    except GameCrash as crash:
        bug, raised = crash.__cause__, ""
        if bug is not None:
            places = [f" ({Path(at.filename).name}:{at.lineno})" for at in extract_tb(bug.__traceback__)]
            raised = f": {type(bug).__name__}: {in_public(bug)}{''.join(places[-1:])}"
        told = f"game {spec.id} with seed {spec.seed}: {crash.message}{raised}"
        raise GameCrash(f"{told}. `cohabit check {spec.world}` tests the world", **crash.details) from crash


# -- around the games --------------------------------------------------------------------------------
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


@contextmanager
def quiet() -> Iterator[None]:
    """Failures of players are counted and reported, so they need not be logged one by one."""
    log = logging.getLogger("cohabit.agents")
    level = log.level
    log.setLevel(logging.ERROR)
    threshold = gc.get_threshold()
    collect_less()
    try:
        yield
    finally:
        gc.unfreeze()
        gc.set_threshold(*threshold)
        log.setLevel(level)
        end_idle_processes()


def collect_less() -> None:
    """Exclude the objects loaded by now from garbage collection, and collect less often: a game frees its objects."""
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD)
