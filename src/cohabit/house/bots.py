"""The agents of a house: they play the seats that are given to a brain, and make the same calls as other members.

Scripts run on the event loop of the house. Every other agent runs on the event loop of a second thread, so that its
thinking, and the connections of its backend, never delay a call.
"""

import asyncio
import logging
from collections.abc import Coroutine, Mapping
from threading import Thread
from typing import TYPE_CHECKING, Any

import msgspec

from cohabit.agents.brain import parse_brain
from cohabit.agents.contract import adapted, kind_of
from cohabit.agents.player import Limits, Player, Tally
from cohabit.agents.runner import Seated
from cohabit.errors import BadArgs
from cohabit.house.calls import Call
from cohabit.house.clock import Clock
from cohabit.model.suggest import nearest
from cohabit.registry import BRAINS, knows_brain, make_agent

if TYPE_CHECKING:
    from cohabit.house.house import House
    from cohabit.house.runner import RoomRunner
    from cohabit.room.room import Room
    from cohabit.room.state import Member

log = logging.getLogger("cohabit")
STEP_MS = 600
"""Minimum time per move, so people can follow."""
STAND_IN_STEP_MS = 10_000
"""The same for a stand-in in a world with rounds, so that it does not play many of them before its player is back."""


def check_brain(name: str | None) -> None:
    """Raise BAD_ARGS if there is no brain of this name."""
    if name is not None and not knows_brain(parse_brain(name)):
        raise BadArgs(f"unknown brain {name[:40]!r}", did_you_mean=nearest(name[:40], list(BRAINS), 2))


class Bots:
    """One task per seat that an agent plays."""

    def __init__(self, house: "House") -> None:
        self._house = house
        self._tasks: dict[tuple[RoomRunner, str], asyncio.Task[None]] = {}
        self._thinking = ThinkingLoop()
        self.tallies: dict[tuple[str, str], Tally] = {}  # by room and member
        self.step_ms = STEP_MS

    def start_bots(self, runner: "RoomRunner") -> None:
        """Start an agent for every seat that needs one. Called after each roster change."""
        if self._house.closing or self._house.dormant or runner.room.state.archived:
            return
        for member in runner.room.state.members.values():
            key = (runner, member.id)
            if member.played_by_bot and member.stand_in and key not in self._tasks:
                task = asyncio.get_running_loop().create_task(self._play(runner, member.id, member.stand_in))
                self._tasks[key] = task
                task.add_done_callback(lambda _, key=key: self._tasks.pop(key, None))  # type: ignore[misc]  # mypy cannot infer a default in a lambda

    async def close(self) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._thinking.close()

    async def _play(self, runner: "RoomRunner", who: str, brain: str) -> None:
        table = MemberTable(self._house.clock, runner, who, brain)
        try:
            agent = make_agent(brain, f"{runner.room.id}/{who}")
            tally = self.tallies.setdefault((runner.room.id, who), Tally())
            if kind_of(agent) == "quick":
                player = Player(adapted(agent), tally=tally)
                await Seated(table, player, pause=lambda: self._pause(runner, who)).play()
            else:
                player = Player(adapted(agent), Limits(self._house.settings.agent_seconds), tally=tally)
                far = OnOtherLoop(table, asyncio.get_running_loop())
                await self._thinking.run(_play_and_close(Seated(far, player)))
        except (asyncio.CancelledError, Dismissed):
            pass
        except Exception:
            log.exception("agent %s for %s in room %s stopped", brain, who, runner.room.id)

    async def _pause(self, runner: "RoomRunner", who: str) -> None:
        member = runner.room.state.members.get(who)
        ms = self._step_ms(runner.room, member) if member is not None else 0
        if ms:
            done = asyncio.Event()
            self._house.clock.call_at(self._house.clock.now() + ms, done.set)
            await done.wait()

    def _step_ms(self, room: "Room", member: "Member") -> int:
        """How long a script waits before it acts. A stand-in stays within half of the time limit."""
        if member.stand_in_since is None or room.pace != "rounds":
            return self.step_ms
        return min(STAND_IN_STEP_MS, (room.state.turn_ms or 2 * STAND_IN_STEP_MS) // 2)


async def _play_and_close(seated: Seated) -> None:
    try:
        await seated.play()
    finally:
        await seated.player.close()


class Dismissed(Exception):
    """The agent no longer plays this seat."""


class MemberTable:
    """The calls of an agent for a member of a room of this house."""

    def __init__(self, clock: Clock, runner: "RoomRunner", who: str, brain: str) -> None:
        self._clock, self._runner, self._who, self._brain = clock, runner, who, brain

    async def call(self, command: str, args: Mapping[str, Any] | None = None) -> Any:
        """A command that waits is repeated when the room has changed."""
        runner, given = self._runner, dict(args or {})
        waits = runner.room.commands.named(command).waits
        ends = self._clock.now() + given.get("wait_ms", 0)
        while True:
            self._check_plays()
            version = runner.version
            result = await runner.submit(Call(self._who, command, given, via=self._brain))
            if waits is None or not waits(result) or not await runner.changed_since(version, ends):
                return msgspec.to_builtins(result)

    async def changed(self, wait_ms: int) -> None:
        self._check_plays()
        await self._runner.changed_since(self._runner.version, self._clock.now() + wait_ms)

    def _check_plays(self) -> None:
        room = self._runner.room
        member = room.state.members.get(self._who)
        if member is None or not member.played_by_bot or room.state.archived or self._runner.failure is not None:
            raise Dismissed


class OnOtherLoop:
    """A table whose calls are made on another event loop."""

    def __init__(self, table: MemberTable, loop: asyncio.AbstractEventLoop) -> None:
        self._table, self._loop = table, loop

    async def call(self, command: str, args: Mapping[str, Any] | None = None) -> Any:
        return await self._there(self._table.call(command, args))

    async def changed(self, wait_ms: int) -> None:
        await self._there(self._table.changed(wait_ms))

    async def _there(self, work: Coroutine[Any, Any, Any]) -> Any:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))


class ThinkingLoop:
    """An event loop on a thread of its own, started when it is first needed."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None

    async def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine there. Cancelling the caller cancels it."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            Thread(target=self._loop.run_forever, name="agents", daemon=True).start()
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    def close(self) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
