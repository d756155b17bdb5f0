"""Opening a house again: everything is there; a damaged room stays closed and the others open."""

import asyncio
import json
import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from cohabit.errors import (
    BadArgs,
    Conflict,
    PermissionDenied,
    Quarantined,
    RecordCorrupt,
    StorageFailed,
    Unauthorized,
    UnknownAsset,
    UnknownRoom,
)  # fmt: skip
from cohabit.house.house import House
from cohabit.house.running.reopening import LONGEST_PAUSE_MS
from cohabit.house.settings import Settings
from cohabit.house.store import loading
from cohabit.house.store.contract import Write
from cohabit.house.store.memory import MemoryStore
from cohabit.house.store.sqlite import SQLiteStore
from cohabit.house.streams.cursors import seal
from cohabit.scenario import AgentSpec, Scenario
from cohabit.testing.clock import START, FakeClock

from .making import (
    ANN,
    HOST,
    REFUSALS,
    Client,
    HeldStore,
    back_again,
    deeds,
    make_room,
    open_house,
    player,
    stored_room,
)


def damage(folder: Path, sql: str, *args: object) -> None:
    with closing(sqlite3.connect(folder / "cohabit.db")) as db:
        assert db.execute(sql, args).rowcount > 0
        db.commit()


async def three_rooms(folder: Path) -> dict[str, dict[str, Client]]:
    async with open_house(folder, snapshot_every=4) as house:
        made = {name: await make_room(house, room=name) for name in ("one", "two", "three")}
        for who in made.values():
            for n in range(6):
                await who["ann"]("hide", {"n": n})
    return made


