"""The store on SQLite: one database per data folder, WAL, and a full sync for every commit."""

import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from cohabit.errors import Conflict, RecordCorrupt, StorageFailed
from cohabit.house.store import Credential, Row, Write
from cohabit.room.audit import Refusal

SCHEMA = 1
_TABLES = """
create table if not exists meta (key text primary key, value integer not null) without rowid;
create table if not exists entries (
    room text not null, seq integer not null, body blob not null, digest blob not null,
    primary key (room, seq)) without rowid;
create table if not exists snapshots (
    room text not null, seq integer not null, body blob not null, primary key (room, seq));
create table if not exists refusals (
    room text not null, id integer not null, body blob not null, primary key (room, id)) without rowid;
create table if not exists credentials (hash blob primary key, body blob not null) without rowid;
insert or ignore into meta values ('schema', 1), ('credentials', 0);
"""
ROWS_AT_ONCE = 100
SNAPSHOTS_KEPT = 2
REFUSALS_KEPT = 5_000
PAGE = 1000


class SQLiteStore:
    """See ``Store``. ``lock`` keeps a second house out of the folder; tools that only add a token go without."""

    def __init__(self, folder: Path, lock: bool = True) -> None:
        _make_folder(folder)
        self.folder = folder
        self.path = folder / "cohabit.db"
        self._lock_file = _take_lock(folder / "lock") if lock else None
        self._guard = threading.Lock()
        self._reading = threading.Lock()  # of its own: a read never waits for a sync
        # Tokens are hashed, but messages are not: nobody else on this machine is to read along.
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        try:
            self._db = _connect(self.path)
            self._db.executescript(_TABLES)
            self._db.execute("begin immediate").connection.commit()
            found = self._db.execute("select value from meta where key = 'schema'").fetchone()[0]
        except sqlite3.DatabaseError as wrong:
            self.close()
            raise RecordCorrupt(f"{self.path} cannot be opened: {wrong}") from None
        if found != SCHEMA:
            self.close()
            raise RecordCorrupt(f"{self.path} has schema {found}; this Cohabit reads {SCHEMA}")
        self._reader = _connect(self.path)

    # -- writing ----------------------------------------------------------------------------------
    def commit(self, writes: Sequence[Write]) -> None:
        entries = [(write.room, line) for write in writes for line in write.lines]
        rest = [write for write in writes if write.has_more_than_lines]
        # Each statement hands the interpreter lock to and fro, which costs more than a row while the event loop
        # is busy. So many rows go by one statement, and where that is all, it is a transaction by itself.
        alone = not rest and len(entries) <= ROWS_AT_ONCE
        with self._transaction(begin=not alone):
            for start in range(0, len(entries), ROWS_AT_ONCE):
                rows = entries[start : start + ROWS_AT_ONCE]
                self._db.execute(
                    _insert_of(len(rows)), [v for room, line in rows for v in (room, line.seq, line.body, line.digest)]
                )
            for write in rest:
                self._write_rest(write)

    @contextmanager
    def _transaction(self, begin: bool = True) -> Iterator[None]:
        """All or nothing, and on disk when it is left."""
        try:
            with self._guard, self._db:
                if begin:
                    self._db.execute("begin immediate")
                yield
        except sqlite3.Error as wrong:
            raise StorageFailed(f"the store could not be written ({wrong}); nothing of this call happened") from wrong

    def _write_rest(self, write: Write) -> None:
        room = write.room
        if write.snapshot is not None:
            self._db.execute("insert or replace into snapshots values (?, ?, ?)", (room, *write.snapshot))
            self._db.execute(
                "delete from snapshots where room = ? and seq not in "
                "(select seq from snapshots where room = ? order by seq desc limit ?)",
                (room, room, SNAPSHOTS_KEPT),
            )
        if write.refusals:
            self._db.executemany(
                "insert or replace into refusals values (?, ?, ?)",
                [(room, r.id, msgspec.json.encode(r)) for r in write.refusals],
            )
            newest = max(r.id for r in write.refusals)
            self._db.execute("delete from refusals where room = ? and id <= ?", (room, newest - REFUSALS_KEPT))
        for credential in write.credentials:
            self._put_credential(credential)
        if write.forget_before is not None:
            self._forget(room, write.forget_before)

    def _forget(self, room: str, before: int) -> int:
        """Delete old entries, never past the older snapshot: it carries the head of the chain there."""
        oldest = self._db.execute("select min(seq) from snapshots where room = ?", (room,)).fetchone()[0]
        edge = min(before, (oldest if oldest is not None else -1) + 1)
        return self._db.execute("delete from entries where room = ? and seq < ?", (room, edge)).rowcount

    def delete_room(self, room: str) -> None:
        with self._transaction():
            for table in ("entries", "snapshots", "refusals"):
                self._db.execute(f"delete from {table} where room = ?", (room,))

    def prune(self, room: str, before: int) -> int:
        with self._transaction():
            return self._forget(room, before)

    # -- reading ----------------------------------------------------------------------------------
    def rooms(self) -> list[str]:
        return [row[0] for row in self._read("select distinct room from snapshots order by room")]

    def snapshots(self, room: str) -> list[bytes]:
        return [row[0] for row in self._read("select body from snapshots where room = ? order by seq desc", (room,))]

    def lines(self, room: str, after: int, most: int | None = None) -> Iterator[Row]:
        left = most
        while left is None or left > 0:
            rows: list[Row] = self._read(
                "select seq, body, digest from entries where room = ? and seq > ? order by seq limit ?",
                (room, after, PAGE if left is None else min(PAGE, left)),
            )
            yield from rows
            if len(rows) < PAGE:
                return
            after = rows[-1][0]
            left = None if left is None else left - len(rows)

    def head(self, room: str) -> int:
        found = self._read("select max(seq) from entries where room = ?", (room,))[0][0]
        return -1 if found is None else int(found)

    def refusals(self, room: str) -> list[Refusal]:
        rows = self._read("select body from refusals where room = ? order by id desc limit 500", (room,))
        try:
            return [msgspec.json.decode(row[0], type=Refusal) for row in reversed(rows)]
        except msgspec.DecodeError as wrong:
            raise RecordCorrupt(f"the refusals of room {room} cannot be read: {wrong}") from None

    def _read(self, sql: str, args: tuple[Any, ...] = ()) -> list[Any]:
        try:
            with self._reading:
                return self._reader.execute(sql, args).fetchall()
        except sqlite3.DatabaseError as wrong:
            raise RecordCorrupt(f"{self.path} cannot be read: {wrong}") from None

    # -- credentials ------------------------------------------------------------------------------
    def credentials(self) -> list[Credential]:
        rows = self._read("select body from credentials")
        try:
            return [msgspec.msgpack.decode(row[0], type=Credential) for row in rows]
        except msgspec.DecodeError as wrong:
            raise RecordCorrupt(f"a credential in {self.path} cannot be read: {wrong}") from None

    def put_credential(self, credential: Credential) -> None:
        with self._transaction():
            self._put_credential(credential)

    def _put_credential(self, credential: Credential) -> None:
        self._db.execute(
            "insert or replace into credentials values (?, ?)",
            (credential.hash, msgspec.msgpack.encode(credential)),
        )
        self._db.execute("update meta set value = value + 1 where key = 'credentials'")

    def credentials_version(self) -> int:
        return int(self._read("select value from meta where key = 'credentials'")[0][0])

    # -- the rest ---------------------------------------------------------------------------------
    def backup(self, path: str) -> None:
        """A consistent copy, while the house goes on."""
        source = _connect(self.path)
        target = sqlite3.connect(path)
        try:
            source.backup(target)  # in one step: one of several begins anew whenever something was written meanwhile
        finally:
            target.close()
            source.close()

    def close(self) -> None:
        for name in ("_reader", "_db"):
            db = getattr(self, name, None)
            if db is not None:
                db.close()
        if self._lock_file is not None:
            os.close(self._lock_file)
            self._lock_file = None


