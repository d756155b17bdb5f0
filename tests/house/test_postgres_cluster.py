"""The store of a cluster of houses on a real PostgreSQL: its log of changes, who has acknowledged it, and who is where."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from queue import Queue
from typing import Any

import psycopg
import pytest
from tests.postgres import LONG_MS, lines

from cohabit.errors import Conflict, StorageFailed
from cohabit.house.store import postgres_cluster, postgres_listening
from cohabit.house.store.cluster_contract import ChangesMissed, News
from cohabit.house.store.contract import NO_ROOM, Write
from cohabit.house.store.postgres import PostgresStore
from cohabit.house.store.postgres_cluster import PostgresClusterStore
from cohabit.house.store.postgres_schema import MIGRATIONS
from cohabit.model.identity import Identity
from cohabit.testing.store import CLAIMS, Claim

Open = Callable[[], PostgresClusterStore]


@pytest.fixture
def open_cluster(url: str, tmp_path: Path) -> Iterator[Open]:
    """Opens stores of one cluster, each as the house of another folder."""
    opened: list[PostgresClusterStore] = []

    def make() -> PostgresClusterStore:
        number = len(opened)
        opened.append(PostgresClusterStore(url, tmp_path / f"place{number}", f"127.0.0.1:{9000 + number}"))
        return opened[-1]

    yield make
    for store in opened:
        store.give_up()
        store.close()


@pytest.fixture
def pair(open_cluster: Open) -> tuple[PostgresClusterStore, PostgresClusterStore]:
    """Two places with a live front each."""
    ours, theirs = open_cluster(), open_cluster()
    ours.begin("our front", "front", LONG_MS)
    theirs.begin("their front", "front", LONG_MS)
    return ours, theirs


def person(name: str) -> Write:
    return Write(identities=[Identity(f"i-{name}", name)])


def execute(url: str, sql: str, *args: Any) -> list[Any]:
    with psycopg.connect(url, autocommit=True) as db:
        found = db.execute(sql, args)
        return found.fetchall() if found.description is not None else []


def end_leases(url: str, house: str) -> None:
    """As if its time had passed."""
    execute(url, "update houses set until = clock_timestamp() where house = %s", house)


def named(store: PostgresClusterStore, after: int = 0) -> list[str]:
    return [change.write.identities[0].name for change in store.changes(after)]


# -- the contract -----------------------------------------------------------------------------------
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.__name__)
def test_each_claim_of_the_contract_holds(open_cluster: Open, claim: Claim) -> None:
    claim(open_cluster())


def test_a_database_of_the_first_schema_is_converted_and_keeps_its_content(url: str, tmp_path: Path) -> None:
    with psycopg.connect(url) as db:
        MIGRATIONS[0](db)
        db.execute("insert into meta values ('schema', 1)")
        db.execute("insert into houses values ('before', 'place', now() + interval '1 minute', nextval('epochs'))")
        db.execute("insert into leases values ('den', 'before', 7)")
        db.execute("insert into entries values ('den', 0, 'body', 'digest')")
    with closing(PostgresStore(url, tmp_path)) as store:
        assert store.head("den") == 0
        assert store.lease(["den"], "now", 1000).keys() == {NO_ROOM}, "the house that was there still has its room"


# -- the log ----------------------------------------------------------------------------------------
def test_what_concerns_all_is_in_the_log_in_the_order_of_the_commits(
    pair: tuple[PostgresClusterStore, PostgresClusterStore],
) -> None:
    ours, theirs = pair
    ours.commit([person("ann"), Write("den", lines(2), (1, b"snapshot"))])
    theirs.commit([person("bob")])
    ours.commit([Write("den", lines(1, start=2)), person("cid")])
    found = theirs.changes(0)
    assert [change.seq for change in found] == [1, 2, 3, 4]
    assert [change.place for change in found] == [ours.place_id, ours.place_id, theirs.place_id, ours.place_id]
    assert [(change.write.room, change.is_new) for change in found] == [("", False), ("den", True), *[("", False)] * 2]
    assert (ours.last_change, theirs.last_change) == (4, 3)
    assert named(theirs, after=2) == ["bob", "cid"]


def test_nobody_waits_for_a_change_that_was_numbered_but_not_committed(
    pair: tuple[PostgresClusterStore, PostgresClusterStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any) -> None:
        raise psycopg.OperationalError("the server ends right before the commit")

    ours, _ = pair
    with monkeypatch.context() as patched, pytest.raises(StorageFailed):
        patched.setattr(postgres_cluster, "notify", fails)
        ours.commit([person("ann"), person("bob"), person("cid")])
    ours.commit([Write("den", lines(1, start=1))])
    ours.commit([person("dan")])
    assert ours.last_change == ours.changes(0)[-1].seq == 1


def test_a_room_whose_first_entries_come_alone_is_in_the_log(open_cluster: Open) -> None:
    store = open_cluster()
    store.commit([Write("den", lines(1))])
    assert [(change.write.room, change.is_new) for change in store.changes(0)] == [("den", True)]


def test_a_change_with_a_smaller_number_is_never_seen_after_one_with_a_larger(open_cluster: Open) -> None:
    stores = [open_cluster() for _ in range(3)]
    seen: list[int] = []
    done = threading.Event()

    def follow() -> None:
        while not done.is_set() or len(seen) < 60:
            seen.extend(change.seq for change in stores[0].changes(seen[-1] if seen else 0))

    def write(store: PostgresClusterStore) -> None:
        for number in range(20):
            store.commit([person(f"{store.place_id}{number}")])

    with ThreadPoolExecutor(4) as pool:
        following = pool.submit(follow)
        list(pool.map(write, stores))
        done.set()
        following.result(30)
    assert seen == list(range(1, 61))


def test_a_commit_that_is_refused_leaves_no_change(
    url: str, pair: tuple[PostgresClusterStore, PostgresClusterStore]
) -> None:
    ours, _ = pair
    write = person("ann")
    write.holder = "our front", -1
    with pytest.raises(StorageFailed):
        ours.commit([write])
    assert ours.changes(0) == []
    ours.commit([person("bob")])
    assert [change.seq for change in ours.changes(0)] == [1], "numbers have no gaps"


def test_a_change_that_was_not_committed_is_not_waited_for(url: str, open_cluster: Open) -> None:
    ours = open_cluster()
    ours.commit([person("ann")])
    execute(url, "create function fail() returns trigger language plpgsql as 'begin raise exception ''no''; end'")
    execute(
        url,
        "create constraint trigger fails after insert on identities deferrable initially deferred "
        "for each row when (new.id = 'i-bad') execute function fail()",
    )
    with pytest.raises(StorageFailed):
        ours.commit([person("bad")])
    ours.commit([Write("den", egress=[("ann", b"counted")])])
    assert [change.seq for change in ours.changes(0)] == [ours.last_change] == [1]


def test_a_house_alone_writes_no_changes(url: str, tmp_path: Path) -> None:
    with closing(PostgresStore(url, tmp_path)) as store:
        store.commit([person("ann"), Write("den", lines(1), (0, b"s"))])
    assert execute(url, "select count(*) from changes") == [(0,)]
    assert execute(url, "select last from changes_end") == [(0,)]


def test_a_place_begins_with_what_is_in_the_store(open_cluster: Open) -> None:
    first = open_cluster()
    first.commit([person("ann")])
    second = open_cluster()
    assert second.first_change == 1
    first.commit([person("bob")])
    assert named(second, second.first_change) == ["bob"]


# -- acknowledging ----------------------------------------------------------------------------------
def test_a_place_is_waited_for_until_it_has_acknowledged_or_its_leases_have_ended(
    url: str, pair: tuple[PostgresClusterStore, PostgresClusterStore]
) -> None:
    ours, theirs = pair
    theirs.begin("their worker", "w1", LONG_MS)
    assert ours.acknowledged_by_others() == 0
    ours.commit([person("ann")])
    assert ours.acknowledged_by_others() == 0
    theirs.acknowledge(1)
    assert ours.acknowledged_by_others() == 1
    theirs.acknowledge(0)
    assert ours.acknowledged_by_others() == 1, "it cannot be taken back"
    end_leases(url, "their front")
    assert ours.acknowledged_by_others() == 1, "its worker may still answer somebody"
    end_leases(url, "their worker")
    assert ours.acknowledged_by_others() is None


def test_changes_are_removed_when_all_live_places_have_acknowledged_them_and_they_are_old(
    url: str, open_cluster: Open, pair: tuple[PostgresClusterStore, PostgresClusterStore]
) -> None:
    ours, theirs = pair
    ours.commit([person("ann"), person("bob")])
    ours.acknowledge(2)
    theirs.acknowledge(1)
    ours.tidy_changes()
    assert named(theirs) == ["ann", "bob"], "they are new"
    execute(url, "update changes set at = at - interval '2 minutes'")
    ours.tidy_changes()
    assert named(theirs, after=1) == ["bob"], "not everybody knows it"
    end_leases(url, "their front")
    ours.tidy_changes()
    with pytest.raises(ChangesMissed, match="start it again"):
        theirs.changes(1)
    assert ours.changes(2) == []


# -- nodes and rooms --------------------------------------------------------------------------------
def test_a_survey_has_the_live_nodes_their_rooms_and_the_rooms_that_nobody_has(
    url: str, pair: tuple[PostgresClusterStore, PostgresClusterStore]
) -> None:
    ours, theirs = pair
    for room in ("attic", "cellar", "den", "shed"):
        ours.commit([Write(room, lines(1), (0, b"s"))])
    epoch = theirs.begin("their worker", "w1", LONG_MS)
    theirs.lease(["den", "attic"], "their worker", LONG_MS, epoch)
    theirs.mark_travels(["den"], "their worker")
    ours.lease(["shed"], "our front", LONG_MS)
    found = ours.survey()
    here, there = (ours.place_id, "127.0.0.1:9000"), (theirs.place_id, "127.0.0.1:9001")
    assert sorted((node.place, node.address, node.node) for node in found.nodes) == sorted(
        [(*here, "front"), (*there, "front"), (*there, "w1")]
    )
    assert {room: (held.node, held.place, held.travels) for room, held in found.rooms.items()} == {
        "den": ("w1", theirs.place_id, True), "attic": ("w1", theirs.place_id, False),
        "shed": ("front", ours.place_id, False),
    }  # fmt: skip
    assert found.orphans == {"cellar": ""}

    end_leases(url, "their worker")
    assert ours.survey().orphans == {"cellar": "", "den": theirs.place_id, "attic": theirs.place_id}
    end_leases(url, "their front")
    assert ours.survey().orphans == dict.fromkeys(["attic", "cellar", "den"], "")


def test_a_room_is_released_for_a_place_as_long_as_that_is_there_and_takes_rooms(
    url: str, pair: tuple[PostgresClusterStore, PostgresClusterStore]
) -> None:
    ours, theirs = pair
    ours.commit([Write("den", lines(1), (0, b"s"))])
    ours.lease(["den"], "our front", LONG_MS)
    ours.release_for(["den"], "our front", theirs.place_id)
    assert ours.survey().orphans == {"den": theirs.place_id}
    theirs.drain()
    found = ours.survey()
    assert found.orphans == {"den": ""}
    assert [node.is_draining for node in found.nodes if node.place == theirs.place_id] == [True]
    assert "den" in ours.lease(["den"], "our front", LONG_MS)
    ours.release(["den"], "our front")
    assert execute(url, "select count(*) from wanted") == [(0,)], "it counts once"


def test_a_store_that_is_closed_leaves_the_cluster(pair: tuple[PostgresClusterStore, PostgresClusterStore]) -> None:
    ours, theirs = pair
    theirs.close()
    assert [node.house for node in ours.survey().nodes] == ["our front"]
    assert ours.acknowledged_by_others() is None


def test_a_worker_that_is_dead_does_not_cut_off_its_front(
    url: str, pair: tuple[PostgresClusterStore, PostgresClusterStore]
) -> None:
    ours, theirs = pair
    theirs.begin("their worker", "w1", LONG_MS)
    theirs.lease(["den"], "their worker", 0)
    before = execute(url, "select pid from pg_stat_activity where application_name = %s", f"cohabit {theirs.place_id}")
    assert before
    assert "den" in ours.lease(["den"], "our front", LONG_MS)
    after = execute(url, "select pid from pg_stat_activity where application_name = %s", f"cohabit {theirs.place_id}")
    assert set(before) <= set(after)


# -- houses that are alone --------------------------------------------------------------------------
def test_a_house_alone_and_a_cluster_do_not_run_beside_each_other(url: str, tmp_path: Path, open_cluster: Open) -> None:
    with closing(PostgresStore(url, tmp_path / "alone")) as alone:
        alone.lease(["house"], "lone house", LONG_MS)
        with pytest.raises(Conflict, match="without houses_address is running"):
            open_cluster().begin("front", "front", LONG_MS)
    open_cluster().begin("front", "front", LONG_MS)
    with (
        closing(PostgresStore(url, tmp_path / "alone")) as alone,
        pytest.raises(Conflict, match="houses of a cluster are running"),
    ):
        alone.lease(["den"], "lone house", LONG_MS)


def test_a_paused_house_of_a_cluster_is_out_when_a_house_alone_has_begun(
    url: str, tmp_path: Path, open_cluster: Open
) -> None:
    paused = open_cluster()
    epoch = paused.begin("paused", "front", LONG_MS)
    end_leases(url, "paused")
    with closing(PostgresStore(url, tmp_path / "alone")) as alone:
        alone.lease([], "lone house", LONG_MS)
    assert paused.lease([], "paused", LONG_MS, epoch) == {}, "it has not learnt what was changed meanwhile"


# -- news -------------------------------------------------------------------------------------------
def test_news_of_a_kind_that_only_a_newer_house_knows_ends_no_listening(open_cluster: Open, url: str) -> None:
    ours = open_cluster()
    heard: Queue[News] = Queue()
    stop = ours.listen(heard.put)
    try:
        assert heard.get(timeout=120) is News.RECONNECTED
        execute(url, postgres_listening.NOTIFY, "something newer")
        assert heard.get(timeout=120) is News.RECONNECTED
        ours.drain()
        assert heard.get(timeout=120) is News.ROOMS
    finally:
        stop()


def test_the_other_places_hear_of_changes_acknowledgements_and_rooms(
    pair: tuple[PostgresClusterStore, PostgresClusterStore],
) -> None:
    ours, theirs = pair
    heard: Queue[News] = Queue()
    stop = theirs.listen(heard.put)
    try:
        assert heard.get(timeout=120) is News.RECONNECTED
        ours.commit([person("ann")])
        assert heard.get(timeout=120) is News.CHANGES
        ours.acknowledge(1)
        assert heard.get(timeout=120) is News.APPLIED
        ours.lease(["den"], "our front", LONG_MS)
        assert heard.get(timeout=120) is News.ROOMS
        ours.release(["den"], "our front")
        assert heard.get(timeout=120) is News.ROOMS
    finally:
        stop()


def test_a_listener_that_was_cut_off_says_that_it_may_have_missed_something(
    url: str, pair: tuple[PostgresClusterStore, PostgresClusterStore]
) -> None:
    ours, theirs = pair
    heard: Queue[News] = Queue()
    stop = theirs.listen(heard.put)
    try:
        assert heard.get(timeout=120) is News.RECONNECTED
        sql = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = %s and query like 'listen%%'"
        assert execute(url, sql, f"cohabit {theirs.place_id}") == [(True,)]
        assert heard.get(timeout=120) is News.RECONNECTED
        ours.commit([person("ann")])
        assert heard.get(timeout=120) is News.CHANGES
    finally:
        stop()
