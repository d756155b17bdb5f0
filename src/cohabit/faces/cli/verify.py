"""``cohabit verify``: verify records, on all cores."""

import argparse
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from functools import partial
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from msgspec import Struct

from cohabit.errors import CohabitError, RecordCorrupt
from cohabit.faces.cli.options import data_option, open_store, settings_of
from cohabit.faces.cli.records import Reading, is_file, open_source, with_progress, world_option
from cohabit.faces.cli.replay import remote_note
from cohabit.faces.cli.say import (
    OTHER_RULES,
    UsageError,
    clean,
    complain,
    in_one_line,
    interrupted,
    of_other_rules,
    tell,
)
from cohabit.house.films.filming import Filming, Watch
from cohabit.house.running.egress import read_stored
from cohabit.house.store.contract import Store
from cohabit.house.store.expected import Expected
from cohabit.house.store.heads import expected as heads_file_expects
from cohabit.house.store.heads import read_heads, read_key
from cohabit.house.store.keyframes import Keyframe, Keyframes, digest_at
from cohabit.model.seat import ALL
from cohabit.room.record import GENESIS, Snapshot, read_lines
from cohabit.room.recorded import MakeWorld
from cohabit.room.room import Room

PARTS_PER_PROCESS = 4
"""Into how many parts a long record is split, for each process."""
LONG_MS = 4_000
"""CPU time from which a record is verified in parts."""
MAX_JOBS = 256
MANY_ENTRIES = 5_000
"""From this many entries on, several processes are worth their start."""


class Verdict(Struct):
    """The result for a record: lines to print."""

    name: str
    said: list[str] = []
    problem: str = ""
    is_broken: bool = False  # the record itself; otherwise something that it needs is missing
    is_whole: bool = False  # every entry is as it was recorded, and its world may have changed


class Part(Struct):
    """The result for a part of a record, which begins at one keyframe and must end at the next."""

    name: str
    agrees: bool
    digests: int = 0
    entries: int = 0


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
    parser.add_argument("--jobs", type=int, metavar="N", help="processes (default: one for each core)")
    world_option(parser)
    data_option(parser)


def verify(args: argparse.Namespace) -> int:
    """Verify records: the chain of digests is unbroken and reaches the snapshots, every entry replays to its
    recorded outcome, and the world matches the digests in the record. Exit code 1 if a record is broken.

    Prints the head of each record: the number of its last entry, and the digest of everything up to it. A
    record that was shortened, or made again as a whole, has another head: keep a head somewhere else, or let
    the house write them to a file (the setting heads_file), and compare with --head or --heads. Works on a
    read-only copy of the data folder.

    Records are verified on all cores; a long one in parts, from one keyframe to the next. A keyframe is not
    believed: the part before it must end in the same state.

    An exported file may come from anybody. A world in a file is code, so it is run only if you name it with --world.

    Examples:
      cohabit verify
      cohabit verify demo.jsonl
      cohabit verify demo --head 1023:9f0c…
      cohabit verify --heads /mnt/elsewhere/heads.jsonl
    """
    if args.world and not args.records:
        raise UsageError("--world is for the records that you name")
    if args.jobs is not None and not 1 <= args.jobs <= MAX_JOBS:
        raise UsageError(f"--jobs must be from 1 to {MAX_JOBS}")
    expected = _expected(args)
    names = args.records
    whole = True
    if not names:
        with open_store(args) as store:
            names = store.rooms()
            for problem in (*store.problems(), *damage_beside_records(store)):
                complain(problem, secret=False)
                whole = False
        if not names:
            tell("there are no rooms to verify")
        for gone in sorted(set(expected) - set(names)):
            complain(f"{clean(gone)}: BROKEN: this room is in {args.heads}, but not in the data folder")
            whole = False
    verdicts = _verify_all(args, names, expected)
    if any(verdict.is_broken and not verdict.is_whole for verdict in verdicts):
        complain("Restore a room of yours from a backup. If somebody sent you a file, ask for it again.")
    if any(verdict.is_broken and verdict.is_whole for verdict in verdicts):
        complain(OTHER_RULES)
    return 0 if whole and not any(verdict.problem for verdict in verdicts) else 1


