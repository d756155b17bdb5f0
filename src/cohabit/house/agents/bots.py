"""The agents of a house: they play the seats that are given to a brain, and make the same calls as other members.

Built-in scripts run on the event loop of the house. Every other agent is asked on the event loop of a second thread, so
that the connections of its backend never delay a call; one that is not part of Cohabit runs in a process of its own.
"""

import asyncio
import logging
import time
from collections.abc import Coroutine, Mapping, Sequence
from functools import partial
from itertools import takewhile
from threading import Thread
from traceback import format_tb
from typing import Any

import msgspec

from cohabit.agents.brain import WEIGHTS_FILE, label_of, parse_brain
from cohabit.agents.contract import Agent, Setting
from cohabit.agents.decision import PlayerDecision
from cohabit.agents.isolated import open_agent
from cohabit.agents.player import Limits, Player
from cohabit.agents.process import end_idle_processes
from cohabit.agents.runner import PlayLoop
from cohabit.agents.secrets import in_public
from cohabit.agents.spending import Spending
from cohabit.errors import EgressUsedUp
from cohabit.house.agents.agent_status import AgentStatus, AgentStatuses
from cohabit.house.agents.decision_rights import hand_of
from cohabit.house.agents.decisions import DecisionLog, is_action
from cohabit.house.agents.transcripts import TranscriptLine, Transcripts
from cohabit.house.clock import Clock
from cohabit.house.running.calls import Call
from cohabit.house.running.egress import encode, used_up
from cohabit.house.running.runner import RoomRunner
from cohabit.house.settings import Settings
from cohabit.house.threads import run_in_thread
from cohabit.model.action import Action, ActionResult, ActionSpace
from cohabit.model.observation import Goal, Observation
from cohabit.registry import is_foreign, is_script
from cohabit.room.commands import Command
from cohabit.room.room import Room
from cohabit.room.seeing.looking import ViewReply
from cohabit.room.seeing.visibility import is_news
from cohabit.room.state import HIDDEN_BRAIN, Member

log = logging.getLogger("cohabit")
STEP_MS = 600
"""Minimum time per move, so people can follow."""
QUIET_MS = 10_000
"""Where time runs by itself, an agent that thinks waits for news after each decision, but no longer than this."""
AGAIN_MS, LONGEST_MS = 1_000, 60_000
"""An agent that an error has stopped begins again after this time, which doubles while it makes no decision, up to the
longest. At once, it would meet the same error many times a second, and each is written to the log."""
CLOSING_S, AGENTS_CLOSE_S = 10.0, 9.0
"""The time that a house that closes waits for its agents, and the time that these have to close by themselves."""


