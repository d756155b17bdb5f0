"""The one path into a house: every call of every interface takes it.

    resolve   which command, in which room, by which member     UNKNOWN_ROOM, UNKNOWN_COMMAND
    decide    credential, grant, archive, seat, turn, budget    UNAUTHORIZED, PERMISSION_DENIED, …
    run       in the room's queue, or in the house; again, where the command waits for something to happen

A command of a room is decided when its turn in the queue has come, a command of the house at once; both by
`room.decide`. A call that waits is resolved and decided again whenever it wakes.
"""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cohabit.errors import (
    BadArgs,
    CohabitError,
    Disabled,
    PermissionDenied,
    Quarantined,
    Unauthorized,
    UnknownCommand,
    UnknownRoom,
)
from cohabit.house.calls import Call, Check
from cohabit.house.store.contract import Write
from cohabit.model.identity import Credential, Identity
from cohabit.room.commands import Command
from cohabit.room.decide import Budget, by_grant, decide, refusal
from cohabit.room.room import Room
from cohabit.room.state import Member

if TYPE_CHECKING:
    from cohabit.house.house import House
    from cohabit.house.rooms import RoomHost


class HouseContext:
    """What a call is about, and what a command of the house gets: the caller, the command, and the room, if any."""

    __slots__ = ("broken_room", "command", "credential", "host", "house", "maybe_member")

    def __init__(
        self,
        house: "House",
        credential: Credential,
        command: Command,
        host: "RoomHost | None" = None,
        member: Member | None = None,
        broken_room: str = "",
    ) -> None:
        self.house = house
        self.credential = credential
        self.command = command
        self.host = host
        self.maybe_member = member  # None: the caller is not in the room, or it is about no room
        self.broken_room = broken_room  # the id of a room that could not be opened

    @property
    def room(self) -> "RoomHost":
        if self.host is None:
            raise BadArgs("say which room")
        return self.host

    @property
    def member(self) -> Member:
        if self.maybe_member is None:
            raise UnknownRoom("you are not in this room yet; call join first")
        return self.maybe_member

    async def record(
        self, do: str, args: dict[str, Any], also: Write | None = None, check: Check | None = None
    ) -> None:
        """Put something on the record of the room on behalf of the caller. Meanwhile the room may have been archived or
        the caller's rights taken, so all is decided again, with ``check`` last, when it is about to happen."""

        def decide_again(room: Room, at: int) -> None:
            self.house.door.decide_again(self, room, at)
            if check is not None:
                check(room, at)

        await self.room.put_system(do, args, also, decide_again)

    @property
    def identity(self) -> Identity | None:
        """Who calls; None for the holder of an invite, who is nobody yet."""
        return self.house.identities.get(self.credential.identity)

    @property
    def is_host(self) -> bool:
        """Is the caller a host of the house?"""
        return self.house.identities.is_host(self.credential)


