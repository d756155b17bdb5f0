"""A subscription: the frames of a room for one reader.

Events come in order and without gaps, from the reader's cursor; only the latest view is kept. A waiting reader gets a
frame immediately; for a slow one frames are queued, up to a limit of frames and bytes. A frame is delivered only if the
reader's credential and grant still allow it, however long it waited for the disk or in the queue.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Protocol

from cohabit.errors import Busy, CohabitError, PermissionDenied, Unauthorized
from cohabit.house.overload import OverloadLog
from cohabit.house.streams.media import MediaRoom
from cohabit.model.egress import SentKind
from cohabit.model.grant import Capability
from cohabit.model.identity import Credential
from cohabit.model.seat import Eye, SeatId
from cohabit.room.decide import by_credential
from cohabit.room.decision import refusal
from cohabit.room.room import Room

Grant = tuple[frozenset[Capability], SeatId | None, Eye | None]
"""A member's capabilities, the seat it looks through, and its eye."""
NO_GRANT: Grant = (frozenset(), None, None)
Deliver = Callable[[bytes], bool]
"""Sends a frame immediately. Returns False if the reader is not ready for it."""


class Labelled(bytes):
    """A frame of which it is known what it is, where what leaves the house is counted."""

    kind: SentKind


class Outboxes:
    """The bytes queued for all readers of a house. Beyond the limit the reader with the longest queue is disconnected,
    so many slow readers cannot use up the memory, and the faster ones are not affected."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._total = 0
        self._queues: dict[Subscription, int] = {}

    def set(self, sub: "Subscription", size: int) -> None:
        """Note how many bytes are queued for a reader."""
        self._total += size - self._queues.pop(sub, 0)
        if size:
            self._queues[sub] = size
        while self._total > self._limit:
            max(self._queues, key=self._queues.__getitem__).too_slow()


class Source(MediaRoom, Protocol):
    """The parts of a running room that a subscription needs."""

    overload: OverloadLog
    outboxes: Outboxes

    async def first_view(self, member: str) -> tuple[bytes, Grant]:
        """The current view of a member, and the grant under which it was made."""
        ...

    def unsubscribe(self, sub: "Subscription") -> None: ...


class Subscription:
    """Iterate over it to get the frames, or ``take`` them and ``park``; close it when done. ``deliver`` gets frames
    while the reader waits.

    There is one for each connection, so it keeps no empty containers that are large: an empty deque has 760 bytes."""

    __slots__ = (
        "_account",
        "_backlog",
        "_backlog_under",
        "_bytes",
        "_closed",
        "_deliver",
        "_deliver_now",
        "_events",
        "_first",
        "_leaves",
        "_max_bytes",
        "_max_frames",
        "_queued_under",
        "_resume",
        "_view",
        "_wants_first_view",
        "credential",
        "ended",
        "eye",
        "held",
        "member",
        "on_close",
        "source",
        "through",
        "views",
        "watching",
    )  # fmt: skip

    def __init__(
        self,
        source: Source,
        member: str,
        credential: Credential | None,
        *,
        views: bool = True,
        backlog: AsyncIterator[bytes] | None = None,
        deliver: Deliver | None = None,
        leaves: bool = True,
        watching: bool = False,
    ) -> None:
        """``leaves``: the frames are sent to the client, and counted. Else the reader only learns from them that
        something has changed. ``watching``: the reader is a page, which leaves the seat to the agent that plays it."""
        self.source = source
        self.member = member
        self.credential = credential
        self.views = views
        self.watching = watching
        self.held: frozenset[Capability] = frozenset()  # the capabilities last sent to the reader
        self.through: SeatId | None = None  # the seat that it looked through at that time
        self.eye: Eye | None = None  # its eye at that time
        self.ended: CohabitError | None = None
        self.on_close: list[Callable[[], None]] = []
        self._account = source.egress.of(source.room.state.members[member])
        self._leaves = leaves
        self._backlog = backlog
        self._deliver = deliver
        self._first: bytes | None = None  # of the backlog
        self._max_frames = source.settings.outbox_limit
        self._max_bytes = source.settings.outbox_bytes
        self._events: list[bytes] = []  # at most ``_max_frames``
        self._bytes = 0
        self._queued_under: list[Grant] = []  # the grants under which the queued frames were made; seldom two
        self._backlog_under: Grant | None = None  # the grant when the backlog was started
        self._view: bytes | None = None
        self._deliver_now: Deliver | None = None  # set while the queue is empty and the reader waits
        self._wants_first_view = views
        self._resume: Callable[[], object] | None = None  # set while the reader waits
        self._closed = False

    @property
    def room(self) -> str:
        return self.source.room.id

    @property
    def closed(self) -> bool:
        return self._closed

    @property
    def _grant(self) -> "Grant":
        return self.held, self.through, self.eye

    # -- from the room ----------------------------------------------------------------------------
    def push_event(self, frame: bytes) -> None:
        """Queue an event. Events are never dropped; a full queue ends the subscription."""
        if self.ended is not None or self._delivered(frame, getattr(frame, "kind", "events")):
            return
        self._will_queue()
        self._events.append(frame)
        self._bytes += len(frame)
        if len(self._events) > self._max_frames or self._bytes > self._max_bytes:
            self.too_slow()
        else:
            self._wake()
            self.source.outboxes.set(self, self._bytes)

    def too_slow(self) -> None:
        """End, and drop what is queued: the reader resumes from its cursor."""
        self._clear()
        self.source.overload.add("reader", self.room)
        self.end(Busy("subscription ended: the client reads too slowly. Reconnect and subscribe from your last cursor"))

    def _clear(self) -> None:
        self._events.clear()
        self._view, self._bytes = None, 0
        self.source.outboxes.set(self, 0)

    def push_view(self, frame: bytes) -> None:
        """Queue a view. It replaces a view that was not read yet."""
        if self.ended is not None or self._delivered(frame, "views"):
            return
        self._will_queue()
        self._view = frame
        self._wake()

    def _delivered(self, frame: bytes, kind: SentKind) -> bool:
        """Send a frame directly if the reader waits and nothing is queued. Returns whether it was handled."""
        deliver = self._deliver_now
        if deliver is None:
            return False
        credential = self.credential
        if credential is not None and (credential.revoked or credential.expires_at is not None):
            self.end_invalid()
        size = len(frame) if self._leaves else 0
        if self.ended is not None or not (self._account.allows(size) or self._may_leave(frame)):
            return True
        if not deliver(frame):
            return False
        if size:
            self._account.pushed(kind, size)
        return True

    def _may_leave(self, frame: bytes) -> bool:
        """True if the budget of the member allows it. If not, the subscription ends."""
        if self._account.allows(len(frame) if self._leaves else 0):
            return True
        self._clear()
        self.end(self._account.refusal())
        return False

    def _taken(self, frame: bytes, kind: SentKind) -> bytes:
        """Count a frame that the reader takes, or raise if its budget does not allow it."""
        if not self._may_leave(frame):
            assert self.ended is not None
            self.close()
            raise self.ended
        if self._leaves:
            self._account.pushed(kind, len(frame))
        return frame

    def _will_queue(self) -> None:
        """Before a frame is queued: later frames wait behind it, and its grant is remembered."""
        self._deliver_now = None
        if not self._events and self._view is None:
            self._queued_under.clear()
        if self._grant not in self._queued_under:
            self._queued_under.append(self._grant)

    def _wake(self) -> None:
        """The reader must read on: something is queued, or the subscription has ended."""
        resume, self._resume, self._deliver_now = self._resume, None, None
        if resume is not None:
            resume()

    def end(self, reason: CohabitError) -> None:
        """End after the queued frames. The reader then gets the reason."""
        if self.ended is None:
            self.ended = reason
            self._wake()

    def end_invalid(self) -> None:
        """End because the credential was revoked or has expired."""
        decision = by_credential(self.credential, self.source.now())
        if decision.code:
            self.end(refusal(decision))

    def end_if_narrowed(self) -> None:
        """End if the member may no longer see what it could see when its last frames were made."""
        wrong = self._refusal(self._grant)
        if wrong is not None:
            self._clear()
            self.end(wrong)

    # -- for the reader ---------------------------------------------------------------------------
    async def prepare(self) -> None:
        """Read the start of the backlog, so a cursor that is too old fails before anything is sent."""
        if self._backlog is None:
            return
        self._backlog_under = self._grant
        try:
            self._first = await anext(self._backlog, None)
        except BaseException:  # also if the connection ends meanwhile
            self.close()
            raise

    async def first_view(self) -> bytes:
        """The current view, for a reader who wants it first; empty if there is none."""
        if not self._wants_first_view or self.ended is not None:
            return b""
        self._wants_first_view = False
        while True:
            frame, made_under = await self.source.first_view(self.member)
            self.end_invalid()
            if not frame or self.ended is not None:
                return b""
            if self._refusal(made_under) is None:
                return frame  # else the grant was narrowed in the meantime: look again

    def __aiter__(self) -> "Subscription":
        return self

    async def __anext__(self) -> bytes:
        """The next frame. Raises the reason if the subscription was ended."""
        while (frame := await self.take()) is None:
            if self._closed:
                raise StopAsyncIteration
            waiting = asyncio.get_running_loop().create_future()
            self.park(partial(_resolve, waiting))
            try:
                await waiting
            finally:
                self._resume = self._deliver_now = None
        return frame

    async def take(self) -> bytes | None:
        """The next frame; None if there is none now. Raises the reason if the subscription was ended."""
        if self._backlog is not None:
            frame = await self._next_of_backlog(self._backlog)
            if frame is not None:
                return self._taken(frame, getattr(frame, "kind", "events"))
            self._backlog = None
        view = await self.first_view()
        if view and self._view is None:
            self._view = view
        kind: SentKind = "events" if self._events else "views"
        frame_or_none = self._next()
        if frame_or_none is not None:
            return self._taken(frame_or_none, getattr(frame_or_none, "kind", kind))
        if self.ended is not None:
            self.close()
            raise self.ended
        return None

    def park(self, resume: Callable[[], object]) -> None:
        """After ``take`` has returned None: deliver frames directly from now on. ``resume`` is called once, when the
        reader must ``take`` again. So a reader needs no task that waits, which has more than 1 KiB."""
        if not self._closed:
            self._deliver_now, self._resume = self._deliver, resume

    async def _next_of_backlog(self, backlog: AsyncIterator[bytes]) -> bytes | None:
        """The next frame of the backlog; None if there is none left or it may no longer be delivered."""
        if self._backlog_under is None:
            self._backlog_under = self._grant
        frame, self._first = self._first, None
        if frame is None:
            frame = await anext(backlog, None)
        wrong = self._refusal(self._backlog_under) if frame is not None else None
        if wrong is None:
            return frame
        self._clear()
        self.ended = wrong
        return None

    def _next(self) -> bytes | None:
        if not self._events and self._view is None:
            return None
        wrong = next(filter(None, map(self._refusal, self._queued_under)), None)
        if wrong is not None:  # the queue is cleared when the reader gets the reason
            self.ended = wrong
            return None
        if self._events:
            frame = self._events.pop(0)
            self._bytes -= len(frame)
            self.source.outboxes.set(self, self._bytes)
            return frame
        frame_view, self._view = self._view, None
        return frame_view

    def _refusal(self, made_under: "Grant") -> CohabitError | None:
        """The reason why a frame that was made under this grant may no longer be delivered; None if it may."""
        decision = by_credential(self.credential, self.source.now())
        if decision.code:
            return refusal(decision)
        room = self.source.room
        if self.member not in room.state.members:
            return self.ended or Unauthorized("you were removed from this room")
        if is_narrowed(room, self.member, made_under):  # it may contain what is no longer visible
            return PermissionDenied("your grant has changed; subscribe again from your last cursor")
        return None

    def close(self) -> None:
        """Stop, and unsubscribe from the room."""
        if self._closed:
            return
        self._closed = True
        self._clear()
        self._wake()
        self.source.unsubscribe(self)
        for stop in self.on_close:
            stop()


def is_narrowed(room: Room, who: str, made_under: Grant) -> bool:
    """True if a member may not see any more what it could see under an earlier grant."""
    member = room.state.members.get(who)
    if member is None:
        return True
    held, through, eye = made_under
    shown = through is not None and eye is not None and eye.sees == "own"  # to a kibitzer
    return not held <= member.held or through not in (None, member.through) or (shown and eye != room.eye(member))


def _resolve(waiting: "asyncio.Future[None]") -> None:
    if not waiting.done():
        waiting.set_result(None)
