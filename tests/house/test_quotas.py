"""Storage quotas: members who write too much, and records that have become too large."""

import asyncio
from operator import attrgetter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cohabit.errors import Busy, CohabitError, TooLarge
from cohabit.house.house import House
from cohabit.house.running.quotas import FAIR_BYTES, HOUR_MS, RoomQuotas, StorageQuota, WriteShares
from cohabit.house.running.runner import MAX_QUEUED_CALLS_OF_MEMBER
from cohabit.house.settings import Settings
from cohabit.model.refusals import Refusal
from cohabit.room.state import Member
from cohabit.testing.clock import FakeClock

from .making import Client, HeldStore, a_moment, back_again, make_room, open_house


async def write(client: Client, size: int, times: int = 1) -> str:
    """Write this much, several times. Returns the code of the first refusal."""
    for _ in range(times):
        try:
            await client("shout", {"text": "x" * size})
        except CohabitError as refused:
            return refused.code
    return ""


async def test_a_member_that_writes_too_much_in_an_hour_is_refused_and_the_others_are_not() -> None:
    clock = FakeClock(at=1_000 * HOUR_MS)
    async with open_house(clock=clock, member_bytes_per_hour=100_000) as house:
        who = await make_room(house)
        assert await write(who["ann"], 9_000, 20) == "BUSY"
        with pytest.raises(Busy, match="this hour"):
            await who["ann"]("shout", {"text": "x"})
        assert await who["ann"]("view")
        assert await write(who["bob"], 100) == ""
        assert house.rooms["den"].room.record.seq < 20
        await clock.advance(1_500)  # refusals are counted when they are stored
        assert house.overload.counts["member_bytes"] == 2
        assert await write(who["ann"], 1) == "BUSY"
        await clock.advance(1_500)
        assert house.overload.counts["member_bytes"] == 3, "each refusal is counted once"
        await clock.advance(HOUR_MS)
        assert await write(who["ann"], 9_000) == ""


def test_the_quick_check_of_a_quota_is_on_while_somebody_exceeds_it_or_the_record_is_full() -> None:
    quota = StorageQuota()
    assert not quota.exceeded
    quota.per_hour = 10
    quota.add("ann", 10, 0)
    assert not quota.exceeded
    quota = StorageQuota()
    quota.per_hour = 10
    quota.add("ann", 11, 0)
    assert quota.exceeded
    quota.add("bob", 1, HOUR_MS)
    assert not quota.exceeded
    quota.set_full("full")
    quota.add("bob", 1, 2 * HOUR_MS)
    assert quota.exceeded


def test_what_a_member_wrote_in_an_hour_does_not_count_in_the_next() -> None:
    quota = StorageQuota()
    quota.per_hour = 10
    for hour in range(3):
        quota.add("ann", 8, hour * HOUR_MS)
        assert not quota.exceeded
    quota.add("bob", 8, 2 * HOUR_MS)
    assert not quota.exceeded
    quota.add("ann", 3, 3 * HOUR_MS - 1)
    assert quota.exceeded
    quota.add("ann", 1, 3 * HOUR_MS)
    assert not quota.exceeded


@pytest.mark.parametrize(("limit", "written", "refused"), [(10, 10, ""), (10, 11, "BUSY"), (0, 11, "")])
def test_a_member_is_refused_once_it_has_written_more_than_the_limit_if_there_is_one(
    limit: int, written: int, refused: str
) -> None:
    quota, ann = StorageQuota(), Member("ann", role="player")
    quota.per_hour = limit
    quota.add("ann", written, 0)
    assert quota.decide(ann, "world", HOUR_MS - 1).code == refused
    assert quota.decide(ann, "world", HOUR_MS)