class Bots:
    """One task per seat that an agent plays."""

    def __init__(self, clock: Clock, settings: Settings, statuses: AgentStatuses) -> None:
        self._clock = clock
        self._closing = False
        self._tasks: dict[tuple[RoomRunner, str], asyncio.Task[None]] = {}
        self._ending: set[asyncio.Task[None]] = set()  # cancelled
        self._thinking = ThinkingLoop()
        self._seconds = settings.agent_seconds
        self._spending = Spending(settings.agents_dollars or None)
        self.transcripts = Transcripts(settings.folder if settings.data else None, settings.transcript_bytes)
        self.decisions = DecisionLog(self.transcripts)
        self.agents = statuses
        self.step_ms = STEP_MS

    def start_bots(self, runner: RoomRunner) -> None:
        """Start an agent for every seat that needs one, and stop those whose player is back.

        Called after each roster change.
        """
        if self._closing:
            return
        members = {} if runner.room.state.archived else runner.room.state.members
        playing = {m.id: m.stand_in for m in members.values() if m.played_by_bot and m.stand_in}
        self._stop([key for key in self._tasks if key[0] is runner and key[1] not in playing])
        for who, brain in playing.items():
            key = (runner, who)
            if key not in self._tasks:
                task = asyncio.get_running_loop().create_task(self._keep_playing(runner, who, brain))
                self._tasks[key] = task
                task.add_done_callback(partial(self._ended, key))

    def _ended(self, key: tuple[RoomRunner, str], task: "asyncio.Task[None]") -> None:
        self._ending.discard(task)
        if self._tasks.get(key) is task:
            del self._tasks[key]

    def _stop(self, keys: list[tuple[RoomRunner, str]]) -> None:
        """Cancel agents. What they are thinking is of no use any more."""
        for key in keys:
            task = self._tasks.pop(key)
            self._ending.add(task)
            task.cancel()

    def stop_room(self, runner: RoomRunner) -> None:
        """Stop the agents of a room that is closed."""
        self._stop([key for key in self._tasks if key[0] is runner])
        self.decisions.forget(runner.room.id)

    async def delete_room(self, room: str) -> None:
        """Forget what the agents of a room did and remember."""
        for key in [key for key in self.agents if key[0] == room]:
            del self.agents[key]
        self.decisions.forget(room)
        await run_in_thread("the transcripts", partial(self.transcripts.delete, room))

    async def close(self) -> None:
        self._closing = True
        self._stop(list(self._tasks))
        await asyncio.gather(*self._ending, return_exceptions=True)
        await self._thinking.close()
        end_idle_processes()

    # -- playing ----------------------------------------------------------------------------------
    async def _keep_playing(self, runner: RoomRunner, who: str, brain: str) -> None:
        """Play, and begin again some time after an error, such as one of the world."""
        decisions, wait_ms = 0, AGAIN_MS
        while await self._play(runner, who, brain) and runner.failure is None:
            tally = self.agents[(runner.room.id, who)].tally
            if tally.decisions > decisions:
                decisions, wait_ms = tally.decisions, AGAIN_MS
            await self._sleep(wait_ms)
            wait_ms = min(2 * wait_ms, LONGEST_MS)

    async def _play(self, runner: RoomRunner, who: str, brain: str) -> bool:
        """True if an error has stopped it."""
        status = self.agents.get((runner.room.id, who))
        if status is None or status.brain != brain:
            status = self.agents[(runner.room.id, who)] = AgentStatus(brain)
        status.stopped = ""
        parsed = parse_brain(brain)
        quick = is_script(parsed)
        # A script, and a model whose weights are read here, are parts of this house.
        leaves = not quick and parsed.kind != WEIGHTS_FILE
        outside = None if is_foreign(parsed) else True
        table = MemberTable(
            self._clock, runner, who, label_of(brain), waits_for_news=not quick, leaves=leaves, outside=outside
        )
        try:
            if quick:
                agent = open_agent(brain, _purpose(runner.room, who))
                player = Player(
                    agent, tally=status.tally, on_decision=status.decided, name=_name(runner, who, brain), plays_on=True
                )
                try:
                    await PlayLoop(table, player, pause=lambda: self._pause(runner, who)).play()
                finally:
                    await player.close()
            else:
                far = OnOtherLoop(table, asyncio.get_running_loop())
                await self._thinking.run(self._play_there(far, runner, who, status))
        except (asyncio.CancelledError, Dismissed):
            pass
        except EgressUsedUp as refusal:  # it begins again with the next change of the roster, if it may
            status.stopped = refusal.message
        except Exception as bug:
            status.stopped = f"{type(bug).__name__}: {in_public(bug)}"
            where = "".join(format_tb(bug.__traceback__))  # without the text of the exception, which may have a key
            log.error("%s stopped: %s\n%s", _name(runner, who, brain), status.stopped, where)
            return True
        return False

    async def _play_there(self, far: "OnOtherLoop", runner: RoomRunner, who: str, status: AgentStatus) -> None:
        """Play on the other event loop, within a time limit for each decision, and keep the transcript."""
        room, brain = runner.room, status.brain

        def decided(decision: PlayerDecision, seconds: float) -> None:
            status.decided(decision, seconds)
            member = room.state.members.get(who)
            seat = member.seat if member is not None else None
            seq, at = far.table.acted if decision.action is not None else (runner.history.seq, self._clock.now())
            action, table = decision.action, far.table
            hand = table.hand if action is None or is_action(room, action.name) else ""  # nobody else may read it
            made = TranscriptLine(
                at, who, seat, brain, room.state.games, round(seconds, 3), decision, seq, table.saw, hand, table.heard
            )
            self.decisions.add(room.id, made)

        player = Player(
            await self._make(room, who, brain), Limits(self._seconds), tally=status.tally, on_decision=decided,
            seconds=time.monotonic, name=_name(runner, who, brain), plays_on=True,
        )  # fmt: skip
        try:
            await PlayLoop(far, player).play()
        finally:
            await player.close()

    async def _make(self, room: Room, who: str, brain: str) -> Agent:
        """The agent. One that cannot be created, such as after a restart without its key, fails in each decision."""
        setting = Setting(memory=self.transcripts.memory_of(room.id, who), spending=self._spending)
        make = partial(open_agent, brain, _purpose(room, who), setting, reuse=False)
        try:
            return await run_in_thread(f"agent-{who}", make)
        except Exception as bug:
            return Unusable(in_public(bug) or type(bug).__name__)

    async def _pause(self, runner: RoomRunner, who: str) -> None:
        member = runner.room.state.members.get(who)
        if member is not None and (ms := self._step_ms(runner.room, member)):
            await self._sleep(ms)

    async def _sleep(self, ms: int) -> None:
        done = asyncio.Event()
        self._clock.call_at(self._clock.now() + ms, done.set)
        await done.wait()

    def _step_ms(self, room: Room, member: Member) -> int:
        """The time that a script waits before it acts."""
        asked = (feature.pauses(room, member) for feature in room.hooks["pauses"])
        return next((ms for ms in asked if ms is not None), self.step_ms)


