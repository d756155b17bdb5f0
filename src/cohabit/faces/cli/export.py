"""``cohabit export`` and ``cohabit backup``: records as files."""

import argparse
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import msgspec

from cohabit.errors import BadArgs, Conflict, UnknownAsset
from cohabit.faces.cli.options import data_option, open_store, settings_of
from cohabit.faces.cli.records import Source, from_store, run_again, with_progress
from cohabit.faces.cli.say import UsageError, tell
from cohabit.house.store.contract import LastingStore
from cohabit.house.store.keyframes import Keyframes
from cohabit.house.store.loading import load_room
from cohabit.model.suggest import nearest
from cohabit.room.room import Room
from cohabit.room.seeing.visibility import feed

HTML_FRAMES, MAX_HTML_FRAMES = 1_000, 20_000
"""A page has one every 2 s of a world of real time, and as many bytes as that needs."""


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
    path = Path(args.output) if args.output is not None else None
    if path is not None:
        _check_output(path)
    if args.frames is not None and not (args.html and 1 <= args.frames <= MAX_HTML_FRAMES):
        raise UsageError(f"--frames is for --html, and from 1 to {MAX_HTML_FRAMES}")
    with open_store(args) as store:
        source = from_store(store, args.room)
        if args.html:
            return _export_page(args, store, source, path)
        if args.member and source.snapshots:  # without one, only a replay of the whole record tells who was there
            _check_member(load_room(store, args.room), args.member)
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


def _check_output(path: Path) -> None:
    """Refuse a path that cannot be written, before the record is replayed for it."""
    if path.is_dir():
        raise BadArgs(f"{path} is a folder; name a file in it")
    if not path.absolute().parent.is_dir():
        raise BadArgs(f"no such folder: {path.absolute().parent}")


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
    if room is not None:
        _check_member(room, who)
    if not ever:
        raise UnknownAsset(
            f"the entries of the time when {who!r} was a member have been deleted; use a backup that has them"
        )


def _check_member(room: Room, who: str) -> None:
    known = room.state.handles_used
    if who not in known:
        raise UnknownAsset(f"no member of this room was ever called {who!r}", did_you_mean=nearest(who, [*known], 2))


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
    _check_output(path)
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
