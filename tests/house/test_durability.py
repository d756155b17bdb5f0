"""``ok`` means on disk: nothing leaves before, and what could not be written did not happen."""

import asyncio
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from cohabit.errors import Busy, CohabitError, GameRejected, PermissionDenied, Quarantined, StorageFailed
from cohabit.house.store.sqlite import SQLiteStore
from cohabit.testing.clock import FakeClock

from .making import REFUSALS, HeldStore, a_moment, back_again, deeds, make_room, open_house, stored_room


@pytest.mark.parametrize("world", ["Secrets", "Stuck"])
async def test_no_reply_is_sent_before_the_call_is_on_disk(world: str) -> None:
    store = HeldStore()
    async with open_house(store=store) as house:
        who = await make_room(house, world=world)
        call = ("hide", {"n": 1}) if world == "Secrets" else ("move", {})
        await who["ann"]("view")
        await house.rooms["den"].drained()
        store.go.clear()
        acting = asyncio.create_task(who["ann"](*call))
        while house.rooms["den"].room.record.seq == house.rooms["den"].history.seq:
            await a_moment()
        await a_moment()
        assert not acting.done()
        looking = asyncio.create_task(who["bob"]("view"))
        await a_moment()
        assert not looking.done(), "a look could have seen what is not on disk"
        store.go.set()
        assert (await acting).success
        assert (await looking).text


async def test_no_event_is_pushed_before_it_is_on_disk() -> None:
    store = HeldStore()
    async with open_house(store=store) as house:
        who = await make_room(house)
        reader = await who["bob"].reader()
        await house.rooms["den"].drained()
        await a_moment()
        store.go.clear()
        acting = asyncio.create_task(who["ann"]("shout", {"text": "now"}))
        await a_moment()
        assert not any(b"now" in frame for frame in reader.frames)
        store.go.set()
        await acting
        await a_moment()
        assert any(b"now" in frame for frame in reader.events)
        assert any(b"now" in frame for frame in reader.views)


@pytest.mark.parametrize("cursor", [None, ""])
async def test_a_subscription_made_while_something_is_written_is_told_of_it_once(cursor: str | None) -> None:
    store = HeldStore()
    async with open_house(store=store) as house:
        who = await make_room(house)
        early, runner = await who["bob"].reader(views=False), house.rooms["den"]
        store.go.clear()
        acting = asyncio.create_task(who["ann"]("shout", {"text": "now"}))
        await a_moment()
        assert runner.history.seq < runner.room.record.seq
        late = await who["hostess"].reader(cursor, views=False)
        await a_moment()
        assert not any(b"now" in frame for frame in late.frames)
        store.go.set()
        await acting
        while not all(any(b"now" in frame for frame in reader.events) for reader in (early, late)):
            await asyncio.sleep(0)  # a backlog is read on a thread
        await a_moment()
        assert sum(b"now" in frame for frame in early.events) == 1
        assert sum(b"now" in frame for frame in late.events) == 1


async def test_calls_that_come_together_go_to_disk_together() -> None:
    store = HeldStore()
    async with open_house(store=store) as house:
        who = await make_room(house)
        before = len(store.commits)
        await asyncio.gather(*(who["ann"]("hide", {"n": i}) for i in range(300)))
        assert len(store.commits) - before <= 3
        assert len(deeds(house.rooms["den"].room, "hide")) == 300


async def test_calls_that_come_while_the_disk_is_busy_gather_for_the_next_commit() -> None:
    store = HeldStore()
    async with open_house(store=store) as house:
        who = await make_room(house)
        store.go.clear()
        first = asyncio.create_task(who["ann"]("hide", {"n": 0}))
        await a_moment()
        before = len(store.commits)
        rest = [asyncio.create_task(who["bob"]("hide", {"n": i})) for i in range(100)]
        await a_moment()
        store.go.set()
        await asyncio.gather(first, *rest)
        assert len(store.commits) - before <= 3


