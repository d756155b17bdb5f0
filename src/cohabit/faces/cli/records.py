"""``cohabit replay``, ``verify``, ``export`` and ``backup``: read records from the data folder or a file."""

import argparse
import os
import re
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec

from cohabit.errors import BadArgs, CohabitError, Conflict, RecordCorrupt, UnknownAsset
from cohabit.faces.cli.options import data_option, need_room, open_store
from cohabit.faces.cli.say import UsageError, clean, complain, in_one_line, tell, view_text
from cohabit.faces.cli.showing import told_lines
from cohabit.feature_registry import load_features
from cohabit.house.settings import split_names
from cohabit.house.store.contract import LastingStore, Row
from cohabit.house.store.heads import expected as heads_file_expects
from cohabit.house.store.heads import read_heads, read_key
from cohabit.house.store.loading import known_world, world_from
from cohabit.model.seat import ALL
from cohabit.model.suggest import nearest
from cohabit.registry import trusted_source
from cohabit.remote import RemoteWorld
from cohabit.room.record import GENESIS, Expected, Line, Snapshot, read_lines
from cohabit.room.recorded import MakeWorld
from cohabit.room.room import Room
from cohabit.room.seeing.visibility import feed


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


def _is_file(name: str) -> bool:
    return name.endswith((".jsonl", ".json")) or "/" in name or Path(name).is_file()


@contextmanager
def open_source(args: argparse.Namespace, name: str) -> Iterator[Source]:
    load_features(split_names(getattr(args, "features", "") or os.environ.get("COHABIT_FEATURES", "")))
    if _is_file(name):
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
        yield from _steps(self._source._replace(rows=self._compared()), kind)

    def _compared(self) -> Iterator[Row]:
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


def with_progress(steps: Iterable[tuple[Room, Line]], total: int, what: str) -> Iterator[tuple[Room, Line]]:
    """A progress bar on stderr."""
    if not sys.stderr.isatty():
        yield from steps
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(steps, what, total=total, console=Console(stderr=True), transient=True)


# -- replay -------------------------------------------------------------------------------------
def replay_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("record", metavar="ROOM|FILE", help="a room in the data folder, or an exported file (.jsonl)")
    parser.add_argument("--at", type=int, metavar="N", help="stop after entry N")
    parser.add_argument("--every", action="store_true", help="show the world after every entry that has events")
    world_option(parser)
    data_option(parser)


def replay(args: argparse.Namespace) -> int:
    """Replay a record from its first entry. Prints the events, and at the end the state of the world.
    No model or player is called, and nothing is changed.

    Examples:
      cohabit replay demo
      cohabit replay demo --at 120
      cohabit replay demo.jsonl --every
      cohabit replay records/game-1.jsonl --world mygame.py
    """
    if args.at is not None and args.at < 0:
        raise UsageError("--at: entries are counted from 0")
    with open_source(args, args.record) as source:
        players = _players(args.record)
        if players:
            tell(players)
        room, seq, entries = None, -1, 0
        steps = with_progress(run_again(source), source.total, source.name)
        for room, line in steps:
            seq, entries = line.seq, entries + 1
            told = list(told_lines(line.entry, room))
            for text in told:
                tell(text)
            if args.every and told:
                tell(_world(room))
            if seq == args.at:
                break
        if args.at is not None and seq < args.at:
            raise BadArgs(f"this record ends with entry {seq}")
        if room is not None:
            tell(_world(room))
            tell(f"{source.name}: {entries:,} entries, game {room.state.games}{_remote_note(room)}")
            if players:
                tell(players)
    return 0


def _players(record: str) -> str:
    """Who is who in a game of the lab."""
    if not _is_file(record):
        return ""
    from cohabit.lab.folder import players_of_record
    from cohabit.lab.game import handle

    names = players_of_record(Path(record))
    return "Players: " + ", ".join(f"{handle(i)} = {clean(name)}" for i, name in enumerate(names)) if names else ""


def _remote_note(room: Room | None) -> str:
    """A note on what a replay cannot verify for a remote world."""
    remote = room is not None and isinstance(room.world, RemoteWorld)
    return " (answers of its remote world are taken from the record)" if remote else ""


def _world(room: Room) -> str:
    return view_text(room.view_through(ALL).text)


# -- verify -------------------------------------------------------------------------------------
def verify_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "records",
        nargs="*",
        default=[],
        metavar="ROOM|FILE",
        help="rooms or exported files (default: every room in the data folder)",
    )
    parser.add_argument(
        "--head", metavar="SEQ:DIGEST", help="the record must contain this entry with this digest; for one record"
    )
    parser.add_argument("--heads", metavar="FILE", help="the rooms must contain the heads in this file (heads_file)")
    parser.add_argument("--heads-key", metavar="FILE", help="the heads must be signed with the secret in this file")
    world_option(parser)
    data_option(parser)


