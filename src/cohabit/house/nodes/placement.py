"""Which worker runs which room.

Rooms that travel together (the Nexus, and those open to it) are in one worker: a transit changes two rooms and a
profile at once. Every other room goes where the fewest are.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

STRIKES, WITHIN_MS = 3, 600_000
"""A room whose world was running when its worker died, this often within this time, is not opened again by itself."""


class Placement:
    """See the module."""

    def __init__(self) -> None:
        self.together: set[str] = set()  # the rooms that travel
        self._rooms: dict[str, str] = {}  # the worker of each
        self._counts: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._rooms)

    def worker_of(self, room: str) -> str | None:
        return self._rooms.get(room)

    def put(self, room: str, worker: str) -> None:
        """A worker has this room now."""
        self.remove(room)
        self._rooms[room] = worker
        self._counts[worker] += 1

    def remove(self, room: str) -> None:
        """No worker has it."""
        if (worker := self._rooms.pop(room, None)) is not None:
            self._counts[worker] -= 1

    def worker_for(self, room: str, workers: Sequence[str], avoid: Iterable[str] = ()) -> str:
        """The worker that should run a room. ``avoid``: rooms that must not share a worker with it, if there is another
        one: each of them may be what killed the last worker."""
        if room in self.together and (home := self._home_of(room, workers)) is not None:
            return home
        apart = {self._rooms.get(other) for other in avoid if other != room}
        return min(workers, key=lambda worker: (worker in apart, self._counts[worker], worker))

    def _home_of(self, room: str, workers: Sequence[str]) -> str | None:
        """The worker with most of the other rooms that travel."""
        counts = Counter(self._rooms.get(other) for other in self.together if other != room)
        found = max(workers, key=lambda worker: counts[worker], default=None)
        return found if found is not None and counts[found] else None

    def counts(self, workers: Sequence[str]) -> dict[str, int]:
        """The number of rooms of each worker."""
        return {worker: self._counts[worker] for worker in workers}

    def travels(self, room: str, workers: Sequence[str]) -> str | None:
        """A room turned out to travel with others. Returns the worker that it has to move to, if any."""
        home = self._home_of(room, workers)
        self.together.add(room)
        return home if home is not None and home != self._rooms.get(room) else None

    def left_by(self, worker: str) -> list[str]:
        """The rooms of a worker that is gone, sorted."""
        return sorted(room for room, held in self._rooms.items() if held == worker)

    def forget(self, room: str) -> None:
        """It was deleted."""
        self.remove(room)
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
