"""Opening a house with very many rooms: what is not done once for each of them."""

import threading
from collections.abc import Sequence

from cohabit.errors import StorageFailed
from cohabit.house.store.contract import Write
from cohabit.house.store.leases import LEASE_MS
from cohabit.house.store.memory import MemoryStore
from cohabit.testing.clock import FakeClock

from .making import back_again, make_room, open_house

ROOMS = 20
LONG_S = 20.0


class Watched(MemoryStore):
    """A store that stays open, and counts leases. ``after``: the next commit waits until so many rooms were loaded."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__(clock.now)
        self.leases = 0
        self.loaded: list[str] = []
        self.after = 0
        self._enough = threading.Event()

    def snapshots(self, room: str) -> list[bytes]:
        self.loaded.append(room)
        if len(self.loaded) >= self.after:
            self._enough.set()
        return super().snapshots(room)

    def commit(self, writes: Sequence[Write]) -> None:
        if self.after and not self._enough.wait(LONG_S):
            self._enough.set()  # the others need not wait, too
            raise StorageFailed("rooms wait for the disk one by one")
        super().commit(writes)

    def lease(self, rooms: Sequence[str], house: str, ms: int, epoch: int | None = None) -> dict[str, int]:
        self.leases += 1
        return super().lease(rooms, house, ms, epoch)

    def close(self) -> None:
        """Another house uses it afterwards."""


async def stored(clock: FakeClock) -> Watched:
    store = Watched(clock)
    async with open_house(store=store, clock=clock) as house:
        for number in range(ROOMS):
            await make_room(house, room=f"r{number}")
    store.leases, store.loaded = 0, []
    return store


async def test_the_next_rooms_are_loaded_while_the_first_are_written() -> None:
    clock = FakeClock()
    store = await stored(clock)
    store.after = ROOMS
    async with open_house(store=store, clock=clock) as house:
        store.after = 0
        assert sorted(house.rooms) == sorted(f"r{number}" for number in range(ROOMS))
        assert house.broken == {}


async def test_the_leases_of_all_rooms_are_acquired_in_a_few_steps_and_given_back() -> None:
    clock = FakeClock()
    store = await stored(clock)
    async with open_house(store=store, clock=clock) as house:
        assert len(house.rooms) == ROOMS
        assert store.leases <= 3, "the house record, the first room, and those that wait meanwhile"
    names = [f"r{number}" for number in range(ROOMS)]
    assert set(names) <= store.lease(names, "another house", 1).keys()


async def test_of_many_rooms_only_those_stay_closed_that_another_house_has_or_that_are_damaged() -> None:
    clock = FakeClock()
    store = await stored(clock)
    store.lease(["r3", "r4"], "another house", LEASE_MS)
    store.commit([Write("r5", snapshot=(10**6, b"damaged"))])
    store.commit([Write("r5", snapshot=(10**6 + 1, b"damaged too"))])
    async with open_house(store=store, clock=clock) as house:
        assert {room: wrong.code for room, wrong in house.broken.items()} == {
            "r3": "CONFLICT", "r4": "CONFLICT", "r5": "RECORD_CORRUPT"
        }  # fmt: skip
        assert len(house.rooms) == ROOMS - 3
        assert "r5" in store.lease(["r5"], "another house", 1), "a room that is not open is not leased"


async def test_a_room_opened_with_many_others_records_what_happens_in_it() -> None:
    clock = FakeClock()
    store = Watched(clock)
    async with open_house(store=store, clock=clock) as house:
        members = [await make_room(house, room=f"r{number}") for number in range(3)]
    for _ in range(2):
        async with open_house(store=store, clock=clock) as house:
            for who in members:
                assert (await back_again(house, who)["ann"]("hide", {"n": 1})).success
    async with open_house(store=store, clock=clock) as house:
        for who in members:
            assert (await back_again(house, who)["ann"]("numbers"))["red"] == [1, 1]
