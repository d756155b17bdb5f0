"""Which worker runs which room.

Rooms that travel together (the Nexus, and those open to it) are in one worker: a transit changes two rooms and a
profile at once. Every other room goes where the fewest are.
"""

from collections.abc import Iterable, Sequence

STRIKES, WITHIN_MS = 3, 600_000
"""A room whose world was running when its worker died, this often within this time, is not opened again by itself."""


class Placement:
    """See the module. ``rooms``: the worker of each room."""

    def __init__(self) -> None:
        self.rooms: dict[str, str] = {}
        self.together: set[str] = set()  # the rooms that travel

    def worker_for(self, room: str, workers: Sequence[str], avoid: Iterable[str] = ()) -> str:
        """The worker that should run a room. ``avoid``: rooms that must not share a worker with it, if there is another
        one: each of them may be what killed the last worker."""
        if room in self.together and (home := self._home_of(room, workers)) is not None:
            return home
        counts = self.counts(workers)
        apart = {self.rooms.get(other) for other in avoid if other != room}
        return min(workers, key=lambda worker: (worker in apart, counts[worker], worker))

    def _home_of(self, room: str, workers: Sequence[str]) -> str | None:
        """The worker with most of the other rooms that travel."""
        counts = self.counts(workers, self.together - {room})
        found = max(workers, key=lambda worker: counts[worker], default=None)
        return found if found is not None and counts[found] else None

    def counts(self, workers: Sequence[str], among: Iterable[str] | None = None) -> dict[str, int]:
        counts = dict.fromkeys(workers, 0)
        for room in self.rooms if among is None else among:
            if (worker := self.rooms.get(room)) in counts:
                counts[worker] += 1
        return counts

    def travels(self, room: str, workers: Sequence[str]) -> str | None:
        """A room turned out to travel with others. Returns the worker that it has to move to, if any."""
        home = self._home_of(room, workers)
        self.together.add(room)
        return home if home is not None and home != self.rooms.get(room) else None

    def left_by(self, worker: str) -> list[str]:
        """The rooms of a worker that is gone, sorted."""
        return sorted(room for room, held in self.rooms.items() if held == worker)

    def forget(self, room: str) -> None:
        self.rooms.pop(room, None)
        self.together.discard(room)


class Strikes:
    """Which rooms may have killed their workers. A room can be innocent, so one death says nothing."""

    def __init__(self) -> None:
        self._times: dict[str, list[int]] = {}

    def add(self, rooms: Iterable[str], at: int) -> list[str]:
        """A worker died while the worlds of these rooms were running. Returns those that did so too often."""
        found = []
        for room in rooms:
            times = [*(time for time in self._times.get(room, ()) if at - time < WITHIN_MS), at]
            self._times[room] = times
            if len(times) >= STRIKES:
                found.append(room)
        return found

    def forget(self, room: str) -> None:
        """A host has reopened it, or it was deleted."""
        self._times.pop(room, None)
