"""Room leases: a room is open in one house at a time. A house renews its leases while it runs, and stops a room whose
lease another house has taken."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Protocol

from cohabit.errors import CohabitError, Conflict, Quarantined
from cohabit.house.clock import Clock, Timer
from cohabit.house.store.contract import Store
from cohabit.house.threads import run_in_thread

log = logging.getLogger("cohabit")
LEASE_MS = 30_000
"""Lease duration of a room; renewed every third of it."""


class Leased(Protocol):
    """A running room."""

    id: str
    failure: CohabitError | None

    def stop(self, reason: CohabitError) -> None: ...


class Leases:
    """The leases of one house. ``rooms``: those whose leases are renewed."""

    def __init__(self, store: Store, house_id: str, clock: Clock, rooms: Callable[[], Sequence[Leased]]) -> None:
        self._store = store
        self._house_id = house_id
        self._clock = clock
        self._rooms = rooms
        self.renewing: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.renewing.set_result(None)
        self._timer: Timer = clock.call_at(clock.now() + LEASE_MS // 3, self._renew_soon)

    def acquire(self, room_id: str) -> None:
        """Acquire or renew the lease of a room, or raise CONFLICT. Call it off the event loop."""
        now = self._clock.now()
        if not self._store.lease(room_id, self._house_id, now, now + LEASE_MS):
            raise Conflict(f"room {room_id} is open in another house; close it there first")

    def release(self, rooms: Sequence[str]) -> None:
        """Give leases back. Call it off the event loop."""
        for room in rooms:
            try:
                self._store.release(room, self._house_id)
            except CohabitError as failed:  # it expires by itself
                log.warning("the lease of room %s could not be released: %s", room, failed.as_text())

    def _renew_soon(self) -> None:
        self._timer = self._clock.call_at(self._clock.now() + LEASE_MS // 3, self._renew_soon)
        if self.renewing.done():
            rooms = [room for room in self._rooms() if room.failure is None]
            self.renewing = asyncio.ensure_future(self._renew(rooms))

    async def _renew(self, rooms: Sequence[Leased]) -> None:
        lost = await run_in_thread("the leases", lambda: [room for room in rooms if not self._keeps(room.id)])
        for room in lost:  # it can no longer be stored
            room.stop(Quarantined("this room was opened in another house, so it was stopped here"))

    def _keeps(self, room_id: str) -> bool:
        try:
            self.acquire(room_id)
        except Conflict as lost:
            log.error("lost the lease of room %s: %s", room_id, lost.as_text())
            return False
        except CohabitError as failed:  # the store may recover before the lease expires
            log.error("the lease of room %s could not be renewed: %s", room_id, failed.as_text())
        return True

    async def close(self) -> None:
        """Stop renewing."""
        self._timer.cancel()
        await asyncio.wait([self.renewing])
