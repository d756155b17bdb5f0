"""Counts what leaves the house for each backend of each member, and stops it when a budget is used up.

A reply is counted when the interface gets it, a pushed frame when it is delivered: in bytes, as they are encoded, by
kind. The counts are kept by identity, so they go on when somebody leaves and comes back, and when the room is reopened.
They are stored every few seconds, outside the record, which must not grow with every read. For backends outside this
house the sums of each minute are entries of the record, too.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable
from math import inf

import msgspec
from msgspec import Struct

from cohabit.errors import Busy, CohabitError, EgressUsedUp, RecordCorrupt, internal_error
from cohabit.house.clock import Clock
from cohabit.house.running.calls import Call, SystemCall
from cohabit.house.running.later import Later
from cohabit.house.settings import Settings
from cohabit.house.store.contract import StoredEgress, Write
from cohabit.house.store.writer import Writer
from cohabit.model.egress import ELSEWHERE, NO_LIMIT, OTHERS, STEP, STEP_TIMES, UNKNOWN, Amount, Sent, SentKind
from cohabit.model.grant import Capability
from cohabit.room.feature import Sending, answer
from cohabit.room.room import Room
from cohabit.room.state import Member, handle_of

STORE_MS = 5_000
"""The time that a count may wait before it is stored. A crash loses what was counted since then."""
EVERY_MS = 60_000
"""The interval at which the counts of what leaves the house become entries."""
MOST_BACKENDS = 16
"""Backends that are counted separately for a member. It can name another one every few seconds."""
FORGOTTEN_KEPT = 1000
"""The number of deleted identities that are known as such, so that late replies to them are not stored."""
VISITORS = "(visitors)"
"""Callers without an identity."""
encode = msgspec.json.Encoder().encode


USED_UP = "they are used up: you get nothing more"
TOO_LARGE = "what was to be sent now is larger than what is left, so it was not sent"


ASK = (
    "ask a host for a larger budget outside of this room (messages from here are refused), or leave (to join again you "
    "need that budget, too)"
)


def used_up(limit: float, why: str = USED_UP, ask: str = ASK) -> EgressUsedUp:
    return EgressUsedUp(f"{limit:.0f} bytes may be sent to you here, and {why}. You can {ask}", budget=int(limit))


def measured(call: Call) -> int:
    """The size of a reply in JSON, for interfaces that do not encode it themselves."""
    if call.error is not None:
        return error_size(call.error)
    try:
        return len(encode(call.result))
    except TypeError:  # not plain values: such a reply stays in this process
        return len(repr(call.result))


def error_size(error: BaseException) -> int:
    """The size of the body of a refusal over HTTP."""
    return len(encode({"ok": False, "error": error.as_wire() if isinstance(error, CohabitError) else "INTERNAL"}))


class Line:
    """The counts of one backend of one member."""

    __slots__ = ("account", "frames", "is_new", "kinds", "recorded", "replies", "sent")

    def __init__(self, account: "Account", sent: Sent) -> None:
        self.account = account
        self.sent = sent
        self.kinds = sent.kinds
        self.replies = self.frames = 0  # since the last entry
        self.recorded = up(sent.bytes, account.step)  # the bytes up to the last entry
        self.is_new = False  # there is something to store

    def add(self, kind: SentKind, size: int, times: int = 1) -> None:
        """Count something that leaves. ``times=0``: a correction."""
        amount = self.kinds.get(kind)
        if amount is None:
            amount = self.kinds[kind] = Amount()
        amount.times += times
        amount.bytes += size
        self.account.used += size
        self.sent.last = self.account.room.now()
        self.sent.first = self.sent.first or self.sent.last
        if not self.is_new:
            self.is_new = True
            self.account.room.changed(self)

    def replied(self, kind: SentKind, size: int) -> None:
        self.replies += 1
        self.add(kind, size)

    def pushed(self, kind: SentKind, size: int) -> None:
        self.frames += 1
        self.add(kind, size)

    def passes(self, call: Call) -> None:
        """A reply leaves, or is withheld because it is larger than what is left. The reply to a call that has changed
        something is never withheld, nor are those that a member gets in any case. This runs for every call, so it does
        by itself what ``add`` does."""
        try:
            size = call.deliver(call)
        except Exception as bug:  # it cannot be encoded
            call.error, call.result = internal_error(bug, call.name), None
            size = call.deliver(call)
        account, kind = self.account, call.reply.sends
        if call.error is not None:
            kind = "refusals"
        elif account.used + size > account.limit and not (call.reply.records or call.reply.when_used_up):
            size, kind = self._withheld(call), "refusals"
        self.replies += 1
        amount = self.kinds.get(kind)
        if amount is None or not self.is_new:
            self.add(kind, size)
            return
        amount.times += 1
        amount.bytes += size
        account.used += size
        self.sent.last = account.room.now()

    def passes_later(self, call: Call) -> None:
        """The same for a call that has waited: the budget may have changed since it began."""
        self.account.look_up()
        self.passes(call)

    def _withheld(self, call: Call) -> int:
        account = self.account
        call.error, call.result = account.refusal(), None
        # Where others learn of the count in steps only, they must not learn either when exactly it is used up.
        account.room.refused(account.member, call.name, call.error if account.step == 1 else used_up(account.limit))
        return call.deliver(call)


class Account:
    """One identity in a room: what its backends got, and what is left of its budget."""

    __slots__ = ("backends", "current", "is_unlimited", "limit", "member", "room", "used", "version", "who")

    def __init__(self, room: "RoomEgress", who: str, member: str) -> None:
        self.room = room
        self.who = who
        self.member = member  # the id of the member, the last one if it came back
        self.backends: dict[tuple[str, bool | None], Line] = {}
        self.used = 0
        self.limit: float = inf
        self.is_unlimited = False
        self.version = -1  # of the roster, when the next was looked up
        self.current: Line

    @property
    def line(self) -> Line:
        """The counts of the backend to which the next bytes go."""
        self.look_up()
        return self.current

    def allows(self, size: int) -> bool:
        """True if so much may be sent."""
        if self.version != self.room.room.roster_version:
            self.look_up()
        return self.used < self.limit and self.used + size <= self.limit

    @property
    def step(self) -> int:
        """In which steps others may know how much was sent, and budgets count."""
        room = self.room.room
        return STEP if room.state.over_since is None and room.is_sealed else 1

    @property
    def is_used_up(self) -> bool:
        return not self.allows(0)

    @property
    def budget(self) -> int | None:
        """Bytes in all; None: there is no limit."""
        self.look_up()
        return None if self.limit >= NO_LIMIT else int(self.limit)

    def pushed(self, kind: SentKind, size: int) -> None:
        """Count a frame that was sent. This runs for every frame and reader, so it does by itself what ``look_up`` and
        ``Line.add`` do."""
        if self.version != self.room.room.roster_version:
            self.look_up()
        line = self.current
        line.frames += 1
        amount = line.kinds.get(kind)
        if amount is None or not line.is_new:
            line.add(kind, size)
            return
        amount.times += 1
        amount.bytes += size
        self.used += size
        line.sent.last = self.room.now()

    def refusal(self) -> EgressUsedUp:
        """The reason why nothing more is sent, or not what was to be sent now."""
        why, member = TOO_LARGE if self.used < self.limit else USED_UP, self.room.room.state.members.get(self.member)
        if member is None:
            return used_up(self.limit, why, "join again when a host has raised your budget")
        if Capability.MANAGE_MEMBERS in member.held:
            return used_up(self.limit, why, f"raise your budget (set_egress_budget for {member.handle}), or leave")
        return used_up(self.limit, why)

    def check(self) -> None:
        """Raise EGRESS_USED_UP if nothing more may be sent."""
        if not self.allows(0):
            raise self.refusal()

    def to(self, backend: str, outside: bool | None) -> Line:
        """The counts of this backend of the member."""
        line = self.backends.get((backend, outside))
        if line is None:
            if len(self.backends) >= MOST_BACKENDS and backend != OTHERS:
                return self.to(OTHERS, outside)
            handle = self.room.handle_of(self.member)
            line = self.backends[backend, outside] = Line(self, Sent(self.who, handle, backend, outside))
        return line

    def look_up(self) -> None:
        """The backend and the budget, again if the roster has changed."""
        version = self.room.room.roster_version
        if version == self.version:
            return
        self.version = version
        backend, outside, limit = self.room.about(self)
        self.current = self.to(backend, outside)
        # A host who sets one budget after another must not find out how large a view was: round down.
        self.limit = inf if self.is_unlimited or limit >= NO_LIMIT else limit - limit % self.step


class EgressBooks:
    """The accounts of all rooms of a house. They outlive a room that is closed and opened again."""

    def __init__(self) -> None:
        self._stored: dict[str, list[Sent]] = {}
        self.rooms: dict[str, RoomEgress] = {}
        self._forgotten: dict[str, None] = {}  # the last identities; the reply to their last call comes after that

    def load(self, room: str, stored: list[Sent]) -> None:
        """Read the counts of a room that is opened. Called off the event loop, before the room runs."""
        if room not in self.rooms:
            self._stored[room] = stored

    def of_room(self, egress: "RoomEgress") -> "dict[str, Account]":
        """The accounts of a room that begins to run."""
        before = self.rooms.get(egress.id)
        self.rooms[egress.id] = egress
        if before is None:
            return _accounts(egress, self._stored.pop(egress.id, []))
        for account in before.accounts.values():
            account.room = egress
            account.version = -1
        return before.accounts

    def forget(self, identities: Collection[str]) -> None:
        """Identities were deleted. Their counts are deleted in the store with them."""
        gone = frozenset(identities)
        self._forgotten |= dict.fromkeys(gone)
        while len(self._forgotten) > FORGOTTEN_KEPT:
            del self._forgotten[next(iter(self._forgotten))]
        for room in self.rooms.values():
            room.forget(gone)
        self._stored = {room: [sent for sent in kept if sent.who not in gone] for room, kept in self._stored.items()}

    def is_forgotten(self, identity: str) -> bool:
        return identity in self._forgotten

    def is_back(self, identity: str) -> None:
        """An agent key whose data was deleted has joined again."""
        self._forgotten.pop(identity, None)

    def forget_room(self, room: str) -> None:
        self.rooms.pop(room, None)
        self._stored.pop(room, None)


def _accounts(egress: "RoomEgress", stored: Iterable[Sent]) -> dict[str, Account]:
    found: dict[str, Account] = {}
    for sent in stored:
        account = found.get(sent.who)
        if account is None:
            account = found[sent.who] = Account(egress, sent.who, "")
        account.backends[sent.backend, sent.outside] = Line(account, sent)
        account.used += sent.bytes
    return found


class Recording(Struct, frozen=True):
    """The means of a room to record and store what left it."""

    put: Callable[[Call], object]
    refused: Callable[[str, str, CohabitError], None]
    writer: Writer
    clock: Clock
    settings: Settings


class RoomEgress:
    """The accounts of one room."""

    def __init__(self, room: Room, books: EgressBooks, recording: Recording) -> None:
        self.id = room.id
        self.room = room
        self._how = recording
        self.now = recording.clock.now
        self._default = float(recording.settings.egress_budget or inf)
        self.by_member: dict[str, Account] = {}
        self._to_store: dict[Line, None] = {}
        self._to_record: dict[Line, None] = {}
        self._store_later = Later(recording.clock, STORE_MS, self.store)
        self._record_later = Later(recording.clock, EVERY_MS, self._record)
        self.is_closed = False
        self._is_forgotten = books.is_forgotten
        self.accounts = books.of_room(self)

    # -- whose ------------------------------------------------------------------------------------
    def of(self, member: Member) -> Account:
        """The account of a member."""
        found = self.by_member.get(member.id)
        if found is None:
            found = self.by_member[member.id] = self.of_identity(member.identity or member.id, member.id)
        return found

    def of_identity(self, who: str, member: str = "", *, is_host: bool = False) -> Account:
        """The account of an identity, which may be no member. Hosts of the house have no limit outside of rooms: they
        set it. Neither have visitors, who share one account: nobody may use up what others need to join."""
        account = self.accounts.get(who or VISITORS)
        if account is None:
            account = self.accounts[who or VISITORS] = Account(self, who or VISITORS, member)
        elif member:
            account.member, account.version = member, -1
        if (is_host or not who) and not account.is_unlimited:
            account.is_unlimited, account.version = True, -1
        return account

    def forget(self, identities: frozenset[str]) -> None:
        if identities.isdisjoint(self.accounts):  # as in most rooms
            return
        for identity in identities:
            self.accounts.pop(identity, None)
        self.by_member = {member: one for member, one in self.by_member.items() if one.who not in identities}
        self._to_store = {line: None for line in self._to_store if line.account.who not in identities}
        self._to_record = {line: None for line in self._to_record if line.account.who not in identities}

    def handle_of(self, member: str) -> str:
        return handle_of(member)

    def about(self, account: Account) -> tuple[str, bool | None, float]:
        """The backend of an account now, whether it is outside this house, and the budget."""
        here = self.room.state.members.get(account.member)
        member = here or Member(account.member or account.who, "agent", identity=account.who)  # its budget still holds
        asked = (answer(f.sending, None, self.room, member) for f in self.room.features.that_answer["sending"])
        said = next((found for found in asked if found is not None), Sending())
        limit = said.limit if said.limit is not None else self._default
        if here is None:
            return UNKNOWN, None, limit
        if member.egress:
            return member.backend or ELSEWHERE, True, limit
        return said.backend or UNKNOWN, False if said.backend else None, limit

    def refused(self, member: str, command: str, error: CohabitError) -> None:
        if member in self.room.state.members:
            self._how.refused(member, command, error)

    # -- keeping ----------------------------------------------------------------------------------
    def changed(self, line: Line) -> None:
        """Something was counted: store it within a few seconds, and record it within a minute if it left the house."""
        if self.is_closed or self._is_forgotten(line.account.who):
            return
        self._to_store[line] = None
        self._store_later.plan()
        if line.sent.outside and line.account.member and line not in self._to_record:
            self._to_record[line] = None
            self._record_later.plan()

    def store(self) -> "asyncio.Future[None] | None":
        """Write what has changed. Returns a future that resolves when it is durable; None: there is nothing."""
        lines, self._to_store = self._to_store, {}
        if not lines:
            return None
        for line in lines:
            line.is_new = False
        done = self._how.writer.submit(Write(self.id, egress=[stored(line.sent) for line in lines]))
        done.add_done_callback(lambda done: done.exception())  # the next write has the whole count again
        return done

    def close(self) -> None:
        """Write what has changed, for the last time."""
        self.store()
        self.is_closed = True

    def entries(self) -> list[SystemCall]:
        """The entries for everything that left the house since the last ones."""
        lines, self._to_record = self._to_record, {}
        return [entry for line in lines if (entry := _entry(line)) is not None]

    def _record(self) -> None:
        if self.room.state.archived:
            return
        for line in list(self._to_record):
            before = line.replies, line.frames, line.recorded
            try:
                if (entry := _entry(line)) is not None:
                    self._how.put(entry)
            except Busy:  # it is counted with the next minute
                line.replies, line.frames, line.recorded = before
                self._record_later.plan()
                continue
            except CohabitError:  # the room is quarantined
                return
            line.is_new = False  # whatever comes next is for the next minute
            del self._to_record[line]


def up(count: int, step: int) -> int:
    """A count, rounded up to a multiple of a step."""
    return -(-count // step) * step


def _entry(line: Line) -> SystemCall | None:
    """The counts since the last entry; None: nothing, or too little for the steps in which others may know it."""
    step = line.account.step
    size, times = max(0, up(line.sent.bytes, step) - line.recorded), 1 if step == 1 else STEP_TIMES
    if not (size if step > 1 else line.replies or line.frames):
        return None
    counts = {"replies": up(line.replies, times), "frames": up(line.frames, times), "size": size}
    line.replies, line.frames, line.recorded = 0, 0, line.recorded + size
    return SystemCall("sent_outside", {"member": line.account.member, "backend": line.sent.backend, **counts})


def stored(sent: Sent) -> StoredEgress:
    return f"{sent.who}\n{sent.outside}\n{sent.backend}", encode(sent)


def read_stored(bodies: Iterable[bytes]) -> list[Sent]:
    """The counts of a room in a store."""
    try:
        return [msgspec.json.decode(body, type=Sent) for body in bodies]
    except (ValueError, TypeError) as wrong:  # bad UTF-8 and wrong types are not MsgspecErrors
        raise RecordCorrupt(f"a stored count of what was sent to a member cannot be read: {wrong}") from None
