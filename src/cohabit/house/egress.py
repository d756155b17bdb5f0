"""Counts what leaves the house: replies and pushed frames to members that send them to a model elsewhere.

Once a minute the counts become an entry of the record, one for each such member.
"""

from collections.abc import Callable, Iterable

from msgspec import Struct, structs

from cohabit.errors import Busy, CohabitError
from cohabit.house.calls import Call, SystemCall
from cohabit.house.clock import Clock
from cohabit.house.subscriptions import Subscription
from cohabit.room.room import Room

EVERY_MS = 60_000


class Sent(Struct):
    """The data sent to one member since the last entry."""

    backend: str
    replies: int = 0
    frames: int = 0
    size: int = 0  # of the frames, in bytes


class Egress:
    """The data sent to members of one room who pass it on to a model outside this house."""

    def __init__(
        self, room: Room, clock: Clock, put: Callable[[Call], object], open_now: Callable[[], Iterable[Subscription]]
    ) -> None:
        self._room = room
        self._clock = clock
        self._put = put
        self._open_now = open_now
        self._sent: dict[str, Sent] = {}
        self._planned = False

    def replied(self, member: str) -> None:
        """Count a reply."""
        self._of(member).replies += 1
        self._plan()

    def started(self, member: str) -> None:
        """A stream begins: what is pushed to it is counted by the stream itself."""
        if self._leaves(member):
            self._of(member)
            self._plan()

    def collect(self, subscription: Subscription) -> None:
        """Take over what a stream has counted."""
        who = subscription.member
        if subscription.pushed and (who in self._sent or self._leaves(who)):
            sent = self._of(who)
            sent.frames += subscription.pushed
            sent.size += subscription.pushed_bytes
            self._plan()
        subscription.pushed = subscription.pushed_bytes = 0

    def entries(self) -> list[SystemCall]:
        """The entries for everything that was counted."""
        for subscription in list(self._open_now()):
            self.collect(subscription)
        found, self._sent = self._sent, {}
        for subscription in self._open_now():
            self.started(subscription.member)
        return [
            SystemCall("left", {"member": who, **structs.asdict(sent)})
            for who, sent in found.items()
            if sent.replies or sent.frames
        ]

    def _of(self, member: str) -> Sent:
        known = self._sent.get(member)
        if known is None:
            who = self._room.state.members.get(member)
            known = self._sent[member] = Sent(who.backend or "elsewhere" if who is not None else "elsewhere")
        return known

    def _leaves(self, member: str) -> bool:
        known = self._room.state.members.get(member)
        return known is not None and known.egress

    def _plan(self) -> None:
        if not self._planned:
            self._planned = True
            self._clock.call_at(self._clock.now() + EVERY_MS, self._record)

    def _record(self) -> None:
        self._planned = False
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
            self._plan()

    def _put_back(self, member: str, backend: str, replies: int, frames: int, size: int) -> None:
        """Count something again with what is sent in the next minute."""
        sent = self._of(member)
        sent.replies += replies
        sent.frames += frames
        sent.size += size
        self._plan()
