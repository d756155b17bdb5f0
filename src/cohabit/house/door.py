"""The single entry point for all calls.

    resolve   which command, in which room, by which member     UNKNOWN_ROOM, UNKNOWN_COMMAND
    decide    credential, grant, archive, seat, turn, budget    UNAUTHORIZED, PERMISSION_DENIED, …
    run       in the room's queue, or in the house; repeated while the command waits

A room command is decided when it reaches the head of the queue, a house command immediately; both by `room.decide`.
A call that waits is resolved and decided again each time it wakes.
"""

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from cohabit.errors import (
    BadArgs,
    Busy,
    CohabitError,
    Disabled,
    PermissionDenied,
    Quarantined,
    Unauthorized,
    UnknownCommand,
    UnknownRoom,
    internal_error,
)
from cohabit.house.calls import Call, Check, SystemCall
from cohabit.house.store.contract import Write
from cohabit.house.waiting import Wait
from cohabit.model.identity import Credential, Identity
from cohabit.room.budget import Budget
from cohabit.room.commands import Command
from cohabit.room.decide import by_grant, decide, offers
from cohabit.room.decision import refusal
from cohabit.room.room import Room
from cohabit.room.state import Member

if TYPE_CHECKING:
    from cohabit.house.house import House
    from cohabit.house.runner import RoomRunner

WAITS_PER_MEMBER = 256
"""How many calls of one member may wait in a room. Each entry costs time for every one of them."""
WAITS_OUTSIDE = 8
"""The same, of one token whose holder is not a member yet."""
NEWCOMER = "(newcomer)"
"""The member of a refusal in the audit log, if it is none yet. No handle has parentheses."""
VISITOR = "visitor"
"""The label of the credential of somebody without a token, which is not registered and can only join."""


class HouseContext(Struct, eq=False):
    """A resolved call, and the context of a house command: the caller, the command, and the room, if any."""

    house: "House"
    credential: Credential
    command: Command
    maybe_runner: "RoomRunner | None" = None  # of the room; None if the call is not about one
    maybe_member: Member | None = None  # None: the caller is not in the room, or there is no room
    broken_room: str = ""  # the id of a room that could not be opened

    @property
    def runner(self) -> "RoomRunner":
        if self.maybe_runner is None:
            raise BadArgs("this command needs a room; pass its id as room (--room ROOM on the command line)")
        return self.maybe_runner

    @property
    def room(self) -> Room:
        return self.runner.room

    @property
    def room_id(self) -> str | None:
        return self.maybe_runner.room.id if self.maybe_runner is not None else None

    @property
    def member(self) -> Member:
        if self.maybe_member is None:
            raise UnknownRoom("you are not a member of this room; call join first")
        return self.maybe_member

    async def record(
        self, do: str, args: dict[str, Any], also: Write | None = None, check: Check | None = None
    ) -> None:
        """Write an entry to the room's record on behalf of the caller. The room may be archived or the caller's grant
        changed in the meantime, so the call is decided again, then ``check`` runs, just before the entry is written."""

        def decide_again(room: Room, at: int) -> None:
            self.house.door.decide_again(self, room, at)
            if check is not None:
                check(room, at)

        await self.runner.submit(SystemCall(do, args, also, decide_again))

    @property
    def identity(self) -> Identity | None:
        """The caller; None if the credential is an invite that is not accepted yet."""
        return self.house.identities.get(self.credential.identity)

    @property
    def is_host(self) -> bool:
        """Whether the caller is a house host."""
        return self.house.identities.is_host(self.credential)