@pytest.mark.parametrize(("members", "size", "used_up"), [
    (1, FAIR_BYTES, True), (1, FAIR_BYTES - 1, False), (2, FAIR_BYTES // 2, True), (2, FAIR_BYTES // 2 - 1, False),
])  # fmt: skip
def test_what_waits_for_the_disk_is_shared_in_equal_parts(members: int, size: int, used_up: bool) -> None:
    def line(by: str) -> Any:
        return SimpleNamespace(entry=SimpleNamespace(by=by), body=bytes(size))

    shares = WriteShares()
    waiting = [line(f"m{number}") for number in range(members)]
    shares.writing = waiting[1:]
    assert shares.is_used_up("m0", waiting[:1]) is used_up
    assert not shares.is_used_up("somebody who has written nothing", waiting[:1])


async def test_a_record_that_is_full_takes_no_more_from_players_and_its_host_can_still_act() -> None:
    clock = FakeClock()
    async with open_house(clock=clock, room_bytes=100_000) as house:
        who = await make_room(house)
        assert await write_and_wait(who["ann"], 9_000, 40) == "TOO_LARGE"
        with pytest.raises(TooLarge, match="reached its limit of 100000 bytes"):
            await who["bob"]("shout", {"text": "x"})
        with pytest.raises(TooLarge):
            await who["hostess"]("send_message", {"to": "*", "content": "full"})
        assert await who["bob"]("view")
        await who["hostess"]("remove_member", {"member": "ann"})
        await clock.advance(1_500)
        assert house.overload.counts["room_bytes"] == 3


async def test_a_record_that_was_full_before_a_restart_is_still_full(tmp_path: Path) -> None:
    async with open_house(tmp_path, room_bytes=10**6) as house:
        who = await make_room(house)
        assert await write(who["ann"], 9_000, 20) == ""
    async with open_house(tmp_path, room_bytes=150_000) as house:
        again = back_again(house, who)
        assert await write_and_wait(again["ann"], 2_000, 20) == "TOO_LARGE"


async def test_a_record_that_is_pruned_has_room_again(tmp_path: Path) -> None:
    async with open_house(tmp_path, room_bytes=100_000, keep_entries=5, snapshot_every=5) as house:
        who = await make_room(house)
        for n in range(200):
            await who["ann"]("act", {"action": "hide", "params": {"n": n}, "reasoning": "x" * 2_000})
            await measured(house)
        assert (await who["ann"]("numbers"))["red"] == list(range(200))


async def write_and_wait(client: Client, size: int, times: int) -> str:
    """As ``write``, but the house has time to measure its record, which it does on a thread."""
    for _ in range(times):
        code = await write(client, size)
        if code:
            return code
        await measured(client.house)
    return ""


async def measured(house: House) -> None:
    measuring = attrgetter("_quotas._measuring")(house.rooms["den"])
    if measuring is not None:
        await measuring


async def test_a_record_is_measured_once_and_again_only_after_more_was_written_to_a_full_one() -> None:
    measured: list[str] = []
    size = 0

    def size_of(room: str) -> int:
        measured.append(room)
        return size

    async with open_house() as house:
        await make_room(house)
        room = house.rooms["den"].room
        quotas = RoomQuotas(room, Settings(room_bytes=1_600), size_of, house.clock.now, house.overload)

        async def stored(total: int) -> int:
            quotas.stored({}, total)
            while (task := vars(quotas)["_measuring"]) is not None and not task.done():
                await asyncio.wait([task])
            return len(measured)

        assert quotas.report_every == 100
        assert await stored(99) == 0
        size = 1_600
        assert await stored(1) == 1
        assert not quotas.quota.full
        assert await stored(0) == 1, "it is not full, and its size is known"
        assert await stored(99) == 1
        size = 1_601
        assert await stored(1) == 2, "100 bytes since, and more than the limit"
        assert "1600 bytes" in quotas.quota.full
        assert await stored(99) == 2
        size = 1_000
        assert await stored(1) == 3
        assert not quotas.quota.full


async def test_refusals_are_counted_by_their_reason_once_each_and_old_ones_are_forgotten() -> None:
    async with open_house() as house:
        await make_room(house)
        room = house.rooms["den"].room
        quotas = RoomQuotas(room, Settings(), lambda name: 0, house.clock.now, house.overload)
        quotas.quota.full = "the record is full"
        reasons = {quotas.quota.full: "room_bytes", quotas.quota.reason: "member_bytes"}
        reasons[room.budget.refusal.reason] = "calls"
        for number, (reason, kind) in enumerate(reasons.items()):
            line = Refusal(0, "ann", "shout", "BUSY", reason, 2, number)
            quotas.refused([line])
            line.count = 5
            quotas.refused([line])
            assert house.overload.counts[kind] == 5
        before = dict(house.overload.counts)
        quotas.refused([Refusal(0, "ann", "shout", "BUSY", "", 1, 7), Refusal(0, "ann", "shout", "BUSY", "no", 1, 8)])
        assert dict(house.overload.counts) == before
        many = [Refusal(0, "ann", "shout", "BUSY", quotas.quota.full, 1, 10 + number) for number in range(1_000)]
        quotas.refused(many)
        assert vars(quotas)["_counted"] == {}, "those that are no longer in the audit"


async def test_calls_are_refused_while_too_much_waits_for_the_disk() -> None:
    store = HeldStore()
    async with open_house(store=store, queue_bytes=50_000) as house:
        who = await make_room(house)
        store.go.clear()
        waiting = [asyncio.ensure_future(who["ann"]("shout", {"text": "x" * 9_000})) for _ in range(20)]
        await a_moment()
        refused = [task.exception() for task in waiting if task.done()]
        assert {type(wrong) for wrong in refused} == {Busy}
        assert 0 < len(refused) < 20
        assert house.overload.counts["queue"] == len(refused)
        store.go.set()
        done = await asyncio.gather(*waiting, return_exceptions=True)
        assert sum(not isinstance(result, CohabitError) for result in done) == 20 - len(refused)
        assert await write(who["bob"], 10) == ""


async def test_a_member_whose_writes_wait_for_the_disk_is_refused_before_it_delays_the_others() -> None:
    store = HeldStore()
    async with open_house(store=store) as house:
        who = await make_room(house)
        store.go.clear()
        ann = [asyncio.ensure_future(who["ann"]("shout", {"text": "x" * 9_000})) for _ in range(500)]
        await a_moment()
        refused = [task.exception() for task in ann if task.done()]
        assert {type(wrong) for wrong in refused} == {Busy}
        assert (500 - len(refused)) * 9_000 <= FAIR_BYTES + 9_000
        assert house.overload.counts["queue"] == len(refused)
        bob = [asyncio.ensure_future(who["bob"]("shout", {"text": "me too"})) for _ in range(20)]
        reading = asyncio.ensure_future(who["ann"]("view"))
        await a_moment()
        assert not any(task.done() for task in (*bob, reading)), "they wait for the disk"
        store.go.set()
        await asyncio.gather(*bob, reading)
        done = await asyncio.gather(*ann, return_exceptions=True)
        assert sum(not isinstance(result, CohabitError) for result in done) == 500 - len(refused)
        assert await write(who["ann"], 9_000) == ""


async def test_the_more_members_wait_for_the_disk_the_less_each_may_add() -> None:
    store = HeldStore()
    async with open_house(store=store) as house:
        who = await make_room(house)
        store.go.clear()
        ann = [asyncio.ensure_future(who["ann"]("shout", {"text": "x" * 9_000})) for _ in range(200)]
        await a_moment()
        bob = [asyncio.ensure_future(who["bob"]("shout", {"text": "x" * 9_000})) for _ in range(200)]
        await a_moment()
        by_ann, by_bob = ([task.done() for task in tasks].count(False) for tasks in (ann, bob))
        assert 0 < by_bob < by_ann < 200
        assert (by_ann + by_bob) * 9_000 < FAIR_BYTES * (1 + 1 / 2) + 2 * 9_000
        assert by_bob * 19_000 > FAIR_BYTES / 2, (
            "an entry has the text twice: as an argument, and for those who hear it"
        )
        store.go.set()
        await asyncio.gather(*ann, *bob, return_exceptions=True)


async def test_one_member_cannot_fill_the_queue_of_a_world_on_a_thread() -> None:
    store = HeldStore()
    async with open_house(store=store) as house:
        who = await make_room(house)
        vars(house.rooms["den"])["_quick"] = False  # as if the world were slow
        vars(vars(house.rooms["den"])["_slow"])["until"] = house.clock.now() + HOUR_MS
        store.go.clear()
        first = asyncio.ensure_future(who["ann"]("shout", {"text": "first"}))
        while not attrgetter("_writing")(house.rooms["den"]):
            await asyncio.sleep(0)
        waiting = [asyncio.ensure_future(who["ann"]("shout", {"text": "x"})) for _ in range(200)]
        other = asyncio.ensure_future(who["bob"]("shout", {"text": "me too"}))
        await a_moment()
        refused = [task.exception() for task in waiting if task.done()]
        assert ({type(wrong) for wrong in refused}, len(refused)) == ({Busy}, 200 - MAX_QUEUED_CALLS_OF_MEMBER)
        assert not other.done()
        store.go.set()
        assert (await first).success
        assert (await other).success
        await asyncio.gather(*waiting, return_exceptions=True)
        assert await write(who["ann"], 10) == ""
