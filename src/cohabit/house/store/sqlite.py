"""The store on SQLite: one database per data folder, in WAL mode, with a full sync at every commit."""

import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import lru_cache, partial
from itertools import chain, count
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from cohabit.errors import BadArgs, CohabitError, Conflict, RecordCorrupt, StorageFailed
from cohabit.house.store.contract import SNAPSHOTS_KEPT, Row, Write, in_parts, named_in
from cohabit.house.store.disk import ID_FILE, make_folder, sync_folder, take_lock, unlock
from cohabit.house.store.local_leases import LocalLeases, Now, standing
from cohabit.house.store.save_files import delete_saves, saves_in
from cohabit.house.store.sqlite_opening import (
    DATABASE_NAME,
    MOVED_NAME,
    OVERWRITES,
    ROWS_PER_INSERT,
    connect,
    connect_read_only,
    migrate,
    prepare,
    primary_code,
)
from cohabit.house.store.tables import STORED_ROOMS, TABLES, TABLES_WITH_ROOM, Insert, Rows, StoredRow
from cohabit.model.identity import Credential, Identity, Invite
from cohabit.model.refusals import REFUSALS_KEPT, Refusal

COLUMNS = 4  # of entries
ROWS_PER_READ = 32
"""Rows that are in memory at once while a record is read. Each can have some megabytes."""

_encode = msgspec.msgpack.Encoder().encode
_Kept = TypeVar("_Kept", Refusal, Identity, Credential, Invite)


class _Owned(Struct):
    """Of a stored credential: whose it is."""

    identity: str


