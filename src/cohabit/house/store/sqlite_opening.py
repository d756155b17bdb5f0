"""Opening the file of ``SQLiteStore``: creating, checking and converting it, and connecting to it."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from cohabit.errors import BadArgs, RecordCorrupt, StorageFailed
from cohabit.house.store.contract import identities_in
from cohabit.house.store.disk import sync_folder

DATABASE_NAME = "cohabit.db"
MOVED_NAME = f"{DATABASE_NAME}.moved"
"""The database of a house that was moved elsewhere."""
ROWS_PER_INSERT = 100
OVERWRITES = "overwrites"
"""In a database that was made when deleted data was not overwritten yet, this key is missing until ``scrub``."""
_FIRST_TABLES = f"""
begin immediate;
create table meta (key text primary key, value integer not null) without rowid;
create table entries (
    room text not null, seq integer not null, body blob not null, digest blob not null,
    primary key (room, seq)) without rowid;
create table snapshots (
    room text not null, seq integer not null, body blob not null, primary key (room, seq));
create table refusals (
    room text not null, id integer not null, body blob not null, primary key (room, id)) without rowid;
create table identities (id text primary key, body blob not null) without rowid;
create table credentials (hash blob primary key, room text, body blob not null) without rowid;
create table invites (id text primary key, room text not null, body blob not null) without rowid;
create table profiles (identity text primary key, body blob not null) without rowid;
create table leases (room text primary key, house text not null, until integer not null) without rowid;
insert into meta values ('schema', 5);
insert into meta values ('{OVERWRITES}', 1);
commit;
"""
"""Those of schema 5; the migrations do the rest."""


def prepare(path: Path, create: bool) -> None:
    """Create or check the database. Any other file is rejected unchanged."""
    if not create and not path.exists():
        raise BadArgs(f"{path} not found; pass the data folder of a house with --data")
    if create:
        _create_file(path)
    with closing(connect_read_only(path)) as db:
        tables = {row[0] for row in db.execute("select name from sqlite_master where type = 'table'")}
        found = db.execute("select value from meta where key = 'schema'").fetchone() if "meta" in tables else None
    if found is not None:
        _check_schema(path, found[0])
    elif tables:
        raise RecordCorrupt(f"{path} is not a Cohabit database")
    elif not create:
        raise StorageFailed(
            f"{path} is empty: creating this house did not finish, perhaps because the disk is full. Free some space "
            "and start the house again"
        )
    else:
        with closing(connect(path)) as db:
            db.executescript(_FIRST_TABLES)


def _check_schema(path: Path, found: object) -> None:
    if not isinstance(found, int):
        raise RecordCorrupt(f"{path} is damaged: its schema is {found!r}")
    if found < OLDEST:
        raise RecordCorrupt(
            f"{path} was made by an earlier version of Cohabit (schema {found}, this version converts {OLDEST} to "
            f"{SCHEMA}) and cannot be converted; start with a new data folder (--data)"
        )
    if found > SCHEMA:
        raise RecordCorrupt(
            f"{path} was made by a newer version of Cohabit (schema {found}, this version has {SCHEMA}); "
            "update Cohabit, or use another data folder (--data)"
        )


# -- migrations -----------------------------------------------------------------------------------
def _to_6(db: sqlite3.Connection) -> None:
    """Leases are in memory, and saves in the database. Folders of schema 5 may lack two tables."""
    db.execute("drop table leases")
    db.execute(
        "create table if not exists egress ("
        "room text not null, key text not null, body blob not null, primary key (room, key)) without rowid"
    )
    db.execute(
        "create table if not exists named ("
        "identity text not null, room text not null, primary key (identity, room)) without rowid"
    )
    db.execute(
        "create table saves (room text not null, name text not null, body blob not null, primary key (room, name))"
    )
    db.execute("delete from meta where key = 'named'")
    for table in ("entries", "snapshots"):  # an index that is there lacks the identities of agents with keys
        for room, body in db.execute(f"select room, body from {table}"):
            db.executemany("insert or ignore into named values (?, ?)", [(one, room) for one in identities_in(body)])


OLDEST = 5
MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (_to_6,)
"""Each makes a database of one schema one of the next, from ``OLDEST`` on. A new database goes through all of them."""
SCHEMA = OLDEST + len(MIGRATIONS)


def migrate(db: sqlite3.Connection) -> None:
    """Convert the database to the schema of this version, in one transaction."""
    with db:
        db.execute("begin immediate")
        found = db.execute("select value from meta where key = 'schema'").fetchone()[0]
        for change in MIGRATIONS[found - OLDEST :]:
            change(db)
        db.execute("update meta set value = ? where key = 'schema' and value < ?", (SCHEMA, SCHEMA))


# -- connections ----------------------------------------------------------------------------------
def _create_file(path: Path) -> None:
    """Tokens are hashed, but messages are not: only the owner may read the file."""
    if not path.exists():
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        sync_folder(path.parent)


def connect(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(
        path, timeout=10, isolation_level=None, check_same_thread=False, cached_statements=2 * ROWS_PER_INSERT
    )
    try:
        db.execute("pragma journal_mode = wal")
        # FULL syncs the WAL at every commit, so an answered call survives a power failure. With NORMAL it may not.
        db.execute("pragma synchronous = full")
        db.execute("pragma secure_delete = on")  # what a person has deleted must not be found in the file
    except sqlite3.Error:
        db.close()
        raise
    return db


def connect_read_only(path: Path) -> sqlite3.Connection:
    """A read-only connection, which also works in a read-only folder.

    While a house runs, its WAL can be shared. Otherwise SQLite tries to create one; if it cannot, open the file as
    immutable, unless a non-empty WAL was left behind.
    """
    try:
        return _connect_by_uri(path, "mode=ro")
    except sqlite3.OperationalError as wrong:
        if primary_code(wrong) not in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN):
            raise
        log = path.with_name(path.name + "-wal")
        if log.exists() and log.stat().st_size > 0:
            raise StorageFailed(
                f"{log} contains commits that cannot be read in a read-only folder; copy {path.parent} to a writable "
                "folder and use that"
            ) from wrong
        return _connect_by_uri(path, "mode=ro&immutable=1")


def _connect_by_uri(path: Path, options: str) -> sqlite3.Connection:
    db = sqlite3.connect(
        f"{path.absolute().as_uri()}?{options}", uri=True, timeout=10, isolation_level=None, check_same_thread=False
    )
    try:
        db.execute("select 1 from sqlite_master").fetchone()  # SQLite opens the file lazily
    except sqlite3.Error:
        db.close()
        raise
    return db


def primary_code(wrong: sqlite3.Error) -> int | None:
    """The primary result code."""
    code: int | None = getattr(wrong, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF
