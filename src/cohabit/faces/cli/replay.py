"""``cohabit replay``: read a record as text, up to any entry."""

import argparse
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from cohabit.errors import BadArgs
from cohabit.faces.cli.options import data_option, open_store, settings_of
from cohabit.faces.cli.records import Source, is_file, open_source, run_again, with_progress, world_option
from cohabit.faces.cli.say import UsageError, clean, tell, view_text
from cohabit.faces.cli.showing import told_lines
from cohabit.house.films.filming import Filming, Watch
from cohabit.house.store.contract import Row
from cohabit.house.store.keyframes import Keyframes, digest_at
from cohabit.model.seat import ALL
from cohabit.remote import RemoteWorld
from cohabit.room.record import GENESIS, Line, read_lines
from cohabit.room.room import Room


def replay_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("record", metavar="ROOM|FILE", help="a room in the data folder, or an exported file (.jsonl)")
    parser.add_argument("--at", type=int, metavar="N", help="stop after entry N")
    parser.add_argument("--every", action="store_true", help="show the world after every entry that has events")
    world_option(parser)
    data_option(parser)


def replay(args: argparse.Namespace) -> int:
    """Replay a record from its first entry. Prints the events, and at the end the state of the world.
    No model or player is called, and nothing is changed. With --at a room in the data folder is replayed
    from the nearest keyframe; those that are missing are made on the way.

    Examples:
      cohabit replay demo
      cohabit replay demo --at 120
      cohabit replay demo.jsonl --every
      cohabit replay records/game-1.jsonl --world mygame.py
    """
    if args.at is not None and args.at < 0:
        raise UsageError("--at: entries are counted from 0")
    with ExitStack() as stack:
        source = stack.enter_context(open_source(args, args.record))
        players = _players(args.record)
        if players:
            tell(players)
        room, seq, entries = None, -1, 0
        is_quick = args.at is not None and not args.every and not is_file(args.record)
        steps = _from_keyframe(args, source, stack) if is_quick else None
        every: Iterable[tuple[Room | None, Line]] = steps or run_again(source)
        for room, line in with_progress(every, source.total, source.name):
            seq, entries = line.seq, entries + 1
            told = list(told_lines(line.entry, room))
            for text in told:
                tell(text)
            if args.every and told and room is not None:
                tell(_world(room))
            if seq == args.at:
                break
        if args.at is not None and seq < args.at:
            raise BadArgs(f"this record ends with entry {seq}")
        if room is not None:
            tell(_world(room))
            tell(f"{source.name}: {entries:,} entries, game {room.state.games}{remote_note(room)}")
            if players:
                tell(players)
    return 0


def _from_keyframe(
    args: argparse.Namespace, source: Source, stack: ExitStack
) -> Iterator[tuple[Room | None, Line]] | None:
    """The same as ``run_again``, but without the room until the last keyframe before the entry. None if the beginning
    of the record was deleted."""
    store = stack.enter_context(open_store(args))
    if next(iter(store.lines(args.record, -1, 1)))[0] > 0:
        return None
    keyframes = Keyframes(settings_of(args).folder)
    return _steps(args.record, source, keyframes, partial(digest_at, store, args.record), args.at)


def _steps(
    room: str, source: Source, keyframes: Keyframes, digest_of: "partial[bytes | None]", at: int
) -> Iterator[tuple[Room | None, Line]]:
    film = Filming(Watch(ALL), source.make_world, partial(keyframes.add, room))
    begun = begin(film, keyframes, room, at, digest_of)
    rows = iter(source.rows)
    yield from ((None, line) for line in read_lines(_upto(rows, begun), -1, GENESIS))
    for line in film.play(rows):
        yield film.room, line


def begin(film: Filming, keyframes: Keyframes, room: str, at: int, digest_of: "partial[bytes | None]") -> int:
    """Go to the last keyframe before an entry that can be used. Returns its entry; -1: there is none."""
    while (start := keyframes.before(room, at, digest_of)) is not None:
        snapshot = start.snapshot()
        try:
            if snapshot is not None:
                film.begin(snapshot, start.cost_ms)
                return start.seq
        except Exception:  # of another version of its world, for example: any code of a world may raise anything
            film.room = None
        keyframes.drop(room, start.seq)
    return -1


def _upto(rows: Iterator[Row], seq: int) -> Iterable[Row]:
    for _ in range(seq + 1):
        yield next(rows)


def _players(record: str) -> str:
    """The names of the players in a game of the lab."""
    if not is_file(record):
        return ""
    from cohabit.lab.folder import players_of_record
    from cohabit.lab.game import handle

    names = players_of_record(Path(record))
    return "Players: " + ", ".join(f"{handle(i)} = {clean(name)}" for i, name in enumerate(names)) if names else ""


def remote_note(room: Room | None) -> str:
    """A note on what a replay cannot verify for a remote world."""
    remote = room is not None and isinstance(room.world, RemoteWorld)
    return " (answers of its remote world are taken from the record)" if remote else ""


def _world(room: Room) -> str:
    return view_text(room.view_through(ALL).text)
