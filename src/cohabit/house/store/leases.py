"""Room leases: a room is open in one house at a time. A house renews its leases while it runs, and stops a room whose
lease another house has taken. A house that is out, because another one has taken over from it, must start again: what
it knows of identities may be old."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Protocol

from cohabit.errors import CohabitError, Conflict, Quarantined
from cohabit.house.clock import Clock, Timer
from cohabit.house.store.contract import NO_ROOM, Holder, Store
from cohabit.house.threads import run_in_thread

log = logging.getLogger("cohabit")
NO_EPOCH = 0
LEASE_MS = 10_000
"""Duration of the leases of a house; renewed every third of it, all at once."""
OUT = "this house was cut off for longer than its lease, and another house has taken over; start this house again"


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
        self._epochs: dict[str, int] = {}  # of the rooms that this house has, and its own
        self.renewing: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.renewing.set_result(None)
        self._timer: Timer = clock.call_at(clock.now() + LEASE_MS // 3, self._renew_soon)

    def holder_of(self, room_id: str) -> Holder:
        """What a write to this room has to name, or one without a room (""). A room that this house does not have
        cannot be written to."""
        return self._house_id, self._epochs.get(room_id, NO_EPOCH)

    def acquire(self, room_id: str) -> None:
        """Acquire the lease of a room, or raise CONFLICT. Call it off the event loop."""
        held = self._lease([room_id])
        if NO_ROOM not in held:
            raise Conflict(OUT)
        if room_id not in held:
            raise Conflict(f"room {room_id} is open in another house; close it there first")
        self._epochs.update(held)

    def _lease(self, rooms: Sequence[str]) -> dict[str, int]:
        return self._store.lease(rooms, self._house_id, LEASE_MS, self._epochs.get(NO_ROOM))

    def release(self, rooms: Sequence[str]) -> None:
        """Give leases back. Call it off the event loop."""
        for room in rooms:
            self._epochs.pop(room, None)
        try:
            self._store.release(rooms, self._house_id)
        except CohabitError as failed:  # they end by themselves
            log.warning("the leases of %s could not be released: %s", ", ".join(rooms), failed.as_text())

    def _renew_soon(self) -> None:
        self._timer = self._clock.call_at(self._clock.now() + LEASE_MS // 3, self._renew_soon)
        if self.renewing.done():
            rooms = [room for room in self._rooms() if room.failure is None]
            self.renewing = asyncio.ensure_future(self._renew(rooms))

    async def _renew(self, rooms: Sequence[Leased]) -> None:
        lost = await run_in_thread("the leases", partial(self._lost, {room.id: room for room in rooms}))
        for room in lost:  # it can no longer be stored
            room.stop(Quarantined("this room was stopped, because this house lost its lease, perhaps to another house"))

    def _lost(self, rooms: Mapping[str, Leased]) -> list[Leased]:
        """Renew the leases. Returns the rooms that another house has, or had in the meantime."""
        before = {name: self._epochs.get(name) for name in rooms}
        try:
            held = self._lease(list(rooms))
        except CohabitError as failed:  # the store may recover before they end
            log.error("the leases could not be renewed: %s", failed.as_text())
            return []
        lost = [name for name, epoch in before.items() if held.get(name) != epoch]
        if lost:
            log.error("lost the leases of these rooms: %s%s", ", ".join(lost), "" if NO_ROOM in held else f" ({OUT})")
            self.release(lost)
        return [rooms[name] for name in lost]

    async def close(self) -> None:
        """Stop renewing."""
        self._timer.cancel()
        await asyncio.wait([self.renewing])
