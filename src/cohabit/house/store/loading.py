"""Loads a room from the store: its newest snapshot and the entries after it."""

import logging
from collections.abc import Mapping
from typing import Any

from cohabit.errors import CohabitError, RecordCorrupt, StorageFailed, UnknownAsset
from cohabit.house.store.contract import Store
from cohabit.house.store.expected import Expected
from cohabit.registry import is_file_source, make_world, trusted_source
from cohabit.room.base import WorldInterrupted
from cohabit.room.command_modules import features_of_record
from cohabit.room.record import Snapshot, read_lines
from cohabit.room.recorded import MakeWorld
from cohabit.room.room import Room
from cohabit.room.seeing.info import about_world
from cohabit.world import World

log = logging.getLogger("cohabit")


def load_room(store: Store, room_id: str, source: str | None = None) -> Room:
    """The room after its last durable entry. ``source``: load its world from there instead of the recorded place."""
    snapshot = newest_snapshot(store, room_id)
    rows = store.lines(room_id, snapshot.seq)
    features_of_record(snapshot.state)
    try:
        room = Room.restore(snapshot, read_lines(rows, snapshot.seq, snapshot.digest), world_from(source))
    except UnknownAsset as gone:
        if source is not None or not is_file_source(snapshot.state.source):
            raise
        raise UnknownAsset(f"{gone.message}; if it was moved: `cohabit rebind {room_id} FILE`") from None
    except (CohabitError, WorldInterrupted) as wrong:
        if isinstance(wrong.__cause__, OSError | MemoryError):
            raise _no_resources(room_id, wrong.__cause__) from wrong
        raise
    except BaseException as bug:  # also SystemExit: a world must not end the house
        if isinstance(bug, OSError | MemoryError):
            raise _no_resources(room_id, bug) from bug
        raise RecordCorrupt(f"room {room_id} could not be opened: {type(bug).__name__}: {bug}") from bug
    room.audit.load(store.refusals(room_id))
    describe_world(room)
    return room


def describe_world(room: Room) -> None:
    """Keep what the world says about itself, so that nothing has to be asked of it on the event loop."""
    try:
        room.about = about_world(room.world)
    except WorldInterrupted:
        raise
    except BaseException:  # also SystemExit: a world must not end the house
        log.exception("room %s: the world %s failed in describe", room.id, room.state.world)
        room.about = room.world.spec.title or room.world.spec.name, ""


def world_from(source: str | None) -> MakeWorld:
    """Makes worlds from this source, whatever the record says; None: from the recorded one, for a record of our own."""
    if source is None:
        return make_world
    return lambda recorded, config: make_world(source, config)


def known_world(recorded: str, config: Mapping[str, Any]) -> World:
    """The world that a record of somebody else names. A file is not run."""
    return make_world(trusted_source(recorded), config)


def _no_resources(room_id: str, wrong: OSError | MemoryError) -> StorageFailed:
    """A full disk or no memory left: the record is not to blame."""
    why = (wrong.strerror if isinstance(wrong, OSError) else None) or str(wrong) or type(wrong).__name__
    return StorageFailed(f"room {room_id} could not be opened: {why}")


def check_end(store: Store, room_id: str, expected: Expected) -> None:
    """Check that the stored record reaches this entry, with this digest."""
    expected.check_end(store.head(room_id))
    for seq, _, digest in store.lines(room_id, expected.seq - 1, 1):
        if seq == expected.seq:  # else it was pruned
            expected.check_digest(digest)


def newest_snapshot(store: Store, room_id: str) -> Snapshot:
    """The newest snapshot, or if it is damaged, the one before, which needs a longer replay."""
    damage: RecordCorrupt | None = None
    readable: list[Snapshot] = []
    for stored in store.snapshots(room_id):
        try:
            readable.append(Snapshot.decode(stored))
        except RecordCorrupt as wrong:
            damage = damage or wrong
    for snapshot in readable:
        check_end(store, room_id, Expected(snapshot.seq, snapshot.digest, "a snapshot"))
    if readable:
        return readable[0]
    raise damage or RecordCorrupt(f"room {room_id} has no snapshot to start from; restore a backup")