class Door:
    """See the module."""

    def __init__(self, house: "House") -> None:
        self._house = house
        self.budget = Budget(house.settings.calls_per_second)  # of house commands, by credential
        self._tasks: set[asyncio.Task[None]] = set()
        self._exclusive = asyncio.Lock()
        self.calls = 0
        self.refusals: dict[str, int] = {}  # by code; those of a room are counted in its audit

    # -- resolve ----------------------------------------------------------------------------------
    def resolve(self, credential: Credential, room: str | None, name: str) -> HouseContext:
        """What a call means: the command, the room and the member. Raises where that cannot be known."""
        house = self._house
        wanted = room or credential.room
        if wanted is None or wanted not in house.rooms:
            command = house.commands.get(name)
            if command is not None and (command.about == "house" or (command.about == "either" and wanted is None)):
                return HouseContext(house, credential, command)
            if wanted is None:
                raise BadArgs(f"{name[:80]} is about a room; say which: this credential is not bound to one")
        if credential.room is not None and credential.room != wanted:
            raise _unknown(wanted)
        host = house.rooms.get(wanted) or house.host_of(wanted)
        if host is None:
            return self._resolve_broken(credential, wanted, name)
        command = host.commands.get(name) or host.commands.with_tool_name(name)
        if command is not None and command.about == "house":
            return HouseContext(house, credential, command)
        member = host.room.member_of(credential.identity)
        if member is None:
            if not self.may_join(credential, host):
                raise _unknown(wanted)
            if command is None or not (command.before_joining or command.about != "room"):
                raise UnknownRoom(f"you are not in room {wanted!r} yet; call join first")
            if not command.before_joining:
                return HouseContext(house, credential, command)
        elif command is None:
            raise self._unknown_command(host, member, name)
        assert command is not None
        return HouseContext(house, credential, command, host, member)

    def _unknown_command(self, host: "RoomHost", member: Member, name: str) -> CohabitError:
        room, at = host.room, self._house.clock.now()
        room.budget.spend(member.id, at)
        if room.budget.is_spent(member.id, at):  # looking for near names costs time
            return refusal(room.budget.refusal)
        try:
            host.commands.named(name)
        except UnknownCommand as unknown:
            room.audit.refused(at, member.id, "?", unknown.code, unknown.message)
            return unknown
        raise AssertionError(name)

    def _resolve_broken(self, credential: Credential, room: str, name: str) -> HouseContext:
        """A room that could not be opened has no members that could be known; only a host of the house can act."""
        house = self._house
        broken, host = house.broken.get(room), house.identities.is_host(credential)
        if broken is None or not (host or credential.room == room):
            raise _unknown(room)
        command = house.commands.get(name)
        if command is not None and command.when_broken:
            if not host:
                raise PermissionDenied("only a host of the house can reopen a room that could not be opened")
            return HouseContext(house, credential, command, broken_room=room)
        raise Quarantined(f"room {room} could not be opened: {broken.message}")

    def may_join(self, credential: Credential, host: "RoomHost") -> bool:
        """May a caller who is not a member join this room?"""
        identities = self._house.identities
        if host is self._house.ledger.host:  # its members are admitted by the house alone
            return False
        if not credential.identity:
            return credential.room == host.room.id
        return identities.is_host(credential) or (host.room.state.guests and credential.room is None)

    # -- decide -----------------------------------------------------------------------------------
    def decide(self, target: HouseContext, at: int) -> None:
        """Refuse what may not be done, and put the refusal in the audit of the room."""
        room = target.host.room if target.host is not None else None
        member = target.maybe_member
        decision = decide(
            target.command, member, room, at, credential=target.credential, host=target.is_host, budget=self.budget
        )
        if decision.code:
            if room is not None and member is not None:
                room.audit.refused(at, member.id, target.command.name, decision.code, decision.reason)
            raise refusal(decision)

    def decide_again(self, target: HouseContext, room: Room, at: int) -> None:
        """The same in the queue of the room, where the caller waited for its turn."""
        before = target.maybe_member
        member = room.state.members.get(before.id) if before is not None else None
        if before is not None and member is None:
            raise Unauthorized("you are not a member of this room any more")
        decision = decide(target.command, member, room, at, credential=target.credential, host=target.is_host)
        if decision.code:
            raise refusal(decision)

    def commands_for(self, credential: Credential, room: str | None) -> list[Command]:
        """What this credential's grant lets it call: never a matter of whose turn it is."""
        house, is_host = self._house, self._house.identities.is_host(credential)
        wanted = room or credential.room
        if wanted is None:
            return [c for c in house.commands if (is_host or not c.host_only) and (is_host or not c.needs)]
        host = house.host_of(wanted)
        member = host.room.member_of(credential.identity) if host is not None else None
        if host is None or (credential.room not in (None, wanted)):
            raise _unknown(wanted)
        if member is None:
            if not self.may_join(credential, host):
                raise _unknown(wanted)
            open_to_all = [c for c in host.commands if c.before_joining or c.about == "house"]
            return [c for c in open_to_all if is_host or not c.host_only]
        own = set(host.room.commands)
        mine = [c for c in host.commands if by_grant(member, c) and (is_host or not c.host_only)]
        return sorted(mine, key=lambda c: c not in own)  # the room's own first, then the house's

    # -- run --------------------------------------------------------------------------------------
    async def call(
        self, credential: Credential, room: str | None, name: str, args: Any = None, key: str | None = None
    ) -> Any:
        """One command by one credential: its result, or the error raised."""
        call = self.begin(credential, room, name, args, key)
        if call.done:
            return call.answer()
        try:
            return await call.wait()
        except asyncio.CancelledError:  # the caller has gone
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
            host, member, command = target.host, target.maybe_member, target.command
            if command.where == "house" or (command.may_wait and _wait_ms(command, args)):
                call = Call(member.id if member is not None else "", command.name, args, key, credential=credential)
                self._start(call, target, room, at)
                return call
            assert host is not None
            assert member is not None
            if member.here:
                host.time.seen[member.id] = at
            else:
                host.time.heard_of(member.id, at)
            call = Call(member.id, command.name, args, key, None, credential)
            call.done = host.put(call, at)
            return call
        except CohabitError as wrong:
            if not isinstance(wrong, UnknownCommand):  # that is counted in the audit of the room
                self._count(wrong)
            house.identities.check(credential, at)  # a token that is no good is told so, whatever it asked for
            raise

    def _start(self, call: Call, target: HouseContext, room: str | None, at: int) -> None:
        if target.host is not None and target.maybe_member is not None:
            target.host.time.heard_of(target.maybe_member.id, at)
        task = asyncio.get_running_loop().create_task(self._through(call, room))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        if target.command.may_wait:  # other commands finish what they have begun
            call.stop_waiting = task.cancel

    async def _through(self, call: Call, room: str | None) -> None:
        """Run a command of the house, or one that waits, to its end."""
        try:
            call.result = await self._result(call, room)
        except CohabitError as wrong:
            self._count(wrong)
            call.error = wrong
        except asyncio.CancelledError:
            call.settle(Disabled("the house is shutting down, or the caller has gone"))
            raise
        except Exception as bug:
            call.error = self._house.bug(bug, call.name)
        call.settle()

    async def _result(self, call: Call, room: str | None) -> Any:
        """The result of a call, once there is one that it need not wait for, or its time is up."""
        house, credential = self._house, call.credential
        assert credential is not None
        ends: int | None = None
        while True:
            target = self.resolve(credential, room, call.name)
            host, command = target.host, target.command
            version = host.version if host is not None else 0
            if command.exclusive:
                async with self._exclusive:  # meanwhile the caller may have lost its token or its rights
                    result = await self._in_house(call, self.resolve(credential, room, call.name))
            elif command.where == "house":
                result = await self._in_house(call, target)
            else:
                result = await self._in_room(call, target)
            if command.waits is None or host is None or not command.waits(result):
                return result
            now = house.clock.now()
            if ends is None:
                ends = now + _wait_ms(command, call.args)
            elif now >= ends:
                return result
            await host.changed_since(version, ends)  # then it is decided again, also where nothing happened

    async def _in_house(self, call: Call, target: HouseContext) -> Any:
        house, command = self._house, target.command
        at = house.clock.now()
        self.budget.spend(target.credential.hash, at)
        self.decide(target, at)
        result = await command.run(target, **command.check(call.args))
        if not command.records:  # it may have taken a while, and nothing is delivered to a revoked token
            house.identities.check(target.credential, house.clock.now())
        return result

    async def _in_room(self, call: Call, target: HouseContext) -> Any:
        host, member = target.host, target.maybe_member
        assert host is not None
        assert member is not None
        once = Call(member.id, call.name, call.args, call.key, None, call.credential)
        host.time.heard_of(member.id)
        return once.answer() if host.put(once) else await once.wait()

    def _count(self, wrong: CohabitError) -> None:
        self.refusals[wrong.code] = self.refusals.get(wrong.code, 0) + 1

    async def close(self) -> None:
        """End the calls that still wait."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


def _wait_ms(command: Command, args: Any) -> int:
    """How long this call is ready to wait for something to happen."""
    if args and (not isinstance(args, Mapping) or not args.get("wait_ms", True)):
        return 0
    try:
        return int(command.check(args).get("wait_ms", 0))
    except BadArgs:  # the room reports that, and puts it in the audit
        return 0


def _unknown(room: str) -> UnknownRoom:
    return UnknownRoom(f"there is no room {room[:64]!r} for you here")