def _purpose(room: Room, who: str) -> str:
    """The seed of an agent's random choices. Secret, because members must not compute them, such as a nonce."""
    return f"{room.state.secret}/{who}"


def _name(runner: RoomRunner, who: str, brain: str) -> str:
    return f"agent {label_of(brain)} for {who} in room {runner.room.id}"


class Unusable:
    """An agent that could not be created. Each decision fails with the reason, so the fallback is played."""

    def __init__(self, problem: str) -> None:
        self._problem = problem

    async def initialize(self, game_desc: str, action_space: ActionSpace) -> None: ...

    async def decide(self, observation: Observation) -> Action | None:
        raise RuntimeError(self._problem)

    async def reflect(self, result: ActionResult) -> None: ...

    async def plan(self, goals: Sequence[Goal]) -> list[str]:
        return []


class Dismissed(Exception):
    """The agent no longer plays this seat."""


class MemberTable:
    """The calls of an agent for a member of a room of this house.

    ``waits_for_news``: where time runs by itself it is always the agent's turn, so a wait ends with news instead. A
    script needs none of this, because it pauses before each decision. ``leaves``: what it sees may leave the house, so
    it is counted; ``outside``: it does, as far as the house knows; None: it does not know.
    """

    def __init__(
        self,
        clock: Clock,
        runner: RoomRunner,
        who: str,
        brain: str,
        *,
        waits_for_news: bool = False,
        leaves: bool = False,
        outside: bool | None = True,
    ) -> None:
        self._clock, self._runner, self._who, self._brain = clock, runner, who, brain
        self._leaves, self._outside = leaves, outside
        self._waits_for_news = waits_for_news
        self.saw, self.hand = "", ""  # the view that it decides by, and the hand that is played
        self.heard = False  # messages: it may quote them from then on
        self.acted = (-1, 0)  # the entry of its last action, and when that was
        self._known = -1  # the last entry that is no news any more
        self._quiet_until = 0  # when the agent thinks again without news

    async def call(self, command: str, args: Mapping[str, Any] | None = None) -> Any:
        """A command that waits is repeated when the room has changed."""
        runner, given = self._runner, dict(args or {})
        declared = runner.room.commands.named(command)
        waits = declared.waits
        ends = self._clock.now() + given.get("wait_ms", 0)
        if declared.news_after is not None:
            await self._until_news(ends)
        while True:
            self._check_plays()
            if self._leaves:
                runner.egress.of(runner.room.state.members[self._who]).check()
            version, known = runner.version, runner.history.seq
            result = await runner.submit(Call(self._who, command, given, via=self._brain))
            if waits is None or not waits(result) or not await runner.changed_since(version, ends):
                if isinstance(result, ViewReply):
                    self._known, self._quiet_until = known, self._clock.now() + QUIET_MS
                    self.saw, self.hand = result.text, hand_of(runner.room)
                elif command == "recv_messages":
                    self.heard = self.heard or bool(result.items)
                elif declared.unwrap is not None:
                    self.acted = self._last_entry()
                if self._leaves:
                    self._count(declared, result)
                return msgspec.to_builtins(result)

    def _last_entry(self) -> tuple[int, int]:
        own = (line for line in reversed(self._runner.history.recent) if line.entry.by == self._who and line.entry.via)
        return next(((line.seq, line.entry.at) for line in own), self.acted)

    def _count(self, command: Command, result: Any) -> None:
        """Count what the agent gets, or withhold it if it is more than what is left of the budget."""
        member = self._runner.room.state.members.get(self._who)
        if member is None:
            return
        account, size = self._runner.egress.of(member), len(encode(result))
        if not (command.records or account.allows(size)):
            raise used_up(account.limit)
        backend = HIDDEN_BRAIN if self._runner.room.state.hide_brains else self._brain  # hosts see the count
        account.to(backend, self._outside).replied(command.sends, size)

    async def changed(self, wait_ms: int) -> None:
        self._check_plays()
        ends = self._clock.now() + wait_ms
        if self._is_for_news():
            await self._until_news(ends)
        else:
            await self._runner.changed_since(self._runner.version, ends)

    def _is_for_news(self) -> bool:
        room = self._runner.room
        return self._waits_for_news and room.runs_by_itself and room.state.over_since is None

    async def _until_news(self, ends: int) -> None:
        """Return when the agent has been told something since it saw the world, or after a while."""
        runner = self._runner
        while self._is_for_news():
            self._check_plays()
            version = runner.version
            if self._has_news() or not await runner.changed_since(version, min(ends, self._quiet_until)):
                return

    def _has_news(self) -> bool:
        room, recent = self._runner.room, self._runner.history.recent
        member = room.state.members[self._who]
        if not recent or recent[0].seq > self._known + 1:  # it missed some
            return True
        newer = [line.entry for line in takewhile(lambda line: line.seq > self._known, reversed(recent))]
        self._known = self._runner.history.seq
        eye = room.eye(member)
        return any(is_news(entry, member, eye, self._brain) for entry in newer)

    def _check_plays(self) -> None:
        room = self._runner.room
        member = room.state.members.get(self._who)
        if member is None or not member.played_by_bot or room.state.archived or self._runner.failure is not None:
            raise Dismissed


