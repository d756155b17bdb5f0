"""How a process of a house is doing, in numbers. Counts only, no content."""

from collections import Counter
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from cohabit.house.house import House


class Numbers(Struct):
    """Of one process, or the sums over all."""

    rooms: int = 0
    broken: int = 0  # quarantined, or could not be opened
    members: int = 0
    watchers: int = 0
    entries: int = 0
    calls: int = 0
    commits: int = 0
    refusals: dict[str, int] = {}
    overload: dict[str, int] = {}

    def add(self, other: "Numbers") -> None:
        for name in self.__struct_fields__:
            mine, more = getattr(self, name), getattr(other, name)
            setattr(self, name, dict(Counter(mine) + Counter(more)) if isinstance(mine, dict) else mine + more)
        self.overload = {**dict.fromkeys(other.overload, 0), **self.overload}


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
    )
