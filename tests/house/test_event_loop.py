"""The event loop never waits for the disk, and a room is open in one house at a time."""

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from cohabit.errors import Conflict, PermissionDenied, Quarantined, StorageFailed, WorldTimeout
from cohabit.house.house import House
from cohabit.house.settings import Settings
from cohabit.house.store.contract import Store
from cohabit.house.store.leases import LEASE_MS
from cohabit.house.store.memory import MemoryStore
from cohabit.house.store.sqlite import SQLiteStore
from cohabit.testing.clock import FakeClock

from .making import GOD, HOST, TOKENS_MADE, Client, a_moment, back_again, invite, issue, make_room, open_house, player


class OffLoop:
    """A store that notes each of its methods that is called on the thread of the event loop."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.loop_thread = threading.get_ident()
        self.called: list[str] = []
        self.on_the_loop: list[str] = []

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)

        def checked(*args: Any, **kwargs: Any) -> Any:
            self.called.append(name)
            if threading.get_ident() == self.loop_thread:
                self.on_the_loop.append(name)
            return method(*args, **kwargs)

        return checked


async def a_day(house: House, clock: FakeClock) -> None:
    """Everything that a house does with its store."""
    who = await make_room(house, player("ann", 0), player("bob", 1), HOST, GOD, guests=True)
    slow = await make_room(house, player("ann", 0), HOST, room="slow", world="Stuck")
    for n in range(30):
        await who["ann"]("hide", {"n": n})
        await slow["ann"]("move")
    with pytest.raises(PermissionDenied):
        await who["ann"]("reset")
    await clock.advance(2_000)  # refusals are written
    cy = await (await invite(who["hostess"], "cy", role="player", uses=2)).join()
    TOKENS_MADE.append(cy.token)
    zoe = await issue(house, "zoe")
    await zoe("join")
    await zoe("rotate_token")
    renewed = await who["hostess"]("rotate_token", {"member": "bob"})
    TOKENS_MADE.append(renewed.token)
    bob = Client(house, "den", "bob", renewed.token)
    await who["hostess"]("revoke_token", {"member": "cy"})
    (line,) = (await who["hostess"]("invites")).invites
    await who["hostess"]("remove_member", {"member": "cy"})
    await who["hostess"]("revoke_invite", {"invite": line.invite})
    if house.settings.data:
        await who["zeus"]("save_world", {"name": "evening"})
        await who["zeus"]("load_world", {"name": "evening"})
        await who["zeus"]("list_saves")
    reader = await bob.reader("")
    async with asyncio.timeout(120):
        while not any(item.get("kind") == "account" for item in reader.items()):
            await a_moment()
    page = await bob("events", {"max": 5})
    while page.more:
        page = await bob("events", {"cursor": page.cursor, "max": 5})
    await who["ann"]("shout", {"text": "good night"})
    await clock.advance(2 * LEASE_MS)
    with pytest.raises(WorldTimeout):
        await asyncio.wait_for(slow["ann"]("spin"), 250)
    await slow["hostess"]("reopen_room")
    await slow["ann"]("move")
    await slow["hostess"]("delete_room", {"confirm": "slow"})
    operator = house.identify(house.operator_token())
    await house.call(operator, None, "create_room", {"world": "nim", "players": ["x"]})
    await house.call(operator, None, "list_credentials")
    await house.call(operator, None, "rooms")


@pytest.mark.sampled(start=1)
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_no_method_of_the_store_is_called_on_the_event_loop_in_a_whole_day(kind: str, tmp_path: Path) -> None:
    for day in range(2):  # the second day opens the rooms of the first
        clock = FakeClock()
        store = OffLoop(SQLiteStore(tmp_path) if kind == "sqlite" else MemoryStore())
        settings = {"recent_entries": 5, "snapshot_every": 10, "world_deadline_s": 1.0, "keep_entries": 40}
        folder = tmp_path if kind == "sqlite" else None
        async with open_house(folder, store=store, clock=clock, **settings) as house:  # type: ignore[arg-type]
            if day == 0:
                await a_day(house, clock)
            else:
                assert kind == "memory" or "den" in house.rooms
        assert store.on_the_loop == []
        assert "close" in store.called
    wanted = {"commit", "rooms", "lines", "identities", "credentials", "invites", "lease", "release"}
    assert kind == "memory" or wanted | {"snapshots", "refusals"} <= {*store.called, "lines", "commit"}


async def test_saves_are_read_and_written_off_the_event_loop(tmp_path: Path) -> None:
    store = OffLoop(SQLiteStore(tmp_path))
    async with open_house(tmp_path, store=store) as house:  # type: ignore[arg-type]
        who = await make_room(house, player("ann", 0), GOD)
        await who["zeus"]("save_world", {"name": "x"})
        await who["zeus"]("load_world", {"name": "x"})
        await who["zeus"]("list_saves")
    assert store.on_the_loop == []
    assert {"save", "saves", "commit"} <= {*store.called}


async def test_a_disk_that_hangs_does_not_keep_the_house_from_answering_reads() -> None:
    class Hanging(MemoryStore):
        go = threading.Event()

        def commit(self, writes: Any) -> None:
            self.go.wait(100)
            super().commit(writes)

    store = Hanging()
    store.go.set()
    async with open_house(store=store) as house:
        who = await make_room(house)
        one, two = who["ann"], (await make_room(house, room="other"))["ann"]
        await asyncio.gather(house.rooms["den"].drained(), house.rooms["other"].drained())
        store.go.clear()
        acting = asyncio.create_task(one("hide", {"n": 1}))
        await a_moment()
        async with asyncio.timeout(120):
            assert (await two("view")).text
            assert (await house.call(house.identify(two.token), None, "rooms")).rooms
        assert not acting.done()
        store.go.set()
        await acting


# -- leases -----------------------------------------------------------------------------------------
class Shared(MemoryStore):
    """A store that several houses use; closing a house leaves it open."""

    def close(self) -> None:
        pass


async def test_a_second_house_on_the_same_store_cannot_open_a_room() -> None:
    store = Shared()
    async with open_house(store=store) as house:
        who = await make_room(house)
        with pytest.raises(Conflict, match="another house runs"):
            async with House.open(Settings(), store=store, clock=FakeClock()):
                pass
        assert (await who["ann"]("hide", {"n": 1})).success
    async with open_house(store=store) as house:
        assert (await back_again(house, who)["ann"]("numbers"))["red"] == [1]


async def test_a_room_that_another_house_holds_stays_closed_there_and_can_be_reopened_when_it_is_free() -> None:
    clock = FakeClock()
    store = Shared(clock.now)
    async with open_house(store=store) as house:
        who = await make_room(house)
    store.lease(["den"], "another house", LEASE_MS)
    async with open_house(store=store, clock=clock) as house:
        assert isinstance(house.broken["den"], Conflict)
        operator = house.identify(house.operator_token())
        with pytest.raises(Conflict):
            await house.call(operator, "den", "reopen_room")
        store.release(["den"], "another house")
        assert (await house.call(operator, "den", "reopen_room")).room == "den"
        assert (await back_again(house, who)["ann"]("whoami")).handle == "ann"


async def test_a_house_keeps_its_leases_as_long_as_it_runs_and_gives_them_back() -> None:
    clock = FakeClock()
    store = Shared(clock.now)
    async with open_house(store=store, clock=clock) as house:
        await make_room(house)
        assert "den" not in store.lease(["den"], "another house", 1), "from the beginning"
        await clock.advance(10 * LEASE_MS)
        assert "den" not in store.lease(["den"], "another house", 1)
        assert "house" not in store.lease(["house"], "another house", 1)
    assert "den" in store.lease(["den"], "another house", 1)


@pytest.mark.parametrize("gone", ["deleted", "not created"])
async def test_a_room_that_is_gone_has_no_lease(gone: str) -> None:
    clock = FakeClock()
    store = Shared(clock.now)
    async with open_house(store=store, clock=clock) as house:
        if gone == "deleted":
            who = await make_room(house)
            await who["hostess"]("delete_room", {"confirm": "den"})
        else:
            commit = store.commit

            def failing(writes: Any) -> None:
                raise StorageFailed("the disk is full")

            store.commit = failing  # type: ignore[method-assign]
            with pytest.raises(StorageFailed):
                await make_room(house)
            store.commit = commit  # type: ignore[method-assign]
        assert "den" in store.lease(["den"], "another house", 1)


async def test_a_lease_is_renewed_every_third_of_its_time() -> None:
    class Counted(MemoryStore):
        renewed = 0

        def lease(self, rooms: Sequence[str], house: str, ms: int, epoch: int | None = None) -> dict[str, int]:
            self.renewed += set(rooms) == {"den", "house"}
            return super().lease(rooms, house, ms, epoch)

    store, clock = Counted(), FakeClock()
    async with open_house(store=store, clock=clock) as house:
        await make_room(house)
        for _ in range(3):
            before = store.renewed
            await clock.advance(LEASE_MS // 3 - 1)
            assert store.renewed == before
            await clock.advance(1)
            assert store.renewed == before + 1


async def test_a_house_that_lost_its_lease_stops_the_room_and_cannot_fork_its_record() -> None:
    clock = FakeClock()
    store = Shared(clock.now)
    async with open_house(store=store, clock=clock) as house:
        who = await make_room(house)
        other = await make_room(house, room="other")
        store.release(["den"], house.id)
        assert "den" in store.lease(["den"], "another house", 10 * LEASE_MS)
        await clock.advance(LEASE_MS)
        async with asyncio.timeout(120):
            while house.rooms["den"].failure is None:
                await a_moment()
        with pytest.raises(Quarantined, match="another house"):
            await who["ann"]("hide", {"n": 1})
        assert (await other["ann"]("hide", {"n": 1})).success
