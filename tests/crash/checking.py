"""What must be true of a data folder after any crash."""

from collections import Counter
from contextlib import closing
from pathlib import Path

from cohabit.house.store.loading import load_room
from cohabit.house.store.sqlite import SQLiteStore
from cohabit.registry import make_world
from cohabit.room.record import GENESIS, Line, read_lines
from cohabit.room.room import Room

PLAYER = Path(__file__).with_name("player.py")
WORLDS = Path(__file__).parent.parent / "room" / "worlds.py"


class Kept:
    """What a house finds when it starts again: the chain is checked on the way."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.heads: dict[str, tuple[int, bytes]] = {}
        self.acted: Counter[tuple[str, int]] = Counter()

    def read_on(self) -> None:
        """Read what came since the last time."""
        with closing(SQLiteStore(self.folder)) as store:  # with the lock: the killed house no longer holds it
            for room in store.rooms():
                seq, digest = self.heads.get(room, (-1, GENESIS))
                for line in read_lines(store.lines(room, seq), seq, digest):
                    self._take(room, line)
                    self.heads[room] = line.seq, line.digest

    def _take(self, room: str, line: Line) -> None:
        if line.entry.key is not None:
            self.acted[f"{room}/{line.entry.by}", int(line.entry.key)] += 1

    def replays(self) -> int:
        """Every record, from its first entry, gives the room that snapshot and tail give; how many entries."""
        entries = 0
        with closing(SQLiteStore(self.folder)) as store:
            for room in store.rooms():
                lines = list(read_lines(store.lines(room, -1), -1, GENESIS))
                assert Room.replay(lines, make_world).digest() == load_room(store, room).digest()
                entries += len(lines)
        return entries


def answered(line: bytes) -> tuple[str, int]:
    who, _, n = line.decode().strip().partition(" ")
    return who, int(n)


def progress(given: set[tuple[str, int]]) -> dict[str, int]:
    """The last number that each client got an answer to."""
    reached: dict[str, int] = {}
    for who, n in given:
        reached[who] = max(n, reached.get(who, 1))
    return reached


def gaps(kept: Kept) -> list[str]:
    """Clients whose numbers were not acted on exactly once each, in their order."""
    by_client: dict[str, list[int]] = {}
    for who, n in kept.acted:
        by_client.setdefault(who, []).append(n)
    twice = [f"{who} {n} twice" for (who, n), times in kept.acted.items() if times > 1]
    return twice + [who for who, numbers in by_client.items() if sorted(numbers) != list(range(1, len(numbers) + 1))]
