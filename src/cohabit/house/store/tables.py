"""The tables that SQLite and PostgreSQL both have, for what does the same with each. Leases are not among them."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

StoredRow = tuple[Any, ...]
Rows = Callable[[str], Iterator[StoredRow]]
"""All rows of a table, in the order of its key."""
Insert = Callable[[str, Sequence[StoredRow]], None]
"""Inserts rows into a table."""


class Table(NamedTuple):
    """Its columns, their types in PostgreSQL, and how many of the first columns are the key."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    keys: int


TABLES = {
    "identities": Table(("id", "body"), ("text", "bytea"), 1),
    "credentials": Table(("hash", "room", "body"), ("bytea", "text", "bytea"), 1),
    "invites": Table(("id", "room", "body"), ("text", "text", "bytea"), 1),
    "profiles": Table(("identity", "body"), ("text", "bytea"), 1),
    "entries": Table(("room", "seq", "body", "digest"), ("text", "bigint", "bytea", "bytea"), 2),
    "snapshots": Table(("room", "seq", "body"), ("text", "bigint", "bytea"), 2),
    "refusals": Table(("room", "id", "body"), ("text", "bigint", "bytea"), 2),
    "egress": Table(("room", "key", "body"), ("text", "text", "bytea"), 2),
    "named": Table(("identity", "room"), ("text", "text"), 2),
    "saves": Table(("room", "name", "body"), ("text", "text", "bytea"), 2),
}
TABLES_WITH_ROOM = tuple(name for name, table in TABLES.items() if "room" in table.columns)
"""The tables whose rows are deleted with a room. A credential for every room has none."""


STORED_ROOMS = """
with recursive recorded (room) as (
    select min(room) from entries
    union all
    select (select min(room) from entries where room > recorded.room) from recorded where room is not null
)
select room from recorded where room is not null union select room from snapshots
"""
"""One step in the index for each room: a ``distinct`` would go through all entries."""


class TableStore(Protocol):
    """A store of which everything can be moved to another one."""

    place: str
    """The location, for messages."""

    def taking(self) -> AbstractContextManager[Rows]:
        """Read everything, while nobody writes. Afterwards, no house starts on this store any more."""

    def filling(self) -> AbstractContextManager[tuple[Insert, Rows]]:
        """Insert everything, and read what was inserted, in one transaction: an error undoes it."""

    def close(self) -> None:
        """See ``Store``."""
