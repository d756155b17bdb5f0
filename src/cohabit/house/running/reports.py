"""What a room records of its traffic from time to time: the calls that were refused, and what left the house."""

from collections.abc import Callable, Iterable

from msgspec import Struct, structs, to_builtins

from cohabit.errors import Busy, CohabitError
from cohabit.house.clock import Clock
from cohabit.house.running.calls import Call, SystemCall
from cohabit.house.streams.subscriptions import Subscription
from cohabit.room.access.refusals import WINDOW_MS, Refusal
from cohabit.room.room import Room

STORE_MS = 1_000
"""How long a refusal may wait before it is stored. No reply waits for it, and many of them are one write."""
EVERY_MS = 60_000
"""How often the counts of what leaves the house become entries."""


class Later:
    """Calls something once, a while after it was first asked for."""

    def __init__(self, clock: Clock, ms: int, call: Callable[[], object]) -> None:
        self._clock, self._ms, self._call = clock, ms, call
        self.is_planned = False

    def plan(self) -> None:
        if not self.is_planned:
            self.is_planned = True
            self._clock.call_at(self._clock.now() + self._ms, self._now)

    def _now(self) -> None:
        self.is_planned = False
        self._call()


class AuditChain:
    """Stores the refused calls of a room, and puts them into its record, where they are part of the hash chain.

    Equal refusals within a minute are one line, so a line is recorded when its minute is over. Until then it is in the
    store only.
    """

    def __init__(self, room: Room, clock: Clock, put: Callable[[Call], object], store: Callable[[], object]) -> None:
        """``put`` runs an entry; ``store`` writes the refusals of the room."""
        self._room = room
        self._clock = clock
        self._put = put
        self._to_store = Later(clock, STORE_MS, store)
        self._to_record = Later(clock, WINDOW_MS, self._record)

    def plan(self) -> None:
        """Store the refusals within a second, and record them when their minute is over."""
        if not self._to_store.is_planned:
            self._to_store.plan()
            self._to_record.plan()

    def rest(self) -> SystemCall | None:
        """An entry with everything that is not recorded yet, for the end."""
        left = self._room.audit.unrecorded(self._room.state.audited)
        return _entry(left) if left and not self._room.state.archived else None

    def _record(self) -> None:
        room = self._room
        if room.state.archived:
            return
        lines = room.audit.unrecorded(room.state.audited)  # before the entry: most rooms apply it at once
        closed = room.audit.unrecorded(room.state.audited, self._clock.now())
        if closed:
            try:
                self._put(_entry(closed))
            except CohabitError:  # the room is busy or quarantined: the lines stay in the store
                self._to_record.plan()
                return
        if len(lines) > len(closed):
            self._to_record.plan()


def _entry(lines: list[Refusal]) -> SystemCall:
    return SystemCall("refused", {"lines": to_builtins(lines)})


class Sent(Struct):
    """The data sent to one member since the last entry."""

    backend: str
    replies: int = 0
    frames: int = 0
    size: int = 0  # of the frames, in bytes


class Egress:
    """Counts the replies and pushed frames to members of a room who pass them on to a model outside this house.

    Once a minute the counts become entries of the record, one for each such member.
    """

    def __init__(
        self, room: Room, clock: Clock, put: Callable[[Call], object], open_now: Callable[[], Iterable[Subscription]]
    ) -> None:
        self._room = room
        self._put = put
        self._open_now = open_now
        self._sent: dict[str, Sent] = {}
        self._to_record = Later(clock, EVERY_MS, self._record)

    def replied(self, member: str) -> None:
        """Count a reply."""
        self._of(member).replies += 1

    def started(self, member: str) -> None:
        """A stream begins: what is pushed to it is counted by the stream itself."""
        if self._leaves(member):
            self._of(member)

    def collect(self, subscription: Subscription) -> None:
        """Take over what a stream has counted."""
        who = subscription.member
        if subscription.pushed and (who in self._sent or self._leaves(who)):
            sent = self._of(who)
            sent.frames += subscription.pushed
            sent.size += subscription.pushed_bytes
        subscription.pushed = subscription.pushed_bytes = 0

    def entries(self) -> list[SystemCall]:
        """The entries for everything that was counted."""
        for subscription in list(self._open_now()):
            self.collect(subscription)
        found, self._sent = self._sent, {}
        for subscription in self._open_now():
            self.started(subscription.member)
        return [
            SystemCall("sent_outside", {"member": who, **structs.asdict(sent)})
            for who, sent in found.items()
            if sent.replies or sent.frames
        ]

    def _of(self, member: str) -> Sent:
        """What is counted for a member, and recorded within a minute."""
        self._to_record.plan()
        known = self._sent.get(member)
        if known is None:
            who = self._room.state.members.get(member)
            known = self._sent[member] = Sent(who.backend or "elsewhere" if who is not None else "elsewhere")
        return known

    def _leaves(self, member: str) -> bool:
        known = self._room.state.members.get(member)
        return known is not None and known.egress

    def _record(self) -> None:
        if self._room.state.archived:
            return
        for entry in self.entries():
            try:
                self._put(entry)
            except Busy:
                self._put_back(**entry.args)
            except CohabitError:  # the room is quarantined
                return
        if any(self._leaves(subscription.member) for subscription in self._open_now()):
            self._to_record.plan()

    def _put_back(self, member: str, backend: str, replies: int, frames: int, size: int) -> None:
        """Count something again with what is sent in the next minute."""
        sent = self._of(member)
        sent.replies += replies
        sent.frames += frames
        sent.size += size
