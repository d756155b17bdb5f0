"""A room whose world is elsewhere. It decides as always, and then waits for the other side.

A call goes through the room first: who may not, or aims too far, is refused before anything leaves. Questions may
overlap, and are not recorded. Actions leave one at a time, in order (where each member has a place of its own over
there: one of each member), each with an entry before it is sent and one with its answer; what came of an action whose
answer is lost is unknown, and stays so.
"""

import asyncio
import logging
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
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
    Unauthorized,
    Unreachable,
)  # fmt: skip
from cohabit.house.calls import Call
from cohabit.house.clock import Clock, Timer
from cohabit.house.rooms import RoomHost
from cohabit.house.settings import Settings
from cohabit.house.worldthread import Watchdog
from cohabit.house.writer import Writer
from cohabit.room.commands import Command
from cohabit.room.common import unwrap
from cohabit.room.remote import Errand, conclude, kept_args
from cohabit.room.replies import digest_of
from cohabit.room.room import Room
from cohabit.world import Ask, Plan, RemoteWorld

log = logging.getLogger("cohabit")
MOST_WAITING = 64
"""Calls of one room that may wait for the other side; more are BUSY."""
MOST_OF_ONE, MOST_APART = 16, 256
"""Where each member has a place of its own: calls of one member, who then keeps nobody else out, and of all."""
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
        self._waiting: set[Call] = set()  # calls that are not answered yet
        self._shown_out: set[Call] = set()  # those of them whose member was removed
        self._sent: set[Call] = set()  # calls whose action has left
        self._under_way: dict[tuple[str, str], asyncio.Event] = {}  # by member and key; set when it is answered
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
        self._shown_out.update(call for call in self._waiting if call.who == member)
        if self._bridge is not None:
            self._bridge.removed(member)

    # -- calls ------------------------------------------------------------------------------------
    def put(self, call: Call, at: int | None = None) -> bool:
        command = self._command(call)
        if command is None or command.where != "world":
            return super().put(call, at)
        if self.failure is not None:
            raise self.failure
        self._must_have_room(call.who)
        self._waiting.add(call)
        self._start(self._see_through(call, command))
        return False

    def _must_have_room(self, who: str) -> None:
        most, waiting, whose = MOST_WAITING, len(self._tasks), "of this room"
        if self._world.apart:
            most, waiting = MOST_APART, len(self._waiting)
            own = sum(call.who == who for call in self._waiting)
            if own >= MOST_OF_ONE:
                most, waiting, whose = MOST_OF_ONE, own, "of yours"
        if waiting >= most:
            raise Busy(f"{most} calls {whose} wait for {self._world.spec.title}; try again in a moment")

    def _command(self, call: Call) -> Command | None:
        """What a member asks for."""
        if type(call) is not Call:
            return None
        name = call.name
        if name == "act":
            try:
                name = unwrap(call.args)[0]
            except BadArgs:  # the room says that, and puts it in the audit
                return None
        return self.room.commands.get(name)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _see_through(self, call: Call, command: Command) -> None:
        try:
            call.result = await self._answer(call, command)
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
            for calls in (self._waiting, self._shown_out, self._sent):
                calls.discard(call)
        call.settle()

    async def _answer(self, call: Call, command: Command) -> Any:
        same = self._under_way.get((call.who, call.key)) if call.key is not None and command.records else None
        if same is not None:  # asked again before the answer is there: it is what this one gets, too
            await same.wait()
        errand = await self._let_through(call)
        if not isinstance(errand, Errand):
            return errand  # an answer that was given before
        if not errand.acts:
            self._must_be_a_member(call)
            return await self._audited(errand, self._follow(errand.plan, errand))
        acting = self._acting.setdefault(call.who if self._world.apart else "", asyncio.Lock())
        waits = acting.locked()
        async with acting:
            if waits:  # meanwhile the turn may have gone on, a grant ended, the same key been answered
                errand = await self._let_through(call)
                if not isinstance(errand, Errand):
                    return errand
            with self._keyed(errand):
                return await self._audited(errand, self._act(call, errand))

    @contextmanager
    def _keyed(self, errand: Errand) -> Iterator[None]:
        """As long as this lasts, whoever comes with the same key waits."""
        if errand.key is None:
            yield
            return
        done = self._under_way[errand.who, errand.key] = asyncio.Event()
        try:
            yield
        finally:
            del self._under_way[errand.who, errand.key]
            done.set()

    def _must_be_a_member(self, call: Call) -> None:
        """Still: whoever was removed since it was let through would be taken for a namesake."""
        if call in self._shown_out:
            raise Unauthorized(f"{call.who} is not a member of this room any more")

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
        return await self._send(call, bridge, action, errand)

    async def _send(self, call: Call, bridge: Way, action: Ask, errand: Errand) -> Any:
        try:
            self._must_be_a_member(call)
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
