"""A room from the store: its newest snapshot, and the tail of the record after it."""

from cohabit.errors import CohabitError, RecordCorrupt
from cohabit.house.store.contract import Store
from cohabit.registry import make_world
from cohabit.room.record import Snapshot, read_lines
from cohabit.room.recorded import WorldInterrupted
from cohabit.room.room import Room


def load_room(store: Store, room_id: str) -> Room:
    """The room as it stood after the last entry that is on disk."""
    snapshot = _newest_readable(store, room_id)
    rows = store.lines(room_id, snapshot.seq)
    try:
        room = Room.restore(snapshot, read_lines(rows, snapshot.seq, snapshot.digest), make_world)
    except (CohabitError, WorldInterrupted):
        raise
    except BaseException as bug:  # also SystemExit: a world must not end the house
        raise RecordCorrupt(f"room {room_id} does not open: {type(bug).__name__}: {bug}") from bug
    room.audit.load(store.refusals(room_id))
    return room


def _newest_readable(store: Store, room_id: str) -> Snapshot:
    """The newest snapshot; where that one is damaged, the one before it, from which more has to be run again."""
    damage: RecordCorrupt | None = None
    for stored in store.snapshots(room_id):
        try:
            return Snapshot.decode(stored)
        except RecordCorrupt as wrong:
            damage = damage or wrong
    raise damage or RecordCorrupt(f"room {room_id} has no snapshot to start from")
