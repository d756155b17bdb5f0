"""The tables of ``PostgresStore``: creating them, checking their version, and converting them."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from cohabit.errors import BadArgs, Conflict, RecordCorrupt
from cohabit.house.store.tables import TABLES

if TYPE_CHECKING:
    from psycopg import Connection

_FIRST_TABLES = (
    "create table meta (key text primary key, value bigint not null)",
    """create table entries (
        room text collate "C" not null, seq bigint not null, body bytea not null, digest bytea not null,
        primary key (room, seq))""",
    """create table snapshots (
        room text collate "C" not null, seq bigint not null, body bytea not null, primary key (room, seq))""",
    """create table refusals (
        room text collate "C" not null, id bigint not null, body bytea not null, primary key (room, id))""",
    """create table identities (id text collate "C" primary key, body bytea not null)""",
    """create table credentials (hash bytea primary key, room text collate "C", body bytea not null)""",
    """create table invites (id text collate "C" primary key, room text collate "C" not null, body bytea not null)""",
    """create table profiles (identity text collate "C" primary key, body bytea not null)""",
    """create table egress (
        room text collate "C" not null, key text collate "C" not null, body bytea not null, primary key (room, key))""",
    """create table named (
        identity text collate "C" not null, room text collate "C" not null, primary key (identity, room))""",
    """create table saves (
        room text collate "C" not null, name text collate "C" not null, body bytea not null,
        primary key (room, name))""",
    """create table houses (
        house text primary key, place text not null, until timestamptz not null, epoch bigint not null)""",
    """create table leases (
        room text collate "C" primary key, house text not null references houses on delete cascade,
        epoch bigint not null)""",
    "create table commits (session text primary key, token text not null)",
    "create sequence epochs",
    "create index on credentials (room)",
    "create index on invites (room)",
    "create index on named (room)",
    "create index on leases (house)",
)


def _to_1(db: "Connection[Any]") -> None:
    for statement in _FIRST_TABLES:
        db.execute(statement)


_TABLES_OF_A_CLUSTER = (
    # Only houses of a cluster have a row. ``applied``: up to which change all its processes know them.
    """create table places (
        place text primary key, address text not null, applied bigint not null,
        is_draining boolean not null default false, opened timestamptz not null default now())""",
    "alter table houses add column node text not null default ''",
    "create index on houses (place)",
    "alter table leases add column travels boolean not null default false",
    # The place that should open a room that nobody has.
    """create table wanted (room text collate "C" primary key, place text not null)""",
    """create table changes (
        seq bigint primary key, place text not null, house text not null, at timestamptz not null, body bytea not null)
    """,
    # One row. A transaction that adds changes locks it until its end, so the numbers are in the order of the commits.
    "create table changes_end (last bigint not null, removed bigint not null)",
    "insert into changes_end values (0, 0)",
)


def _to_2(db: "Connection[Any]") -> None:
    """Several houses as a cluster: where they are, and a log of what all of them have to know."""
    for statement in _TABLES_OF_A_CLUSTER:
        db.execute(statement)


MIGRATIONS: tuple[Callable[["Connection[Any]"], None], ...] = (_to_1, _to_2)
"""Each makes a database of one schema one of the next. A new database goes through all of them."""
SCHEMA = len(MIGRATIONS)


def prepare(db: "Connection[Any]", place: str, create: bool) -> None:
    """Create, check or convert the tables, in one transaction. A newer database is rejected unchanged."""
    with db.transaction():
        if create:  # of two houses that start at the same time, one waits for the other
            db.execute("select pg_advisory_xact_lock(hashtext('cohabit schema ' || current_schema()))")
        names = _tables_in(db)
        found = _schema_of(db) if {"meta", "entries"} <= names else None
        if found is None and not create:
            raise BadArgs(f"no house in {place} yet; start one with --store, or give another database")
        if found is not None and found > SCHEMA:
            raise RecordCorrupt(
                f"{place} was made by a newer version of Cohabit (schema {found}, this version has {SCHEMA}); update "
                "Cohabit, or use another database (--store)"
            )
        if found is not None and create and db.execute("select from meta where key = 'moved'").fetchone() is not None:
            raise Conflict(
                f"the house in {place} was moved elsewhere with `cohabit move`; start it there, or use another database"
            )
        if found is None and (others := sorted(names & {"meta", *TABLES})):
            raise RecordCorrupt(
                f"{place} already has tables named {', '.join(others)}, but they are not Cohabit's; give Cohabit a "
                "database of its own"
            )
        if create and found != SCHEMA:
            for change in MIGRATIONS[found or 0 :]:
                change(db)
            db.execute(
                "insert into meta values ('schema', %s) on conflict (key) do update set value = excluded.value",
                (SCHEMA,),
            )


def _schema_of(db: "Connection[Any]") -> int | None:
    row = db.execute("select value from meta where key = 'schema'").fetchone()
    return None if row is None else int(row[0])


def _tables_in(db: "Connection[Any]") -> set[str]:
    return {row[0] for row in db.execute("select tablename from pg_tables where schemaname = current_schema()")}