def _make_folder(folder: Path) -> None:
    """Make the folder, and put its name on disk too: SQLite syncs what is in it, not that it is there."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for made in missing:
        parent = os.open(made.parent, os.O_RDONLY)
        try:
            os.fsync(parent)
        finally:
            os.close(parent)


@lru_cache(maxsize=ROWS_AT_ONCE)
def _insert_of(rows: int) -> str:
    return f"insert into entries values {', '.join(['(?, ?, ?, ?)'] * rows)}"


def _connect(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(
        path, timeout=10, isolation_level=None, check_same_thread=False, cached_statements=2 * ROWS_AT_ONCE
    )
    try:
        db.execute("pragma journal_mode = wal")
        # FULL syncs the log at every commit: what was answered ok survives a power cut. NORMAL would not.
        db.execute("pragma synchronous = full")
    except sqlite3.Error:
        db.close()
        raise
    return db


def _take_lock(path: Path) -> int:
    """Hold the folder for this process; the lock goes with the process, however it ends."""
    import fcntl

    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        owner = os.read(handle, 32).decode(errors="replace").strip()
        os.close(handle)
        raise Conflict(
            f"another house (process {owner or 'unknown'}) uses {path.parent}; stop it, or give --data another folder"
        ) from None
    os.truncate(handle, 0)
    os.write(handle, f"{os.getpid()}\n".encode())
    return handle