async def test_many_rooms_share_a_commit() -> None:
    store = HeldStore()
    async with open_house(store=store) as house:
        rooms = [await make_room(house, room=f"r{i}") for i in range(20)]
        store.go.clear()
        first = asyncio.create_task(rooms[0]["ann"]("hide", {"n": 0}))
        await a_moment()
        before = len(store.commits)
        rest = [asyncio.create_task(who["bob"]("hide", {"n": 1})) for who in rooms[1:]]
        await a_moment()
        store.go.set()
        await asyncio.gather(first, *rest)
        assert len(store.commits) - before <= 3


async def test_a_room_whose_queue_is_full_answers_busy() -> None:
    store = HeldStore()
    async with open_house(store=store, queue_limit=5) as house:
        who = await make_room(house)
        await house.rooms["den"].drained()
        store.go.clear()
        first = asyncio.create_task(who["ann"]("hide", {"n": 0}))
        await a_moment()
        rest = [asyncio.create_task(who["ann"]("hide", {"n": i})) for i in range(20)]
        await a_moment()
        refused = [task for task in rest if task.done()]
        assert len(refused) == 15
        assert all(isinstance(task.exception(), Busy) for task in refused)
        store.go.set()
        assert (await first).success
        assert all([(await task).success for task in rest if task not in refused])


# -- the disk fails ---------------------------------------------------------------------------------
@pytest.mark.parametrize("world", ["Secrets", "Stuck"])
async def test_a_failed_commit_is_an_error_for_every_call_in_it_and_the_room_is_as_before(world: str) -> None:
    store = HeldStore()
    async with open_house(store=store) as house:
        who = await make_room(house, world=world)
        do: tuple[str, Any] = ("hide", {"n": 1}) if world == "Secrets" else ("move", {})
        await who["ann"](*do)
        runner = house.rooms["den"]
        await runner.drained()
        before = runner.room.digest()
        store.failing = True
        failed = await asyncio.gather(*(who[w](*do) for w in ("ann", "bob", "ann")), return_exceptions=True)
        assert [type(f) for f in failed] == [StorageFailed] * 3
        assert runner.room.digest() == before
        store.failing = False
        assert (await who["ann"](*do)).success
        assert len(deeds(runner.room, do[0])) == 2


async def test_a_store_that_fails_in_an_unforeseen_way_is_an_error_for_the_call_and_the_room_is_as_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(store: HeldStore, writes: Any) -> None:
        raise OSError("no such device")

    async with open_house(store=HeldStore()) as house:
        who = await make_room(house)
        await who["ann"]("hide", {"n": 1})
        runner = house.rooms["den"]
        await runner.drained()
        before = runner.room.digest()
        with monkeypatch.context() as changed:
            changed.setattr(HeldStore, "commit", broken)
            with pytest.raises(StorageFailed, match="no such device"):
                await who["ann"]("hide", {"n": 2})
        assert runner.room.digest() == before
        assert (await who["ann"]("hide", {"n": 2})).success


