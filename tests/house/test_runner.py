"""How a room is run: what is written when, and when a quick world is called slow."""

import asyncio
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from cohabit.errors import PermissionDenied, StorageFailed, Unauthorized
from cohabit.house.house import House
from cohabit.house.running.calls import Call
from cohabit.house.running.reports import STORE_MS
from cohabit.house.running.runner import RoomRunner
from cohabit.house.running.watchdog import (
    SLOW_FOR_MS,
    SLOW_RUNS,
    SLOW_WITHIN_MS,
    SlowSections,
    Usage,
    Watchdog,
    thread_usage,
)
from cohabit.house.store import loading
from cohabit.house.store.contract import Write
from cohabit.house.store.memory import MemoryStore
from cohabit.house.threads import interrupt
from cohabit.model.record import decode_entry
from cohabit.room.base import WorldInterrupted
from cohabit.testing.clock import FakeClock

from .making import GOD, HOST, Client, HeldStore, a_moment, make_room, open_house, player


class CountedStore(MemoryStore):
    """Counts the writes that have refusals."""

    audited = 0

    def commit(self, writes: Sequence[Write]) -> None:
        self.audited += sum(bool(write.refusals) for write in writes)
        super().commit(writes)


@pytest.mark.parametrize(("name", "args"), [("reset", {}), ("invite", {"id": "mole"})], ids=["room", "house"])
async def test_many_refusals_in_a_second_are_one_write_and_later_ones_another(name: str, args: Any) -> None:
    clock, store = FakeClock(), CountedStore()
    async with open_house(clock=clock, store=store) as house:
        who = await make_room(house)
        await who["ann"]("view")
        await clock.advance(1_000)  # her arrival is on record
        for written in (1, 2):
            for _ in range(20):
                with pytest.raises(PermissionDenied):
                    await who["ann"](name, args)
            await clock.advance(STORE_MS - 1)
            await all_written(house)
            assert store.audited == written - 1
            await clock.advance(1)
            await all_written(house)
            assert store.audited == written
        assert sum(refusal.count for refusal in store.refusals("den")) == 40


async def all_written(house: House) -> None:
    await a_moment()
    await house.writer.submit(Write("den"))  # after all queued writes


async def test_refusals_just_before_a_house_closes_are_kept() -> None:
    store = CountedStore()
    async with open_house(store=store) as house:
        who = await make_room(house)
        with pytest.raises(PermissionDenied):
            await who["ann"]("reset")
        assert store.audited == 0
    assert store.audited == 1


async def test_a_refusal_in_a_room_that_stops_before_it_is_written_does_no_harm() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house, player("ann", 0), HOST, world="Stuck")
        with pytest.raises(PermissionDenied, match="control_world"):
            await who["ann"]("reset")
        house.rooms["den"].stop(PermissionDenied("the room stops"))
        await clock.advance(10 * STORE_MS)
        with pytest.raises(PermissionDenied, match="the room stops"):
            await who["ann"]("view")


async def test_a_wait_that_timed_out_is_forgotten() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house)
        waiting = [asyncio.ensure_future(who["ann"]("recv_messages", {"wait_ms": 1_000})) for _ in range(3)]
        await a_moment()
        assert vars(house.rooms["den"].history)["_waiters"]
        await clock.advance(1_000)
        await asyncio.gather(*waiting)
        assert not vars(house.rooms["den"].history)["_waiters"]


async def test_a_reader_is_sent_a_view_that_changed_although_nothing_is_told() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house, world="Ticker")
        ann = await who["ann"].reader()
        await clock.advance(1_000)
        await a_moment()
        events, views = len(ann.events), len(ann.views)
        for _ in range(5):
            await clock.advance(1_000)
            await a_moment()
        assert len(ann.events) == events
        assert len(ann.views) >= views + 5
        ann.sub.close()
        await ann.task


@pytest.mark.parametrize("has_folder", [True, False])
async def test_commands_for_saves_are_offered_where_they_can_be_used(tmp_path: Path, has_folder: bool) -> None:
    async with open_house(tmp_path if has_folder else None) as house:
        who = await make_room(house, player("ann", 0), HOST, GOD)

        async def offered(member: Client) -> set[str]:
            names = {command.name for command in (await member("capabilities")).commands}
            return names & {"save_world", "load_world", "list_saves"}

        every = {"save_world", "load_world", "list_saves"}
        assert await offered(who["hostess"]) == (every if has_folder else set())
        assert await offered(who["zeus"]) == (every if has_folder else {"load_world"})
        assert await offered(who["ann"]) == set()


