"""Reads records from the data folder or a file, and runs them again."""

import argparse
import os
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from cohabit.errors import RecordCorrupt, UnknownAsset
from cohabit.faces.cli.options import need_room, open_store
from cohabit.feature_registry import load_features
from cohabit.house.settings import split_names
from cohabit.house.store.contract import LastingStore, Row
from cohabit.house.store.expected import Expected
from cohabit.house.store.loading import known_world, world_from
from cohabit.registry import trusted_source
from cohabit.room.record import GENESIS, Line, Snapshot, read_lines
from cohabit.room.recorded import MakeWorld
from cohabit.room.room import Room

T = TypeVar("T")


class Source(NamedTuple):
    """A record: its rows, their number, and its snapshots, the oldest first."""

    name: str
    rows: Iterable[Row]
    total: int
    snapshots: Sequence[Snapshot] = ()
    make_world: MakeWorld = known_world


def from_store(store: LastingStore, room: str, world: str | None = None) -> Source:
    snapshots = [Snapshot.decode(each) for each in reversed(store.snapshots(need_room(store, room)))]
    make = world_from(world or (snapshots[-1].state.source if snapshots else None))
    return Source(room, store.lines(room, -1), store.head(room) + 1, snapshots, make)


def from_file(path: Path, world: str | None = None) -> Source:
    """``world``: where its world is. Without it, only an installed one is loaded: anybody can have written the file."""
    total, moved = 0, None
    with path.open("rb") as file:
        for line in file:
            total += 1
            moved = line if b'"do":"rebound"' in line else moved
    found = world or (_moved_to(moved) if moved else None)
    if world is None and found is not None:
        found = trusted_source(found)
    return Source(path.name, _rows(path), total, make_world=known_world if found is None else world_from(found))


def _moved_to(line: bytes) -> str | None:
    """The source in an entry ``rebound``; None if it is another entry that contains the word."""
    try:
        entry = msgspec.json.decode(line)["entry"]
        return str(entry["args"]["source"]) if entry["do"] == "rebound" else None
    except (msgspec.MsgspecError, KeyError, TypeError):
        return None


def _rows(path: Path) -> Iterator[Row]:
    from cohabit.lab.folder import RecordLine

    decode = msgspec.json.Decoder(RecordLine).decode
    with path.open("rb") as file:
        for number, text in enumerate(file, 1):
            try:
                line = decode(text)
                yield line.seq, bytes(line.entry), bytes.fromhex(line.digest)
            except (msgspec.MsgspecError, ValueError) as wrong:
                raise RecordCorrupt(f"{path}, line {number}, is not a valid export line: {wrong}") from None


def is_file(name: str) -> bool:
    return name.endswith((".jsonl", ".json")) or "/" in name or Path(name).is_file()


@contextmanager
def open_source(args: argparse.Namespace, name: str) -> Iterator[Source]:
    load_features(split_names(getattr(args, "features", "") or os.environ.get("COHABIT_FEATURES", "")))
    if is_file(name):
        if not Path(name).is_file():
            raise UnknownAsset(f"no such file: {name}")
        yield from_file(Path(name), args.world)
        return
    with open_store(args) as store:
        yield from_store(store, name, args.world)


def world_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--world", metavar="FILE", help="where the world of the record is; an exported file's own is not run unasked"
    )
    parser.add_argument("--features", metavar="FILES", default="", help="files of features that its room has")


class Reading:
    """A record that is being replayed. Its digests are compared with the snapshots and with other ``expected`` ones."""

    def __init__(self, source: Source, expected: Iterable[Expected] = ()) -> None:
        self._source = source
        made = [Expected(each.seq, each.digest, "a snapshot") for each in source.snapshots]
        self._expected = sorted([*made, *expected], key=lambda each: each.seq)
        self.head: tuple[int, bytes] = (-1, GENESIS)
        """The last entry that was read, and the digest of the chain up to it."""

    def steps(self, kind: type[Room] = Room) -> Iterator[tuple[Room, Line]]:
        """Yield the room after each line of the record."""
        yield from _steps(self._source._replace(rows=self.compared()), kind)

    def compared(self) -> Iterator[Row]:
        """The rows, which are compared with what is expected of them."""
        left = deque(self._expected)
        for row in self._source.rows:
            seq, _, digest = row
            while left and left[0].seq <= seq:
                each = left.popleft()
                if each.seq == seq:  # else it is from before the pruned beginning
                    each.check_digest(digest)
            self.head = seq, digest
            yield row
        if left:
            left[-1].check_end(self.head[0])


def run_again(source: Source, kind: type[Room] = Room) -> Iterator[tuple[Room, Line]]:
    """Yield the room after each line of its record. Checks the chain of digests."""
    yield from Reading(source).steps(kind)


def _steps(source: Source, kind: type[Room]) -> Iterator[tuple[Room, Line]]:
    rows = iter(source.rows)
    first = next(rows, None)
    if first is None or first[0] == 0:
        lines = read_lines(chain([first], rows) if first else (), -1, GENESIS)
        yield from kind.replaying(lines, source.make_world)
        return
    snapshot = next((each for each in source.snapshots if first[0] <= each.seq + 1), None)
    if snapshot is None:
        raise RecordCorrupt(
            f"this record begins with entry {first[0]}, and there is no snapshot for the entries before it", seq=0
        )
    if first[0] == snapshot.seq + 1:
        lines = read_lines(chain([first], rows), snapshot.seq, snapshot.digest)
    else:  # lines before the snapshot cannot be replayed, but their chain must end at it
        lines = read_lines(rows, first[0], first[2])
        for line in lines if first[0] < snapshot.seq else ():
            if line.seq == snapshot.seq:
                break
    yield from kind.restore(snapshot, (), source.make_world).following(lines)


def with_progress(steps: Iterable[T], total: int, what: str) -> Iterator[T]:
    """A progress bar on stderr."""
    if not sys.stderr.isatty():
        yield from steps
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(steps, what, total=total, console=Console(stderr=True), transient=True)