@pytest.mark.parametrize("failure", [RuntimeError("the number of bob is 7"), GameRejected("not now")])
async def test_every_call_is_answered_if_the_room_cannot_be_rolled_back_and_the_room_is_quarantined(
    failure: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(world: Any, *args: Any) -> None:
        raise failure

    store = HeldStore()
    async with open_house(store=store) as house:
        who = await make_room(house)
        runner = house.rooms["den"]
        await runner.drained()
        with monkeypatch.context() as changed:
            for method in ("reset", "restore"):
                changed.setattr(type(runner.room.world), method, broken)
            store.failing = True
            both = await asyncio.gather(*(who[w]("hide", {"n": 1}) for w in ("ann", "bob")), return_exceptions=True)
        assert [type(refused) for refused in both] == [StorageFailed] * 2
        with pytest.raises(Quarantined, match="could not be rolled back") as refused:
            await who["ann"]("view")
        assert "bob" not in str(refused.value), "what a world raises may be hidden information"
        store.failing = False


async def test_calls_that_ran_while_a_commit_failed_are_refused_with_it() -> None:
    store = HeldStore()
    async with open_house(store=store) as house:
        who = await make_room(house)
        runner = house.rooms["den"]
        await runner.drained()
        before = runner.room.digest()
        store.go.clear()
        store.failing = True
        first = asyncio.create_task(who["ann"]("hide", {"n": 1}))
        await a_moment()
        second = [asyncio.create_task(who["bob"](*c)) for c in (("hide", {"n": 2}), ("view",))]
        await a_moment()
        store.go.set()
        results = await asyncio.gather(first, *second, return_exceptions=True)
        assert isinstance(results[0], StorageFailed)
        assert isinstance(results[1], StorageFailed)
        store.failing = False
        await runner.drained()
        assert runner.room.digest() == before
        assert (await who["bob"]("numbers")) == {"red": [], "blue": []}


async def test_nobody_is_pushed_what_could_not_be_written() -> None:
    store = HeldStore()
    async with open_house(store=store) as house:
        who = await make_room(house)
        reader = await who["bob"].reader()
        await house.rooms["den"].drained()
        await a_moment()
        store.failing = True
        with pytest.raises(StorageFailed):
            await who["ann"]("shout", {"text": "never"})
        store.failing = False
        await who["ann"]("shout", {"text": "ever"})
        await a_moment()
        assert not any(b"never" in frame for frame in reader.frames)
        assert any(b"ever" in frame for frame in reader.views)


async def test_a_key_whose_call_could_not_be_written_can_be_used_again() -> None:
    store = HeldStore()
    async with open_house(store=store) as house:
        who = await make_room(house)
        store.failing = True
        with pytest.raises(StorageFailed):
            await who["ann"]("hide", {"n": 1}, key="k")
        store.failing = False
        assert (await who["ann"]("hide", {"n": 1}, key="k")).success
        assert await who["ann"]("numbers") == {"red": [1], "blue": []}


async def test_a_commit_that_fails_in_the_middle_leaves_nothing_on_disk(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path)
    db: sqlite3.Connection = vars(store)["_db"]
    async with open_house(store=store) as house:
        who = await make_room(house)
        await who["ann"]("hide", {"n": 1})
        db.execute(
            "create temp trigger fails before insert on entries when instr(new.body, cast('never' as blob)) "
            "begin select raise(abort, 'the disk is full'); end"
        )
        both = (who["ann"]("hide", {"n": 2}), who["bob"]("shout", {"text": "never"}))
        assert [type(r) for r in await asyncio.gather(*both, return_exceptions=True)] == [StorageFailed] * 2
        await who["ann"]("hide", {"n": 3})
        await house.rooms["den"].drained()
        digest = house.rooms["den"].room.digest()
    room = stored_room(tmp_path)
    assert [e.args["n"] for e in deeds(room, "hide")] == [1, 3]
    assert room.digest() == digest


async def test_a_full_disk_refuses_every_action_until_there_is_space_again(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path)
    db: sqlite3.Connection = vars(store)["_db"]
    async with open_house(store=store) as house:
        who = await make_room(house)
        await who["ann"]("shout", {"text": "first"})
        pages = db.execute("pragma page_count").fetchone()[0]
        db.execute(f"pragma max_page_count = {pages}")
        text = "x" * 10_000
        refused = 0
        for _ in range(20):
            runner = house.rooms["den"]
            await runner.drained()
            before = runner.room.digest()
            try:
                await who["ann"]("shout", {"text": text})
            except StorageFailed as failed:
                refused += 1
                assert "full" in failed.message
                assert runner.room.digest() == before
        assert refused
        assert "first" in (await who["bob"]("view")).text, "reading still works"
        db.execute("pragma max_page_count = 100000")
        assert (await who["ann"]("shout", {"text": "last"})).success
        await house.rooms["den"].drained()
        digest = house.rooms["den"].room.digest()
    assert stored_room(tmp_path).digest() == digest


async def test_a_timeout_that_cannot_be_written_is_tried_again_after_a_pause() -> None:
    store, clock = HeldStore(), FakeClock()
    async with open_house(store=store, clock=clock) as house:
        await make_room(house, world="nim", turn_seconds=10, config={"stones": 20})
        store.failing = True
        tries = 0
        commit = store.commit

        def counted(writes: Any) -> None:
            nonlocal tries
            tries += 1
            commit(writes)

        store.commit = counted  # type: ignore[method-assign]
        await asyncio.wait_for(clock.advance(15_000), 120)
        assert 1 <= tries <= 20
        store.failing = False
        await clock.advance(2_000)
        assert len(deeds(house.rooms["den"].room, "turn_timeout")) == 1


# -- closing ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("world", ["Secrets", "Stuck"])
async def test_closing_answers_every_waiting_call_and_keeps_what_was_done(tmp_path: Path, world: str) -> None:
    do: tuple[str, Any] = ("hide", {"n": 1}) if world == "Secrets" else ("move", {})
    async with open_house(tmp_path) as house:
        who = await make_room(house, world=world)
        calls = [asyncio.create_task(who["ann"](*do)) for _ in range(20)]
        await asyncio.sleep(0)
    results = await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), 120)
    fine = sum(not isinstance(r, BaseException) for r in results)
    assert all(isinstance(r, CohabitError) for r in results if isinstance(r, BaseException))
    kept = len(deeds(stored_room(tmp_path), do[0]))
    assert fine <= kept <= 20


