"""A room whose world is elsewhere. It decides as always, and then waits for the other side.

A call goes through the room first: who may not, or aims too far, is refused before anything leaves. Questions may
overlap, and are not recorded. Actions leave one at a time, in order (where each member has a place of its own over
there: one of each member), each with an entry before it is sent and one with its answer; what came of an action whose
answer is lost is unknown, and stays so.
"""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, Protocol

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
from cohabit.room.remote import Errand, conclude, kept_args
from cohabit.room.replies import digest_of
from cohabit.room.room import Room
from cohabit.world import Ask, Plan, RemoteWorld

log = logging.getLogger("cohabit")
MOST_WAITING = 64
"""Calls of one room that may wait for the other side; more are BUSY."""
STOPPED = "the house stopped before the answer came; nobody knows whether it was done"


class Way(Protocol):
    """The way to a world that is elsewhere. What it raises says what became of a question; see ``bridge``."""

    look_ms: int
    """How often the world is looked at."""

    async def about(self) -> dict[str, str]:
        """What is there, in words that everybody may read."""

    def must_know(self, ask: Ask) -> None:
        """Refuse what is not known over there."""

    async def ask(self, ask: Ask, by: str | None = None) -> dict[str, Any]:
        """Ask, or do. ``by``: the member in whose place; None: nobody's, where only something is looked at."""

    def removed(self, member: str) -> None:
        """Somebody is a member no more: what is kept for it is not for a namesake."""

    async def close(self, for_good: bool = False) -> None:
        """``for_good``: the room is deleted, and what was kept for its members goes with it."""


class Conclusion(Call):
    """What came of an action, on its way into the record."""

    __slots__ = ("_answer", "_errand", "_whole")

    def __init__(self, errand: Errand, answer: dict[str, Any], whole: Any) -> None:
        super().__init__(errand.who, errand.command.name)
        self._errand = errand
        self._answer = answer
        self._whole = whole

    def perform(self, room: Room, at: int) -> Any:
        return conclude(room, self._errand, self._answer, at, self._whole)


