"""Remote worlds: the connector to a world in another process, and the calls through it.

The room decides first, so refused calls are never sent. Reads may overlap and are not recorded. Actions are sent one
at a time and in order (one per member if members have separate workspaces). An entry is written before an action is
sent, and one with its outcome. If no answer arrives, the outcome stays unknown.

Everything that touches the room or its world runs in the room's queue; between two steps the runner waits for the
other side, so before anything is sent or delivered, credential and grant are checked again.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import msgspec

from cohabit import errors
from cohabit.house.clock import Clock, Timer
from cohabit.house.running.calls import Call, SystemCall
from cohabit.house.running.remote_calls import conclude, has_workspace, plan_of, recorded_args, sent_args
from cohabit.model.seat import Eye, SeatId
from cohabit.remote import Ask, Plan, RemoteWorld, Sent
from cohabit.room.commands import Command
from cohabit.room.decide import by_credential, decide
from cohabit.room.decision import refusal
from cohabit.room.replies import digest_of
from cohabit.room.room import Admitted, Room
from cohabit.room.state import Member

log = logging.getLogger("cohabit")
T = TypeVar("T")
MAX_PENDING_CALLS = 64
"""Calls of one room that may wait for a remote world; more are refused with BUSY."""
MAX_PENDING_CALLS_OF_MEMBER = 16
MAX_PENDING_CALLS_SEPARATE = 256
"""With separate workspaces: calls of one member, and of all. So one member cannot block the others."""
STOPPED = "the server stopped before the answer arrived; it is unknown whether the action was executed"


class Connector(Protocol):
    """The asynchronous link to a remote world. The exception it raises says what happened to a request:

    OUTCOME_UNKNOWN: it was sent, and no answer arrived. Any other error: it was not executed.
    """

    poll_ms: int
    """The interval at which the world is polled."""

    async def about(self) -> dict[str, str]:
        """Public names and versions of the remote side."""

    def check(self, ask: Ask) -> None:
        """Raise if the remote side does not support this request."""

    async def ask(self, ask: Ask, by: str | None = None) -> dict[str, Any]:
        """Send a request. ``by``: the member it is made for; None for anonymous reads."""

    def member_removed(self, member: str) -> None:
        """A member was removed: end its requests. No other member of the room ever gets its id."""

    async def close(self, delete: bool = False) -> None:
        """Close the connection. ``delete``: the room is deleted, so delete the data of its members too."""


@runtime_checkable
class KnowsOutcomes(Protocol):
    """A connector that can find out the outcome of an action, and bring one to its end."""

    async def outcome(self, sent: Sent) -> dict[str, Any]:
        """The recorded answer to an action that was sent before the server stopped. The exception says what happened,
        as in ``Connector``."""


class Permit(NamedTuple):
    """A call that the room has admitted, and its plan of requests."""

    admitted: Admitted
    plan: Plan
    by: str | None  # the member that the plan reads for
    eye: Eye | None  # the caller's, at admission


class Finished(NamedTuple):
    """The end of a plan."""

    result: Any


class QueuedStep(Call):
    """A part of a remote call that runs in the room's queue."""

    __slots__ = ("_step",)

    def __init__(self, name: str, step: Callable[[Room, int], Any]) -> None:
        super().__init__("", name)
        self._step = step

    def perform(self, room: Room, at: int) -> Any:
        room.settle(at)
        return room.crash_on_bug(self._step, room, at)


class Queue(Protocol):
    """The room that a remote world belongs to, and its queue of calls."""

    room: Room
    failure: errors.CohabitError | None

    async def submit(self, call: Call) -> Any: ...

    def post(self, call: Call) -> None: ...

    def refused(self, who: str, name: str, error: errors.CohabitError) -> None:
        """Write a refusal to the audit."""
        ...


