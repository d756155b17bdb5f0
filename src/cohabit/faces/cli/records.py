"""Reads records from the data folder or a file; ``cohabit export`` and ``backup``."""

import argparse
import os
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeVar

import msgspec

from cohabit.errors import BadArgs, Conflict, RecordCorrupt, UnknownAsset
from cohabit.faces.cli.options import data_option, need_room, open_store, settings_of
from cohabit.faces.cli.say import UsageError, tell
from cohabit.feature_registry import load_features
from cohabit.house.settings import split_names
from cohabit.house.store.contract import LastingStore, Row
from cohabit.house.store.keyframes import Keyframes
from cohabit.house.store.loading import known_world, world_from
from cohabit.model.suggest import nearest
from cohabit.registry import trusted_source
from cohabit.room.record import GENESIS, Expected, Line, Snapshot, read_lines
from cohabit.room.recorded import MakeWorld
from cohabit.room.room import Room
from cohabit.room.seeing.visibility import feed

T = TypeVar("T")
HTML_FRAMES, MAX_HTML_FRAMES = 1_000, 20_000
"""A page has one every 2 s of a world of real time, and as many bytes as that needs."""


# -- where a record comes from ------------------------------------------------------------------
class Source(NamedTuple):
    """A record: its rows, their number, and its snapshots, the oldest first."""

    name: str
    rows: Iterable[Row]
    total: int
    snapshots: Sequence[Snapshot] = ()
    make_world: MakeWorld = known_world


def from_store(store: LastingStore, room: str, world: str | None = None) -> Source:
    snapshots = [Snapshot.decode(each) for each in reversed(store.snapshots(need_room(store, room)))]
    make = world_from(world or snapshots[-1].state.source)
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


# -- export and backup --------------------------------------------------------------------------
def export_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("room", metavar="ROOM", help="a room in the data folder")
    parser.add_argument("-o", "--output", metavar="FILE", help="output file (default: stdout)")
    parser.add_argument(
        "--as", dest="member", metavar="MEMBER", help="only what this member could see; with --html also public or all"
    )
    parser.add_argument("--html", action="store_true", help="one page that replays the room, and opens without a house")
    parser.add_argument("--frames", type=int, metavar="N", help=f"of the page, at most (default: {HTML_FRAMES})")
    data_option(parser)


def export(args: argparse.Namespace) -> int:
    """Write a record as JSON lines: {"seq", "digest", "entry"}, one line per entry. The export contains
    everything, including hidden and private information, so keep it to yourself. `cohabit replay FILE` and
    `cohabit verify FILE` read it. With --as it contains only the events that this member received.

    With --html, write a page that replays the room: one file without links to anything. It shows what
    everybody may see; with --as MEMBER what this member could see, with --as all everything. It contains the
    pictures and events that it shows, and nothing else of the record.

    Examples:
      cohabit export demo -o demo.jsonl
      cohabit export pvp --as athena -o athena.jsonl
      cohabit export demo | head -1
      cohabit export demo --html -o demo.html
      cohabit export pvp --html --as athena -o athena.html
    """
    path = _output(args.output)
    if args.frames is not None and not (args.html and 1 <= args.frames <= MAX_HTML_FRAMES):
        raise UsageError(f"--frames is for --html, and from 1 to {MAX_HTML_FRAMES}")
    with open_store(args) as store:
        source = from_store(store, args.room)
        if args.html:
            return _export_page(args, store, source, path)
        lines = _seen_by(source, args.member) if args.member else _everything(source)
        if path is None:
            _write(sys.stdout.buffer, lines)
            sys.stdout.flush()
            return 0
        with _written(path) as file:
            count = _write(file, lines)
    tell(f"{path}: {count:,} lines")
    return 0


def _export_page(args: argparse.Namespace, store: LastingStore, source: Source, path: Path | None) -> int:
    from cohabit.faces.cli.film import page_of
    from cohabit.house.agents.decisions import RoomLog
    from cohabit.house.agents.transcripts import Transcripts

    folder = settings_of(args).folder
    decisions = RoomLog.stored(Transcripts(folder, 0), source.name)
    who, frames = args.member or "public", args.frames or HTML_FRAMES
    page, film = page_of(store, Keyframes(folder), source, decisions, who, frames)
    if path is None:
        sys.stdout.write(page)
        return 0
    with _written(path) as file:
        file.write(page.encode())
    seen = "" if args.member else "; it shows what everybody may see, with --as all everything"
    tell(f"{path}: {len(film.frames):,} frames, {path.stat().st_size:,} bytes{seen}")
    return 0


def _output(name: str | None) -> Path | None:
    """The file to write; None is stdout. Checked first, because a long replay comes before it is written."""
    path = None if name is None else Path(name)
    if path is not None and path.is_dir():
        raise BadArgs(f"{path} is a folder; name a file in it")
    if path is not None and not path.absolute().parent.is_dir():
        raise BadArgs(f"no such folder: {path.absolute().parent}")
    return path


@contextmanager
def _written(path: Path) -> Iterator[BinaryIO]:
    """A file that only the owner can read, and that is there only when it is complete."""
    part = path.with_name(path.name + ".part")
    try:
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            yield file
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _write(file: BinaryIO, lines: Iterable[bytes]) -> int:
    count = 0
    for line in lines:
        file.write(line + b"\n")
        count += 1
    file.flush()
    return count


def _everything(source: Source) -> Iterator[bytes]:
    for seq, body, digest in source.rows:
        yield b'{"seq":%d,"digest":"%s","entry":%s}' % (seq, digest.hex().encode(), body)


def _seen_by(source: Source, who: str) -> Iterator[bytes]:
    """The events of each entry that the member received, with the grant it had at that time."""
    room: Room | None = None
    ever = False
    for room, line in with_progress(run_again(source), source.total, source.name):
        member = room.state.with_handle(who)
        if member is not None:
            ever = True
            for item in feed(line.entry, member, room.eye(member)):
                yield msgspec.json.encode(item)
    if not ever:
        members = [m.handle for m in room.state.members.values()] if room is not None else []
        raise UnknownAsset(f"no member of this room was ever called {who!r}", did_you_mean=nearest(who, members, 2))


def backup_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="the file to write; it must not exist yet")
    data_option(parser)


def backup(args: argparse.Namespace) -> int:
    """Copy the whole store to one file. The copy is consistent even if a house is running.
    To restore it, stop the house and put the file into an empty data folder as cohabit.db.

    Examples:
      cohabit backup house-monday.db
      mkdir other && cp house-monday.db other/cohabit.db && cohabit serve --data other
    """
    path = Path(args.file)
    if path.exists():
        raise Conflict(f"{path} already exists; choose another file")
    if not path.absolute().parent.is_dir():
        raise BadArgs(f"no such folder: {path.absolute().parent}")
    part = path.with_name(path.name + ".part")
    with open_store(args) as store:
        try:
            os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
            store.backup(str(part))
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    tell(f"{path}: {path.stat().st_size:,} bytes")
    return 0
