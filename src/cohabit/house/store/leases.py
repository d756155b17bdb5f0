"""Room leases: a room is open in one house at a time. A house renews its leases while it runs, and stops a room whose
lease another house has taken. A house that is out, because another one has taken over from it, must start again: what
it knows of identities may be old."""

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Protocol, cast

from cohabit.errors import CohabitError, Conflict, Quarantined
from cohabit.house.clock import Clock, Timer
from cohabit.house.store.cluster_contract import ClusterStore
from cohabit.house.store.contract import NO_ROOM, Holder, Store
from cohabit.house.store.outage import Outage
from cohabit.house.store.validity import boot_time
from cohabit.house.threads import run_in_thread

log = logging.getLogger("cohabit")
NO_EPOCH = 0
LEASE_MS = 10_000
"""Duration of the leases of a house; renewed every third of it, all at once."""
MARGIN_MS = 500
"""A lease counts for so much less in the house that has it. Two clocks may run at slightly different speeds."""
OUT = "this house was cut off for longer than its lease, and another house has taken over; start this house again"


class HeldElsewhere(Conflict):
    """Another house has the room."""


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
        self.on_renewed: Callable[[float], Awaitable[None]] | None = None
        """Called with the boot time until which the lease of this house lasts."""
        self.on_out: Callable[[], None] = lambda: None  # another house has taken over from this one
        self._is_out = False
        self._outage = Outage("the leases of this process", "could not be renewed", "are renewed again")
        self._lock = threading.Lock()  # so that a renewal does not lease a room again that is being released
        self.renewing: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.renewing.set_result(None)
        self._timer: Timer = clock.call_at(clock.now() + LEASE_MS // 3, self._renew_soon)

    def holder_of(self, room_id: str) -> Holder:
        """The lease that a write to this room has to name, or one without a room (""). A room that this house does not
        have cannot be written to."""
        return self._house_id, self._epochs.get(room_id, NO_EPOCH)

    def begin(self, store: ClusterStore, node: str) -> float:
        """In a cluster: the lease of this house, before that of any room. Returns until when it lasts. Call it off the
        event loop."""
        began = boot_time()
        self._epochs[NO_ROOM] = store.begin(self._house_id, node, LEASE_MS)
        return _lasts_until(began)

    def acquire(self, room_id: str) -> None:
        """Acquire the lease of a room, or raise CONFLICT. Call it off the event loop."""
        held = self._lease([room_id])
        if NO_ROOM not in held:
            raise Conflict(OUT)
        if room_id not in held:
            raise HeldElsewhere(f"room {room_id} is open in another house; close it there first")
        self._epochs.update(held)

    def acquire_free(self, rooms: Sequence[str]) -> set[str]:
        """Acquire the leases of those of these rooms that no other house has, in one step. Returns the rooms that this
        house has now. Call it off the event loop."""
        held = self._lease(rooms)
        self._epochs.update(held)
        return held.keys() - {NO_ROOM}

    def _lease(self, rooms: Sequence[str]) -> dict[str, int]:
        return self._store.lease(rooms, self._house_id, LEASE_MS, self._epochs.get(NO_ROOM))

    def release(self, rooms: Sequence[str], place: str = "") -> None:
        """Give leases back; in a cluster of houses, for the one at this place to take. Call it off the event loop."""
        try:
            with self._lock:
                for room in rooms:
                    self._epochs.pop(room, None)
                if place:
                    cast(ClusterStore, self._store).release_for(rooms, self._house_id, place)
                else:
                    self._store.release(rooms, self._house_id)
        except CohabitError as failed:  # they end by themselves
            log.warning("the leases of %s could not be released: %s", ", ".join(rooms), failed.as_text())

    def release_all(self) -> None:
        """Give back the leases of all rooms. Call it off the event loop, after the last write."""
        self.release([room for room in self._epochs if room != NO_ROOM])

    def _renew_soon(self) -> None:
        self._timer = self._clock.call_at(self._clock.now() + LEASE_MS // 3, self._renew_soon)
        if self.renewing.done():
            self.renewing = asyncio.ensure_future(self.renew())

    async def renew(self) -> None:
        """Renew the leases of this house. Rooms that another one has, or had in the meantime, are stopped."""
        rooms = {room.id: room for room in self._rooms() if room.failure is None}
        began = boot_time()
        lost = await run_in_thread("the leases", partial(self._lost, rooms))
        for room in lost or ():  # it can no longer be stored
            room.stop(Quarantined("this room was stopped, because this house lost its lease, perhaps to another house"))
        if self._is_out:
            self.on_out()
        elif lost is not None and self.on_renewed is not None:
            await self.on_renewed(_lasts_until(began))

    def _lost(self, rooms: Mapping[str, Leased]) -> list[Leased] | None:
        """Renew the leases. Returns the rooms whose leases are lost; None if nothing was renewed."""
        try:
            with self._lock:
                before = {name: self._epochs[name] for name in rooms if name in self._epochs}
                held = self._lease(list(before))
        except CohabitError as failed:  # the store may recover before they end
            if self._store.is_reachable:  # else it has told so
                self._outage.failed(failed.as_text())
            return None
        self._outage.over()
        if NO_ROOM not in held and not self._is_out:
            self._is_out = True
            log.error("%s", OUT)
        lost = [name for name, epoch in before.items() if held.get(name) != epoch]
        if lost:
            log.error("lost the leases of these rooms: %s", ", ".join(lost))
            self.release(lost)
        return [rooms[name] for name in lost]

    async def close(self) -> None:
        """Stop renewing."""
        self._timer.cancel()
        await asyncio.wait([self.renewing])


def _lasts_until(began: float) -> float:
    """Until when a lease counts here that was renewed after this time."""
    return began + (LEASE_MS - MARGIN_MS) / 1000
