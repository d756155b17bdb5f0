"""The store on PostgreSQL. Several processes may have it open; leases say which of them may write to a room.

One connection writes, a few others read. A batch is one transaction: first the leases of the rooms are checked and kept
from changing, then the rows of each table are sent as arrays, in one statement per table. A batch of entries alone, as
most are, is one statement.
"""

import logging
import secrets
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from cohabit.errors import BadArgs, CohabitError, Conflict, OutcomeUnknown, RecordCorrupt, StorageFailed
from cohabit.house.store.contract import NO_ROOM, SNAPSHOTS_KEPT, Row, Write, in_parts, named_in, not_held
from cohabit.house.store.disk import ID_FILE, make_folder, take_lock, unlock
from cohabit.house.store.postgres_connections import Connections, Db, Lost, PgError, first_line, name_of
from cohabit.house.store.postgres_schema import prepare
from cohabit.house.store.tables import STORED_ROOMS, TABLES, TABLES_WITH_ROOM, Insert, Rows, StoredRow
from cohabit.model.identity import Credential, Identity, Invite
from cohabit.model.refusals import REFUSALS_KEPT, Refusal

log = logging.getLogger("cohabit")
ROWS_PER_READ = 32
"""Rows that are in memory at once while a record is read. Each can have some megabytes."""

_encode = msgspec.msgpack.Encoder().encode
_Kept = TypeVar("_Kept", Refusal, Identity, Credential, Invite)
# A house is locked before its leases, as in `_take`.
_HELD = """
with live as (select house from houses where house = any(%s) and until > clock_timestamp() for key share),
held as (
    select leases.room from unnest(%s::text[], %s::text[], %s::bigint[]) as mine (room, house, epoch)
    join leases on (leases.room, leases.house, leases.epoch) = (mine.room, mine.house, mine.epoch)
    join live on live.house = mine.house for share of leases
)"""
_HELD_ROOMS = f"{_HELD} select room from held"
_APPEND = f"""
{_HELD}, fence as materialized (select count(*) = cardinality(%s::text[]) as ok from held),
marked as (update commits set token = %s where session = %s and (select ok from fence)),
added as (
    insert into entries select * from unnest(%s::text[], %s::bigint[], %s::bytea[], %s::bytea[])
    where (select ok from fence)
),
indexed as (
    insert into named select * from unnest(%s::text[], %s::text[]) where (select ok from fence) on conflict do nothing
)
select ok from fence
"""
_LIVE = """
select houses.house from unnest(%s::text[], %s::text[], %s::bigint[]) as mine (room, house, epoch)
join houses on (houses.house, houses.epoch) = (mine.house, mine.epoch)
where until > clock_timestamp() for key share of houses
"""
_MAY_BE_OF = """
select hash, body from credentials
where exists (select from unnest(%s::bytea[]) as gone (identity) where position(gone.identity in body) > 0)
"""
_BEGIN = """
insert into houses (house, place, node, until, epoch)
values (%s, %s, %s, clock_timestamp() + %s * interval '1 millisecond', nextval('epochs'))
on conflict (house) do update set until = excluded.until returning epoch
"""
_RENEW = """
update houses set until = clock_timestamp() + %s * interval '1 millisecond' where house = %s and epoch = %s
returning epoch
"""
# Not `= any`, which compares each row with each element once the statement is prepared: with 10,000 rooms that takes
# seconds. This is hashed.
AMONG = "room in (select unnest(%s::text[]))"
_ENDED = f"until <= clock_timestamp() and house in (select house from leases where {AMONG}) and house <> %s"
_DISCONNECT = f"""
select pg_terminate_backend(pid) from pg_stat_activity join houses on application_name = %s || place
where datname = current_database() and usename = current_user and place <> %s and {_ENDED}
and place not in (select place from houses where until > clock_timestamp())
"""
_TIDY = """
delete from houses where house in
(select house from houses where until < now() - interval '1 day' for update skip locked)
"""
# A place without connections was killed. One that was only paused has some, and may still ask what became of its last
# commit.
_KILLED = f"""
select distinct place from houses where {_ENDED}
and not exists (select from pg_stat_activity where datname = current_database() and application_name = %s || place)
"""
# A transaction locks its row before that of its house: one that is still under way is not waited for.
_TIDY_COMMITS = """
delete from commits where session in (
    select session from commits where split_part(session, '/', 1) = any(%s)
    and split_part(session, '/', 1) not in (select place from houses) for update skip locked)
"""
_TAKE = """
insert into leases select room, %s, nextval('epochs') from unnest(%s::text[]) as wanted (room) on conflict do nothing
"""


