"""When a snapshot is due, and when a quick world moves to a thread."""

import asyncio

import pytest

from cohabit.house.running import history, snapshots
from cohabit.house.running.snapshots import AFTER_CPU_S, LARGE_BATCH, MAX_DELAY, QUICK_REPLAY_CPU_S, SnapshotSchedule

from .making import make_room, open_house


async def test_a_room_is_copied_again_only_after_as_many_bytes_as_its_last_snapshot() -> None:
    async with open_house() as house:
        who = await make_room(house)
        room = house.rooms["den"].room
        schedule = SnapshotSchedule(room, every=1)
        first = schedule.take_if_due()
        assert first is not None
        again = None
        while again is None:
            assert schedule.next_seq == room.record.seq + 1
            await who["ann"]("send_message", {"to": "bob", "content": "x" * 300})
            again = schedule.take_if_due()
        sizes = [len(line.body) for line in room.record.tail if line.seq > first.seq]
        assert sum(sizes[:-1]) < len(first.room) + len(first.world) <= sum(sizes)


async def test_a_snapshot_waits_while_much_is_written_but_not_forever() -> None:
    async with open_house() as house:
        who = await make_room(house)
        room = house.rooms["den"].room
        schedule = SnapshotSchedule(room, every=2)
        due = schedule.next_seq
        while room.record.seq < due + 2 * MAX_DELAY:
            assert schedule.take_if_due(LARGE_BATCH + 1) is None
            await who["ann"]("send_message", {"to": "bob", "content": "x"})
        assert schedule.take_if_due(LARGE_BATCH + 1) is not None


async def test_a_room_with_a_steady_flood_gets_its_snapshot_with_the_first_small_batch() -> None:
    async with open_house(snapshot_every=10) as house:
        who = await make_room(house)
        room = house.rooms["den"].room
        start = room.record.seq - len(room.record.tail)
        while room.record.seq < start + 10:
            large = [asyncio.ensure_future(who["ann"]("shout", {"text": "x" * 9_000})) for _ in range(8)]
            await asyncio.gather(*large)
        assert room.record.seq - len(room.record.tail) == start, "no snapshot yet"
        await who["bob"]("shout", {"text": "quiet again"})
        assert room.record.tail == []


async def test_a_world_that_computes_for_long_is_due_before_its_entries_are_many() -> None:
    async with open_house() as house:
        await make_room(house)
        room = house.rooms["den"].room
        schedule = SnapshotSchedule(room, every=1000)
        schedule.add_cpu(QUICK_REPLAY_CPU_S)
        assert schedule.due_at_close
        assert room.record.seq < schedule.next_seq
        schedule = SnapshotSchedule(room, every=1000)
        schedule.add_cpu(AFTER_CPU_S)
        assert room.record.seq >= schedule.next_seq
        assert schedule.take_if_due() is not None
        assert not schedule.due_at_close
        assert schedule.next_seq == room.record.seq + 1000


async def test_entries_that_are_large_leave_memory_before_they_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "MAX_TAIL_BYTES", 200_000)
    monkeypatch.setattr(history, "RECENT_BYTES", 100_000)
    async with open_house() as house:
        who = await make_room(house)
        runner = house.rooms["den"]
        for number in range(40):
            await who["ann"]("send_message", {"to": "bob", "content": f"{number} {'x' * 15_000}"})
            assert sum(len(line.body) for line in runner.history.recent) <= 100_000
        assert len(runner.room.record.tail) < 20
        page = await who["ann"]("events", {"cursor": ""})
        events = page.items
        while page.more:
            page = await who["ann"]("events", {"cursor": page.cursor})
            events += page.items
        assert sum(event.do == "send_message" for event in events) == 40
