"""Worlds that are not part of Cohabit never run on the event loop, so one that hangs stops only its own room."""

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from cohabit.errors import Busy, CohabitError, StorageFailed, WorldTimeout
from cohabit.house import threads
from cohabit.house.house import House
from cohabit.house.running.watchdog import LOOP_LIMIT_S
from cohabit.registry import find_world
from cohabit.testing.clock import FakeClock

from .making import ANN, BOB, GOD, HOST, HeldStore, a_moment, deeds, make_room, newcomer, open_house

OWN = str(Path(__file__).parent / "own_world.py")
MODULE: Any = sys.modules[find_world(OWN).__module__]  # as the house loads it
OFF_LOOP: dict[str, Any] = {"trusted_worlds": "", "calls_per_second": 10**9}  # the clock stands still
HANGING, GO = MODULE.HANGING, MODULE.GO


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
        await god("save_world", {"name": "x"})
        await god("load_world", {"name": "x"})
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


async def test_a_picture_is_drawn_on_a_thread_and_the_calls_after_it_run_on_the_event_loop_again() -> None:
    with code_on_this_thread(OWN) as found:
        async with open_house(trusted_worlds=OWN) as house:
            who = await make_room(house, ANN, BOB, world=OWN)
            ann, bob = who["ann"], who["bob"]
            first, second, _ = await asyncio.gather(ann("picture"), bob("picture"), ann("move"))
            assert first.format == second.format == "png"
            assert {"picture", "move"} & found == set(), "what waits behind a picture runs on the thread, too"
            await bob("move")
    assert "move" in found
    assert "picture" not in found


# -- what a world that hangs does to others ---------------------------------------------------------
HANGS = {
    "move": ("move", {}), "observe": ("view", {}), "to_move": ("move", {}), "is_over": ("move", {}),
    "returns": ("move", {}), "seats_now": ("move", {}), "scope": ("move", {}), "count": ("count", {}),
    "legal": ("view", {}), "goals": ("view", {}), "picture": ("picture", {}), "standings": ("objective_status", {}),
    "snapshot": ("move", {}), "clock": ("pause", {}), "save": ("save_world", {"name": "x"}),
}  # fmt: skip
"""Where a world hangs, and a call that leads there. It is reached only after the first move."""


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("where", "how"), [*((where, "spins") for where in HANGS), ("move", "sleeps"), ("observe", "sleeps")]
)
async def test_other_rooms_answer_while_a_world_hangs_anywhere(where: str, how: str, tmp_path: Path) -> None:
    HANGING.clear()
    async with open_house(tmp_path, **OFF_LOOP, world_deadline_s=0.3, snapshot_every=3) as house:
        config = {"hangs_in": where, "how": how, "seconds": 3600, "from_move": 1}
        who = await make_room(house, ANN, BOB, HOST, GOD, world=OWN, config=config)
        other = await make_room(house, world="nim", room="other")
        name, args = HANGS[where]
        caller = who["zeus"] if name in ("pause", "save_world") else who["ann"]

        async def until_refused() -> CohabitError:
            while True:
                try:
                    await who["ann"]("move")
                    await caller(name, args)
                except CohabitError as refused:
                    return refused

        refused = asyncio.ensure_future(until_refused())
        async with asyncio.timeout(120):
            while not HANGING.is_set():
                await other["ann"]("view")
                await asyncio.sleep(0.01)
            answered = 0
            while not refused.done():
                assert (await other["ann"]("view")).text
                answered += 1
                await asyncio.sleep(0.01)
        assert answered > 1, "not only before it hung and after it was stopped"
        assert refused.result().code in ("WORLD_TIMEOUT", "QUARANTINED")
        assert house.rooms["other"].failure is None


@pytest.mark.sampled
@pytest.mark.parametrize("where", ["__init__", "reset", "describe"])
async def test_other_rooms_answer_while_a_world_hangs_as_it_is_made(where: str) -> None:
    async with open_house(**OFF_LOOP, world_deadline_s=0.05) as house:
        other = await make_room(house, world="nim", room="other")
        making = asyncio.ensure_future(make_room(house, world=OWN, config={"hangs_in": where}))
        async with asyncio.timeout(120):
            while not making.done():
                assert (await other["ann"]("view")).text
                await asyncio.sleep(0.01)
        with pytest.raises(WorldTimeout):
            making.result()
        assert list(house.rooms) == ["other"]


