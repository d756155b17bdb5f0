"""A room whose world is elsewhere. It decides as always, and then waits for the other side.

A call goes through the room first: who may not, or aims too far, is refused before anything leaves. Questions may
overlap, and are not recorded. Actions leave one at a time, in order, each with an entry before it is sent and one
with its answer; what came of an action whose answer is lost is unknown, and stays so.
"""

import asyncio
import logging
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

import msgspec

from cohabit.errors import (
    BadArgs,
    Busy,
    CohabitError,
    Disabled,
    GameCrash,
    Internal,
    OutcomeUnknown,
    StorageFailed,
    Unreachable,
)  # fmt: skip
from cohabit.house.calls import Call
from cohabit.house.clock import Clock, Timer
from cohabit.house.rooms import RoomHost
from cohabit.house.settings import Settings
from cohabit.house.worldthread import Watchdog
from cohabit.house.writer import Writer
from cohabit.room.common import unwrap
from cohabit.room.remote import Errand, kept_args
from cohabit.room.replies import digest_of
from cohabit.room.room import Room
from cohabit.world import Ask, Plan, RemoteWorld

if TYPE_CHECKING:
    from cohabit.house.bridge import Bridge

log = logging.getLogger("cohabit")
LOOK_MS = 5_000
"""How often the world elsewhere is looked at, for seats and standings."""
MOST_WAITING = 64
"""Calls of one room that may wait for the other side; more are BUSY."""
NO_WAY = "nobody has told this house where the game is; start it with `cohabit worldbox --bridge URL`"
STOPPED = "the house stopped before the answer came; nobody knows whether it was done"


class Conclusion(Call):
    """What came of an action, on its way into the record."""

    __slots__ = ("_answer", "_errand")

    def __init__(self, errand: Errand, answer: dict[str, Any]) -> None:
        super().__init__(errand.who, errand.command.name)
        self._errand = errand
        self._answer = answer

    def perform(self, room: Room, at: int) -> Any:
        return room.answered(self._errand, self._answer, at)


