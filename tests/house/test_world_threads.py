"""Worlds that are not part of Cohabit never run on the event loop, so one that hangs stops only its own room."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from cohabit.errors import CohabitError, StorageFailed
from cohabit.house.house import House
from cohabit.testing.clock import FakeClock

from .making import ANN, BOB, GOD, HOST, HeldStore, a_moment, make_room, newcomer, open_house

OWN = str(Path(__file__).parent / "own_world.py")


@contextmanager
def code_on_this_thread(path: str) -> Iterator[set[str]]:
    """The functions of a file that are called on this thread, which is that of the event loop."""
    found: set[str] = set()

    def note(frame: FrameType, event: str, arg: Any) -> None:
        if event == "call" and frame.f_code.co_filename == path:
            found.add(frame.f_code.co_name)

    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(None)


async def everything(house: House, clock: FakeClock, store: HeldStore) -> None:
    """All that can be done in a room."""
    who = await make_room(house, {**ANN, "brain": "random"}, BOB, HOST, GOD, world=OWN, guests=True, nexus=True)
    ann, bob, host, god = who["ann"], who["bob"], who["hostess"], who["zeus"]
    readers = [await client.reader("") for client in (ann, bob, host, god)]
    for name in (
        "view", "observe", "move", "count", "picture", "objective_status", "standings", "wait_for_turn", "next_view",
        "capabilities", "schemas", "roster", "whoami", "events", "rooms", "introduction", "transcript", "info",
    ):  # fmt: skip
        for client in (bob, host, god):
            with suppress(CohabitError):
                await client(name)
    await clock.advance(3_000)
    for name, args in (("pause", {}), ("resume", {}), ("set_speed", {"speed": "x2"}), ("rematch", {})):
        with suppress(CohabitError):
            await god(name, args)
    late = await newcomer(host, "cy", role="player")
    await late("view")
    await host("remove_member", {"member": "cy"})
    with suppress(CohabitError):
        await god("save_world", {"folder": "x"})
        await god("load_world", {"path": "x"})
    store.failing = True
    with pytest.raises(StorageFailed):
        await bob("move")
    store.failing = False
    await clock.advance(5_000)
    for _ in range(12):  # more than one snapshot
        await bob("move")
    runner = house.rooms["den"]
    runner.stop(StorageFailed("closed by the test"))
    await host("reopen_room")
    await bob("view")
    await a_moment()
    assert all(reader.frames for reader in readers)


async def test_no_code_of_a_world_of_ones_own_runs_on_the_event_loop(tmp_path: Path) -> None:
    clock, store = FakeClock(), HeldStore()
    with code_on_this_thread(OWN) as found:
        async with open_house(store=store, clock=clock, trusted_worlds="", snapshot_every=5) as house:
            await everything(house, clock, store)
    assert found - {"pace"} == set()


async def test_a_quick_world_of_cohabit_or_one_that_the_operator_trusts_runs_on_the_event_loop() -> None:
    with code_on_this_thread(OWN) as found:
        async with open_house(trusted_worlds=OWN) as house:
            who = await make_room(house, world=OWN)
            await who["ann"]("move")
            await make_room(house, world="nim", room="ours")
            assert [vars(house.rooms[room])["_quick"] for room in ("den", "ours")] == [True, True]
    assert "move" in found