class Door:
    """See the module."""

    def __init__(self, house: "House") -> None:
        self._house = house
        self.budget = Budget(house.settings.calls_per_second)  # of house commands, by credential
        self._tasks: set[asyncio.Task[None]] = set()
        self.exclusive = asyncio.Lock()  # held by calls that change access
        # Unfinished calls that are not in a queue, by member, or by "#" and the hash of a credential.
        self._waits: Counter[tuple[RoomRunner, str]] = Counter()
        self.calls = 0
        self.refusals: dict[str, int] = {}  # by code; refusals of members are counted in the audit log of their room

    # -- resolve ----------------------------------------------------------------------------------
    def resolve(self, credential: Credential, room: str | None, name: str) -> HouseContext:
        """Resolve the command, room and member of a call."""
        house = self._house
        wanted = room or credential.room
        if wanted is None or wanted not in house.rooms:
            command = house.commands.get(name)
            if command is not None and (command.about == "house" or (command.about == "either" and wanted is None)):
                return HouseContext(house, credential, command)
            if wanted is None:
                raise BadArgs(f"{name[:80]} needs a room; pass its id as room (--room ROOM on the command line)")
        if credential.room is not None and credential.room != wanted:
            raise _unknown(wanted)
        runner = house.rooms.get(wanted) or house.runner_of(wanted)
        if runner is None:
            return self._resolve_broken(credential, wanted, name)
        command = runner.commands.get(name) or runner.commands.with_tool_name(name)
        if command is not None and command.about == "house":
            return HouseContext(house, credential, command)
        member = runner.room.member_of(credential.identity)
        if member is None:
            absence = runner.room.features.absence(runner.room.state, credential.identity)
            if not self.may_join(credential, runner):
                raise UnknownRoom(absence) if absence else _unknown(wanted)
            if runner.failure is not None and command is not None and command.when_broken:
                if not house.identities.is_host(credential):
                    raise _unknown(wanted)
                return HouseContext(house, credential, command, broken_room=wanted)
            if command is None or not (command.before_joining or command.about != "room"):
                if absence:
                    raise UnknownRoom(absence)
                raise UnknownRoom(f"you are not a member of room {wanted!r}; call join first")
            if not command.before_joining:
                if runner.room.state.knock_of(credential.identity) is not None and credential.room is not None:
                    raise UnknownRoom("you wait in the lobby of this room; call join")
                return HouseContext(house, credential, command)
        elif command is None:
            raise self._unknown_command(runner, member, name)
        assert command is not None
        return HouseContext(house, credential, command, runner, member)

    def _unknown_command(self, runner: "RoomRunner", member: Member, name: str) -> CohabitError:
        room, at = runner.room, self._house.clock.now()
        room.budget.spend(member.id, at)
        if room.budget.is_spent(member.id, at):  # finding similar names takes time
            busy = refusal(room.budget.refusal)
            runner.refused(member.id, "?", busy)
            return busy
        try:
            runner.commands.named(name, [c for c in runner.commands if by_grant(member, c) and not c.host_only])
        except UnknownCommand as unknown:
            runner.refused(member.id, "?", unknown)
            return unknown
        raise AssertionError(name)

    def _resolve_broken(self, credential: Credential, room: str, name: str) -> HouseContext:
        """A room that could not be opened has no known members; only a house host can act."""
        house = self._house
        broken, is_host = house.broken.get(room), house.identities.is_host(credential)
        if broken is None or not (is_host or credential.room == room):
            raise _unknown(room)
        command = house.commands.get(name)
        if command is not None and command.when_broken:
            if not is_host:
                raise PermissionDenied("only a house host can reopen a room that could not be opened")
            return HouseContext(house, credential, command, broken_room=room)
        raise Quarantined(f"room {room} could not be opened: {broken.message}")

    def may_join(self, credential: Credential, runner: "RoomRunner") -> bool:
        """Whether a caller who is not a member may join this room."""
        identities = self._house.identities
        if runner is self._house.ledger.runner:  # only the house adds members to it
            return False
        state = runner.room.state
        if not credential.identity:
            is_invite = credential.label != VISITOR and credential.room == runner.room.id
            return is_invite or state.entry_policy.admits_strangers
        if credential.room is None:
            return identities.is_host(credential) or state.guests or state.entry_policy.admits_strangers
        return state.knock_of(credential.identity) is not None

    # -- decide -----------------------------------------------------------------------------------
    def decide(self, target: HouseContext, at: int) -> None:
        """Raise a refusal if the call is not allowed."""
        room = target.maybe_runner.room if target.maybe_runner is not None else None
        decision = decide(
            target.command,
            target.maybe_member,
            room,
            at,
            credential=target.credential,
            host=target.is_host,
            budget=self.budget,
        )
        if decision.code:
            raise refusal(decision)

    def decide_again(self, target: HouseContext, room: Room, at: int) -> None:
        """Decide again when the call reaches the head of the room's queue."""
        before = target.maybe_member
        member = room.state.members.get(before.id) if before is not None else None
        if before is not None and member is None:
            raise Unauthorized("you are no longer a member of this room")
        decision = decide(target.command, member, room, at, credential=target.credential, host=target.is_host)
        if decision.code:
            raise refusal(decision)

    def commands_for(self, credential: Credential, room: str | None) -> list[Command]:
        """The commands that this credential's grant allows, whether or not it is the caller's turn."""
        house, is_host = self._house, self._house.identities.is_host(credential)
        wanted = room or credential.room
        if wanted is None:
            return [c for c in house.commands if is_host or not (c.host_only or c.needs)]
        runner = house.runner_of(wanted)
        member = runner.room.member_of(credential.identity) if runner is not None else None
        if runner is None or (credential.room not in (None, wanted)):
            raise _unknown(wanted)
        if member is None:
            if not self.may_join(credential, runner):
                raise _unknown(wanted)
            open_to_all = [c for c in runner.commands if c.before_joining or c.about == "house"]
            return [c for c in open_to_all if is_host or not c.host_only]
        own = set(runner.room.commands)
        mine = [
            c
            for c in runner.commands
            if by_grant(member, c) and (is_host or not c.host_only) and offers(runner.room, member, c)
        ]
        return sorted(mine, key=lambda c: c not in own)  # the room's own first, then the house's

    # -- run --------------------------------------------------------------------------------------
    async def call(
        self, credential: Credential, room: str | None, name: str, args: Any = None, key: str | None = None
    ) -> Any:
        """Run one command for a credential. Returns the result or raises the error."""
        call = self.begin(credential, room, name, args, key)
        if call.done:
            return call.answer()
        try:
            return await call.wait()
        except asyncio.CancelledError:  # the client has disconnected
            if call.stop_waiting is not None:
                call.stop_waiting()
            raise

    def begin(
        self, credential: Credential, room: str | None, name: str, args: Any = None, key: str | None = None
    ) -> Call:
        """Start a call without waiting for it. Its ``then`` is called, or its ``wait`` resolves, when it is done."""
        self.calls += 1
        house = self._house
        at = house.clock.now()
        try:
            target = self.resolve(credential, room, name)
            runner, member, command = target.maybe_runner, target.maybe_member, target.command
            if command.where == "house" or (command.takes_wait_ms and _wait_ms(command, args)):
                call = Call(member.id if member is not None else "", command.name, args, key, credential=credential)
                self._start(call, target, room, at)
                return call
            assert runner is not None
            assert member is not None
            if member.egress:
                runner.egress.replied(member.id)
            if member.here:
                runner.time.seen[member.id] = at
            else:
                runner.time.mark_seen(member.id, at)
            call = Call(member.id, command.name, args, key, credential=credential)
            call.done = runner.put(call, at)
            return call
        except CohabitError as wrong:
            if not isinstance(wrong, UnknownCommand):  # counted in the room's audit log
                self._count(wrong)
            house.identities.check(credential, at)  # an invalid token gets UNAUTHORIZED, whatever it asked for
            raise

    def _start(self, call: Call, target: HouseContext, room: str | None, at: int) -> None:
        runner, member = target.maybe_runner, target.maybe_member
        key = None
        if runner is not None and member is not None:
            key = self._count_wait(runner, member.id, WAITS_PER_MEMBER)
            runner.time.mark_seen(member.id, at)
            if member.egress:
                runner.egress.replied(member.id)
        elif runner is not None and target.command.takes_wait_ms and target.credential.identity:
            key = self._count_wait(runner, f"#{target.credential.hash.hex()}", WAITS_OUTSIDE)
        task = asyncio.get_running_loop().create_task(self._through(call, room))
        self._tasks.add(task)
        task.add_done_callback(lambda task: self._ended(task, key))
        if target.command.takes_wait_ms and not target.command.records:  # other commands run to completion
            call.stop_waiting = task.cancel

    def _count_wait(self, runner: "RoomRunner", who: str, limit: int) -> "tuple[RoomRunner, str]":
        key = (runner, who)
        if self._waits[key] >= limit:
            raise Busy(f"you have {limit} calls waiting in this room; wait for a reply")
        self._waits[key] += 1
        return key

    def _ended(self, task: "asyncio.Task[None]", key: "tuple[RoomRunner, str] | None") -> None:
        self._tasks.discard(task)
        if key is None:
            return
        self._waits[key] -= 1
        if not self._waits[key]:
            del self._waits[key]
        if not task.cancelled() and not key[1].startswith("#"):
            key[0].time.mark_seen(key[1])  # a call that waits is seen when it arrives and when it ends, not in between

    async def _through(self, call: Call, room: str | None) -> None:
        """Run a house command, or one that waits, to completion."""
        try:
            call.result = await self._result(call, room)
        except CohabitError as wrong:
            call.error = wrong
        except asyncio.CancelledError:
            call.settle(Disabled("the call was cancelled: the house is shutting down or the client disconnected"))
            raise
        except Exception as bug:
            call.error = internal_error(bug, call.name)
        call.settle()

    async def _result(self, call: Call, room: str | None) -> Any:
        """The result of a call, repeated until it is not empty or its wait has timed out."""
        house, credential = self._house, call.credential
        assert credential is not None
        arrived, wait = house.clock.now(), None
        while True:
            if wait is not None:  # its caller may have been removed: say why
                house.identities.check(credential, house.clock.now())
            target = self.resolve(credential, room, call.name)
            runner, command = target.maybe_runner, target.command
            version = runner.version if runner is not None else 0
            if command.waits is not None and runner is not None and target.maybe_member is not None:
                if wait is None:
                    wait = Wait(target, call.args, arrived + _wait_ms(command, call.args))
                if await wait.goes_on(target, house.clock.now()):
                    await runner.changed_since(version, wait.ends)
                    continue
            if command.exclusive:
                async with self.exclusive:  # the caller may have lost its token or its grant in the meantime
                    result = await self._in_house(call, self.resolve(credential, room, call.name))
            elif command.where == "house":
                result = await self._in_house(call, target)
            else:
                result = await self._in_room(call, target)
            if wait is None or runner is None or wait.is_for_news or command.waits is None or not command.waits(result):
                return result
            if house.clock.now() >= wait.ends or runner.failure is not None:  # nothing more will happen
                return result
            wait.has_run = True
            await runner.changed_since(version, wait.ends)

    async def _in_house(self, call: Call, target: HouseContext) -> Any:
        house, command = self._house, target.command
        at = house.clock.now()
        self.budget.spend(target.credential.hash, at)
        try:
            self.decide(target, at)
            result = await command.run(target, **command.check(call.args))
            if not command.records:  # it may have taken long, and nothing is delivered to a revoked token
                house.identities.check(target.credential, house.clock.now())
        except CohabitError as wrong:
            if target.maybe_runner is not None and target.maybe_member is not None:
                target.maybe_runner.refused(target.maybe_member.id, command.name, wrong)
            else:
                self._count(wrong)
                if target.maybe_runner is not None and command.joins:  # hosts see who tried to join
                    target.maybe_runner.refused(NEWCOMER, command.name, wrong)
            raise
        return result

    async def _in_room(self, call: Call, target: HouseContext) -> Any:
        once = Call(target.member.id, call.name, call.args, call.key, credential=call.credential)
        return await target.runner.submit(once)

    def _count(self, wrong: CohabitError) -> None:
        self.refusals[wrong.code] = self.refusals.get(wrong.code, 0) + 1

    async def close(self) -> None:
        """Cancel the calls that still wait."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


def _wait_ms(command: Command, args: Any) -> int:
    """How long this call may wait for a result."""
    try:
        return int(command.check(args).get("wait_ms", 0))
    except BadArgs:  # the room reports and audits that
        return 0


def _unknown(room: str) -> UnknownRoom:
    return UnknownRoom(f"room {room[:64]!r} does not exist or you have no access to it")
