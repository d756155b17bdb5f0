"""The store on PostgreSQL for a cluster of houses. See `cluster_contract`."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from cohabit.errors import CohabitError
from cohabit.house.store.cluster_contract import (
    Change,
    ChangesMissed,
    HeldRoom,
    LiveNode,
    News,
    Survey,
    change_of,
)
from cohabit.house.store.contract import Write
from cohabit.house.store.postgres import AMONG, PostgresStore
from cohabit.house.store.postgres_connections import Db, PgError
from cohabit.house.store.postgres_listening import Listener, notify

T = TypeVar("T")
MISSED = (
    "this house was away for so long that it has missed what other houses have changed, such as revoked tokens; start "
    "it again"
)
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(tuple[Write, bool]).decode
_OPEN = """
insert into places (place, address, applied) select %s, %s, last from changes_end
on conflict (place) do update
set address = excluded.address, applied = excluded.applied, is_draining = false, opened = now()
returning applied
"""
_TIDY_PLACES = """
delete from places where opened < now() - interval '1 day' and place not in (select place from houses)
"""
_LOG = """
with grown as (update changes_end set last = last + %s returning last),
added as (
    insert into changes select last - %s + number, %s, house, clock_timestamp(), body
    from grown, unnest(%s::text[], %s::bytea[]) with ordinality as added (house, body, number)
)
select last from grown
"""
_CHANGES = """
select removed, seq, place, house, body from changes_end left join changes on seq > %s order by seq
"""
_TIDY_CHANGES = """
with gone as (
    delete from changes where at < clock_timestamp() - interval '1 minute' and seq <=
    (select min(applied) from places where place in (select place from houses where until > clock_timestamp()))
    returning seq
)
update changes_end set removed = greatest(removed, (select max(seq) from gone)) where exists (select from gone)
"""
_ACKNOWLEDGED = """
select min(coalesce(applied, 0)) from houses left join places using (place)
where until > clock_timestamp() and houses.place <> %s
"""
_NODES = """
select house, node, place, address, is_draining, extract(epoch from until - now())::float
from houses join places using (place) where until > now() order by place, node
"""
_DEAD = "select place from places where place not in (select place from houses where until > now())"
_ROOMS = "select room, house, place, node, travels from leases join houses using (house) where until > now()"
_ORPHANS = """
select room, coalesce(wanted.place, houses.place, ''), coalesce(travels, false)
from (select distinct room from snapshots) as stored
left join leases using (room) left join houses using (house) left join wanted using (room)
where until is null or until <= now()
"""


class PostgresClusterStore(PostgresStore):
    """See ``ClusterStore``. ``address``: on which the other houses reach this one."""

    not_beside = "place not in (select place from places)"
    why_not = "a house without houses_address is running on {}; stop it first, or start it with houses_address too"

    def __init__(self, url: str, folder: Path | None, address: str) -> None:
        self._has_joined = False
        self.last_change = self._logged = 0
        super().__init__(url, folder)
        self.place_id = self._id
        try:
            self.first_change = self._do(lambda db: self._open(db, address))
        except BaseException:
            self.close()
            raise
        self._has_joined = True

    def _open(self, db: Db, address: str) -> int:
        db.execute(_TIDY_PLACES)
        row = db.execute(_OPEN, (self._id, address)).fetchone()
        assert row is not None
        return int(row[0])

    # -- writing ----------------------------------------------------------------------------------
    def commit(self, writes: Sequence[Write]) -> None:
        self._logged = 0  # numbers of a commit that failed are not in the log
        super().commit(writes)
        self.last_change = max(self.last_change, self._logged)

    def _needs_transaction(self, write: Write) -> bool:
        return write.concerns_all or super()._needs_transaction(write)

    def _write(self, db: Db, writes: Sequence[Write]) -> None:
        super()._write(db, writes)
        changes = [change_of(write) for write in writes if write.concerns_all]
        if changes:  # at the end: others wait for the row that has the last number
            houses, bodies = [each.house for each in changes], [_encode((each.write, each.is_new)) for each in changes]
            row = db.execute(_LOG, (len(changes), len(changes), self._id, houses, bodies)).fetchone()
            assert row is not None
            self._logged = row[0]
            notify(db, News.CHANGES)

    # -- nodes and rooms --------------------------------------------------------------------------
    def begin(self, house: str, node: str, ms: int) -> int:
        def work(db: Db) -> int:
            epoch = self._begin(db, house, node, ms)
            notify(db, News.ROOMS)
            return epoch

        self._houses.add(house)
        return self._do(work)

    def _lease(self, db: Db, wanted: list[str], house: str, ms: int, epoch: int | None) -> dict[str, int]:
        held = super()._lease(db, wanted, house, ms, epoch)
        if not ms:
            notify(db, News.ROOMS)
            notify(db, News.APPLIED)  # nobody waits for it any more
        return held

    def _take(self, db: Db, rooms: list[str], house: str) -> None:
        super()._take(db, rooms, house)
        db.execute(f"delete from wanted where {AMONG} and room in (select room from leases)", (rooms,))
        notify(db, News.ROOMS)

    def release(self, rooms: Sequence[str], house: str) -> None:
        super().release(rooms, house)
        self._do(lambda db: notify(db, News.ROOMS))

    def release_for(self, rooms: Sequence[str], house: str, place: str) -> None:
        self._do(lambda db: _want(db, rooms, place))
        self.release(rooms, house)

    def mark_travels(self, rooms: Sequence[str], house: str) -> None:
        def work(db: Db) -> None:
            sql = "update leases set travels = true where house = %s and room = any(%s) and not travels"
            db.execute(sql, (house, list(rooms)))
            notify(db, News.ROOMS)

        self._do(work)

    def drain(self) -> None:
        def work(db: Db) -> None:
            db.execute("update places set is_draining = true where place = %s", (self._id,))
            notify(db, News.ROOMS)

        self._do(work)

    def survey(self) -> Survey:
        nodes, rooms, orphans, dead = self._do(_survey)
        takers = {node.place for node in nodes if not node.is_draining}
        return Survey(
            nodes,
            rooms,
            {room: place if place in takers else "" for room, place, _ in orphans},
            frozenset(room for room, _, travels in orphans if travels),
            dead,
        )

    # -- the log of changes -----------------------------------------------------------------------
    def changes(self, after: int) -> list[Change]:
        rows = self._read(_CHANGES, (after,))
        if rows[0][0] > after:
            raise ChangesMissed(MISSED)
        return [Change(*_decode(body), seq, place, house) for _, seq, place, house, body in rows if seq is not None]

    def acknowledge(self, seq: int) -> None:
        def work(db: Db) -> None:
            db.execute("update places set applied = greatest(applied, %s) where place = %s", (seq, self._id))
            notify(db, News.APPLIED)

        self._do(work)

    def acknowledged_by_others(self) -> int | None:
        found: int | None = self._read(_ACKNOWLEDGED, (self._id,))[0][0]
        return found

    def tidy_changes(self) -> None:
        self._do(lambda db: db.execute(_TIDY_CHANGES))

    def listen(self, heard: Callable[[News], None]) -> Callable[[], None]:
        return Listener(self._connections, heard).stop

    # -- the rest ---------------------------------------------------------------------------------
    def scrub(self) -> None:
        super().scrub()
        self._do(lambda db: db.execute("vacuum changes"))

    def close(self) -> None:
        if self._has_joined:
            self._has_joined = False
            with suppress(CohabitError):  # its leases end by themselves
                self._do(self._leave)
        super().close()

    def _leave(self, db: Db) -> None:
        db.execute("delete from houses where place = %s", (self._id,))
        db.execute("delete from places where place = %s", (self._id,))
        notify(db, News.ROOMS)
        notify(db, News.APPLIED)

    def _do(self, work: Callable[[Db], T]) -> T:
        """It may run twice if the connection is lost, so it must do no harm then."""
        try:
            return self._connections.run(work)
        except PgError as wrong:
            raise self._failure("could not be read or written", wrong) from wrong


def _want(db: Db, rooms: Sequence[str], place: str) -> None:
    db.execute(
        "insert into wanted select room, %s from unnest(%s::text[]) as room "
        "on conflict (room) do update set place = excluded.place",
        (place, list(rooms)),
    )


def _survey(db: Db) -> tuple[list[LiveNode], dict[str, HeldRoom], list[tuple[str, str, bool]], frozenset[str]]:
    """All of one moment, which is the beginning of the transaction."""
    with db.transaction():
        db.execute("set transaction isolation level repeatable read read only")
        nodes = [LiveNode(*row) for row in db.execute(_NODES)]
        rooms = {row[0]: HeldRoom(*row[1:]) for row in db.execute(_ROOMS)}
        orphans: list[Any] = db.execute(_ORPHANS).fetchall()
        dead = frozenset(row[0] for row in db.execute(_DEAD))
    return nodes, rooms, orphans, dead
