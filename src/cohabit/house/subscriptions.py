"""A subscription: what one reader of a room is sent.

Events come in order and without gaps, from the reader's cursor on; of the views only the latest counts. A reader that
is waiting gets a frame at once; for a slow one frames are queued, up to a limit of frames and bytes. Before anything
is taken out of the queue, the reader's credential and grant are checked again.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING

from cohabit.errors import Busy, CohabitError, PermissionDenied, Unauthorized
from cohabit.model.grant import Capability
from cohabit.model.identity import Credential
from cohabit.model.seat import SeatId

if TYPE_CHECKING:
    from cohabit.house.rooms import RoomHost

Grant = tuple[frozenset[Capability], SeatId | None]
"""What a member holds, and the seat it looks through."""
Deliver = Callable[[bytes], bool]
"""Sends a frame at once; False where the reader is not ready for it."""


class Subscription:
    """Iterate over it to get the frames; close it when done. ``deliver`` gets frames at once while the reader waits."""

    def __init__(
        self,
        host: "RoomHost",
        member: str,
        credential: Credential | None,
        *,
        views: bool = True,
        backlog: AsyncIterator[bytes] | None = None,
        deliver: Deliver | None = None,
    ) -> None:
        self.host = host
        self.room = host.room.id
        self.member = member
        self.credential = credential
        self.views = views
        self.held: frozenset[Capability] = frozenset()  # the member's capabilities, as last told …
        self.through: SeatId | None = None  # … and the seat it looks through
        self.ended: CohabitError | None = None
        self.on_close: list[Callable[[], None]] = []
        self._backlog = backlog
        self._deliver = deliver
        self._first: bytes | None = None  # of the backlog
        self._max_frames = host.settings.outbox_limit
        self._max_bytes = host.settings.outbox_bytes
        self._events: deque[bytes] = deque()
        self._bytes = 0
        self._queued_under: set[Grant] = set()  # every grant under which a frame in the queue was made
        self._backlog_under: Grant | None = None  # when the backlog was begun
        self._view: bytes | None = None
        self._waiting = False  # the reader has everything and waits for more
        self._wants_first_view = views
        self._wake = asyncio.Event()
        self._closed = False

    @property
    def _grant(self) -> "Grant":
        return self.held, self.through

    # -- from the room ----------------------------------------------------------------------------
    def push_event(self, frame: bytes) -> None:
        """An event, in order; lost only together with the subscription."""
        if self.ended is not None or self._delivered(frame):
            return
        self._note_grant()
        self._events.append(frame)
        self._bytes += len(frame)
        if len(self._events) > self._max_frames or self._bytes > self._max_bytes:
            self._events.clear()
            self.end(Busy("you read too slowly; connect again and subscribe from your last cursor"))
        else:
            self._wake.set()

    def push_view(self, frame: bytes) -> None:
        """The newest view; it replaces one that was not read yet."""
        if self.ended is not None or self._delivered(frame):
            return
        self._note_grant()
        self._view = frame
        self._wake.set()

    def _delivered(self, frame: bytes) -> bool:
        """Was the frame sent at once? Only to a reader that waits, and never past frames that are queued."""
        if not self._waiting or self._deliver is None or self._events or self._view is not None:
            return False
        if self.credential is not None and self.credential.revoked:
            self.end(_revoked())
            return True
        return self._deliver(frame)

    def _note_grant(self) -> None:
        """A frame is about to be queued that was made under the present grant."""
        if not self._events and self._view is None:
            self._queued_under.clear()
        self._queued_under.add(self._grant)

    def end(self, reason: CohabitError) -> None:
        """Nothing comes after what has been queued. The reader gets the reason."""
        if self.ended is None:
            self.ended = reason
            self._wake.set()

    def end_invalid(self) -> None:
        """The credential was revoked or has expired."""
        credential = self.credential
        if credential is not None and not credential.revoked:
            self.end(_expired())
        else:
            self.end(_revoked())

    # -- for the reader ---------------------------------------------------------------------------
    async def prepare(self) -> None:
        """Read the beginning of the backlog, so that a cursor that is too old fails before anything is sent."""
        if self._backlog is None:
            return
        self._backlog_under = self._grant
        try:
            self._first = await anext(self._backlog, None)
        except CohabitError:
            self.close()
            raise

    async def first_view(self) -> bytes:
        """The view as it is now, for a reader who wants it before everything else. Empty: there is none."""
        if not self._wants_first_view or self.ended is not None:
            return b""
        self._wants_first_view = False
        return await self.host.first_view(self.member)

    def __aiter__(self) -> "Subscription":
        return self

    async def __anext__(self) -> bytes:
        """The next frame. Raises the reason when the subscription was ended."""
        while True:
            if self._backlog is not None:
                frame = await self._next_of_backlog(self._backlog)
                if frame is not None:
                    return frame
                self._backlog = None
            view = await self.first_view()
            if view and self._view is None:
                self._view = view
            frame_or_none = self._next()
            if frame_or_none is not None:
                return frame_or_none
            if self.ended is not None:
                self.close()
                raise self.ended
            if self._closed:
                raise StopAsyncIteration
            self._waiting = True
            try:
                await self._wake.wait()
            finally:
                self._waiting = False
                self._wake.clear()

    async def _next_of_backlog(self, backlog: AsyncIterator[bytes]) -> bytes | None:
        """The next frame of the backlog; None where there is no more, or it may not be delivered any more."""
        if self._backlog_under is None:
            self._backlog_under = self._grant
        frame, self._first = self._first, None
        if frame is None:
            frame = await anext(backlog, None)
        refusal = self._refusal(self._backlog_under) if frame is not None else None
        if refusal is None:
            return frame
        self._events.clear()
        self._view, self.ended = None, refusal
        return None

    def _next(self) -> bytes | None:
        if not self._events and self._view is None:
            return None
        refusal = next(filter(None, map(self._refusal, self._queued_under)), None)
        if refusal is not None:
            self._events.clear()
            self._view = None
            self.ended = refusal
            return None
        if self._events:
            frame = self._events.popleft()
            self._bytes -= len(frame)
            return frame
        frame_view, self._view = self._view, None
        return frame_view

    def _refusal(self, made_under: "Grant") -> CohabitError | None:
        """Why a frame that was made under this grant may not be delivered any more."""
        credential = self.credential
        if credential is not None and credential.revoked:
            return _revoked()
        if credential is not None and credential.expires_at is not None and self.host.now() >= credential.expires_at:
            return _expired()
        member = self.host.room.state.members.get(self.member)
        if member is None:
            return self.ended or Unauthorized("you were removed from this room")
        held, through = made_under
        if held - member.held or through not in (None, member.through):  # it may show what is not allowed any more
            return PermissionDenied("your grant has changed; subscribe again from your last cursor")
        return None

    def close(self) -> None:
        """Stop; the room forgets this reader."""
        if self._closed:
            return
        self._closed = True
        self._wake.set()
        self.host.unsubscribe(self)
        for stop in self.on_close:
            stop()
        self.on_close.clear()


def _revoked() -> Unauthorized:
    return Unauthorized("this token was revoked; ask your host for a new one")


def _expired() -> Unauthorized:
    return Unauthorized("this token has expired; ask your host for a new one")