async def test_a_wait_ends_when_the_house_closes() -> None:
    async with open_house() as house:
        who = await make_room(house)
        waiting = asyncio.create_task(who["ann"]("recv_messages", {"wait_ms": 30_000}))
        await a_moment()
    result = await asyncio.wait_for(asyncio.gather(waiting, return_exceptions=True), 120)
    assert getattr(result[0], "count", 0) == 0


async def test_refusals_reach_the_audit_on_disk(tmp_path: Path) -> None:
    clock = FakeClock()
    async with open_house(tmp_path, clock=clock) as house:
        who = await make_room(house)
        for name in ("reset", "archive"):
            with pytest.raises(PermissionDenied):
                await who["ann"](name)
            if name == "reset":
                await clock.advance(2000)
    async with open_house(tmp_path) as house:
        who = back_again(house, who)
        lines = (await who["hostess"]("audit", REFUSALS)).lines
        assert {(r.member, r.command) for r in lines} == {("ann", "reset"), ("ann", "archive")}


async def test_refusals_of_house_commands_are_audited_and_counted_once_like_those_of_the_room(tmp_path: Path) -> None:
    clock = FakeClock()
    async with open_house(tmp_path, clock=clock) as house:
        who = await make_room(house)
        refused = [
            ("ann", "invite", {"id": "eve"}, "PERMISSION_DENIED"),
            ("hostess", "invite", {"id": "eve", "role": "god"}, "PERMISSION_DENIED"),
            ("hostess", "invite", {"idd": "eve"}, "BAD_ARGS"),
            ("hostess", "revoke_token", {"member": "nobody"}, "UNKNOWN_ASSET"),
            ("ann", "no_such_command", {}, "UNKNOWN_COMMAND"),
        ]
        for name, command, args, code in refused:
            with pytest.raises(CohabitError) as error:
                await who[name](command, args)
            assert error.value.code == code
        totals = Counter(code for *_, code in refused)
        assert Counter(house.door.refusals) + Counter(house.rooms["den"].room.audit.totals) == totals
        await clock.advance(2000)
    async with open_house(tmp_path) as house:
        lines = (await back_again(house, who)["hostess"]("audit", REFUSALS)).lines
        audited = [(r.member, r.command, r.code) for r in reversed(lines) for _ in range(r.count)]
        expected = [(n, "?" if code == "UNKNOWN_COMMAND" else c, code) for n, c, _, code in refused]
        assert sorted(audited) == sorted(expected)