class PostgresStore:
    """See ``Store``. ``url``: ``postgresql://USER@HOST/NAME``, or any connection string of libpq.

    ``folder``: the data folder of the house, which is locked.
    """

    not_beside = "place in (select place from places)"
    """The houses beside which this one cannot run: those of a cluster."""
    why_not = (
        "houses of a cluster are running on {}; stop them first, or start this one with houses_address and houses_key"
    )

    def __init__(self, url: str, folder: Path | None = None, read_only: bool = False) -> None:
        self._connections = Connections(url, read_only)
        self.place = self._connections.place
        self._houses: set[str] = set()  # those that got leases here
        self._has_session = False  # a row in the table ``commits``
        self._writing = threading.Lock()
        self._id = secrets.token_hex(8)
        self._lock_file: int | None = None
        try:
            if folder is not None:
                self._lock(folder)
            self._connections.place_id = self._id
            # Twice if needed: a house that takes over from the one that ran here before ends all its connections.
            self._connections.run(partial(self._begin_here, read_only))
        except BaseException as wrong:
            self.close()
            if isinstance(wrong, PgError):
                raise self._failure("cannot be opened", wrong) from wrong
            raise

    def _begin_here(self, read_only: bool, db: Db) -> None:
        prepare(db, self.place, create=not read_only)
        if not read_only:
            db.execute("delete from houses where place = %s", (self._id,))
            db.execute("delete from places where place = %s", (self._id,))
            db.execute(_TIDY_COMMITS, ([self._id],))
            db.execute(_TIDY)
            db.execute("insert into commits values (%s, '') on conflict do nothing", (self._connections.session,))
            self._has_session = True

    def _lock(self, folder: Path) -> None:
        try:
            make_folder(folder)
            self._lock_file = take_lock(folder)
            path = folder / ID_FILE
            if not path.exists():
                path.write_text(self._id)
            self._id = path.read_text()
        except OSError as wrong:
            raise StorageFailed(
                f"{folder} cannot be used as a data folder ({wrong.strerror}); choose another one with --data"
            ) from wrong

    @property
    def is_reachable(self) -> bool:
        return self._connections.outage.is_over

    # -- writing ----------------------------------------------------------------------------------
    def commit(self, writes: Sequence[Write]) -> None:
        if not any(write.lines or write.has_more_than_lines for write in writes):
            return
        with self._writing:
            try:
                if any(map(self._needs_transaction, writes)):
                    self._connections.write(lambda db: self._write(db, writes))
                else:
                    self._connections.write_at_once(lambda db, token: self._append(db, writes, token))
            except Lost as unknown:
                raise OutcomeUnknown(f"{self.place} could not be reached: {unknown}") from unknown
            except PgError as wrong:
                raise self._failure("could not be written", wrong, "; nothing was changed") from wrong

    def _needs_transaction(self, write: Write) -> bool:
        """True if it takes more than the one statement that appends entries."""
        return write.has_more_than_lines

    def _write(self, db: Db, writes: Sequence[Write]) -> None:
        self._check_holders(db, writes)
        for part in in_parts(writes):
            for write in part:
                if write.rewrite:
                    for table in ("entries", "snapshots", "refusals", "named"):
                        db.execute(f"delete from {table} where room = %s", (write.room,))
            lines = [(write.room, line.seq, line.body, line.digest) for write in part for line in write.lines]
            _insert(db, "entries", lines)
            _insert(db, "named", named_in(part), "do nothing")
            for write in part:
                if write.has_more_than_lines:
                    self._write_rest(db, write)

    def _append(self, db: Db, writes: Sequence[Write], token: str) -> None:
        """Only entries, in one statement: each one costs a wait for the interpreter while the event loop is busy."""
        fenced = {(write.room, *write.holder) for write in writes if write.is_fenced and write.holder is not None}
        rooms, houses, epochs = _columns(fenced) or ([], [], [])
        added = [(write.room, line.seq, line.body, line.digest) for write in writes for line in write.lines]
        named: Sequence[list[str]] = _columns(named_in(writes)) or ([], [])
        own = list(dict.fromkeys(houses)), rooms, houses, epochs, rooms, token, self._connections.session
        row = db.execute(_APPEND, (*own, *_columns(added), *named)).fetchone()
        if row is None or not row[0]:
            raise not_held(rooms[0])  # of several, the writer tries each alone

    def _check_holders(self, db: Db, writes: Sequence[Write]) -> None:
        """Until the end of the transaction, no other house gets these rooms, and these houses are not out."""
        wanted = {(write.room, *write.holder) for write in writes if write.is_fenced and write.holder is not None}
        rooms = {each for each in wanted if each[0]}
        if rooms:
            columns = _columns(rooms)
            held = {row[0] for row in db.execute(_HELD_ROOMS, [list(set(columns[1])), *columns])}
            for room, _, _ in rooms:
                if room not in held:
                    raise not_held(room)
        houses = wanted - rooms
        if houses and len(db.execute(_LIVE, _columns(houses)).fetchall()) < len(houses):
            raise not_held(NO_ROOM)

    def _write_rest(self, db: Db, write: Write) -> None:
        """Write everything except the lines, which are already inserted."""
        room = write.room
        if write.forget:
            _forget_identities(db, list(write.forget))
        if write.snapshot is not None:
            _replace(db, "snapshots", [(room, *write.snapshot)])
            db.execute(
                "delete from snapshots where room = %s and seq not in "
                "(select seq from snapshots where room = %s order by seq desc limit %s)",
                (room, room, SNAPSHOTS_KEPT),
            )
        if write.refusals:
            _replace(db, "refusals", [(room, each.id, _encode(each)) for each in write.refusals])
            db.execute(
                "delete from refusals where room = %s and id < "
                "(select id from refusals where room = %s order by id desc limit 1 offset %s)",
                (room, room, REFUSALS_KEPT - 1),
            )
        _replace(db, "identities", [(each.id, _encode(each)) for each in write.identities])
        _replace(db, "credentials", [(each.hash, each.room, _encode(each)) for each in write.credentials])
        _replace(db, "invites", [(each.id, each.room, _encode(each)) for each in write.invites])
        _replace(db, "profiles", write.profiles)
        _replace(db, "egress", [(room, *each) for each in write.egress])
        _replace(db, "saves", [(room, *each) for each in write.saves])
        if write.forget_before is not None:
            db.execute(
                "delete from entries where room = %s and seq < least(%s, "
                "(select coalesce(min(seq), -1) + 1 from snapshots where room = %s))",
                (room, write.forget_before, room),
            )
        if write.forget_refusals:
            db.execute("delete from refusals where room = %s and id = any(%s)", (room, list(write.forget_refusals)))
        for identity in write.forget_egress:
            db.execute("delete from egress where starts_with(key, %s)", (f"{identity}\n",))
        if write.delete:
            for table in (*TABLES_WITH_ROOM, "leases"):
                db.execute(f"delete from {table} where room = %s", (room,))

    # -- leases -----------------------------------------------------------------------------------
    def lease(self, rooms: Sequence[str], house: str, ms: int, epoch: int | None = None) -> dict[str, int]:
        wanted = list(dict.fromkeys(rooms))
        self._houses.add(house)
        try:
            return self._connections.run(lambda db: self._lease(db, wanted, house, ms, epoch))
        except PgError as wrong:
            raise self._failure("could not be written", wrong) from wrong

    def _lease(self, db: Db, wanted: list[str], house: str, ms: int, epoch: int | None) -> dict[str, int]:
        if epoch is None:
            own = self._begin(db, house, "", ms)
        elif (renewed := db.execute(_RENEW, (ms, house, epoch)).fetchone()) is not None:
            own = renewed[0]
        else:
            return {}
        held = self._held(db, wanted, house)
        if len(held) < len(wanted):
            self._take(db, [room for room in wanted if room not in held], house)
            held = self._held(db, wanted, house)
        return {NO_ROOM: own, **held}

    def _begin(self, db: Db, house: str, node: str, ms: int) -> int:
        """Returns the epoch of the house. Paused houses beside which this one cannot run are out: they would not learn
        what it changes."""
        with db.transaction():
            _lock_leases(db)
            others = f"place <> %s and {self.not_beside}"
            live = db.execute(f"select from houses where until > clock_timestamp() and {others}", (self._id,))
            if live.fetchone() is not None:
                raise Conflict(self.why_not.format(self.place))
            db.execute(f"delete from houses where {others}", (self._id,))
            row = db.execute(_BEGIN, (house, self._id, node, ms)).fetchone()
        assert row is not None
        return int(row[0])

    def _held(self, db: Db, rooms: list[str], house: str) -> dict[str, int]:
        return dict(db.execute(f"select room, epoch from leases where house = %s and {AMONG}", (house, rooms)))

    def _take(self, db: Db, rooms: list[str], house: str) -> None:
        """Take the rooms that no live house has. Houses whose leases have ended are deleted with all their leases,
        which waits for the ends of their transactions."""
        with db.transaction():
            _lock_leases(db)
            killed = [place for (place,) in db.execute(_KILLED, (rooms, house, name_of("")))]
            db.execute(_DISCONNECT, (name_of(""), self._id, rooms, house))
            db.execute(f"delete from houses where {_ENDED}", (rooms, house))
            db.execute(_TIDY_COMMITS, (killed,))
            db.execute(_TAKE, (house, rooms))

    def release(self, rooms: Sequence[str], house: str) -> None:
        self._read(f"delete from leases where house = %s and {AMONG} returning room", (house, list(rooms)))

    # -- reading ----------------------------------------------------------------------------------
    def rooms(self) -> list[str]:
        return [row[0] for row in self._read(f"{STORED_ROOMS} order by room")]

    def snapshots(self, room: str) -> list[bytes]:
        return [row[0] for row in self._read("select body from snapshots where room = %s order by seq desc", (room,))]

    def lines(self, room: str, after: int, limit: int | None = None) -> Iterator[Row]:
        left = limit
        while left is None or left > 0:
            count = ROWS_PER_READ if left is None else min(ROWS_PER_READ, left)
            rows: list[Row] = self._read(
                "select seq, body, digest from entries where room = %s and seq > %s order by seq limit %s",
                (room, after, count),
            )
            yield from rows
            if len(rows) < count:
                return
            after = rows[-1][0]
            left = None if left is None else left - count

    def head(self, room: str) -> int:
        return int(self._read("select coalesce(max(seq), -1) from entries where room = %s", (room,))[0][0])

    def size(self, room: str) -> int:
        return int(self._read("select coalesce(sum(length(body)), 0) from entries where room = %s", (room,))[0][0])

    def refusals(self, room: str) -> list[Refusal]:
        return self._decoded(Refusal, "select body from refusals where room = %s order by id", (room,))

    def identities(self) -> list[Identity]:
        return self._decoded(Identity, "select body from identities order by id")

    def credentials(self) -> list[Credential]:
        return self._decoded(Credential, "select body from credentials order by hash")

    def invites(self) -> list[Invite]:
        return self._decoded(Invite, "select body from invites order by id")

    def rooms_naming(self, identity: str) -> list[str]:
        return [row[0] for row in self._read("select room from named where identity = %s order by room", (identity,))]

    def profile(self, identity: str) -> bytes | None:
        return self._one("select body from profiles where identity = %s", (identity,))

    def egress(self, room: str) -> list[bytes]:
        return [row[0] for row in self._read("select body from egress where room = %s order by key", (room,))]

    def saves(self, room: str) -> list[str]:
        return [row[0] for row in self._read("select name from saves where room = %s order by name", (room,))]

    def save(self, room: str, name: str) -> bytes | None:
        return self._one("select body from saves where room = %s and name = %s", (room, name))

    def _one(self, sql: str, args: tuple[Any, ...]) -> bytes | None:
        found = self._read(sql, args)
        return found[0][0] if found else None

    def _decoded(self, kind: type[_Kept], sql: str, args: tuple[Any, ...] = ()) -> list[_Kept]:
        rows = self._read(sql, args)
        try:
            return [msgspec.msgpack.decode(row[0], type=kind) for row in rows]
        except (ValueError, TypeError) as wrong:  # bad UTF-8 and wrong types are not MsgspecErrors
            raise RecordCorrupt(f"{self.place} is damaged: a stored {kind.__name__} cannot be read: {wrong}") from None

    def _read(self, sql: str, args: tuple[Any, ...] = ()) -> list[Any]:
        """One statement. It may run twice if the connection is lost, so it must do no harm then."""
        try:
            return self._connections.run(lambda db: _rows(db, sql, args))
        except PgError as wrong:
            raise self._failure("cannot be read", wrong) from wrong

    def problems(self) -> list[str]:
        """Entries that belong to no room. Damaged pages are found when they are read."""
        strays = self._read(
            "select room, count(*) from entries where room not in (select room from snapshots) group by room"
        )
        return [
            f"{self.place} is damaged: it has {count} entries of a room {room!r}, which has no snapshot"
            for room, count in strays
        ]

    # -- moving everything ------------------------------------------------------------------------
    @contextmanager
    def taking(self) -> Iterator[Rows]:
        with self._alone() as db:
            yield lambda table: _all_rows(db, table)
            db.execute("insert into meta values ('moved', 1) on conflict do nothing")

    @contextmanager
    def filling(self) -> Iterator[tuple[Insert, Rows]]:
        with self._alone() as db:
            yield lambda table, rows: _insert(db, table, rows), lambda table: _all_rows(db, table)

    @contextmanager
    def _alone(self) -> Iterator[Db]:
        """A transaction during which no house can start here. None may be running."""
        try:
            with self._connections.reading() as db, db.transaction():
                db.execute("set local idle_in_transaction_session_timeout = 0")
                db.execute("lock table houses in share row exclusive mode")
                if db.execute("select from houses where until > clock_timestamp()").fetchone() is not None:
                    raise Conflict(
                        f"a house is running on {self.place}; stop it first. If it was killed, try again in ten seconds"
                    )
                db.execute("delete from houses")  # one that is paused cannot go on
                yield db
        except PgError as wrong:
            raise self._failure("could not be read or written", wrong, "; nothing was changed") from wrong

    # -- the rest ---------------------------------------------------------------------------------
    def give_up(self) -> None:
        self._connections.giving_up.set()

    def scrub(self) -> None:
        """Deleted rows can no longer be read; their space is reused. The database's own log and backups keep them as
        long as it is set up to."""
        try:
            with self._connections.reading() as db:
                for table in TABLES:
                    db.execute(f"vacuum {table}")
        except PgError as wrong:
            raise self._failure("could not be written", wrong) from wrong

    def backup(self, path: str) -> None:
        raise BadArgs("this house keeps its data in PostgreSQL; back it up with pg_dump (see docs/postgres.md)")

    def close(self) -> None:
        with self._writing:
            if self._has_session:
                self._has_session = False
                with suppress(CohabitError):  # their leases end by themselves
                    self._read("delete from houses where house = any(%s) returning house", (list(self._houses),))
                    self._read("delete from commits where session = %s returning session", (self._connections.session,))
            self._connections.close()
            unlock(self._lock_file)
            self._lock_file = None

    def _failure(self, problem: str, wrong: PgError, then: str = "") -> CohabitError:
        """RECORD_CORRUPT if the database is damaged, STORAGE_FAILED if it cannot be used now."""
        damaged = (wrong.sqlstate or "") in _DAMAGE
        return (RecordCorrupt if damaged else StorageFailed)(f"{self.place} {problem}: {first_line(wrong)}{then}")