class OnOtherLoop:
    """A table whose calls are made on another event loop."""

    def __init__(self, table: MemberTable, loop: asyncio.AbstractEventLoop) -> None:
        self.table, self._loop = table, loop

    async def call(self, command: str, args: Mapping[str, Any] | None = None) -> Any:
        return await self._there(self.table.call(command, args))

    async def changed(self, wait_ms: int) -> None:
        await self._there(self.table.changed(wait_ms))

    async def _there(self, work: Coroutine[Any, Any, Any]) -> Any:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))


class ThinkingLoop:
    """An event loop on a thread of its own, started when it is first needed."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: Thread | None = None

    async def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine there. Cancelling the caller cancels it."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = Thread(target=self._loop.run_forever, name="cohabit-agents", daemon=True)
            self._thread.start()
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    async def close(self) -> None:
        """Wait for what was cancelled, and end the thread. One that an agent blocks is left behind."""
        if self._loop is None or self._thread is None:
            return
        loop, thread = self._loop, self._thread
        ended = asyncio.wrap_future(asyncio.run_coroutine_threadsafe(_end_tasks(), loop))
        try:
            await asyncio.wait_for(ended, CLOSING_S)
            loop.call_soon_threadsafe(loop.stop)
            await run_in_thread("the agents", thread.join)
            loop.close()
        except TimeoutError:
            log.warning("an agent blocks the thread of the agents; the house closes without it")


async def _end_tasks() -> None:
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    if others:  # the agents were cancelled before, and are being closed
        await asyncio.wait(others, timeout=AGENTS_CLOSE_S)
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()