def verify(args: argparse.Namespace) -> int:
    """Verify records: the chain of digests is unbroken and reaches the snapshots, every entry replays to its
    recorded outcome, and the world matches the digests in the record. Exit code 1 if a record is broken.

    Prints the head of each record: the number of its last entry, and the digest of everything up to it. A
    record that was shortened, or made again as a whole, has another head: keep a head somewhere else, or let
    the house write them to a file (the setting heads_file), and compare with --head or --heads. Works on a
    read-only copy of the data folder.

    An exported file may come from anybody. A world in a file is code, so it is run only if you name it with --world.

    Examples:
      cohabit verify
      cohabit verify demo.jsonl
      cohabit verify demo --head 1023:9f0c…
      cohabit verify --heads /mnt/elsewhere/heads.jsonl
    """
    if args.world and not args.records:
        raise UsageError("--world is for the records that you name")
    expected = _expected(args)
    names = args.records
    whole = True
    if not names:
        with open_store(args) as store:
            names = store.rooms()
            for problem in store.problems():
                complain(problem, secret=False)
                whole = False
        if not names:
            tell("there are no rooms to verify")
        for gone in sorted(set(expected) - set(names)):
            complain(f"{clean(gone)}: BROKEN: this room is in {args.heads}, but not in the data folder")
            whole = False
    results = [_verify(args, name, expected.get(name, ())) for name in names]
    if not all(results):
        complain("Restore a room from a backup. Ask for a file again, and export it again if it is yours.")
    return 0 if whole and all(results) else 1


def _expected(args: argparse.Namespace) -> dict[str, list[Expected]]:
    """The heads to compare with, by record."""
    found: dict[str, list[Expected]] = {}
    if args.heads:
        path = Path(args.heads)
        for room, heads in read_heads(path, read_key(args.heads_key or "")).items():
            found[room] = [heads_file_expects(path, head.seq, head.digest) for head in heads]
    if args.head:
        if len(args.records) != 1:
            raise UsageError("--head is for one record; name it")
        given = re.fullmatch(r"(\d+):([0-9a-fA-F]{64})", args.head)
        if given is None:
            raise UsageError("--head must be SEQ:DIGEST, as printed by `cohabit verify`, with all 64 digits")
        found.setdefault(args.records[0], []).append(Expected(int(given[1]), bytes.fromhex(given[2]), "--head"))
    return found


def _verify(args: argparse.Namespace, name: str, expected: Iterable[Expected]) -> bool:
    entries = digests = 0
    room: Room | None = None
    try:
        with open_source(args, name) as source:
            reading = Reading(source, expected)
            for room, line in with_progress(reading.steps(), source.total, name):
                entries += 1
                digests += line.entry.do == "digest"
                for snapshot in source.snapshots:
                    if line.seq == snapshot.seq:
                        _agrees(room, snapshot, source.make_world)
    except RecordCorrupt as broken:
        complain(f"{name}: BROKEN after {entries} good entries: {broken.message}")
        return False
    except CohabitError as wrong:
        complain(f"{name}: {in_one_line(wrong)}")
        return False
    except Exception as wrong:  # damage can raise anything: report it and continue with the next room
        complain(f"{name}: BROKEN after {entries} good entries: {type(wrong).__name__}: {wrong}")
        return False
    tell(f"{clean(name)}: ok, {entries:,} entries, {digests} digests of the world{_remote_note(room)}")
    seq, digest = reading.head
    tell(f"  head {seq}:{digest.hex()}")
    return True


def _agrees(room: Room, snapshot: Snapshot, make_world: MakeWorld) -> None:
    """Check that a snapshot a house could start from equals the replayed room."""
    if Room.restore(snapshot, (), make_world).digest() != room.digest():
        raise RecordCorrupt(f"the snapshot at entry {snapshot.seq} differs from the replayed room", seq=snapshot.seq)


# -- export and backup --------------------------------------------------------------------------
def export_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("room", metavar="ROOM", help="a room in the data folder")
    parser.add_argument("-o", "--output", metavar="FILE", help="output file (default: stdout)")
    parser.add_argument("--as", dest="member", metavar="MEMBER", help="only what this member could see")
    data_option(parser)


def export(args: argparse.Namespace) -> int:
    """Write a record as JSON lines: {"seq", "digest", "entry"}, one line per entry. The export contains
    everything, including hidden and private information, so keep it to yourself. `cohabit replay FILE` and
    `cohabit verify FILE` read it. With --as it contains only the events that this member received.

    Examples:
      cohabit export demo -o demo.jsonl
      cohabit export pvp --as athena -o athena.jsonl
      cohabit export demo | head -1
    """
    with open_store(args) as store:
        source = from_store(store, args.room)
        lines = _seen_by(source, args.member) if args.member else _everything(source)
        if args.output is None:
            _write(sys.stdout.buffer, lines)
            sys.stdout.flush()
            return 0
        path = Path(args.output)
        part = path.with_name(path.name + ".part")
        try:
            with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                count = _write(file, lines)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    tell(f"{path}: {count:,} lines")
    return 0


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