_DAMAGE = ("XX001", "XX002", "42P01", "42703")
"""Damaged pages and indexes. Our SQL is valid, so a missing table or column is damage too."""


# -- statements -----------------------------------------------------------------------------------
def _columns(rows: Iterable[tuple[Any, ...]]) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)]


def _insert(db: Db, table: str, rows: Iterable[tuple[Any, ...]], conflict: str = "") -> None:
    """Insert rows in one statement, each column as an array."""
    columns = _columns(rows)
    if columns:
        arrays = ", ".join(f"%s::{kind}[]" for kind in TABLES[table].types)
        ending = f" on conflict {conflict}" if conflict else ""
        db.execute(f"insert into {table} select * from unnest({arrays}){ending}", columns)


def _lock_leases(db: Db) -> None:
    """Until the end of the transaction. Else an insert does not see that the house it waited for has just begun."""
    db.execute("select pg_advisory_xact_lock(hashtext('cohabit leases ' || current_schema()))")


def _rows(db: Db, sql: str, args: tuple[Any, ...]) -> list[Any]:
    found: list[Any] = db.execute(sql, args).fetchall()
    return found


def _all_rows(db: Db, table: str) -> Iterator[StoredRow]:
    """All rows of a table by key, without having all of them in memory."""
    with db.cursor(name="all_rows") as cursor:
        cursor.itersize = ROWS_PER_READ
        order = ", ".join(TABLES[table].columns[: TABLES[table].keys])
        yield from cursor.execute(f"select * from {table} order by {order}")


def _replace(db: Db, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
    """Insert rows, or replace those with the same key. Of several with one key, the last counts."""
    kind = TABLES[table]
    last = {row[: kind.keys]: row for row in rows}
    change = ", ".join(f"{name} = excluded.{name}" for name in kind.columns[kind.keys :])
    _insert(db, table, last.values(), f"({', '.join(kind.columns[: kind.keys])}) do update set {change}")


def _forget_identities(db: Db, identities: list[str]) -> None:
    db.execute("delete from identities where id = any(%s)", (identities,))
    db.execute("delete from profiles where identity = any(%s)", (identities,))
    held = db.execute(_MAY_BE_OF, ([each.encode() for each in identities],))
    theirs = [key for key, body in held if msgspec.msgpack.decode(body, type=Credential).identity in identities]
    db.execute("delete from credentials where hash = any(%s)", (theirs,))