class RemoteHost(RoomHost):
    """See the module."""

    def __init__(self, room: Room, writer: Writer, clock: Clock, watchdog: Watchdog, settings: Settings) -> None:
        super().__init__(room, writer, clock, watchdog, settings)
        assert isinstance(room.world, RemoteWorld)
        self._world: RemoteWorld = room.world
        self._bridge: Bridge | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._acting = asyncio.Lock()
        self._sent: Call | None = None  # the last call whose action has left
        self._timer: Timer | None = None
        self.trouble: CohabitError | None = None  # why the last look brought nothing
        if self._world.under_way is not None:
            self.system("answered", {"unknown": STOPPED})
        if self._world.reachable:
            self.system("lost", {"why": NO_WAY})

    async def connect(self, bridge: "Bridge") -> None:
        """Here is the way to the world; look at it now, and from now on every few seconds."""
        self._bridge = bridge
        await self._keep_looking()

    # -- calls ------------------------------------------------------------------------------------
    def put(self, call: Call, at: int | None = None) -> bool:
        if not self._is_for_the_world(call):
            return super().put(call, at)
        if self.failure is not None:
            raise self.failure
        if len(self._tasks) >= MOST_WAITING:
            raise Busy(f"{MOST_WAITING} calls of this room wait for the game; try again in a moment")
        self._start(self._see_through(call))
        return False

    def _is_for_the_world(self, call: Call) -> bool:
        if type(call) is not Call:
            return False
        name = call.name
        if name == "act":
            try:
                name = unwrap(call.args)[0]
            except BadArgs:  # the room says that, and puts it in the audit
                return False
        command = self.room.commands.get(name)
        return command is not None and command.where == "world"

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _see_through(self, call: Call) -> None:
        try:
            call.result = await self._answer(call)
        except CohabitError as refusal:
            call.error = refusal
        except asyncio.CancelledError:
            unknown = OutcomeUnknown(STOPPED) if call is self._sent else None
            call.settle(unknown or self.failure or Disabled("this room is closing"))
            raise
        except Exception as bug:
            log.exception("a bug of ours in %s", call.name)
            call.error = Internal(f"a bug of ours ({type(bug).__name__}); it was logged")
        call.settle()

    async def _answer(self, call: Call) -> Any:
        errand = await self._let_through(call)
        if not isinstance(errand, Errand):
            return errand  # an answer that was given before
        if not errand.acts:
            return await self._audited(errand, self._follow(errand.plan))
        waits = self._acting.locked()
        async with self._acting:
            if waits:  # meanwhile the turn may have gone on, a grant ended, the same key been answered
                errand = await self._let_through(call)
                if not isinstance(errand, Errand):
                    return errand
            return await self._audited(errand, self._act(call, errand))

    async def _let_through(self, call: Call) -> Any:
        """The room's own part of the path, as for every call: an errand, a kept answer, or a refusal."""
        asked = Call(call.who, call.name, call.args, call.key, call.via)
        return asked.answer() if super().put(asked) else await asked.wait()

    async def _audited(self, errand: Errand, work: Coroutine[Any, Any, Any]) -> Any:
        try:
            return await work
        except CohabitError as refused:
            self.room.audit.refused(self._clock.now(), errand.who, errand.command.name, refused.code, refused.message)
            self._audit_soon()
            raise

    # -- the other side ---------------------------------------------------------------------------
    async def _follow(self, plan: Plan) -> Any:
        """Ask what a plan wants to know, until it is done; what it returns."""
        try:
            question = next(plan)
            while True:
                try:
                    answer = await self._read(question)
                except CohabitError as wrong:
                    question = plan.throw(wrong)
                else:
                    question = plan.send(answer)
        except StopIteration as end:
            return end.value
        except msgspec.ValidationError as wrong:
            raise GameCrash(f"the game answered in a way that is not understood: {wrong}") from None

    async def _read(self, question: Ask) -> dict[str, Any]:
        bridge = self._way()
        bridge.must_know(Ask(question.name))
        try:
            return await bridge.ask(question)
        except OutcomeUnknown as lost:  # a question changes nothing
            raise Unreachable(f"{lost.message}; ask again in a moment") from None

    def _way(self) -> "Bridge":
        if self._bridge is None:
            raise Unreachable(NO_WAY)
        return self._bridge

    async def _act(self, call: Call, errand: Errand) -> Any:
        await self._follow(errand.plan)
        bridge, action = self._way(), Ask(errand.command.name, errand.as_sent())
        bridge.must_know(action)
        await self.put_system(
            "asked",
            {
                "by": errand.who, "action": action.name, "args": kept_args(action.args), "seat": errand.seat,
                "key": errand.key, "digest": digest_of(errand.args), "why": errand.why,
            },
        )  # fmt: skip
        self._sent = call
        return await self._send(bridge, action, errand)

    async def _send(self, bridge: "Bridge", action: Ask, errand: Errand) -> Any:
        try:
            result = await bridge.ask(action)
        except OutcomeUnknown as lost:
            await self._conclude(errand, {"unknown": lost.message})
            raise OutcomeUnknown(
                f"{lost.message}; it may have been done or not. Look at the world before you try again"
            ) from None
        except CohabitError as refused:
            await self._conclude(errand, {"refused": refused.as_wire()})
            raise
        return await self._conclude(errand, {"result": result})

    async def _conclude(self, errand: Errand, answer: dict[str, Any]) -> Any:
        call = Conclusion(errand, answer)
        try:
            return call.answer() if self.put(call) else await call.wait()
        except StorageFailed:
            raise OutcomeUnknown("it was sent, and what came of it could not be put on record") from None

    # -- looking ----------------------------------------------------------------------------------
    async def look(self) -> None:
        """Look at the world elsewhere, and put on record what has changed."""
        world, bridge = self._world, self._way()
        try:
            about = await bridge.about() if not world.reachable else None
            found = await self._follow(world.look())
        except CohabitError as wrong:
            self.trouble = wrong
            if world.reachable:
                await self.put_system("lost", {"why": wrong.message})
            return
        self.trouble = None
        if about is not None:
            await self.put_system("reached", {"about": about})
        if found is not None:
            await self.put_system("seen", {"what": found})

    async def _keep_looking(self) -> None:
        if self.room.state.archived:
            return
        try:
            await self.look()
        except CohabitError as wrong:
            log.warning("room %s: the look at its world failed: %s", self.room.id, wrong.as_text())
        if self.failure is None:
            self._timer = self._clock.call_at(self._clock.now() + LOOK_MS, lambda: self._start(self._keep_looking()))

    # -- the end ----------------------------------------------------------------------------------
    def close(self, why: str = "the house is closing; connect again when it is back") -> None:
        super().close(why)
        if self._timer is not None:
            self._timer.cancel()
        for task in self._tasks:
            task.cancel()

    async def left(self) -> None:
        """After ``close``: wait until everybody who waited has been told."""
        await asyncio.gather(*self._tasks, return_exceptions=True)