class RemoteRunner:
    """Runs the commands of a remote world for one room."""

    def __init__(self, runner: Queue, world: RemoteWorld, clock: Clock, connector: Connector | None = None) -> None:
        self._runner = runner
        self._world = world
        self._clock = clock
        self._connector = connector
        self._tasks: set[asyncio.Task[None]] = set()
        self._calls: set[Call] = set()  # without a reply yet
        self._sent: set[Call] = set()  # calls whose action has been sent
        self._acting: dict[str, asyncio.Lock] = {}  # by member if workspaces are separate, else one
        self._actions_ended = 0
        self._keys: dict[tuple[str, str], asyncio.Event] = {}  # of actions in progress, by member and key
        self._polling = asyncio.Lock()
        self._refreshing = False  # a poll is planned
        self._timer: Timer | None = None
        self._was_archived = False  # so it is not polled any more
        self.poll_error: errors.CohabitError | None = None  # why the last poll failed
        finder: object = connector
        for sent in world.all_pending():
            if isinstance(finder, KnowsOutcomes):
                self._start(self._find_outcome(finder, sent))
            else:
                runner.post(self._conclusion(sent, {"unknown": STOPPED}))
        if connector is not None:
            self._start(self._poll_and_schedule())
        elif world.reachable:
            runner.post(SystemCall("lost", {"why": self._not_connected}))

    async def connect(self, connector: Connector) -> None:
        """Use this connector from now on; poll the world now, and then every few seconds."""
        self._connector = connector
        await self._poll_and_schedule()

    async def _find_outcome(self, connector: KnowsOutcomes, sent: Sent) -> None:
        """Record the outcome of an action whose outcome is not known. No other one is sent before that."""
        async with self._turn_of(sent.by):
            if sent not in self._world.all_pending():  # it was concluded meanwhile
                return
            try:
                outcome: dict[str, Any] = {"result": await _guarded(connector.outcome(sent))}
            except errors.OutcomeUnknown:
                outcome = {"unknown": STOPPED}
            except errors.CohabitError as refused:
                outcome = {"refused": refused.as_wire()}
            with suppress(errors.CohabitError):  # the room has stopped
                await self._runner.submit(self._conclusion(sent, outcome))
            self._actions_ended += 1

    def _conclusion(self, sent: Sent, outcome: dict[str, Any]) -> SystemCall:
        return SystemCall("answered", {**outcome, **self._whose(sent.by)})

    def roster_changed(self) -> None:
        """Members came, went or changed seats, or the room is back from the archive."""
        if self._world.refresh_for_members or self._was_archived:
            self._was_archived = False
            self.refresh()

    def refresh(self) -> None:
        """Poll soon: once for everything that happens until then."""
        if self._connector is not None and self._runner.failure is None and not self._refreshing:
            self._refreshing = True
            self._start(self._refresh())

    async def _refresh(self) -> None:
        async with self._polling:  # one that is under way may have missed what happened
            self._refreshing = False
        await self._poll_and_schedule()

    def member_removed(self, member: str) -> None:
        """End what the connector does for a member. Its waiting calls are refused when their turn comes."""
        if self._connector is not None:
            self._connector.member_removed(member)

    def close(self) -> None:
        """Cancel all calls. Each caller gets an error: the room is closed, or the outcome of its action is unknown."""
        if self._timer is not None:
            self._timer.cancel()
        for task in self._tasks:
            task.cancel()

    async def closed(self) -> None:
        """After ``close``: wait until every call has ended."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # -- calls ------------------------------------------------------------------------------------
    def accepts(self, call: Call) -> bool:
        """Take over a call for the remote world. Returns False if the room itself handles it."""
        command = self._command(call)
        if command is None or command.where != "world":
            return False
        self._check_limits(call.who)
        self._calls.add(call)
        self._start(self._run(call, command))
        return True

    def _command(self, call: Call) -> Command | None:
        """The command that a member calls, directly or by name through another one."""
        if type(call) is not Call:
            return None
        commands = self._runner.room.commands
        found = commands.get(call.name)
        if found is None or found.unwrap is None:
            return found
        try:
            return commands.get(found.unwrap(call.args)[0])
        except errors.BadArgs:  # the room reports and audits that
            return None

    def _check_limits(self, who: str) -> None:
        limit, pending, whose = MAX_PENDING_CALLS, len(self._calls), "from this room"
        if self._world.separate:
            limit = MAX_PENDING_CALLS_SEPARATE
            own = sum(call.who == who for call in self._calls)
            if own >= MAX_PENDING_CALLS_OF_MEMBER:
                limit, pending, whose = MAX_PENDING_CALLS_OF_MEMBER, own, "of yours"
        if pending >= limit:
            raise errors.Busy(
                f"{limit} calls {whose} are already waiting for {self._world.spec.title}; try again in a moment"
            )

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, call: Call, command: Command) -> None:
        """Run a call and deliver its reply."""
        try:
            call.result = await self._reply(call, command)
        except errors.CohabitError as refused:
            call.error = refused
            self._runner.refused(call.who, call.name, refused)
        except asyncio.CancelledError:
            unknown = errors.OutcomeUnknown(STOPPED) if call in self._sent else None
            call.settle(unknown or self._runner.failure or errors.Disabled("this room is closing"))
            raise
        except Exception as bug:
            call.error = errors.internal_error(bug, call.name)
        finally:
            self._calls.discard(call)
            self._sent.discard(call)
        call.settle()

    async def _reply(self, call: Call, command: Command) -> Any:
        if call.key is not None and command.records:
            same = self._keys.get((call.who, call.key))
            if same is not None:  # a retry while the first call is pending: both get the same answer
                await same.wait()
        ended = self._actions_ended
        permit = await self._admit(call)
        if not isinstance(permit, Permit):
            return permit
        if not command.records:
            result = await self._follow(call.name, permit.plan, permit.by)
            await self._queued(call.name, partial(self._check_eye, call, permit))
            return result
        async with self._turn_of(call.who):
            if self._actions_ended != ended:  # it waited, and the turn, a grant or the reply to its key has changed
                permit = await self._admit(call)
                if not isinstance(permit, Permit):
                    return permit
            with self._in_progress(call):
                return await self._act(call, permit)

    def _turn_of(self, who: str) -> asyncio.Lock:
        """While this is held, no other action is sent: by this member, or by anybody."""
        return self._acting.setdefault(who if self._world.separate else "", asyncio.Lock())

    @contextmanager
    def _in_progress(self, call: Call) -> Iterator[None]:
        """While this is open, a call with the same key waits."""
        done = asyncio.Event()
        if call.key is not None:
            self._keys[call.who, call.key] = done
        try:
            yield
        finally:
            self._actions_ended += 1
            if call.key is not None:
                del self._keys[call.who, call.key]
            done.set()

    async def _act(self, call: Call, permit: Permit) -> Any:
        admitted = permit.admitted
        await self._follow(call.name, permit.plan, permit.by)
        connector, action = self._connected(), Ask(admitted.command.name, sent_args(admitted))
        connector.check(action)
        seat = await self._queued("asked", partial(self._record_asked, call, admitted, action))
        action = msgspec.structs.replace(action, seat=seat)
        self._sent.add(call)
        try:
            self._check_member(self._runner.room, call)
            answer = await _guarded(connector.ask(action, call.who))
        except errors.OutcomeUnknown as lost:
            message = lost.message
            await self._conclude(admitted, lambda: {"unknown": message})
            raise errors.OutcomeUnknown(
                f"{message}; the action may or may not have been executed. Check the world before you retry"
            ) from None
        except errors.CohabitError as refused:
            wire = refused.as_wire()
            await self._conclude(admitted, lambda: {"refused": wire})
            raise
        shown = self._world.shown_answer(action, answer)
        reply = await self._conclude(admitted, lambda: {"result": self._world.recorded_answer(action, answer)}, shown)
        if action.name in self._world.refresh_after:
            self._start(self._poll_and_schedule())
        self._check_credential(call)
        return reply

    async def _conclude(
        self, admitted: Admitted, outcome: Callable[[], dict[str, Any]], full_answer: Any = None
    ) -> Any:
        """Record the outcome of an action. Returns the reply."""

        def record(room: Room, at: int) -> Any:
            return conclude(room, admitted, {**outcome(), **self._whose(admitted.member.id)}, at, full_answer)

        try:
            return await self._queued("answered", record)
        except errors.CohabitError as failed:
            raise errors.OutcomeUnknown(
                f"the action was sent, but its outcome could not be recorded: {failed.message}"
            ) from None

    def _whose(self, member: str) -> dict[str, str]:
        """The member of an outcome, needed if actions of several members may be pending."""
        return {"by": member} if self._world.separate else {}

    # -- in the room's queue ----------------------------------------------------------------------
    async def _queued(self, name: str, step: Callable[[Room, int], Any]) -> Any:
        """Run a step in the room's queue. Returns when all entries that it may depend on are durable."""
        return await self._runner.submit(QueuedStep(name, step))

    async def _admit(self, call: Call) -> Any:
        """A permit, or the earlier reply to the same call."""
        return await self._queued(call.name, partial(self._admitted, call))

    def _admitted(self, call: Call, room: Room, at: int) -> Any:
        found = room.admit(call.who, call.name, call.args, at, call.key, call.via, call.credential)
        if found.kept is not None:
            return room.reply(found.member, found.command, found.kept.result, True, found.wrapped)
        by = found.member.id if has_workspace(room, found.member) else None
        return Permit(found, plan_of(room, found), by, room.eye(found.member))

    def _record_asked(self, call: Call, admitted: Admitted, action: Ask, room: Room, at: int) -> SeatId | None:
        """Decide again, and record that the action is about to be sent, with no call in between. Returns the seat."""
        member = self._check(call, admitted.command, room, at)
        entry = {
            "by": member.id, "action": action.name, "args": recorded_args(action.args), "seat": member.seat,
            "key": call.key, "digest": digest_of(admitted.args), "why": admitted.why,
        }  # fmt: skip
        room.system("asked", entry, at)
        return member.seat

    def _check_eye(self, call: Call, permit: Permit, room: Room, at: int) -> None:
        """An answer is filtered for one viewpoint; discard it if the caller's has changed."""
        member = self._check(call, permit.admitted.command, room, at)
        if room.eye(member) != permit.eye:
            raise errors.Busy("your permissions changed during the call; retry")

    def _check(self, call: Call, command: Command, room: Room, at: int) -> Member:
        """Raise if the call is no longer allowed. Returns the current state of its caller."""
        member = self._check_member(room, call)
        decision = decide(command, member, room, at, credential=call.credential, via=call.via)
        if decision.code:
            raise refusal(decision)
        return member

    def _check_member(self, room: Room, call: Call) -> Member:
        member = room.state.members.get(call.who)
        if member is None:
            raise errors.Unauthorized("you are no longer a member of this room")
        return member

    def _check_credential(self, call: Call) -> None:
        decision = by_credential(call.credential, self._clock.now())
        if decision.code:
            raise errors.Unauthorized(f"the action was executed, but {decision.reason}")

    # -- the remote world -------------------------------------------------------------------------
    async def _follow(self, name: str, plan: Plan, by: str | None) -> Any:
        """Run the requests of a plan to its end. Returns its result."""
        answer: Any = None
        while True:
            step = await self._queued(name, partial(self._next_step, plan, answer))
            if isinstance(step, Finished):
                return step.result
            try:
                answer = await self._read(step, by)
            except errors.CohabitError as failed:
                answer = failed

    def _next_step(self, plan: Plan, answer: Any, room: Room, at: int) -> Ask | Finished:
        try:
            return plan.throw(answer) if isinstance(answer, errors.CohabitError) else plan.send(answer)
        except StopIteration as end:
            return Finished(end.value)
        except msgspec.ValidationError as wrong:
            raise errors.GameCrash(f"{self._world.spec.title} sent an invalid response: {wrong}") from None

    async def _read(self, question: Ask, by: str | None) -> dict[str, Any]:
        connector = self._connected()
        connector.check(Ask(question.name))
        try:
            return await _guarded(connector.ask(question, by))
        except errors.OutcomeUnknown as lost:  # a read has no side effects
            raise errors.Unreachable(f"{lost.message}; try again in a moment") from None

    def _connected(self) -> Connector:
        if self._connector is None:
            raise errors.Unreachable(self._not_connected)
        return self._connector

    @property
    def _not_connected(self) -> str:
        return f"this house is not connected to {self._world.spec.title}; {self._world.how_to_connect}"

    # -- polling ----------------------------------------------------------------------------------
    async def poll(self) -> None:
        """Poll the remote world and record changes."""
        async with self._polling:
            await self._poll(self._connected())

    async def _poll(self, connector: Connector) -> None:
        world, runner = self._world, self._runner
        try:
            about = await _guarded(connector.about()) if not world.reachable else None
            found = await self._follow("poll", world.poll(), None)
        except errors.CohabitError as failed:
            self.poll_error = failed
            if world.reachable:
                await runner.submit(SystemCall("lost", {"why": failed.message}))
            return
        self.poll_error = None
        finder: object = connector
        if isinstance(finder, KnowsOutcomes):
            for sent in world.all_pending():
                if not self._turn_of(sent.by).locked():  # its outcome could not be recorded when it came
                    await self._find_outcome(finder, sent)
        if about is not None:
            await runner.submit(SystemCall("reached", {"about": about}))
        if found is not None:
            await runner.submit(SystemCall("polled", {"state": found}))

    async def _poll_and_schedule(self) -> None:
        """Poll now, and schedule the next poll. The world of an archived room is not polled."""
        if self._runner.room.state.archived:
            self._was_archived = True
            return
        try:
            await self.poll()
        except errors.CohabitError as failed:
            log.warning("room %s: its world could not be polled: %s", self._runner.room.id, failed.as_text())
        if self._runner.failure is None:
            self._schedule_poll()

    def _schedule_poll(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        next_poll = self._clock.now() + self._connected().poll_ms
        self._timer = self._clock.call_at(next_poll, lambda: self._start(self._poll_and_schedule()))


async def _guarded(request: Coroutine[Any, Any, T]) -> T:
    """Await a request to a connector. An undeclared exception means the outcome is unknown."""
    try:
        return await request
    except errors.CohabitError:
        raise
    except Exception as bug:
        log.exception("internal error in a connector")
        raise errors.OutcomeUnknown(f"the connection failed ({type(bug).__name__})") from None