class SQLiteStore:
    """See ``Store``.

    With ``lock`` it creates the folder if needed and locks it. Without ``lock`` it opens the database read-only, even
    while a house is running. ``now``: the clock (ms) by which leases end. ``to_fill``: it may be a folder that a house
    was moved from, because one is moved there now.
    """

    is_reachable = True

    def __init__(self, folder: Path, lock: bool = True, now: Now = standing, *, to_fill: bool = False) -> None:
        self.folder = folder
        self.path = folder / DATABASE_NAME
        self.place = str(folder)
        self._read_only = not lock
        self._to_fill = to_fill
        self._writing = threading.Lock()
        self._reading = threading.Lock()  # separate connection, so reads never wait for a sync
        self._leases = LocalLeases(now)
        self._lock_file: int | None = None
        try:
            self._open()
        except sqlite3.Error as wrong:
            raise _failure(f"{self.path} cannot be opened", wrong, IF_DAMAGED) from wrong
        except OSError as wrong:
            raise StorageFailed(
                f"{folder} cannot be used as a data folder ({wrong.strerror}); choose another one with --data"
            ) from wrong

    def _open(self) -> None:
        with ExitStack() as undo:
            if not self._read_only:
                make_folder(self.folder)
                self._lock_file = take_lock(self.folder)
                undo.callback(self._unlock)
                if not self._to_fill:
                    self._refuse_what_is_elsewhere()
            prepare(self.path, create=not self._read_only)
            self._db = undo.enter_context(closing(self._connect()))
            self._reader = undo.enter_context(closing(self._connect()))
            if not self._read_only:
                migrate(self._db)
                self._adopt_files()
            undo.pop_all()

    def _refuse_what_is_elsewhere(self) -> None:
        """Nobody who forgets where the data of the house is gets an empty house in its place."""
        if self.path.exists():
            return
        if self.path.with_name(MOVED_NAME).exists():
            raise Conflict(
                f"the house in {self.folder} was moved elsewhere with `cohabit move`; start it there (--store, or "
                "COHABIT_STORE), or use another folder"
            )
        if (self.folder / ID_FILE).exists():
            raise BadArgs(
                f"the house in {self.folder} keeps its data in PostgreSQL; give the address with --store or "
                "COHABIT_STORE, or use another folder"
            )

    def _connect(self) -> sqlite3.Connection:
        return connect_read_only(self.path) if self._read_only else connect(self.path)

    def _adopt_files(self) -> None:
        """Once, for a folder whose saves are files."""
        found = saves_in(self.folder)
        if found:
            with self._transaction():
                for room, name, file in found:
                    self._db.execute("insert or ignore into saves values (?, ?, ?)", (room, name, file.read_bytes()))
            delete_saves(self.folder, found)

    # -- writing ----------------------------------------------------------------------------------
    def commit(self, writes: Sequence[Write]) -> None:
        if not any(write.has_more_than_lines for write in writes):
            # Each statement releases and reacquires the GIL, which costs more than a row while the event loop is
            # busy. So a statement inserts many rows, and a single statement is its own transaction.
            named = named_in(writes)
            many = sum(len(write.lines) for write in writes) > ROWS_PER_INSERT
            with self._transaction(begin=many or bool(named)):
                self._leases.check(writes)
                self._insert_lines(writes)
                if named:
                    self._index(named)
            return
        with self._transaction():
            self._leases.check(writes)
            for part in in_parts(writes):
                self._insert_lines(part)
                self._index(named_in(part))
                for write in part:
                    if write.has_more_than_lines:
                        self._write_rest(write)
        for write in writes:
            if write.delete:
                self._leases.forget(write.room)

    @contextmanager
    def _transaction(self, begin: bool = True) -> Iterator[None]:
        """All or nothing, and durable at the end."""
        try:
            with self._writing, self._db:
                if begin:
                    self._db.execute("begin immediate")
                yield
        except sqlite3.Error as wrong:
            raise StorageFailed(
                f"{self.path} could not be written: {wrong}; nothing was changed{_cure(wrong)}"
            ) from wrong

    def _insert_lines(self, writes: Sequence[Write]) -> None:
        values: list[Any] = []
        for write in writes:
            room = write.room
            if write.rewrite:
                for table in ("entries", "snapshots", "refusals", "named"):
                    self._db.execute(f"delete from {table} where room = ?", (room,))
            for line in write.lines:
                values += room, line.seq, line.body, line.digest
                if len(values) == ROWS_PER_INSERT * COLUMNS:
                    self._db.execute(_insert_of(ROWS_PER_INSERT), values)
                    values = []
        if values:
            self._db.execute(_insert_of(len(values) // COLUMNS), values)

    def _index(self, named: Iterable[tuple[str, str]]) -> None:
        self._db.executemany("insert or ignore into named values (?, ?)", named)

    def _write_rest(self, write: Write) -> None:
        """Write everything except the lines, which are already inserted."""
        room = write.room
        if write.forget:
            self._forget_identities(write.forget)
        if write.snapshot is not None:
            self._keep_snapshot(room, write.snapshot)
        if write.refusals:
            self._keep_refusals(room, write.refusals)
        if write.identities:
            rows: list[tuple[Any, ...]] = [(each.id, _encode(each)) for each in write.identities]
            self._db.executemany("replace into identities values (?, ?)", rows)
        if write.credentials:
            rows = [(each.hash, each.room, _encode(each)) for each in write.credentials]
            self._db.executemany("replace into credentials values (?, ?, ?)", rows)
        if write.invites:
            rows = [(each.id, each.room, _encode(each)) for each in write.invites]
            self._db.executemany("replace into invites values (?, ?, ?)", rows)
        if write.profiles:
            self._db.executemany("replace into profiles values (?, ?)", write.profiles)
        if write.egress:
            self._db.executemany("replace into egress values (?, ?, ?)", [(room, *each) for each in write.egress])
        if write.saves:
            self._db.executemany("replace into saves values (?, ?, ?)", [(room, *each) for each in write.saves])
        if write.forget_before is not None:
            self._forget(room, write.forget_before)
        if write.forget_refusals:
            gone = [(room, number) for number in write.forget_refusals]
            self._db.executemany("delete from refusals where room = ? and id = ?", gone)
        for identity in write.forget_egress:
            self._db.execute("delete from egress where substr(key, 1, ?) = ?", (len(identity) + 1, f"{identity}\n"))
        if write.delete:
            for table in TABLES_WITH_ROOM:
                self._db.execute(f"delete from {table} where room = ?", (room,))

    def _keep_snapshot(self, room: str, snapshot: tuple[int, bytes]) -> None:
        self._db.execute("replace into snapshots values (?, ?, ?)", (room, *snapshot))
        self._db.execute(
            "delete from snapshots where room = ? and seq not in "
            "(select seq from snapshots where room = ? order by seq desc limit ?)",
            (room, room, SNAPSHOTS_KEPT),
        )

    def _keep_refusals(self, room: str, refusals: Sequence[Refusal]) -> None:
        self._db.executemany(
            "replace into refusals values (?, ?, ?)", [(room, each.id, _encode(each)) for each in refusals]
        )
        self._db.execute(
            "delete from refusals where room = ? and id < "
            "(select id from refusals where room = ? order by id desc limit 1 offset ?)",
            (room, room, REFUSALS_KEPT - 1),
        )

    def _forget(self, room: str, before: int) -> None:
        """Delete old entries, but none after the older snapshot: starting from it needs them."""
        oldest = self._db.execute("select min(seq) from snapshots where room = ?", (room,)).fetchone()[0]
        edge = min(before, (oldest if oldest is not None else -1) + 1)
        self._db.execute("delete from entries where room = ? and seq < ?", (room, edge))

    def _forget_identities(self, identities: Sequence[str]) -> None:
        """Looks at all credentials once: a search for each identity takes as long."""
        gone = set(identities)
        self._db.executemany("delete from identities where id = ?", [(each,) for each in gone])
        self._db.executemany("delete from profiles where identity = ?", [(each,) for each in gone])
        held = self._db.execute("select hash, body from credentials")
        theirs = [(key,) for key, body in held if msgspec.msgpack.decode(body, type=_Owned).identity in gone]
        self._db.executemany("delete from credentials where hash = ?", theirs)

    # -- leases -----------------------------------------------------------------------------------
    def lease(self, rooms: Sequence[str], house: str, ms: int, epoch: int | None = None) -> dict[str, int]:
        with self._writing:
            if self._read_only:
                raise StorageFailed(f"{self.path} was opened for reading")
            return self._leases.take(rooms, house, ms, epoch)

    def release(self, rooms: Sequence[str], house: str) -> None:
        with self._writing:
            self._leases.release(rooms, house)

    # -- reading ----------------------------------------------------------------------------------
    def rooms(self) -> list[str]:
        return [row[0] for row in self._read(f"{STORED_ROOMS} order by room")]

    def snapshots(self, room: str) -> list[bytes]:
        return [row[0] for row in self._read("select body from snapshots where room = ? order by seq desc", (room,))]

    def lines(self, room: str, after: int, limit: int | None = None) -> Iterator[Row]:
        left = limit
        while left is None or left > 0:
            count = ROWS_PER_READ if left is None else min(ROWS_PER_READ, left)
            rows: list[Row] = self._read(
                "select seq, body, digest from entries where room = ? and seq > ? order by seq limit ?",
                (room, after, count),
            )
            for row in rows:
                if type(row[1]) is not bytes or type(row[2]) is not bytes:
                    raise RecordCorrupt(
                        f"{self.path} is damaged: entry {row[0]} of room {room} has no bytes", seq=row[0]
                    )
                yield row
            if len(rows) < count:
                return
            after = rows[-1][0]
            left = None if left is None else left - count

    def head(self, room: str) -> int:
        found = self._read("select max(seq) from entries where room = ?", (room,))[0][0]
        return -1 if found is None else int(found)

    def size(self, room: str) -> int:
        return int(self._read("select coalesce(sum(length(body)), 0) from entries where room = ?", (room,))[0][0])

    def refusals(self, room: str) -> list[Refusal]:
        return self._decoded(Refusal, "select body from refusals where room = ? order by id", (room,))

    def identities(self) -> list[Identity]:
        return self._decoded(Identity, "select body from identities order by id")

    def credentials(self) -> list[Credential]:
        return self._decoded(Credential, "select body from credentials order by hash")

    def invites(self) -> list[Invite]:
        return self._decoded(Invite, "select body from invites order by id")

    def rooms_naming(self, identity: str) -> list[str]:
        return [row[0] for row in self._read("select room from named where identity = ? order by room", (identity,))]

    def profile(self, identity: str) -> bytes | None:
        found = self._read("select body from profiles where identity = ?", (identity,))
        return bytes(found[0][0]) if found else None

    def egress(self, room: str) -> list[bytes]:
        return [bytes(row[0]) for row in self._read("select body from egress where room = ? order by key", (room,))]

    def saves(self, room: str) -> list[str]:
        return [row[0] for row in self._read("select name from saves where room = ? order by name", (room,))]

    def save(self, room: str, name: str) -> bytes | None:
        found = self._read("select body from saves where room = ? and name = ?", (room, name))
        return bytes(found[0][0]) if found else None

    def _decoded(self, kind: type[_Kept], sql: str, args: tuple[Any, ...] = ()) -> list[_Kept]:
        rows = self._read(sql, args)
        try:
            return [msgspec.msgpack.decode(row[0], type=kind) for row in rows]
        except (ValueError, TypeError) as wrong:  # bad UTF-8 and wrong types are not MsgspecErrors
            raise RecordCorrupt(f"{self.path} is damaged: a stored {kind.__name__} cannot be read: {wrong}") from None

    def _read(self, sql: str, args: tuple[Any, ...] = ()) -> list[Any]:
        try:
            with self._reading:
                return self._reader.execute(sql, args).fetchall()
        except sqlite3.Error as wrong:
            raise _failure(f"{self.path} cannot be read", wrong) from wrong

    def problems(self) -> list[str]:
        """The problems of the file itself: damaged pages, and entries that belong to no room. Reads all of it."""
        found = [row[0] for row in self._read("pragma integrity_check(10)")]
        strays = self._read(
            "select room, count(*) from entries where room not in (select room from snapshots) group by room"
        )
        return [
            *(f"{self.path} is damaged: {text}" for text in found if text != "ok"),
            *(f"{self.path} is damaged: it has {count} entries of a room {room!r}, which has no snapshot"
              for room, count in strays),
        ]  # fmt: skip

    # -- moving everything ------------------------------------------------------------------------
    @contextmanager
    def taking(self) -> Iterator[Rows]:
        # SQLite does that at the end, but not while another process reads: then the newest part stays in the log, which
        # the moved file no longer has, and the next database in this folder would find.
        try:
            busy = self._db.execute("pragma wal_checkpoint(truncate)").fetchone()[0]
        except sqlite3.Error as wrong:
            raise _failure(f"{self.path} cannot be moved", wrong) from wrong
        if busy:
            raise StorageFailed(
                f"{self.path} is being read by another process, such as `cohabit verify`; wait until it has ended. "
                "Nothing was moved"
            )
        yield partial(_all_rows, self._reader)
        self.close()
        self.path.replace(_unused(self.path.with_name(MOVED_NAME)))
        for kept_by_reader in ("-wal", "-shm"):
            self.path.with_name(DATABASE_NAME + kept_by_reader).unlink(missing_ok=True)
        sync_folder(self.folder)

    @contextmanager
    def filling(self) -> Iterator[tuple[Insert, Rows]]:
        def insert(table: str, rows: Sequence[StoredRow]) -> None:
            marks = ", ".join("?" * len(TABLES[table].columns))
            self._db.executemany(f"insert into {table} values ({marks})", rows)

        with self._transaction():
            yield insert, partial(_all_rows, self._db)

    # -- deleting for ever ------------------------------------------------------------------------
    def scrub(self) -> None:
        """Deleted data is overwritten in the database, but the log still has it: write the log back and empty it.

        A database of an earlier version has old free pages, so it is rewritten once.
        """
        try:
            with self._writing:
                known = self._db.execute("select 1 from meta where key = ?", (OVERWRITES,)).fetchone()
                if known is None:
                    self._db.execute("vacuum")
                    self._db.execute("insert into meta values (?, 1)", (OVERWRITES,))
                busy = self._db.execute("pragma wal_checkpoint(truncate)").fetchone()[0]
        except sqlite3.Error as wrong:
            raise StorageFailed(f"{self.path} could not be written: {wrong}") from wrong
        if busy:
            raise StorageFailed(f"{self.path} is being read by another process; deleted data is overwritten later")

    # -- the rest ---------------------------------------------------------------------------------
    def give_up(self) -> None:
        """A file is always reached."""

    def backup(self, path: str) -> None:
        try:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            with closing(self._connect()) as source, closing(sqlite3.connect(path)) as target:
                source.backup(target)  # in one step: otherwise each commit in between restarts it
        except (sqlite3.Error, OSError) as wrong:
            raise StorageFailed(f"the backup {path} could not be written: {wrong}") from wrong

    def close(self) -> None:
        with self._writing, self._reading:
            self._reader.close()
            self._db.close()
            self._unlock()

    def _unlock(self) -> None:
        unlock(self._lock_file)
        self._lock_file = None


def _all_rows(db: sqlite3.Connection, table: str) -> Iterator[StoredRow]:
    kind = TABLES[table]
    columns, order = ", ".join(kind.columns), ", ".join(kind.columns[: kind.keys])
    yield from db.execute(f"select {columns} from {table} order by {order}")


def _unused(path: Path) -> Path:
    """This path, or with a number if there is such a file."""
    numbered = (path.with_name(f"{path.name}.{number}") for number in count(1))
    return next(each for each in chain([path], numbered) if not each.exists())


@lru_cache(maxsize=ROWS_PER_INSERT)
def _insert_of(rows: int) -> str:
    return f"insert into entries values {', '.join(['(?, ?, ?, ?)'] * rows)}"


# -- errors -------------------------------------------------------------------------------------
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT, sqlite3.SQLITE_ERROR)
"""SQLITE_ERROR too: our SQL is valid, so this means a missing table or column."""


IF_DAMAGED = ". No room in it can be read: restore a backup, as `cohabit backup` makes them"
_CURES = {
    sqlite3.SQLITE_FULL: "free some space on the disk of the house, and try again",
    **dict.fromkeys(
        (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN),
        "is the disk of the house full, or read-only? Mend that, and try again",
    ),
}


def _cure(wrong: sqlite3.Error) -> str:
    """The part of an error message that says what to do; empty if nothing is known to help."""
    cure = _CURES.get(primary_code(wrong) or 0)
    return f"; {cure}" if cure else ""


def _failure(problem: str, wrong: sqlite3.Error, if_damaged: str = "") -> CohabitError:
    """RECORD_CORRUPT if the database is damaged, STORAGE_FAILED if it cannot be used now."""
    code = primary_code(wrong)
    # Without a code it comes from Python: a closed connection, or a text that is not UTF-8.
    damaged = code in _DAMAGE or (code is None and not isinstance(wrong, sqlite3.ProgrammingError))
    if damaged:
        return RecordCorrupt(f"{problem}: {wrong}{if_damaged}")
    return StorageFailed(f"{problem}: {wrong}{_cure(wrong)}")
