"""Houses on one PostgreSQL: what one changes is known in all, and a house that was away serves nobody until it knows."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest
from msgspec import structs
from tests.house.nodes.cluster import Nodes, nodes, scenario
from tests.postgres import LONG_MS, Server

from cohabit.errors import Busy, Disabled, StorageFailed, Unauthorized
from cohabit.house.house import House
from cohabit.house.nodes import following
from cohabit.house.store import leases
from cohabit.house.store.contract import Write
from cohabit.house.store.postgres_cluster import PostgresClusterStore
from cohabit.house.store.validity import boot_time
from cohabit.model.identity import Identity

KEY = "a key of the cluster"


class Machine:
    """Its time. A pause of all processes is a jump of it."""

    def __init__(self) -> None:
        self.paused_s = 0.0

    def now(self) -> float:
        return boot_time() + self.paused_s


@pytest.fixture(autouse=True)
def long_leases(monkeypatch: pytest.MonkeyPatch) -> None:
    """What ends here, a test ends."""
    monkeypatch.setattr(leases, "LEASE_MS", LONG_MS)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine()
    monkeypatch.setattr(leases, "boot_time", made.now)
    return made


@pytest.fixture
async def open_house(url: str, tmp_path: Path) -> AsyncIterator[Callable[..., Any]]:
    """Opens houses of one cluster."""
    async with AsyncExitStack() as stack:
        count = 0

        async def make(workers: int = 1, machine: Machine | None = None, at: str = url) -> Nodes:
            nonlocal count
            count += 1
            address = f"127.0.0.1:{9000 + count}"
            store = await asyncio.to_thread(PostgresClusterStore, at, tmp_path / str(count), address)
            opened = nodes(workers, store=store, houses_address=address, houses_key=KEY)
            made = await stack.enter_async_context(opened)
            if machine is not None:
                for house in everybody(made):
                    assert house.validity is not None
                    house.validity.now = machine.now
            return made

        yield make


def everybody(made: Nodes) -> list[House]:
    return [made.front, *made.houses.values()]


def execute(url: str, sql: str, *args: Any) -> None:
    with psycopg.connect(url, autocommit=True) as db:
        db.execute(sql, args)


def end_leases(url: str, made: Nodes) -> None:
    """As if their time had passed, by the clock of the database."""
    houses = [house.id for house in everybody(made)]
    execute(url, "update houses set until = clock_timestamp() where house = any(%s)", houses)


async def renew(made: Nodes) -> None:
    for house in everybody(made):
        await house.rooms.leases.renew()
    await asyncio.gather(*(link.ask("ping") for link in made.cluster.links.values()))  # they were told before


async def remove_ann(made: Nodes, tokens: dict[str, str]) -> None:
    await made.call(tokens["hostess"], "den", "remove_member", {"member": "ann"})


async def test_a_revocation_is_true_in_every_node_of_every_house_when_its_reply_is_sent(open_house: Any) -> None:
    ours, theirs = await open_house(2), await open_house(2)
    _, tokens = await ours.houses["w1"].create_room(scenario(), "den")
    known = [house.identify(tokens["ann"]).room for house in everybody(theirs)]
    assert known == ["den"] * 3, "a new token is known, too"
    await remove_ann(ours, tokens)
    for house in (ours.front, *ours.houses.values(), *everybody(theirs)):
        with pytest.raises(Unauthorized):
            house.identify(tokens["ann"])


async def test_a_change_waits_for_a_database_that_is_away_and_the_room_goes_on(
    open_house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = await open_house()
    _, tokens = await ours.houses["w1"].create_room(scenario(), "den")
    looks = iter([StorageFailed("the database is away")] * 2)
    look = PostgresClusterStore.acknowledged_by_others

    def fails_at_first(store: PostgresClusterStore) -> int | None:
        for failure in looks:
            raise failure
        return look(store)

    monkeypatch.setattr(PostgresClusterStore, "acknowledged_by_others", fails_at_first)
    await remove_ann(ours, tokens)
    assert not list(looks)
    await ours.call(tokens["hostess"], "den", "say", {"text": "the next entry"})
    assert ours.front.store.head("den") == ours.houses["w1"].rooms["den"].room.record.seq


async def test_a_room_that_is_deleted_in_one_house_is_gone_in_the_others(open_house: Any) -> None:
    ours, theirs = await open_house(), await open_house()
    await ours.houses["w1"].create_room(scenario(), "den")
    theirs.cluster.table.rooms["den"] = "elsewhere"
    await ours.houses["w1"].delete_room("den")
    assert theirs.cluster.table.holder("den") is None


async def test_a_house_whose_worker_is_behind_is_waited_for(open_house: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = await open_house(), await open_house()
    _, tokens = await ours.houses["w1"].create_room(scenario(), "den")
    told, goes_on = asyncio.Event(), asyncio.Event()
    handlers = theirs._links["w1"].handlers
    apply = handlers["apply"]

    async def apply_later(changes: Any) -> None:
        told.set()
        await goes_on.wait()
        apply(changes=changes)

    monkeypatch.setitem(handlers, "apply", apply_later)
    monkeypatch.setattr(following, "LOOK_EVERY_S", 0.01)
    removing = asyncio.ensure_future(remove_ann(ours, tokens))
    await told.wait()
    await looked(ours, 3)
    adding = asyncio.ensure_future(theirs.front.writer.submit(Write(identities=[Identity("i-new", "new")])))
    while ours.front.identities.get("i-new") is None:
        await asyncio.sleep(0)
    await renewed_and_tidied(theirs)
    looking = asyncio.ensure_future(looked(ours, 3))
    await asyncio.wait([looking, removing], return_when=asyncio.FIRST_COMPLETED)
    looking.cancel()
    assert not removing.done(), "its own changes after that do not count"
    goes_on.set()
    await asyncio.gather(removing, adding)
    with pytest.raises(Unauthorized):
        theirs.houses["w1"].identify(tokens["ann"])


async def renewed_and_tidied(made: Nodes) -> None:
    """Until a front has renewed its lease, and acknowledged what it could."""
    store, loop, tidied = made.front.store._store, asyncio.get_running_loop(), asyncio.Event()
    tidy = store.tidy_changes

    def noted() -> None:
        tidy()
        loop.call_soon_threadsafe(tidied.set)

    store.tidy_changes = noted
    await made.front.rooms.leases.renew()
    await tidied.wait()


async def looked(made: Nodes, times: int) -> int:
    """Until a waiting change has looked that often whether the others know it."""
    store = made.front.store
    count = 0
    ask, changed = store.acknowledged_by_others, asyncio.Event()
    loop = asyncio.get_running_loop()

    def counted() -> int | None:
        nonlocal count
        count += 1
        loop.call_soon_threadsafe(changed.set)
        found: int | None = ask()
        return found

    store._store.acknowledged_by_others = counted
    while count < times:
        changed.clear()
        await changed.wait()
    return count


async def test_a_dead_house_is_waited_for_until_its_leases_have_ended_and_no_longer(
    open_house: Any, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, dead = await open_house(), await open_house()
    _, tokens = await ours.houses["w1"].create_room(scenario(), "den")

    def nothing(changes: Any) -> list[Any]:
        return [asyncio.get_running_loop().create_future()]

    monkeypatch.setattr(dead.cluster.replicas, "changed_elsewhere", nothing)
    monkeypatch.setattr(following, "LOOK_EVERY_S", 0.01)
    removing = asyncio.ensure_future(remove_ann(ours, tokens))
    await looked(ours, 3)
    assert not removing.done()
    end_leases(url, dead)
    await removing


async def test_a_house_that_was_paused_beyond_its_lease_serves_nobody_until_it_has_caught_up(
    open_house: Any, url: str, machine: Machine
) -> None:
    ours, paused = await open_house(), await open_house(machine=machine)
    _, tokens = await paused.houses["w1"].create_room(scenario(), "den")
    house = paused.houses["w1"]
    known = house.identify(tokens["ann"])
    hostess = house.identify(tokens["hostess"])
    watching = await house.subscribe(hostess, "den")
    machine.paused_s += 2 * LONG_MS / 1000
    end_leases(url, paused)
    await revoke(ours, tokens["ann"])

    for node in everybody(paused):
        with pytest.raises(Busy, match="not connected to its cluster"):
            node.identify(tokens["hostess"])
        assert node.readiness.reasons()
    with pytest.raises(Busy):
        await house.call(known, "den", "whoami")
    with pytest.raises(Busy):
        await house.subscribe(hostess, "den")
    assert house.validity is not None
    house.validity._watch()
    with pytest.raises(Disabled, match="lease has ended"):
        while True:
            await anext(watching)

    await paused.houses["w1"].rooms.leases.renew()
    assert house.readiness.reasons(), "a worker knows nothing of the log; its front does"
    await renew(paused)
    for node in everybody(paused):
        assert not node.readiness.reasons()
        assert node.identify(tokens["hostess"]).room == "den"
        with pytest.raises(Unauthorized):
            node.identify(tokens["ann"])
    await house.call(hostess, "den", "say", {"text": "it can be written again"})


async def revoke(made: Nodes, token: str) -> None:
    """Store the revocation of a token, as the house that leads does."""
    found = made.front.identities.find(token)
    assert found is not None
    await made.front.writer.submit(Write(credentials=[structs.replace(found, revoked=True)]))


async def test_a_house_from_which_another_has_taken_over_has_to_end(open_house: Any, url: str) -> None:
    ours, paused = await open_house(), await open_house()
    await paused.houses["w1"].create_room(scenario(), "den")
    out: list[str] = []
    paused.houses["w1"].rooms.leases.on_out = lambda: out.append("w1")
    end_leases(url, paused)
    await ours.houses["w1"].rooms.open("den")
    assert "den" in ours.houses["w1"].rooms
    await paused.houses["w1"].rooms.leases.renew()
    assert out == ["w1"]
    await paused.front.rooms.leases.renew()
    assert not paused.front.readiness.reasons(), "nobody has taken anything from the front"


async def test_a_house_that_has_missed_changes_has_to_end_and_serves_nobody(
    open_house: Any, url: str, machine: Machine
) -> None:
    ours, paused = await open_house(), await open_house(machine=machine)
    out: list[str] = []
    paused.front.rooms.leases.on_out = lambda: out.append("front")
    machine.paused_s += 2 * LONG_MS / 1000
    execute(url, "update changes_end set last = last + 1, removed = last + 1")  # as if it had come and gone
    await paused.front.rooms.leases.renew()
    assert out
    assert paused.front.readiness.reasons()
    assert not ours.front.readiness.reasons()


async def test_a_worker_that_starts_is_valid_as_soon_as_it_has_read_the_store(open_house: Any) -> None:
    made = await open_house(1)
    name = await made.start()
    await made.cluster.links[name].ask("ping")
    assert not made.houses[name].readiness.reasons()


async def test_a_database_that_was_away_ends_service_and_it_goes_on_by_itself(
    open_house: Any, postgres: Server, machine: Machine
) -> None:
    made = await open_house(machine=machine)
    _, tokens = await made.houses["w1"].create_room(scenario(), "den")
    postgres.stop()
    try:
        await made.front.rooms.leases.renew()
        assert not made.front.readiness.reasons(), "its lease lasts"
        machine.paused_s += 2 * LONG_MS / 1000
        await made.front.rooms.leases.renew()
        for house in everybody(made):
            with pytest.raises(Busy):
                house.identify(tokens["ann"])
    finally:
        postgres.start()
    await renew(made)
    for house in everybody(made):
        assert house.identify(tokens["ann"]).room == "den"
    await made.call(tokens["hostess"], "den", "say", {"text": "still here"})
