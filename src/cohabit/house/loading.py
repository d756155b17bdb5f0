"""A room from the store: its newest snapshot, and the tail of the record after it."""

from cohabit.errors import CohabitError, RecordCorrupt
from cohabit.house.store import Store
from cohabit.registry import make_world
from cohabit.room.record import Snapshot, read_lines
from cohabit.room.room import Room


def load_room(store: Store, room_id: str) -> Room:
    """The room as it stood after the last entry that is on disk."""
    stored = store.snapshot(room_id)
    if stored is None:
        raise RecordCorrupt(f"room {room_id} has no snapshot to start from")
    snapshot = Snapshot.decode(stored)
    rows = store.lines(room_id, snapshot.seq)
    try:
        room = Room.restore(snapshot, read_lines(rows, snapshot.seq, snapshot.digest), make_world)
    except CohabitError:
        raise
    except Exception as bug:
        raise RecordCorrupt(f"room {room_id} does not open: {type(bug).__name__}: {bug}") from bug
    room.audit.load(store.refusals(room_id))
    return room