async def test_a_reopened_room_has_its_world_its_members_its_messages_and_its_grants(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        who = await make_room(house, partial_intel=True)
        await who["ann"]("hide", {"n": 1})
        await who["ann"]("send_message", {"to": "bob", "content": "hello"})
        await who["hostess"]("narrow", {"member": "bob", "may": ["act"]})
        before = await who["ann"]("view")
    async with open_house(tmp_path) as house:
        who = back_again(house, who)
        assert (await who["ann"]("view")) == before
        assert (await who["bob"]("recv_messages")).items[0]["content"] == "hello"
        assert "act" not in (await who["bob"]("whoami")).grant["act"]
        assert (await who["bob"]("send_message", {"to": "ann", "content": "x"})).seq == 2


@pytest.mark.parametrize("snapshot_every", [1, 3, 1000])
async def test_a_snapshot_and_the_tail_after_it_give_the_room_of_the_whole_record(
    tmp_path: Path, snapshot_every: int
) -> None:
    async with open_house(tmp_path, snapshot_every=snapshot_every) as house:
        who = await make_room(house)
        for n in range(10):
            await who["ann" if n % 2 else "bob"]("hide", {"n": n}, key=f"k{n}")
        await house.rooms["den"].drained()
        digest = house.rooms["den"].room.digest()
    assert stored_room(tmp_path).digest() == digest
    with closing(SQLiteStore(tmp_path)) as store:
        from cohabit.house.store.loading import load_room

        assert load_room(store, "den").digest() == digest


async def test_a_key_that_was_answered_before_the_restart_is_answered_the_same_after_it(tmp_path: Path) -> None:
    async with open_house(tmp_path, snapshot_every=2) as house:
        who = await make_room(house, world="nim")
        first = await who["ann"]("take", {"n": 1}, key="k")
    async with open_house(tmp_path) as house:
        who = back_again(house, who)
        again = await who["ann"]("take", {"n": 1}, key="k")
        assert again.message == first.message
        assert len(deeds(stored_room(tmp_path), "take")) == 1


async def test_clocks_do_not_run_while_the_house_is_closed(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        who = await make_room(house, world="nim", turn_seconds=60)
        await who["ann"]("take", {"n": 1})
    later = FakeClock(START + 10_000_000)
    async with open_house(tmp_path, clock=later) as house:
        await later.advance(30_000)
        assert not deeds(stored_room(tmp_path), "turn_timeout")
        await later.advance(40_000)
        assert len(deeds(stored_room(tmp_path), "turn_timeout")) == 1


async def test_a_clock_that_was_set_back_does_no_harm(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        who = await make_room(house)
        await who["ann"]("hide", {"n": 1})
    async with open_house(tmp_path, clock=FakeClock(1000)) as house:
        assert (await back_again(house, who)["ann"]("hide", {"n": 2})).success
    times = [line.entry.at for line in stored_room(tmp_path).record.tail]
    assert times == sorted(times)


async def test_every_member_is_away_when_a_house_opens_again(tmp_path: Path) -> None:
    clock = FakeClock()
    async with open_house(tmp_path, clock=clock) as house:
        who = await make_room(house)
        await who["ann"]("view")
        await clock.advance(1000)
        assert house.rooms["den"].room.state.members["ann"].here
    async with open_house(tmp_path) as house:
        assert not house.rooms["den"].room.state.members["ann"].here


# -- damage -----------------------------------------------------------------------------------------
DAMAGES: dict[str, tuple[Callable[[Path], None], str]] = {
    "a changed entry": (lambda f: damage(f, "update entries set body = cast(replace(body, 'red', 'rad') as blob) where room = 'two' and seq = "
                                            "(select max(seq) - 1 from entries where room = 'two')"), "was changed"),
    "a changed digest": (lambda f: damage(f, "update entries set digest = zeroblob(32) where room = 'two' and seq = "
                                             "(select max(seq) from entries where room = 'two')"), "was changed"),
    "a missing entry": (lambda f: damage(f, "delete from entries where room = 'two' and seq = "
                                            "(select max(seq) - 1 from entries where room = 'two')"), "is missing"),
    "a record that ends before its snapshots": (lambda f: damage(f, "delete from entries where room = 'two' and seq > 2"), "ends"),
    "a changed snapshot": (lambda f: damage(f, "update snapshots set body = cast(zeroblob(32) || substr(body, 33) as blob) where room = 'two'"), "a snapshot is damaged"),
    "a snapshot cut off": (lambda f: damage(f, "update snapshots set body = substr(body, 1, 50) where room = 'two'"), "a snapshot is damaged"),
    "no snapshot": (lambda f: damage(f, "delete from snapshots where room = 'two'"), "has no snapshot to start from"),
    "a refusal that is no JSON": (lambda f: damage(f, "insert into refusals values ('two', 1, x'78')"), "a stored Refusal cannot be read"),
}  # fmt: skip


@pytest.mark.parametrize("kind", DAMAGES)
async def test_a_damaged_room_stays_closed_with_a_clear_message_and_the_others_open(tmp_path: Path, kind: str) -> None:
    made = await three_rooms(tmp_path)
    spoil, words = DAMAGES[kind]
    if "entry" in kind or "digest" in kind:  # let the damage be in the tail that is read
        damage(
            tmp_path,
            "delete from snapshots where room = 'two' and seq = (select max(seq) from snapshots where room = 'two')",
        )
    spoil(tmp_path)
    async with open_house(tmp_path) as house:
        assert list(house.rooms) == ["one", "three"]
        assert isinstance(house.broken["two"], RecordCorrupt)
        for name in ("one", "three"):
            who = back_again(house, made[name])
            assert (await who["ann"]("numbers"))["red"] == list(range(6))
        with pytest.raises(Quarantined) as refused:
            await back_again(house, made["two"])["ann"]("view")
        assert words in refused.value.message
        with pytest.raises(Conflict, match="already exists"):
            await make_room(house, room="two")
        lines = (await house.call(house.identify(house.operator_token()), None, "rooms")).rooms
        assert [line.problem is not None for line in lines if line.id == "two"] == [True]


async def test_a_room_that_could_not_be_opened_is_unknown_to_strangers(tmp_path: Path) -> None:
    made = await three_rooms(tmp_path)
    DAMAGES["a changed snapshot"][0](tmp_path)
    async with open_house(tmp_path) as house:
        stranger = back_again(house, made["one"])["ann"]
        stranger.room = "two"
        with pytest.raises(UnknownRoom):
            await stranger("view")


async def test_only_a_house_host_can_reopen_a_room_that_could_not_be_opened(tmp_path: Path) -> None:
    made = await three_rooms(tmp_path)
    DAMAGES["a changed snapshot"][0](tmp_path)
    async with open_house(tmp_path) as house:
        with pytest.raises(PermissionDenied, match="only a house host"):
            await back_again(house, made["two"])["ann"]("reopen_room")
        with pytest.raises(RecordCorrupt):
            await house.call(house.identify(house.operator_token()), "two", "reopen_room")
        with pytest.raises(Conflict, match="already open and healthy"):
            await house.reopen_room("one")


async def test_a_database_with_damaged_pages_keeps_the_rooms_that_can_be_read(tmp_path: Path) -> None:
    async with open_house(tmp_path, snapshot_every=100_000) as house:
        for name in ("a", "b"):
            who = await make_room(house, room=name)
            for _ in range(30):
                await who["ann"]("shout", {"text": name * 900})
    path = tmp_path / "cohabit.db"
    content = path.read_bytes()
    page = content.find(b"b" * 800) // 4096
    spoilt = bytearray(content)
    spoilt[page * 4096 : page * 4096 + 4096] = b"\xff" * 4096
    path.write_bytes(spoilt)
    async with open_house(tmp_path) as house:
        assert "a" in house.rooms
        assert "b" in house.broken


async def test_a_truncated_database_is_refused_by_name_and_not_replaced(tmp_path: Path) -> None:
    await three_rooms(tmp_path)
    path = tmp_path / "cohabit.db"
    path.write_bytes(path.read_bytes()[:3000])
    short = path.read_bytes()
    with pytest.raises(RecordCorrupt) as refused:
        async with open_house(tmp_path):
            pass
    assert str(path) in refused.value.message
    assert path.read_bytes() == short


async def test_a_house_record_without_its_snapshots_stops_the_start_and_is_not_written_over(tmp_path: Path) -> None:
    await three_rooms(tmp_path)
    damage(tmp_path, "delete from snapshots where room = 'house'")
    for _ in range(2):
        with pytest.raises(RecordCorrupt, match="room house has no snapshot to start from; restore a backup"):
            async with open_house(tmp_path):
                pass


async def test_a_credential_that_cannot_be_read_stops_the_start_with_a_clear_message(tmp_path: Path) -> None:
    await three_rooms(tmp_path)
    damage(tmp_path, "update credentials set body = x'00'")
    for _ in range(2):
        with pytest.raises(RecordCorrupt) as refused:
            async with open_house(tmp_path):
                pass
        assert "credential" in refused.value.message


async def test_another_version_of_a_world_is_refused_with_both_versions_named(tmp_path: Path) -> None:
    game = tmp_path / "game.py"
    text = (
        "from cohabit.worlds.nim import Nim\nfrom cohabit.world import WorldSpec\n"
        "class Game(Nim):\n    spec = WorldSpec(name='game', version=VERSION, seats=2, pace='turns', quick=True)\n"
    )
    game.write_text(text.replace("VERSION", "1"))
    data = tmp_path / "data"
    async with open_house(data) as house:
        plan = Scenario(agents=[AgentSpec(id="ann", role="player", claim="auto:0")], world=str(game))
        _, tokens = await house.create_room(plan, "den")
        await make_room(house, room="other")
    game.write_text(text.replace("VERSION", "2"))
    async with open_house(data) as house:
        assert list(house.rooms) == ["other"]
        with pytest.raises(Quarantined) as refused:
            await Client(house, "den", "ann", tokens["ann"])("view")
        assert "version 1" in refused.value.message
        assert "version 2" in refused.value.message
    game.write_text(text.replace("VERSION", "1"))
    async with open_house(data) as house:
        assert (await Client(house, "den", "ann", tokens["ann"])("take", {"n": 1})).success


@pytest.mark.parametrize("gone", [lambda game: game.unlink(), lambda game: game.write_text("this is no Python")])
async def test_a_missing_or_broken_world_closes_only_its_own_room(
    tmp_path: Path, gone: Callable[[Path], object]
) -> None:
    game = tmp_path / "game.py"
    game.write_text("from cohabit.worlds.nim import Nim\nclass Game(Nim):\n    pass\n")
    data = tmp_path / "data"
    async with open_house(data) as house:
        await house.create_room(Scenario(agents=[AgentSpec(id="ann")], world=str(game)), "den")
        await make_room(house, room="other")
    gone(game)
    async with open_house(data) as house:
        assert list(house.rooms) == ["other"]
        assert "game.py" in house.broken["den"].message


# -- what is no damage -----------------------------------------------------------------------------
@pytest.mark.parametrize("wrong", ["OSError(28, 'No space left on device')", "MemoryError()"])
@pytest.mark.parametrize("where", ["reset", "take"])
async def test_a_full_disk_or_no_memory_at_the_start_is_not_called_a_damaged_record(
    tmp_path: Path, wrong: str, where: str
) -> None:
    game, data = tmp_path / "game.py", tmp_path / "data"
    good = "from cohabit.worlds.nim import Nim, action\nclass Game(Nim):\n    pass\n"
    parts = {
        "reset": f"    def restore(self, data):\n        raise {wrong}\n",
        "take": f"    @action()\n    def take(self, seat, n: int):\n        raise {wrong}\n",
    }
    game.write_text(good)
    async with open_house(data) as house:
        _, tokens = await house.create_room(
            Scenario(agents=[AgentSpec(id="ann", role="player", claim="auto:0")], world=str(game)), "den"
        )
        await Client(house, "den", "ann", tokens["ann"])("take", {"n": 1})
    game.write_text(good + parts[where])
    async with open_house(data) as house:
        assert isinstance(house.broken["den"], StorageFailed), house.broken["den"]
    game.write_text(good)
    async with open_house(data) as house:
        assert not house.broken


async def test_a_room_that_cannot_be_opened_is_free_for_another_house(tmp_path: Path) -> None:
    game, store, clock = tmp_path / "game.py", MemoryStore(), FakeClock()
    game.write_text("from cohabit.worlds.nim import Nim\nclass Game(Nim):\n    pass\n")
    async with open_house(store=store, clock=clock) as house:
        await house.create_room(Scenario(agents=[AgentSpec(id="ann")], world=str(game)), "den")
    game.write_text("raise RuntimeError")
    async with open_house(store=store, clock=clock) as house:
        assert "den" in house.broken
        assert "den" in store.lease(["den"], "another house", 1)


async def test_a_house_whose_disk_is_full_when_it_closes_gives_its_folder_free(tmp_path: Path) -> None:
    class Full(SQLiteStore):
        def release(self, room: str, house: str) -> None:
            raise StorageFailed("the disk is full")

    async with open_house(store=Full(tmp_path)) as house:
        await make_room(house)
    async with open_house(tmp_path) as house:
        assert not house.broken


# -- heads outside the store -----------------------------------------------------------------------
async def test_heads_are_appended_while_the_house_runs_and_only_those_that_changed(tmp_path: Path) -> None:
    clock, heads = FakeClock(), tmp_path / "heads.jsonl"
    async with open_house(tmp_path / "data", clock=clock, heads_file=str(heads), heads_every_s=5) as house:
        who = await make_room(house)

        async def noted() -> list[tuple[str, int]]:
            await clock.advance(5_000)
            await vars(house.rooms.heads)["_worker"].run(lambda: None)
            return [(line["room"], line["seq"]) for line in map(json.loads, heads.read_text().splitlines())]

        seq = house.rooms["den"].history.seq
        assert (await noted())[-1] == ("den", seq)
        await who["ann"]("hide", {"n": 1})
        before = await noted()
        assert before[-1][0] == "den"
        assert before[-1][1] > seq
        assert await noted() == before
        assert "\n\n" not in heads.read_text()


async def test_a_heads_file_is_closed_after_every_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, heads, handles = FakeClock(), tmp_path / "heads.jsonl", set[int]()
    opened, closed = os.open, os.close

    def open_(path: str | Path, *how: int) -> int:
        handle = opened(path, *how)
        if path == heads:
            handles.add(handle)
        return handle

    def close(handle: int) -> None:
        closed(handle)
        handles.discard(handle)

    monkeypatch.setattr(os, "open", open_)
    monkeypatch.setattr(os, "close", close)
    async with open_house(tmp_path / "data", clock=clock, heads_file=str(heads), heads_every_s=5) as house:
        await make_room(house)
        await clock.advance(10_000)
    assert heads.read_text().count('"den"') >= 1
    assert not handles


async def test_a_heads_file_that_cannot_be_written_stops_the_start_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(StorageFailed, match=r"heads_file: .*gone"):
        async with open_house(tmp_path / "data", heads_file=str(tmp_path / "gone" / "heads.jsonl")):
            pass


# -- backups and pruning ---------------------------------------------------------------------------
async def test_a_backup_of_a_running_house_has_everything_that_was_answered_before_it(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    async with open_house(tmp_path / "data") as house:
        who = await make_room(house)
        done = 0

        async def act() -> None:
            nonlocal done
            while not stop:
                await who["ann"]("hide", {"n": 1})
                done += 1

        stop = False
        acting = asyncio.create_task(act())
        while done < 20:
            await asyncio.sleep(0)
        before = done
        await asyncio.to_thread(house.store.backup, str(copy / "cohabit.db"))
        stop = True
        await acting
    async with open_house(copy) as house:
        assert len((await back_again(house, who)["ann"]("numbers"))["red"]) >= before
    assert stored_room(copy).record.seq > 0


async def test_old_entries_are_deleted_where_the_house_keeps_a_limited_number(tmp_path: Path) -> None:
    async with open_house(tmp_path, keep_entries=10, snapshot_every=10, recent_entries=5) as house:
        who = await make_room(house)
        first = (await who["ann"]("events")).cursor
        await who["ann"]("hide", {"n": 0})
        first = (await who["ann"]("events", {"max": 1})).cursor
        for n in range(100):
            await who["ann"]("hide", {"n": n})
        await house.rooms["den"].drained()
        room = house.rooms["den"].room
        with pytest.raises(BadArgs) as refused:
            await who["ann"]("events", {"cursor": first})
        assert "cursor" in refused.value.message
        kept = (await who["ann"]("events", {"max": 500})).items
        assert len(kept) > 5
        assert (await who["ann"]("events", {"last": 500})).items == kept
        assert (await who["ann"]("events", {"last": 7})).items == kept[-7:]
        for old in (first, seal(house.rooms["den"].room.state.secret, 0)):
            with pytest.raises(BadArgs, match="this cursor is too old"):
                await who["ann"]("events", {"cursor": old})
        assert (await who["ann"]("events")).items
    with closing(SQLiteStore(tmp_path)) as store:
        stored = [row[0] for row in store.lines("den", -1)]
        assert 10 <= len(stored) <= 45
        from cohabit.house.store.loading import load_room

        assert load_room(store, "den").digest() == room.digest()
    async with open_house(tmp_path) as house:
        assert len((await back_again(house, who)["ann"]("numbers"))["red"]) == 101


async def test_a_subscription_from_a_cursor_that_is_too_old_fails_before_anything_is_sent(tmp_path: Path) -> None:
    async with open_house(tmp_path, keep_entries=10, snapshot_every=10, recent_entries=5) as house:
        who, runner = await make_room(house), house.rooms["den"]
        for n in range(100):
            await who["ann"]("hide", {"n": n})
        await runner.drained()
        credential, page = house.identify(who["ann"].token), await who["ann"]("events")
        old = await house.subscribe(credential, "den", seal(runner.room.state.secret, 0))
        with pytest.raises(BadArgs, match="this cursor is too old"):
            await old.prepare()
        assert not runner.fanout.subscriptions
        fresh = await house.subscribe(credential, "den", "", views=False)
        await fresh.prepare()
        first = json.loads(await anext(fresh))["items"]
        assert first[0]["text"] == page.items[0].text
        live = await house.subscribe(credential, "den", views=False)
        await live.prepare()  # has no backlog
        assert set(runner.fanout.subscriptions) == {fresh, live}


async def test_a_room_that_could_not_be_deleted_is_closed_and_can_be_reopened() -> None:
    store = HeldStore()
    async with open_house(store=store) as house:
        who = await make_room(house)
        await who["ann"]("hide", {"n": 41})
        store.failing = True
        with pytest.raises(StorageFailed):
            await who["hostess"]("delete_room", {"confirm": "den"})
        store.failing = False
        assert isinstance(house.broken["den"], StorageFailed)
        await house.reopen_room("den")
        assert not house.broken
        assert (await who["ann"]("numbers"))["red"] == [41]


@pytest.mark.parametrize("fails_in", ["the start", "delete_room"])
async def test_a_room_that_a_full_disk_keeps_closed_says_so_and_opens_by_itself_when_there_is_space(
    fails_in: str,
) -> None:
    store, clock = FullStore(), FakeClock()
    async with open_house(store=store, clock=clock) as house:
        ann = (who := await make_room(house))["ann"]
        await ann("hide", {"n": 41})
        if fails_in == "delete_room":
            store.full = True
            with pytest.raises(StorageFailed):
                await who["hostess"]("delete_room", {"confirm": "den"})
            await check_that_it_opens(house, store, clock, ann)
            return
    store.full = True
    async with open_house(store=store, clock=clock) as house:
        await check_that_it_opens(house, store, clock, Client(house, "den", "ann", ann.token))


class FullStore(MemoryStore):
    full = False

    def commit(self, writes: Sequence[Write]) -> None:
        if self.full and any(write.room == "den" and (write.lines or write.delete) for write in writes):
            raise StorageFailed("the disk is full")
        super().commit(writes)


async def check_that_it_opens(house: House, store: FullStore, clock: FakeClock, ann: Client) -> None:
    await clock.advance(3 * LONGEST_PAUSE_MS)
    with pytest.raises(StorageFailed, match="The house opens it by itself"):
        await ann("numbers")
    store.full = False
    async with asyncio.timeout(120):
        while house.broken:
            await clock.advance(LONGEST_PAUSE_MS)
            await asyncio.sleep(0.001)
    assert (await ann("numbers"))["red"] == [41]


async def test_a_room_that_two_callers_reopen_at_the_same_time_is_opened_once() -> None:
    async with open_house() as house:
        who = await make_room(house)
        house.rooms["den"].stop(Quarantined("made up"))
        one, other = await asyncio.gather(*(house.reopen_room("den") for _ in range(2)), return_exceptions=True)
        assert one is house.rooms["den"]
        assert isinstance(other, Conflict)
        assert (await who["ann"]("whoami")).handle == "ann"


async def test_a_deleted_room_is_gone_with_its_tokens_and_its_id_is_free(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        who = await make_room(house)
        for _ in range(5):
            await who["ann"]("hide", {"n": 1})
        with pytest.raises(PermissionDenied):
            await who["ann"]("reset")
        with pytest.raises(BadArgs):
            await who["hostess"]("delete_room", {"confirm": "dan"})
        acting = [asyncio.create_task(who["ann"]("hide", {"n": 1})) for _ in range(5)]
        await asyncio.sleep(0)
        await who["hostess"]("delete_room", {"confirm": "den"})
        await asyncio.gather(*acting, return_exceptions=True)
        with pytest.raises(Unauthorized):
            await who["ann"]("view")
        again = await make_room(house, ANN, HOST, player("cy", 1))
        assert (await again["ann"]("numbers"))["red"] == []
        assert (await again["hostess"]("audit", REFUSALS)).lines == []
    async with open_house(tmp_path) as house:
        assert list(house.rooms) == ["den"]
        assert "cy" in house.rooms["den"].room.state.members


async def test_a_house_with_other_settings_reads_the_same_folder(tmp_path: Path) -> None:
    made = await three_rooms(tmp_path)
    async with House.open(Settings(data=str(tmp_path), snapshot_every=1)) as house:
        assert (await back_again(house, made["one"])["ann"]("hide", {"n": 6})).success


async def test_a_damaged_snapshot_is_no_loss_while_the_one_before_it_can_be_read(tmp_path: Path) -> None:
    async with open_house(tmp_path, snapshot_every=3) as house:
        who = await make_room(house)
        for n in range(10):
            await who["ann"]("hide", {"n": n})
    with sqlite3.connect(tmp_path / "cohabit.db") as db:
        db.execute("update snapshots set body = x'00' where seq = (select max(seq) from snapshots)")
    db.close()
    async with open_house(tmp_path) as house:
        assert house.broken == {}
        room = house.rooms["den"].room
        hidden = [line.entry.args["n"] for line in room.record.tail if line.entry.do == "hide"]
        assert hidden[-1] == 9
        assert len(hidden) > 3  # run again from the older one


@pytest.mark.parametrize(
    ("world", "source", "hint"), [("Secrets", None, True), ("Secrets", "moved.py", False), ("nim", None, False)]
)
async def test_only_a_world_in_a_file_that_is_not_found_may_have_been_moved(
    world: str, source: str | None, hint: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*args: Any) -> Any:
        raise UnknownAsset("there is no such world")

    async with open_house() as house:
        await make_room(house, world=world)
        monkeypatch.setattr(loading, "make_world", gone)
        with pytest.raises(UnknownAsset) as missing:
            loading.load_room(house.store, "den", source)
    assert missing.value.message.startswith("there is no such world")
    assert ("cohabit rebind den" in missing.value.message) is hint
