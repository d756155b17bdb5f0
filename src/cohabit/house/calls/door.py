"""The single entry point for all calls.

    resolve   which command, in which room, by which member     UNKNOWN_ROOM, UNKNOWN_COMMAND
    decide    credential, grant, archive, features, seat, turn  UNAUTHORIZED, PERMISSION_DENIED, …
    run       in the room's queue, or in the house; repeated while the command waits

A room command is decided when it reaches the head of the queue, a house command immediately; both by `room.decide`.
A call that waits is resolved and decided again each time it wakes.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from typing import Any

from cohabit.errors import BadArgs, Busy, CohabitError, Disabled, Unauthorized, UnknownCommand, internal_error
from cohabit.house.calls.across import ask_nodes
from cohabit.house.calls.context import HouseContext, Services
from cohabit.house.calls.resolve import resolve
from cohabit.house.calls.waiting import Wait
from cohabit.house.overload import OverloadLog
from cohabit.house.running.calls import Call, Deliver
from cohabit.house.running.egress import Account, measured
from cohabit.house.running.runner import RoomRunner
from cohabit.house.store.identities import OWN_DATA
from cohabit.model.egress import SentKind
from cohabit.model.identity import Credential
from cohabit.model.refusals import NEWCOMER
from cohabit.room.access.budget import Budget
from cohabit.room.commands import Command
from cohabit.room.decide import decide
from cohabit.room.decision import refusal

WAITS_PER_MEMBER = 256
"""The number of calls of one member that may wait in a room. Each entry costs time for every one of them."""
WAITS_OUTSIDE = 8
"""The same, of one token whose holder is not a member yet."""


class Refused:
    """Stands for the command of a call that did not begin: its reply is counted as a refusal."""

    sends: SentKind = "refusals"
    records = when_used_up = False


REFUSED = Refused()


class Door:
    """See the module."""

    def __init__(self, services: Services, overload: OverloadLog) -> None:
        self.services = services
        self._clock = services.clock
        self._identities = services.identities
        self._overload = overload
        self.budget = Budget(services.settings.calls_per_second)  # of house commands, by credential
        self._tasks: set[asyncio.Task[None]] = set()
        # Unfinished calls that are not in a queue, by member, or by "#" and the hash of a credential.
        self._waits: Counter[tuple[RoomRunner, str]] = Counter()
        self.on_invalid: Callable[[str, Unauthorized, str | None], None] = lambda token, wrong, room: None
        self.calls = 0
        self.refusals: dict[str, int] = {}  # by code; refusals of members are counted in the audit of their room

    def identify(self, token: str | None, room: str | None = None, command: str = "") -> Credential:
        """The credential that a token belongs to. ``room``: the room that the caller wants to join with it.
        ``command``: the only one that it calls; somebody who has left can still see and delete its data."""
        try:
            return self._identities.identify(token, self._clock.now())
        except Unauthorized as wrong:
            former = self._identities.for_own_data(token, self._clock.now()) if command in OWN_DATA else None
            if former is not None:
                return former
            self._overload.add("login")
            self.on_invalid(token or "", wrong, room)
            raise

    # -- decide -----------------------------------------------------------------------------------
    def decide(self, target: HouseContext, at: int) -> None:
        """Raise a refusal if the call is not allowed."""
        room = target.maybe_runner.room if target.maybe_runner is not None else None
        who, host = target.credential, target.is_host
        decision = decide(target.command, target.maybe_member, room, at, credential=who, host=host, budget=self.budget)
        if decision.code:
            self._identities.check(who, at)  # an invite that is not valid any more says why
            raise refusal(decision)

    # -- run --------------------------------------------------------------------------------------
    async def call(
        self,
        credential: Credential,
        room: str | None,
        name: str,
        args: Any = None,
        key: str | None = None,
        deliver: Deliver = measured,
    ) -> Any:
        """Run one command for a credential. Returns the result or raises the error."""
        return await reply_to(self.begin(credential, room, name, args, key, deliver))

    def begin(
        self,
        credential: Credential,
        room: str | None,
        name: str,
        args: Any = None,
        key: str | None = None,
        deliver: Deliver = measured,
        watching: bool = False,
    ) -> Call:
        """Start a call without waiting for it. Its ``then`` is called, or its ``wait`` resolves, when it is done.

        ``deliver`` encodes the reply for the interface. Whatever it does, the reply is counted here. ``watching``: the
        caller is a page, so a call that only looks leaves the seat to the agent that plays it.
        """
        self.calls += 1
        at = self._clock.now()
        account: Account | None = None
        try:
            if credential.ended and not credential.revoked and name not in OWN_DATA:
                raise Unauthorized("this token can only see and delete your data (`my_data` and `forget_me`)")
            target = resolve(self.services, credential, room, name)
            runner, member, command = target.maybe_runner, target.maybe_member, target.command
            if runner is None or member is None:
                account = self.account_of(credential, room)
            else:
                account = runner.egress.by_member.get(member.id) or runner.egress.of(member)
            if account.version != account.room.room.roster_version:
                account.look_up()
            if account.used >= account.limit and not _is_answered(runner, command, args):
                raise self._used_up(account, command)
            if command.where == "house" or (command.takes_wait_ms and _wait_ms(command, args)):
                call = Call(member.id if member is not None else "", command.name, args, key, credential=credential)
                call.leaves_by, call.deliver, call.reply = account.current, deliver, command
                self._start(call, target, room, at, watching and not command.records)
                return call
            assert runner is not None
            assert member is not None
            if member.here and not member.played_by_bot:
                runner.time.seen[member.id] = at
            else:
                runner.time.mark_seen(member.id, at, watching=watching and not command.records)
            call = Call(member.id, command.name, args, key, credential=credential)
            line = account.current
            call.leaves_by, call.deliver, call.reply = line, deliver, command
            if runner.put(call, at):
                call.done = True
                line.passes(call)
                call.leaves_by = None
            return call
        except CohabitError as wrong:
            if not isinstance(wrong, UnknownCommand):  # counted in the room's audit
                self._count(wrong)
            try:  # an invalid token gets UNAUTHORIZED, whatever it asked for
                self._identities.check(credential, at)
            except Unauthorized as invalid:
                self._count_refusal(account or self.account_of(credential, room), name, invalid, deliver)
                raise
            self._count_refusal(account or self.account_of(credential, room), name, wrong, deliver)
            raise

    # -- what leaves ------------------------------------------------------------------------------
    def account_of(self, credential: Credential, room: str | None) -> Account:
        """The owner of the budget when something is sent to a caller in a room, or outside of all rooms. What is sent
        to a token for one room counts there, also outside of rooms and after its member has left."""
        wanted = room or credential.room
        runner = self.services.rooms.get(wanted) if wanted is not None else None
        if runner is None:
            return self._outside(credential)
        member = runner.room.member_of(credential.identity)
        if member is not None:
            return runner.egress.of(member)
        former = runner.egress.accounts.get(credential.identity) if credential.room == runner.id else None
        return former or self._outside(credential)

    def account_with(self, token: str | None, room: str | None) -> Account | None:
        """The same for a token; None if it is not valid."""
        try:
            return self.account_of(self._identities.identify(token, self._clock.now()), room)
        except Unauthorized:
            return None

    def sends(self, credential: Credential, room: str | None, kind: SentKind, size: int) -> None:
        """Count what an interface sends that is no reply to a call."""
        self.account_of(credential, room).line.replied(kind, size)

    def check_may_send(self, credential: Credential, room: str | None) -> None:
        """Raise EGRESS_USED_UP if nothing more may be sent to a caller in a room; without one, in any of its rooms."""
        rooms = [room or credential.room] if room or credential.room else [*self.services.rooms, None]
        for name in rooms:
            self.account_of(credential, name).check()

    def _outside(self, credential: Credential) -> Account:
        """The account of a caller outside of all rooms. One whose identity was deleted is still told that."""
        known, is_host = self._identities.get(credential.identity), self._identities.is_host(credential)
        who = known.id if known is not None and known.forgotten is None else ""
        return self.services.ledger.runner.egress.of_identity(who, is_host=is_host)

    def _used_up(self, account: Account, command: Command) -> CohabitError:
        refused = account.refusal()
        account.room.refused(account.member, command.name, refused)
        return refused

    @staticmethod
    def _count_refusal(account: Account, name: str, wrong: CohabitError, deliver: Deliver) -> None:
        """Count the refusal of a call that did not begin."""
        call = Call("", name)
        call.error, call.leaves_by, call.deliver, call.reply = wrong, account.line, deliver, REFUSED
        call.leave()

    def _start(self, call: Call, target: HouseContext, room: str | None, at: int, watching: bool) -> None:
        runner, member = target.maybe_runner, target.maybe_member
        key = None
        if runner is not None and member is not None:
            key = self._count_wait(runner, member.id, WAITS_PER_MEMBER)
            runner.time.mark_seen(member.id, at, watching=watching)
        elif runner is not None and target.command.takes_wait_ms and target.credential.identity:
            key = self._count_wait(runner, f"#{target.credential.counted_as.hex()}", WAITS_OUTSIDE)
        task = asyncio.get_running_loop().create_task(self._through(call, room))
        self._tasks.add(task)
        task.add_done_callback(lambda task: self._ended(task, key, watching))
        if target.command.takes_wait_ms and not target.command.records:  # other commands run to completion
            call.stop_waiting = task.cancel
            stop = self._identities.until_invalid(
                self._clock, target.credential, partial(self._stop_if_invalid, call, task)
            )
            task.add_done_callback(lambda task: stop())

    def _stop_if_invalid(self, call: Call, task: "asyncio.Task[None]") -> None:
        if self._invalid(call) is not None:
            task.cancel()

    def _invalid(self, call: Call) -> Unauthorized | None:
        """The reason why the token of a caller has ended, if it has."""
        assert call.credential is not None
        try:
            self._identities.check(call.credential, self._clock.now())
        except Unauthorized as wrong:
            return wrong
        return None

    def _count_wait(self, runner: RoomRunner, who: str, limit: int) -> tuple[RoomRunner, str]:
        key = (runner, who)
        if self._waits[key] >= limit:
            raise Busy(f"you have {limit} calls waiting in this room; wait for a reply")
        self._waits[key] += 1
        return key

    def _ended(self, task: "asyncio.Task[None]", key: tuple[RoomRunner, str] | None, watching: bool) -> None:
        self._tasks.discard(task)
        if key is None:
            return
        self._waits[key] -= 1
        if not self._waits[key]:
            del self._waits[key]
        if not task.cancelled() and not key[1].startswith("#"):
            # A call that waits is seen when it arrives and when it ends, not in between.
            key[0].time.mark_seen(key[1], watching=watching)

    async def _through(self, call: Call, room: str | None) -> None:
        """Run a house command, or one that waits, to completion."""
        try:
            call.result = await self._result(call, room)
            self._count_for_member(call)
        except CohabitError as wrong:
            call.error = wrong
        except asyncio.CancelledError:
            stopped = Disabled("the call was cancelled: the house is shutting down or the client disconnected")
            call.settle(self._invalid(call) or stopped)
            raise
        except Exception as bug:
            call.error = internal_error(bug, call.name)
        call.settle()

    def _count_for_member(self, call: Call) -> None:
        """The reply to somebody who has just joined counts as sent to the new member."""
        command = self.services.commands.get(call.name)
        if command is None or not command.joins:
            return
        runner = self.services.rooms.get(call.result.room)
        member = runner.room.state.with_handle(call.result.member) if runner is not None else None
        if runner is not None and member is not None:
            call.leaves_by = runner.egress.of(member).line

    async def _result(self, call: Call, room: str | None) -> Any:
        """The result of a call, repeated until it is not empty or its wait has timed out."""
        house, credential = self.services, call.credential
        assert credential is not None
        arrived, wait = house.clock.now(), None
        while True:
            if wait is not None:  # its caller may have been removed: say why
                house.identities.check(credential, house.clock.now())
            target = resolve(house, credential, room, call.name)
            runner, command = target.maybe_runner, target.command
            version = runner.version if runner is not None else 0
            if command.waits is not None and runner is not None and target.maybe_member is not None:
                if wait is None:
                    wait = Wait(runner, target.member, command, call.args, arrived + _wait_ms(command, call.args))
                if await wait.goes_on(target.member, credential, house.clock.now()):
                    await runner.changed_since(version, wait.ends)
                    continue
            if command.exclusive and ask_nodes(target) is None:
                # The caller may have lost its token or its grant in the meantime. Nobody holds this while it asks
                # another process for the same: two that ask each other would wait forever.
                async with house.exclusive:
                    result = await self._in_house(call, resolve(house, credential, room, call.name))
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
        command, at = target.command, self._clock.now()
        self.budget.spend(target.credential.counted_as, at)
        try:
            self.decide(target, at)
            args, ask = command.check(call.args), ask_nodes(target)
            if ask is None or command.across is None:
                result = await command.run(target, **args)
            else:
                result = await command.across(ask, call.args or {})
            if not command.records:  # it may have taken long, and nothing is delivered to a revoked token
                self._identities.check(target.credential, self._clock.now())
        except CohabitError as wrong:
            self._refused(target, wrong)
            raise
        return result

    async def _in_room(self, call: Call, target: HouseContext) -> Any:
        once = Call(target.member.id, call.name, call.args, call.key, credential=call.credential)
        return await target.runner.submit(once)

    def _refused(self, target: HouseContext, wrong: CohabitError) -> None:
        """Write a refusal to the audit: of the room, or of the house for a house-wide identity."""
        house, who, name = self.services, target.credential, target.command.name
        runner, member = target.maybe_runner, target.maybe_member
        if runner is None and (own := house.rooms.get(who.room or "")) is not None:  # a member who calls the house
            runner, member = own, own.room.member_of(who.identity)
        if runner is not None and member is not None:
            runner.refused(member.id, name, wrong)
            return
        self._count(wrong)
        if runner is None:
            known = house.ledger.runner.room.member_of(who.identity)
            house.ledger.runner.refused(known.id if known is not None else NEWCOMER, name, wrong, _caller(who))
        elif target.command.joins:  # hosts see who tried to join
            runner.refused(NEWCOMER, name, wrong, _caller(who))

    def _count(self, wrong: CohabitError) -> None:
        self.refusals[wrong.code] = self.refusals.get(wrong.code, 0) + 1

    async def close(self) -> None:
        """Cancel the calls that still wait."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def reply_to(call: Call) -> Any:
    """The result of a call that has begun, or its error."""
    if call.done:
        return call.answer()
    try:
        return await call.wait()
    except asyncio.CancelledError:
        drop(call)
        raise


def drop(call: Call) -> None:
    """The client has disconnected: nothing is sent, and a call that only waits ends."""
    call.leaves_by = None
    if call.stop_waiting is not None:
        call.stop_waiting()


def _caller(who: Credential) -> str:
    """A name for a caller that is no member: it tells callers apart, and not who or where they are."""
    return sha256(who.hash).hexdigest()[:8] if not who.identity else ""


def _is_answered(runner: RoomRunner | None, command: Command, args: Any) -> bool:
    """True if a caller may call this although its budget is used up, also by name with `act`."""
    named: Command | None = command
    if command.unwrap is not None and runner is not None:
        try:
            named = runner.commands.get(command.unwrap(args)[0])
        except BadArgs:
            return False
    return named is not None and named.when_used_up


def _wait_ms(command: Command, args: Any) -> int:
    """The time that this call may wait for a result."""
    try:
        return int(command.check(args).get("wait_ms", 0))
    except BadArgs:  # the room reports and audits that
        return 0