def damage_beside_records(store: Store) -> Iterator[str]:
    """Damage in what is stored beside the records. It keeps a house from starting, or a room closed."""

    def read_rest_of(room: str) -> None:
        store.refusals(room)
        read_stored(store.egress(room))

    of_house = [("", read) for read in (store.identities, store.credentials, store.invites)]
    of_rooms = [(f"{room}: BROKEN: ", partial(read_rest_of, room)) for room in store.rooms()]
    for where, read in (*of_house, *of_rooms):
        try:
            read()
        except RecordCorrupt as damaged:
            yield f"{where}{damaged.message}"


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


def _verify(args: argparse.Namespace, name: str, expected: Iterable[Expected]) -> Verdict:
    """Verify a record from its beginning, in this process."""
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
        if interrupted(broken):
            raise KeyboardInterrupt from None
        is_whole = of_other_rules(broken) and _has_whole_chain(args, name, expected)
        what = "its chain of digests is unbroken, but it does not replay" if is_whole else "BROKEN"
        problem = f"{name}: {what} after {entries} good entries: {broken.message}"
        return Verdict(name, problem=problem, is_broken=True, is_whole=is_whole)
    except CohabitError as wrong:
        return Verdict(name, problem=f"{name}: {in_one_line(wrong)}")
    except Exception as wrong:  # damage can raise anything: report it and continue with the next room
        problem = f"{name}: BROKEN after {entries} good entries: {type(wrong).__name__}: {wrong}"
        return Verdict(name, problem=problem, is_broken=True)
    return Verdict(name, _good(name, entries, digests, reading.head, remote_note(room)))


def _has_whole_chain(args: argparse.Namespace, name: str, expected: Iterable[Expected]) -> bool:
    """True if every entry is there as it was recorded, whatever the world makes of it now."""
    try:
        with open_source(args, name) as source:
            rows = Reading(source, expected).compared()
            first = next(rows)
            lines = read_lines(chain([first], rows), -1, GENESIS) if first[0] == 0 else read_lines(rows, *first[::2])
            for _ in lines:
                pass
    except (CohabitError, StopIteration):
        return False
    return True


def _good(name: str, entries: int, digests: int, head: tuple[int, bytes], note: str) -> list[str]:
    agreed = f", {digests:,} {'digest' if digests == 1 else 'digests'} of the world" if digests else ""
    ok = f"{clean(name)}: ok, {entries:,} entries{agreed}{note}"
    return [ok, f"  head {head[0]}:{head[1].hex()}"]


def _agrees(room: Room, snapshot: Snapshot, make_world: MakeWorld) -> None:
    """Check that a snapshot a house could start from equals the replayed room."""
    if Room.restore(snapshot, (), make_world).digest() != room.digest():
        raise RecordCorrupt(f"the snapshot at entry {snapshot.seq} differs from the replayed room", seq=snapshot.seq)


# -- on several cores -----------------------------------------------------------------------------
def _verify_all(args: argparse.Namespace, names: Sequence[str], expected: dict[str, list[Expected]]) -> list[Verdict]:
    """Verify records, and print what was found in the order of the names."""
    jobs = args.jobs or _cores()
    bounds = {name: _bounds(args, name, jobs) for name in names} if jobs > 1 else {}
    is_much = len(names) > 1 and sum(_entries(args, name) for name in names) > MANY_ENTRIES
    if not (is_much or any(bounds.values()) or (args.jobs or 0) > 1):
        return [_told(_verify(args, name, expected.get(name, ()))) for name in names]
    plain = {key: getattr(args, key, None) for key in ("data", "store", "world", "features")}
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        whole = [name for name in names if not bounds.get(name)]
        running = {pool.submit(_whole_elsewhere, plain, name, expected.get(name, ())): name for name in whole}
        parts = {
            pool.submit(_part_elsewhere, plain, name, first, last): name
            for name, edges in bounds.items()
            if edges
            for first, last in zip([-1, *edges], [*edges, None], strict=True)
        }
        done: dict[str, list[Any]] = {name: [] for name in names}
        for one in _progress(as_completed([*running, *parts]), len(running) + len(parts)):
            done[running.get(one) or parts[one]].append(one.result())
    found = []
    for name in names:
        verdict = done[name][0] if name in whole else _joined(args, name, done[name], expected.get(name, ()))
        found.append(_told(verdict))
    return found