@pytest.mark.sampled
@pytest.mark.parametrize("where", ["__init__", "restore", "to_move", "describe", "module"])
async def test_a_world_that_hangs_when_its_room_is_opened_again_closes_only_that_room(
    where: str, tmp_path: Path
) -> None:
    game, text = tmp_path / "game.py", Path(OWN).read_text()
    game.write_text(text)
    async with open_house(tmp_path / "data", **OFF_LOOP, snapshot_every=3) as house:
        who = await make_room(house, world=str(game))
        await make_room(house, world="nim", room="other")
        for _ in range(5):
            await who["ann"]("move")
    stuck = "\nwhile True:\n    pass\n" if where == "module" else ""
    game.write_text(text.replace("where != self.hangs_in", f"where != {where!r}") + stuck)
    async with open_house(tmp_path / "data", **OFF_LOOP, world_deadline_s=0.05) as house:
        assert list(house.rooms) == ["other"]
        assert house.broken["den"].code == "WORLD_TIMEOUT"


async def test_a_world_that_hangs_in_a_rollback_after_a_full_disk_stops_only_its_room() -> None:
    store = HeldStore()
    async with open_house(store=store, **OFF_LOOP, world_deadline_s=0.3) as house:
        who = await make_room(house, world=OWN, config={"hangs_in": "restore"})
        other = await make_room(house, world="nim", room="other")
        await who["ann"]("move")
        store.failing = True
        failing = asyncio.ensure_future(who["ann"]("move"))
        async with asyncio.timeout(120):
            while not failing.done():
                assert (await other["ann"]("view")).text
                await asyncio.sleep(0.01)
        store.failing = False
        with pytest.raises((WorldTimeout, StorageFailed)):
            failing.result()


async def test_a_trusted_world_that_computes_for_ever_on_the_event_loop_is_moved_to_a_thread() -> None:
    async with open_house(trusted_worlds=OWN, world_deadline_s=0.5) as house:
        who = await make_room(house, world=OWN, config={"hangs_in": "move", "from_move": 2})
        first = house.rooms["den"]
        for _ in range(2):
            await who["ann"]("move")
        with pytest.raises(WorldTimeout):
            await asyncio.wait_for(who["ann"]("move"), 250)
        assert house.rooms["den"] is not first, "it was opened again, and ran on a thread until its deadline"
        assert not deeds(house.rooms["den"].room, "move")[2:]


async def test_a_call_that_takes_too_long_for_the_event_loop_is_finished_on_a_thread() -> None:
    async with open_house(trusted_worlds=OWN, world_deadline_s=30) as house:
        config = {"hangs_in": "move", "how": "computes", "seconds": 2 * LOOP_LIMIT_S, "from_move": 1}
        who = await make_room(house, world=OWN, config=config)
        first = house.rooms["den"]
        await who["ann"]("move")
        moved = await asyncio.wait_for(who["ann"]("move", key="once"), 250)
        assert moved.success
        assert house.rooms["den"] is not first
        assert len(deeds(house.rooms["den"].room, "move")) == 2
        assert (await who["bob"]("view")).observation.status == {"moves": 2}


async def test_threads_that_cannot_be_interrupted_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "MAX_STUCK_THREADS", threads.stuck_threads() + 2)
    GO.clear()
    try:
        async with open_house(**OFF_LOOP, world_deadline_s=0.05) as house:
            for _ in range(2):
                with pytest.raises(WorldTimeout):
                    await make_room(house, world=OWN, config={"hangs_in": "reset", "how": "waits"})
            with pytest.raises(Busy, match="restart the house"):
                await make_room(house, world=OWN)
            GO.set()
            while threads.stuck_threads() >= threads.MAX_STUCK_THREADS:
                await asyncio.sleep(0.001)
            assert await make_room(house, world=OWN)
    finally:
        GO.set()