class Meter:
    """The usage of a thread that computes and waits as much as it is told, from each reading to the next."""

    def __init__(self, cpu_s: float, waits: int = 0) -> None:
        self.cpu_s, self.waits, self.readings = cpu_s, waits, 0

    def __call__(self) -> Usage:
        self.readings += 1
        return Usage(self.readings * self.cpu_s, self.readings * self.waits)


@pytest.mark.parametrize(
    ("took", "cpu", "waits", "is_slow"),
    [
        (0.06, 0.05, 0, False),
        (0.06, 0.055, 0, True),  # it computed
        (600.0, 0.05, 0, False),  # the CPU was busy with something else
        (0.5, 0.001, 1, False),  # it may have waited for another thread of the house
        (0.51, 0.001, 1, True),  # it was blocked
    ],
)
def test_a_section_is_slow_if_it_computes_for_long_or_is_blocked_for_very_long(
    took: float, cpu: float, waits: int, is_slow: bool
) -> None:
    slow = SlowSections(Meter(cpu, waits))
    assert [slow.add(at, took, slow.usage()) for at in range(SLOW_RUNS)] == [False] * (SLOW_RUNS - 1) + [is_slow]
    assert slow.until == (SLOW_RUNS - 1 + SLOW_FOR_MS if is_slow else 0)


def test_a_world_is_slow_after_some_slow_sections_in_a_short_time_only() -> None:
    def added(*times: int) -> list[bool]:
        slow = SlowSections(Meter(1.0))
        return [slow.add(at, 1.0, slow.usage()) for at in times]

    assert added(*range(SLOW_RUNS)) == [False] * (SLOW_RUNS - 1) + [True]
    assert not any(added(*(at * SLOW_WITHIN_MS for at in range(2 * SLOW_RUNS))))
    assert added(0, SLOW_WITHIN_MS - 1, SLOW_WITHIN_MS, SLOW_WITHIN_MS + 1) == [False, False, False, True]


def test_a_section_whose_usage_is_unknown_makes_its_world_suspect_and_decides_nothing() -> None:
    slow = SlowSections(Meter(1.0))
    assert not any(slow.add(at, 600.0, None) for at in range(2 * SLOW_RUNS))
    assert slow.suspect_until == 2 * SLOW_RUNS - 1 + SLOW_WITHIN_MS
    assert slow.until == 0


def test_the_usage_of_a_thread_counts_what_it_computes_and_that_it_waits() -> None:
    before = thread_usage()
    while thread_usage().cpu_s == before.cpu_s:
        pass
    while thread_usage().waits == before.waits:
        other = threading.Thread(target=thread_usage)
        other.start()
        other.join()
    assert thread_usage() > before


def test_a_section_takes_as_long_as_the_clock_says(monkeypatch: pytest.MonkeyPatch) -> None:
    at = [1.0]
    monkeypatch.setattr(time, "perf_counter", lambda: at[0])
    watchdog = Watchdog(600)
    try:
        with watchdog:
            at[0] = 3.5
        at[0] = 9.0
        assert watchdog.took == 2.5
    finally:
        watchdog.close()


def test_an_interruption_that_comes_when_the_section_is_over_does_not_reach_what_follows() -> None:
    watchdog, me = Watchdog(600), threading.get_ident()
    after: list[str] = []

    def come_late() -> None:
        while vars(watchdog)["_since"]:
            pass
        interrupt(me)

    late = threading.Thread(target=come_late)
    try:
        with watchdog:
            vars(watchdog)["_fired"] = True
            late.start()
        after.append("the code after the section")
        late.join()
    except WorldInterrupted:
        pass
    finally:
        watchdog.close()
    assert after == []


def test_a_section_that_swallows_its_interruption_is_interrupted_all_the_same_and_the_next_one_is_not() -> None:
    watchdog = Watchdog(0.02)
    try:
        with pytest.raises(WorldInterrupted), watchdog, suppress(BaseException):
            while True:
                pass
        with watchdog:
            pass
    finally:
        watchdog.close()


class Section:
    """Guards nothing. Every section takes as long as it is told."""

    def __init__(self, took: float) -> None:
        self.took = took

    def __enter__(self) -> "Section":
        return self

    def __exit__(self, *error: object) -> None: ...


async def is_quick_after(calls: int, who: dict[str, Client], runner: RoomRunner, took: float, meter: Meter) -> bool:
    """Whether the world of a room runs on the event loop after some calls that take and use this much."""
    vars(runner)["_watchdog"] = Section(took)
    vars(runner)["_slow"].usage = meter
    for _ in range(calls):
        await who["ann"]("hide", {"n": 1})
    return bool(vars(runner)["_quick"])