def _joined(args: argparse.Namespace, name: str, parts: Sequence[Part], expected: Iterable[Expected]) -> Verdict:
    """The verdict about a record of which the parts were verified. If one does not agree, the record is verified from
    its beginning: it may be the keyframe that is wrong."""
    if not all(part.agrees for part in parts):
        return _verify(args, name, expected)
    try:
        with open_source(args, name) as source:
            reading = Reading(source, expected)
            for _ in reading.compared():
                pass
    except CohabitError:
        return _verify(args, name, expected)
    entries, digests = sum(part.entries for part in parts), sum(part.digests for part in parts)
    return Verdict(name, _good(name, entries, digests, reading.head, ""))


def _bounds(args: argparse.Namespace, name: str, jobs: int) -> list[int]:
    """The keyframes at which a long record is split; none if it is short, or has no keyframes."""
    if is_file(name):
        return []
    try:
        with open_store(args) as store:
            if next(iter(store.lines(name, -1, 1)), (1,))[0] > 0:
                return []
            known = Keyframes(settings_of(args).folder).places(name)
            places = [one for one in known if digest_at(store, name, one.seq) == one.digest]
    except CohabitError:  # it is reported where the record is verified
        return []
    if not places or places[-1].cost_ms < LONG_MS:
        return []
    wanted = min(len(places), PARTS_PER_PROCESS * jobs - 1)
    return sorted({places[(number + 1) * len(places) // (wanted + 1)].seq for number in range(wanted)})


def _entries(args: argparse.Namespace, name: str) -> int:
    if is_file(name):
        return Path(name).stat().st_size // 100 if Path(name).is_file() else 0
    try:
        with open_store(args) as store:
            return store.head(name) + 1
    except CohabitError:
        return 0


def _whole_elsewhere(plain: dict[str, Any], name: str, expected: Iterable[Expected]) -> Verdict:
    return _verify(argparse.Namespace(**plain), name, expected)


def _part_elsewhere(plain: dict[str, Any], name: str, first: int, last: int | None) -> Part:
    """Replay from one keyframe to another, or from the beginning (-1), or to the end (None)."""
    args = argparse.Namespace(**plain)
    part = Part(name, agrees=False)
    try:
        with open_source(args, name) as source, open_store(args) as store:
            keyframes = Keyframes(settings_of(args).folder)
            film = Filming(Watch(ALL), source.make_world)
            if first >= 0:
                start = _at(keyframes, name, first)
                film.begin(_snapshot(start), start.cost_ms)
            count = last - first if last is not None else None
            for line in film.play(store.lines(name, first, count)):
                part.entries += 1
                part.digests += line.entry.do == "digest"
                for snapshot in source.snapshots:
                    if line.seq == snapshot.seq and film.room is not None:
                        _agrees(film.room, snapshot, source.make_world)
            if last is not None and film.room is not None:
                _agrees(film.room, _snapshot(_at(keyframes, name, last)), source.make_world)
            part.agrees = True
    except Exception:  # the record is verified from its beginning then, which says what is wrong
        pass
    return part


def _at(keyframes: Keyframes, room: str, seq: int) -> Keyframe:
    found = keyframes.at(room, seq)
    if found is None:
        raise RecordCorrupt(f"the keyframe at entry {seq} is gone")
    return found


def _snapshot(keyframe: Keyframe) -> Snapshot:
    snapshot = keyframe.snapshot()
    if snapshot is None:
        raise RecordCorrupt(f"the keyframe at entry {keyframe.seq} is damaged")
    return snapshot


def _told(verdict: Verdict) -> Verdict:
    if verdict.problem:
        complain(verdict.problem)
    for line in verdict.said:
        tell(line)
    return verdict


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _progress(steps: "Iterator[Future[Any]]", total: int) -> "Iterable[Future[Any]]":
    if not sys.stderr.isatty():
        return steps
    from rich.console import Console
    from rich.progress import track

    return track(steps, "verifying", total=total, console=Console(stderr=True), transient=True)