class RemoteHost(RoomHost):
    """See the module."""

    def __init__(
        self,
        room: Room,
        writer: Writer,
        clock: Clock,
        watchdog: Watchdog,
        settings: Settings,
        way: Way | None = None,
    ) -> None:
        """``way``: where the house itself knows it, and nobody has to ``connect``."""
        super().__init__(room, writer, clock, watchdog, settings)
        assert isinstance(room.world, RemoteWorld)
        self._world: RemoteWorld = room.world
        self._bridge = way
        self._tasks: set[asyncio.Task[None]] = set()
        self._acting: dict[str, asyncio.Lock] = {}
        self._looking = asyncio.Lock()
        self._sent: set[Call] = set()  # calls whose action has left
        self._timer: Timer | None = None
        self.trouble: CohabitError | None = None  # why the last look brought nothing
        for sent in self._world.out():
            self.system("answered", {"unknown": STOPPED, **self._whose(sent.by)})
        if self._world.reachable and way is None:
            self.system("lost", {"why": self._no_way})
        if way is not None:
            self._start(self._keep_looking())

    async def connect(self, way: Way) -> None:
        """Here is the way to the world; look at it now, and from now on every few seconds."""
        self._bridge = way
        await self._keep_looking()

    @property
    def _no_way(self) -> str:
        return f"nobody has told this house where {self._world.spec.title} is; {self._world.way}"

    def _whose(self, by: str) -> dict[str, str]:
        """What an answer must add where actions of several members may be under way."""
        return {"by": by} if self._world.apart else {}

    def forget(self, member: str) -> None:
        """Somebody is a member no more."""
        if self._bridge is not None:
            self._bridge.removed(member)

    # -- calls ------------------------------------------------------------------------------------
    def put(self, call: Call, at: int | None = None) -> bool:
        if not self._is_for_the_world(call):
            return super().put(call, at)
        if self.failure is not None:
            raise self.failure
        if len(self._tasks) >= MOST_WAITING:
            raise Busy(f"{MOST_WAITING} calls of this room wait for {self._world.spec.title}; try again in a moment")
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
            unknown = OutcomeUnknown(STOPPED) if call in self._sent else None
            call.settle(unknown or self.failure or Disabled("this room is closing"))
            raise
        except Exception as bug:
            log.exception("a bug of ours in %s", call.name)
            call.error = Internal(f"a bug of ours ({type(bug).__name__}); it was logged")
        finally:
            self._sent.discard(call)
        call.settle()

    async def _answer(self, call: Call) -> Any:
        errand = await self._let_through(call)
        if not isinstance(errand, Errand):
            return errand  # an answer that was given before
        if not errand.acts:
            return await self._audited(errand, self._follow(errand.plan, errand))
        acting = self._acting.setdefault(call.who if self._world.apart else "", asyncio.Lock())
        waits = acting.locked()
        async with acting:
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
    async def _follow(self, plan: Plan, errand: Errand | None = None) -> Any:
        """Ask what a plan wants to know, until it is done; what it returns."""
        by = errand.who if errand is not None and errand.works else None
        try:
            question = next(plan)
            while True:
                try:
                    answer = await self._read(question, by)
                except CohabitError as wrong:
                    question = plan.throw(wrong)
                else:
                    question = plan.send(answer)
        except StopIteration as end:
            return end.value
        except msgspec.ValidationError as wrong:
            raise GameCrash(f"{self._world.spec.title} answered in a way that is not understood: {wrong}") from None

    async def _read(self, question: Ask, by: str | None) -> dict[str, Any]:
        bridge = self._way()
        bridge.must_know(Ask(question.name))
        try:
            return await bridge.ask(question, by)
        except OutcomeUnknown as lost:  # a question changes nothing
            raise Unreachable(f"{lost.message}; ask again in a moment") from None

    def _way(self) -> Way:
        if self._bridge is None:
            raise Unreachable(self._no_way)
        return self._bridge

    async def _act(self, call: Call, errand: Errand) -> Any:
        await self._follow(errand.plan, errand)
        bridge, action = self._way(), Ask(errand.command.name, errand.as_sent())
        bridge.must_know(action)
        await self.put_system(
            "asked",
            {
                "by": errand.who, "action": action.name, "args": kept_args(action.args), "seat": errand.seat,
                "key": errand.key, "digest": digest_of(errand.args), "why": errand.why,
            },
        )  # fmt: skip
        self._sent.add(call)
        return await self._send(bridge, action, errand)

    async def _send(self, bridge: Way, action: Ask, errand: Errand) -> Any:
        try:
            result = await bridge.ask(action, errand.who)
        except OutcomeUnknown as lost:
            await self._conclude(errand, {"unknown": lost.message})
            raise OutcomeUnknown(
                f"{lost.message}; it may have been done or not. Look at the world before you try again"
            ) from None
        except CohabitError as refused:
            await self._conclude(errand, {"refused": refused.as_wire()})
            raise
        reply = await self._conclude(errand, {"result": self._world.kept(action, result)}, result)
        if action.name in self._world.moving:
            self._start(self._keep_looking())
        return reply

    async def _conclude(self, errand: Errand, answer: dict[str, Any], whole: Any = None) -> Any:
        call = Conclusion(errand, {**answer, **self._whose(errand.who)}, whole)
        try:
            return call.answer() if self.put(call) else await call.wait()
        except StorageFailed:
            raise OutcomeUnknown("it was sent, and what came of it could not be put on record") from None

    # -- looking ----------------------------------------------------------------------------------
    async def look(self) -> None:
        """Look at the world elsewhere, and put on record what has changed."""
        async with self._looking:
            await self._look()

    async def _look(self) -> None:
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
            self._look_again()

    def _look_again(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        next_look = self._clock.now() + self._way().look_ms
        self._timer = self._clock.call_at(next_look, lambda: self._start(self._keep_looking()))

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
