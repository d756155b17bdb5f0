"""The numbers of a process of a house. Counts only, no content."""

import time
from collections import Counter
from collections.abc import Iterable
from heapq import nlargest
from mmap import PAGESIZE
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from cohabit.house.house import House
    from cohabit.house.running.runner import RoomRunner


class RoomNumbers(Struct):
    """Of one room. ``calls``: since it was opened in this process."""

    room: str
    calls: int
    entries: int
    members: int
    watchers: int


class Numbers(Struct):
    """Of one process, or the sums over all. ``busiest``: the rooms with the most calls, of each process."""

    rooms: int = 0
    broken: int = 0  # quarantined, or could not be opened
    members: int = 0
    watchers: int = 0
    entries: int = 0
    calls: int = 0
    commits: int = 0
    refusals: dict[str, int] = {}
    overload: dict[str, int] = {}
    resident_bytes: int = 0  # memory
    cpu_seconds: float = 0.0
    busiest: list[RoomNumbers] = []

    def add(self, other: "Numbers") -> None:
        for name in self.__struct_fields__:
            mine, more = getattr(self, name), getattr(other, name)
            setattr(self, name, dict(Counter(mine) + Counter(more)) if isinstance(mine, dict) else mine + more)
        self.overload = {**dict.fromkeys(other.overload, 0), **self.overload}


def busiest(rooms: Iterable[RoomNumbers], most: int) -> list[RoomNumbers]:
    """Those with the most calls, and no more than ``most``: each room that a metric names is a series in Prometheus."""
    return nlargest(most, rooms, key=lambda numbers: (numbers.calls, numbers.room))


def numbers_of(house: "House") -> Numbers:
    rooms = house.rooms.values()
    refusals = Counter(house.door.refusals)
    for runner in rooms:
        refusals.update(runner.room.audit.totals)
    return Numbers(
        rooms=len(house.rooms),
        broken=len(house.rooms.problems),
        members=sum(len(runner.room.state.members) for runner in rooms),
        watchers=sum(len(runner.fanout) for runner in rooms),
        entries=sum(runner.room.record.seq + 1 for runner in rooms),
        calls=house.door.calls,
        commits=house.writer.commits,
        refusals=dict(refusals),
        overload=dict(house.overload.counts),
        resident_bytes=resident_bytes(),
        cpu_seconds=time.process_time(),
        busiest=busiest(map(_of_room, rooms), house.settings.metrics_rooms),
    )


def _of_room(runner: "RoomRunner") -> RoomNumbers:
    room = runner.room
    return RoomNumbers(room.id, runner.calls, room.record.seq + 1, len(room.state.members), len(runner.fanout))


def resident_bytes(process: int | str = "self") -> int:
    """The memory that a process uses; 0 if this system does not say, or the process is gone."""
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * PAGESIZE
    except (OSError, IndexError):
        return 0
