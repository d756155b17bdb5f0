"""Moves everything from one store to another, and verifies the copy before it counts."""

from collections.abc import Iterator
from hashlib import sha256
from itertools import chain, groupby

import msgspec

from cohabit.errors import Conflict, RecordCorrupt, StorageFailed
from cohabit.house.store.tables import TABLES, Rows, StoredRow, TableStore
from cohabit.room.record import GENESIS, Snapshot, read_lines

BATCH_ROWS, BATCH_BYTES = 1000, 4 * 1024**2
_encode = msgspec.msgpack.Encoder().encode


class Content:
    """The number of rows of a table, and a digest of them in their order."""

    def __init__(self) -> None:
        self.rows = 0
        self._digest = sha256()

    def add(self, row: StoredRow) -> int:
        encoded = _encode(row)
        self.rows += 1
        self._digest.update(encoded)
        return len(encoded)

    @property
    def digest(self) -> str:
        return self._digest.hexdigest()


def move(source: TableStore, target: TableStore) -> dict[str, Content]:
    """Copy all rows in one transaction, read them back, and verify the chain of each record. Then no house can start on
    the source any more. Raises, without changes, if anything is wrong. Returns the content of each table."""
    with source.taking() as rows, target.filling() as (insert, copied):
        for table in TABLES:
            if next(copied(table), None) is not None:
                raise Conflict(f"{target.place} is not empty; move to a new database or folder")
        sent = {table: Content() for table in TABLES}
        for table, content in sent.items():
            for batch in _batches(rows(table), content):
                insert(table, batch)
        for table, content in sent.items():
            found = Content()
            for row in copied(table):
                found.add(row)
            if (found.rows, found.digest) != (content.rows, content.digest):
                raise StorageFailed(
                    f"the copy of {table} in {target.place} differs: {found.rows} rows instead of {content.rows}, or "
                    "other bytes; nothing was moved"
                )
        _verify_records(copied)
    return sent


def _batches(rows: Iterator[StoredRow], content: Content) -> Iterator[list[StoredRow]]:
    batch: list[StoredRow] = []
    size = 0
    for row in rows:
        batch.append(row)
        size += content.add(row)
        if len(batch) >= BATCH_ROWS or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _verify_records(rows: Rows) -> None:
    """The chain of each record, from its beginning, or from its oldest snapshot if that has been deleted."""
    starts: dict[str, tuple[int, bytes]] = {}
    for room, seq, body in rows("snapshots"):
        if room not in starts:
            starts[room] = seq, Snapshot.decode(body).digest
    for room, entries in groupby(rows("entries"), key=lambda row: row[0]):
        first = next(entries)
        seq, digest = (-1, GENESIS) if first[1] == 0 else starts.get(room, (-1, GENESIS))
        after = (row[1:] for row in chain([first], entries) if row[1] > seq)
        try:
            for _ in read_lines(after, seq, digest):
                pass
        except RecordCorrupt as wrong:
            raise RecordCorrupt(
                f"room {room}: {wrong.message}; nothing was moved. See `cohabit verify {room}`"
            ) from None