async def test_a_quick_world_whose_calls_are_slow_runs_on_a_thread_for_a_while() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who, runner = await make_room(house), house.rooms["den"]
        assert await is_quick_after(SLOW_RUNS, who, runner, 0.06, Meter(0.06))  # the first one makes it suspect
        assert not await is_quick_after(1, who, runner, 0.06, Meter(0.06))
        await clock.advance(SLOW_FOR_MS - 1)
        assert not await is_quick_after(1, who, runner, 0.001, Meter(0.001))
        await clock.advance(1)
        assert await is_quick_after(5, who, runner, 0.001, Meter(0.001))


async def test_a_quick_world_stays_on_the_event_loop_of_a_machine_that_is_busy_with_something_else() -> None:
    async with open_house(clock=FakeClock()) as house:
        who, runner = await make_room(house), house.rooms["den"]
        assert await is_quick_after(20 * SLOW_RUNS, who, runner, 3.0, Meter(0.04))


async def test_what_sections_use_is_measured_only_for_a_while_after_one_took_long() -> None:
    clock, meter = FakeClock(), Meter(0.001)
    async with open_house(clock=clock) as house:
        who, runner = await make_room(house), house.rooms["den"]
        await is_quick_after(5, who, runner, 0.05, meter)
        await is_quick_after(1, who, runner, 0.06, meter)
        assert meter.readings == 0
        await is_quick_after(1, who, runner, 0.05, meter)
        assert meter.readings == 1
        await clock.advance(SLOW_WITHIN_MS)
        before = meter.readings
        await is_quick_after(5, who, runner, 0.05, meter)
        assert meter.readings == before


async def test_an_interruption_in_a_call_reaches_the_runner() -> None:
    async with open_house() as house:
        await make_room(house, world="Exits", config={"where": "action", "raises": "WorldInterrupted"})
        call = Call("ann", "add", {"n": 1})
        with pytest.raises(WorldInterrupted):
            call.run(house.rooms["den"].room, house.clock.now())
        assert not call.ran
        assert call.error is None


async def test_an_interruption_while_a_room_is_loaded_does_not_make_its_record_damaged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(*args: Any) -> Any:
        raise WorldInterrupted

    async with open_house() as house:
        await make_room(house)
        monkeypatch.setattr(loading, "make_world", interrupted)
        with pytest.raises(WorldInterrupted):
            loading.load_room(house.store, "den")


class NoCredentials(MemoryStore):
    """A store that can be told to fail when credentials alone are written."""

    failing = False

    def commit(self, writes: Sequence[Write]) -> None:
        if self.failing and any(write.credentials and not write.lines for write in writes):
            raise StorageFailed("no space for credentials")
        super().commit(writes)


@pytest.mark.parametrize("failing", [False, True])
async def test_an_operator_is_told_if_the_revoked_token_of_a_removed_member_could_not_be_stored(
    failing: bool, caplog: pytest.LogCaptureFixture
) -> None:
    store = NoCredentials()
    async with open_house(store=store) as house:
        who = await make_room(house)
        store.failing = failing
        await who["hostess"]("remove_member", {"member": "ann"})
        await all_written(house)
        await a_moment()
        with pytest.raises(Unauthorized):
            house.identify(who["ann"].token)
        errors = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
        assert ["no space for credentials" in error for error in errors] == [True] * failing


class NoLeaving(HeldStore):
    """A store that does not take an entry of somebody who leaves."""

    def commit(self, writes: Sequence[Write]) -> None:
        if any(decode_entry(line.body).do == "leave" for write in writes for line in write.lines):
            raise StorageFailed("no space for who leaves")
        super().commit(writes)


async def test_a_member_whose_leaving_could_not_be_stored_keeps_its_token() -> None:
    store = NoLeaving()
    async with open_house(store=store) as house:
        who = await make_room(house)
        store.go.clear()
        hiding = asyncio.ensure_future(who["bob"]("hide", {"n": 1}))
        await a_moment()
        leaving = asyncio.ensure_future(who["ann"]("leave"))
        await a_moment()
        assert house.rooms["den"].room.state.with_handle("ann") is None, "it has run, while an entry is being written"
        store.go.set()
        await hiding
        with pytest.raises(StorageFailed):
            await leaving
        assert (await who["ann"]("whoami")).handle == "ann"
