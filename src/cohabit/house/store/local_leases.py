"""Leases in a store that only one process has open. They end with the process at the latest, so they are in memory."""

from collections.abc import Callable, Iterable, Sequence

from cohabit.house.store.contract import NO_ROOM, Holder, Write, not_held

Now = Callable[[], int]
"""The clock by which leases end, in ms."""


def standing() -> int:
    """A clock under which no lease ends. A single house that was suspended for an hour goes on."""
    return 0


class LocalLeases:
    """See ``Store.lease``. The store calls it under the lock of its commits, so that no house gets a room while another
    one is still writing to it."""

    def __init__(self, now: Now = standing) -> None:
        self._now = now
        self._houses: dict[str, tuple[int, int]] = {}  # when its leases end, and its epoch
        self._held: dict[str, Holder] = {}  # by room
        self._last = 0

    def take(self, rooms: Sequence[str], house: str, ms: int, epoch: int | None) -> dict[str, int]:
        now = self._now()
        known = self._houses.get(house, (0, None))[1]
        if epoch is not None and epoch != known:
            return {}
        own = self._next() if known is None else known
        self._houses[house] = now + ms, own
        for room in rooms:
            holder = self._held.get(room, (house, 0))[0]
            if holder != house and not self._is_live(holder, now):
                self._end(holder)
            if room not in self._held:
                self._held[room] = house, self._next()
        mine = {room: held[1] for room in rooms if (held := self._held[room])[0] == house}
        return {NO_ROOM: own, **mine}

    def _next(self) -> int:
        self._last += 1
        return self._last

    def _end(self, house: str) -> None:
        self._houses.pop(house, None)
        self._held = {room: holder for room, holder in self._held.items() if holder[0] != house}

    def release(self, rooms: Sequence[str], house: str) -> None:
        for room in rooms:
            if self._held.get(room, ("", 0))[0] == house:
                del self._held[room]

    def forget(self, room: str) -> None:
        """It was deleted."""
        self._held.pop(room, None)

    def check(self, writes: Iterable[Write]) -> None:
        """Raise STORAGE_FAILED if one of the writes is of a house that may not write to its room."""
        now = self._now()
        for write in writes:
            if write.is_fenced and not self._may_write(write.room, write.holder, now):
                raise not_held(write.room)

    def _may_write(self, room: str, holder: Holder | None, now: int) -> bool:
        if holder is None or not self._is_live(holder[0], now):
            return False
        return self._held.get(room) == holder if room else self._houses[holder[0]][1] == holder[1]

    def _is_live(self, house: str, now: int) -> bool:
        return self._houses.get(house, (now, 0))[0] > now
