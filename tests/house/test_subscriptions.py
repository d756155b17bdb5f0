"""Subscriptions and waiting calls: bounded, in order, and checked again before anything is delivered."""

import asyncio
import json
import threading
from collections.abc import Iterable
from typing import Any

import pytest

from cohabit.errors import BadArgs, Busy, Disabled, PermissionDenied, Unauthorized, UnknownRoom
from cohabit.house.house import House
from cohabit.house.store.contract import Row
from cohabit.house.store.memory import MemoryStore
from cohabit.house.streams.subscriptions import Subscription
from cohabit.testing.clock import FakeClock

from .making import ANN, BOB, GOD, HOST, TOKENS_MADE, Client, HeldStore, a_moment, issue, make_room, open_house


async def subscribed(client: Client, cursor: str | None = None, **how: Any) -> Subscription:
    return await client.house.subscribe(client.house.identify(client.token), client.room, cursor, **how)


async def lines_of(sub: Subscription, count: int) -> list[str]:
    """The texts of this many event frames."""
    found: list[str] = []
    for _ in range(count):
        frame = json.loads(await asyncio.wait_for(anext(sub), 120))
        found += [item["text"] for item in frame.get("items", [])]
    return found


# -- waiting calls ----------------------------------------------------------------------------------
async def waiting_call(client: Client, name: str) -> "asyncio.Task[Any]":
    """A call that waits for something new, on a connection that is open."""
    args: dict[str, Any] = {"wait_ms": 30_000}
    if name == "events":
        args["cursor"] = (await client("events")).cursor
    credential = client.house.identify(client.token)
    task = asyncio.create_task(client.house.call(credential, client.room, name, args))
    await a_moment()
    assert not task.done()
    return task


@pytest.mark.parametrize("name", ["recv_messages", "events"])
@pytest.mark.parametrize("change", ["revoke_token", "rotate_token", "remove_member"])
async def test_a_call_that_waits_delivers_nothing_sent_after_its_token_was_revoked(name: str, change: str) -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house, ANN, BOB, HOST, GOD)
        await clock.advance(1_000)
        task = await waiting_call(who["bob"], name)
        await who["hostess"](change, {"member": "bob"})
        await who["zeus"]("send_message", {"to": "*", "content": "swordfish"})
        if change != "remove_member":
            await who["ann"]("send_message", {"to": "bob", "content": "swordfish"})
        await clock.advance(31_000)
        try:
            delivered = str(await task)
        except (Unauthorized, UnknownRoom):
            return
        assert "swordfish" not in delivered
        assert name == "events", "a call with a revoked token got a result"
        assert "your tokens" in delivered or "removed" in delivered, "only what happened until then"


@pytest.mark.parametrize("name", ["recv_messages", "events"])
async def test_a_call_that_waits_delivers_nothing_sent_after_its_grant_was_narrowed(name: str) -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house, ANN, BOB, HOST)
        await clock.advance(1_000)
        task = await waiting_call(who["bob"], name)
        taken = ["receive_directed", "read_chat", "read_roster", *(["watch"] if name == "events" else [])]
        await who["hostess"]("narrow", {"member": "bob", "may": taken})
        await who["ann"]("send_message", {"to": "bob", "content": "swordfish"})
        await clock.advance(31_000)
        try:
            assert "swordfish" not in str(await task)
        except PermissionDenied:
            assert name == "recv_messages"


@pytest.mark.parametrize("name", ["recv_messages", "events", "wait_for_turn"])
async def test_a_call_that_waits_delivers_nothing_after_its_token_has_expired(name: str) -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house, ANN, BOB, HOST, world="nim")
        operator = house.identify(house.operator_token())
        args = {"name": "bob", "room": "den", "expires_in_s": 10}
        made = await house.call(operator, None, "issue_credential", args)
        TOKENS_MADE.append(made.token)
        bob = Client(house, "den", "bob", made.token)
        await bob("whoami")
        await clock.advance(1_000)
        task = await waiting_call(bob, name)
        await clock.advance(9_000)
        await who["ann"]("send_message", {"to": "bob", "content": "swordfish"})
        await who["ann"]("take", {"n": 1})
        with pytest.raises(Unauthorized, match="expired"):
            await task


class SlowHistory(MemoryStore):
    """A store from which entries are read only while ``go`` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()
        self.go.set()

    def lines(self, room: str, after: int, limit: int | None = None) -> Iterable[Row]:
        self.go.wait(100)
        return super().lines(room, after, limit)


@pytest.mark.parametrize("change", ["narrow", "revoke_token", "remove_member"])
async def test_a_call_that_reads_a_long_history_shows_only_what_is_allowed_when_it_is_delivered(change: str) -> None:
    store = SlowHistory()
    async with open_house(store=store, recent_entries=2) as house:
        who = await make_room(house, ANN, BOB, GOD, partial_intel=True, sealed=False)
        await who["zeus"]("widen", {"member": "bob", "may": ["read_all"]})
        for n in range(20):
            await who["ann"]("hide", {"n": 4700 + n})
        assert "4719" in str(await who["bob"]("events"))
        store.go.clear()
        reading = asyncio.create_task(who["bob"]("events"))
        await a_moment()
        await who["zeus"](change, {"member": "bob", **({"may": ["read_all"]} if change == "narrow" else {})})
        store.go.set()
        if change == "narrow":
            found = (await reading).items
            assert found
            assert not any("47" in item.text for item in found)
        else:
            with pytest.raises(Unauthorized):
                await reading


# -- the end of a subscription ----------------------------------------------------------------------
@pytest.mark.parametrize("change", ["revoke_token", "rotate_token", "remove_member"])
@pytest.mark.parametrize("cursor", [None, ""])
async def test_a_subscription_ends_when_its_token_is_revoked(change: str, cursor: str | None) -> None:
    async with open_house() as house:
        who = await make_room(house)
        reader = await who["bob"].reader(cursor)
        await a_moment()
        await who["hostess"](change, {"member": "bob"})
        await who["ann"]("shout", {"text": "swordfish"})
        await reader.task
        assert isinstance(reader.ended, Unauthorized)
        assert not any(b"swordfish" in frame for frame in reader.frames)
        assert not house.rooms["den"].fanout


async def test_a_subscription_ends_when_its_token_expires_and_not_before() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        await make_room(house)
        operator = house.identify(house.operator_token())
        args = {"name": "bob", "room": "den", "expires_in_s": 60}
        made = await house.call(operator, None, "issue_credential", args)
        TOKENS_MADE.append(made.token)
        reader = await Client(house, "den", "bob", made.token).reader()
        await clock.advance(59_999)
        assert reader.ended is None
        await clock.advance(1)
        await reader.task
        assert isinstance(reader.ended, Unauthorized)


async def test_a_slow_reader_gets_nothing_that_was_queued_before_its_token_was_revoked() -> None:
    async with open_house() as house:
        who = await make_room(house)
        sub = await subscribed(who["bob"], views=False)
        for i in range(5):
            await who["ann"]("shout", {"text": f"<{i}>"})
        assert "red: <0>" in await lines_of(sub, 1)
        await who["hostess"]("revoke_token", {"member": "bob"})
        with pytest.raises(Unauthorized):
            await anext(sub)


async def test_a_slow_reader_gets_nothing_that_was_queued_before_its_grant_was_narrowed() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, GOD, partial_intel=True, sealed=False)
        await who["zeus"]("widen", {"member": "bob", "may": ["read_all"]})
        sub = await subscribed(who["bob"])
        await anext(sub)
        await who["ann"]("hide", {"n": 4711})
        await who["zeus"]("narrow", {"member": "bob", "may": ["read_all"]})
        with pytest.raises(PermissionDenied, match="grant has changed"):
            assert b"4711" not in await anext(sub)


@pytest.mark.parametrize("change", ["revoke_token", "narrow"])
async def test_a_backlog_is_checked_again_before_each_frame(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cohabit.house.reading.feed.BACKLOG_ITEMS", 2)
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, GOD, partial_intel=True, sealed=False)
        await who["zeus"]("widen", {"member": "bob", "may": ["read_all"]})
        for n in range(6):
            await who["ann"]("hide", {"n": 4710 + n})
        sub = await subscribed(who["bob"], "", views=False)
        first = await lines_of(sub, 2)
        assert any("4710" in text for text in first)
        args = {"member": "bob", **({"may": ["read_all"]} if change == "narrow" else {})}
        await who["zeus"](change, args)
        await who["ann"]("shout", {"text": "later"})
        seen: list[str] = []
        with pytest.raises(Unauthorized if change == "revoke_token" else PermissionDenied):
            while True:
                seen += await lines_of(sub, 1)
        assert not any("471" in text for text in seen)
        assert not any("later" in text for text in seen), "its cursor would pass over what it has not got"


@pytest.mark.parametrize("ending", ["delete_room", "close"])
async def test_a_subscription_ends_with_its_room(ending: str) -> None:
    async with open_house() as house:
        who = await make_room(house)
        reader = await who["bob"].reader()
        await a_moment()
        if ending == "delete_room":
            await who["hostess"]("delete_room", {"confirm": "den"})
            await a_moment()
    await a_moment()
    await reader.task
    assert isinstance(reader.ended, Disabled)


async def test_a_reader_of_the_record_of_the_house_is_told_that_the_house_closes() -> None:
    async with open_house() as house:
        reader = await (await issue(house, "zoe", "house")).reader()
        await a_moment()
    await a_moment()
    await reader.task
    assert isinstance(reader.ended, Disabled)


async def test_a_frame_is_never_delivered_before_one_that_is_queued() -> None:
    async with open_house() as house:
        who = await make_room(house)
        sent: list[bytes] = []
        ready = False

        def deliver(frame: bytes) -> bool:
            if ready:
                sent.append(frame)
            return ready

        sub = await subscribed(who["bob"], views=False, deliver=deliver)
        waiting = asyncio.create_task(anext(sub))
        await a_moment()
        sub.push_event(b"first")
        ready = True
        sub.push_event(b"second")
        assert [await waiting, await anext(sub)] == [b"first", b"second"]
        assert sent == []


async def test_a_frame_is_not_delivered_at_once_while_the_reader_has_not_sent_the_one_before() -> None:
    async with open_house() as house:
        who = await make_room(house)
        sent: list[bytes] = []

        def deliver(frame: bytes) -> bool:
            sent.append(frame)
            return bool(sent[1:])  # the first one has to be queued

        sub = await subscribed(who["bob"], views=False, deliver=deliver)
        waiting = asyncio.create_task(anext(sub))
        await a_moment()
        sub.push_event(b"first")
        assert await waiting == b"first"
        sub.push_event(b"second")
        assert sent == [b"first"], "the reader may still be sending the first"
        assert await anext(sub) == b"second"


async def test_events_that_are_in_memory_are_read_without_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_house(recent_entries=1) as house:
        who = await make_room(house)
        await who["ann"]("shout", {"text": "hello"})
        cursor = (await who["bob"]("events")).cursor
        await who["ann"]("shout", {"text": "again"})
        monkeypatch.setattr(house.rooms["den"].history, "_lines_of", None)  # reading it would be an error
        assert "again" in (await who["bob"]("events", {"cursor": cursor})).items[0].text
        sub = await subscribed(who["bob"], cursor, views=False)
        assert "again" in (await lines_of(sub, 1))[0]


async def test_a_queued_frame_is_not_delivered_after_the_member_loses_its_view_through_a_seat() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, {"id": "kib"}, partial_intel=True, sealed=False)
        may = ["watch", "read_own"]
        await who["hostess"]("grant", {"member": "kib", "may": may, "through": "red"})
        sub = await subscribed(who["kib"], views=False)
        await who["ann"]("hide", {"n": 4711})
        await who["hostess"]("grant", {"member": "kib", "may": may})
        with pytest.raises(PermissionDenied, match="grant has changed"):
            assert b"4711" not in await anext(sub)


async def test_nothing_is_delivered_at_once_to_a_reader_that_has_ended() -> None:
    async with open_house() as house:
        who = await make_room(house)
        sent: list[bytes] = []

        def deliver(frame: bytes) -> bool:
            sent.append(frame)
            return True

        sub = await subscribed(who["bob"], views=False, deliver=deliver)
        waiting = asyncio.create_task(anext(sub))
        await a_moment()
        await who["ann"]("shout", {"text": "first"})
        assert any(b"first" in frame for frame in sent)
        sub.end(Busy("for the test"))
        sub.push_event(b'{"push":"events","items":["after the end"]}')
        with pytest.raises(Busy):
            await waiting
        assert not any(b"after the end" in frame for frame in sent)


class LateClock(FakeClock):
    """A clock whose timers are late: the time has passed, but none has fired."""

    ahead = 0

    def now(self) -> int:
        return super().now() + self.ahead


@pytest.mark.parametrize("waiting", [True, False])
@pytest.mark.parametrize("change", ["narrow", "remove_member", "expiry"])
async def test_a_frame_on_its_way_to_disk_is_checked_against_the_grant_of_its_delivery(
    change: str, waiting: bool
) -> None:
    store, clock = HeldStore(), LateClock()
    async with open_house(store=store, clock=clock) as house:
        who = await make_room(house, ANN, BOB, GOD, partial_intel=True, sealed=False)
        await who["zeus"]("widen", {"member": "bob", "may": ["read_all"], "expires_in_s": 60})
        sent: list[bytes] = []

        def deliver(frame: bytes) -> bool:
            if waiting:
                sent.append(frame)
            return waiting

        sub = await subscribed(who["bob"], views=False, deliver=deliver)
        reading = asyncio.create_task(anext(sub))
        await a_moment()
        store.go.clear()
        hiding = asyncio.create_task(who["ann"]("hide", {"n": 4711}))
        await a_moment()  # the frame is made, and waits for the disk
        if change == "expiry":
            clock.ahead = 60_000
            changing = asyncio.create_task(who["zeus"]("view"))
        else:
            args = {"member": "bob", **({"may": ["read_all"]} if change == "narrow" else {})}
            changing = asyncio.create_task(who["zeus"](change, args))
        await a_moment()
        store.go.set()
        await hiding
        await changing
        with pytest.raises(Unauthorized if change == "remove_member" else PermissionDenied):
            await asyncio.wait_for(reading, 120)
        assert not any(b"4711" in frame for frame in sent)


async def test_a_frame_on_its_way_to_disk_reaches_those_whose_grant_still_allows_it() -> None:
    store = HeldStore()
    async with open_house(store=store) as house:
        who = await make_room(house, ANN, BOB, GOD, partial_intel=True, sealed=False)
        await who["zeus"]("widen", {"member": "bob", "may": ["read_all"]})
        reader, god = await who["bob"].reader(), await who["zeus"].reader()
        await a_moment()
        store.go.clear()
        hiding = asyncio.create_task(who["ann"]("hide", {"n": 4711}))
        await a_moment()
        changing = asyncio.create_task(who["zeus"]("widen", {"member": "bob", "may": ["send_broadcast"]}))
        await a_moment()
        store.go.set()
        await hiding
        await changing
        await a_moment()
        for got in (reader, god):
            assert got.ended is None
            assert any(b"4711" in frame for frame in got.events)


@pytest.mark.parametrize("change", ["narrow", "remove_member"])
async def test_a_first_view_that_waits_for_the_disk_shows_only_what_is_allowed_when_it_is_delivered(
    change: str,
) -> None:
    store = HeldStore()
    async with open_house(store=store) as house:
        who = await make_room(house, ANN, BOB, GOD, partial_intel=True, sealed=False)
        await who["zeus"]("widen", {"member": "bob", "may": ["read_all"]})
        await who["ann"]("hide", {"n": 4711})
        store.go.clear()
        writing = asyncio.create_task(who["ann"]("send_message", {"to": "zeus", "content": "hello"}))
        await a_moment()
        reader = await who["bob"].reader()
        await a_moment()  # its view is made, and waits for the disk
        args = {"member": "bob", **({"may": ["read_all"]} if change == "narrow" else {})}
        changing = asyncio.create_task(who["zeus"](change, args))
        await a_moment()
        store.go.set()
        await writing
        await changing
        await a_moment()
        assert reader.views if change == "narrow" else isinstance(reader.ended, Unauthorized)
        assert not any(b"4711" in frame for frame in reader.frames)


async def test_nothing_is_delivered_with_a_token_that_has_expired_even_before_its_timer_has_fired() -> None:
    clock = LateClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house)
        operator = house.identify(house.operator_token())
        args = {"name": "bob", "room": "den", "expires_in_s": 60}
        made = await house.call(operator, None, "issue_credential", args)
        TOKENS_MADE.append(made.token)
        sent: list[bytes] = []

        def deliver(frame: bytes) -> bool:
            sent.append(frame)
            return True

        sub = await subscribed(Client(house, "den", "bob", made.token), views=False, deliver=deliver)
        reading = asyncio.create_task(anext(sub))
        await a_moment()
        await who["ann"]("shout", {"text": "in time"})
        assert any(b"in time" in frame for frame in sent)
        clock.ahead = 60_000
        await who["ann"]("shout", {"text": "too late"})
        with pytest.raises(Unauthorized):
            await asyncio.wait_for(reading, 120)
        assert not any(b"too late" in frame for frame in sent)


# -- in order, without gaps, bounded ----------------------------------------------------------------
async def test_a_reader_that_reconnects_from_its_cursor_misses_nothing_and_gets_nothing_twice() -> None:
    async with open_house(recent_entries=4) as house:
        who = await make_room(house)
        heard: list[str] = []
        cursor = ""
        for start in range(0, 60, 20):
            reader = await who["bob"].reader(cursor, views=False)
            for i in range(start, start + 20):
                await who["ann"]("shout", {"text": f"<{i}>"})
            async with asyncio.timeout(120):
                while not any(f"<{start + 19}>" in item["text"] for item in reader.items()):
                    await a_moment()
            heard += [item["text"] for item in reader.items() if "<" in item["text"]]
            cursor = json.loads(reader.events[-1])["cursor"]
            reader.sub.close()
        assert heard == [f"red: <{i}>" for i in range(60)]


async def test_a_reader_that_is_too_slow_in_frames_is_ended_and_can_resume() -> None:
    async with open_house(outbox_limit=5) as house:
        who = await make_room(house)
        sub = await subscribed(who["bob"], views=False)
        for i in range(10):
            await who["ann"]("shout", {"text": f"<{i}>"})
        with pytest.raises(Busy, match="slow"):
            await anext(sub)
        again = await subscribed(who["bob"], "", views=False)
        assert [text for text in await lines_of(again, 1) if "<" in text] == [f"red: <{i}>" for i in range(10)]


async def test_a_reader_that_is_too_slow_in_bytes_is_ended() -> None:
    async with open_house(outbox_bytes=20_000) as house:
        who = await make_room(house)
        sub = await subscribed(who["bob"], views=False)
        for _ in range(3):
            await who["ann"]("shout", {"text": "x" * 9_000})
        with pytest.raises(Busy, match="slow"):
            await anext(sub)


async def test_of_many_slow_readers_the_slowest_is_ended_when_all_queues_together_are_too_long() -> None:
    async with open_house(outboxes_bytes=60_000) as house:
        who = await make_room(house)
        slow = await subscribed(who["bob"], views=False)
        for _ in range(3):
            await who["ann"]("shout", {"text": "x" * 9_000})
        late = await subscribed(who["bob"], views=False)
        quick = await who["hostess"].reader(views=False)
        for _ in range(3):
            await who["ann"]("shout", {"text": "y" * 9_000})
        with pytest.raises(Busy, match="slow"):
            await anext(slow)
        assert len([text for text in await lines_of(late, 3) if "yyy" in text]) == 3
        assert quick.ended is None
        assert house.overload.counts["reader"] == 1
        late.close()
        assert vars(house.outboxes)["_total"] == 0


async def test_a_slow_reader_gets_every_event_and_only_the_latest_view() -> None:
    async with open_house() as house:
        who = await make_room(house)
        sub = await subscribed(who["bob"])
        assert json.loads(await anext(sub))["push"] == "view"
        for i in range(20):
            await who["ann"]("shout", {"text": f"<{i}>"})
        frames = [json.loads(await asyncio.wait_for(anext(sub), 120)) for _ in range(21)]
        told = [item["text"] for frame in frames for item in frame.get("items", [])]
        assert told == [f"red: <{i}>" for i in range(20)]
        views = [frame for frame in frames if frame["push"] == "view"]
        assert len(views) == 1
        assert "<19>" in views[0]["view"]["text"]


async def test_a_subscription_needs_the_same_grant_as_events_and_a_cursor_of_its_room() -> None:
    async with open_house() as house:
        who = await make_room(house)
        await who["hostess"]("revoke", {"member": "bob"})
        with pytest.raises(PermissionDenied):
            await subscribed(who["bob"])
        with pytest.raises(BadArgs, match="cursor"):
            await subscribed(who["ann"], "nonsense")


async def test_frames_for_a_closed_subscription_are_dropped() -> None:
    store = HeldStore()
    async with open_house(store=store) as house:
        who = await make_room(house)
        sub = await subscribed(who["bob"], views=False)
        store.go.clear()
        acting = asyncio.create_task(who["ann"]("shout", {"text": "x"}))
        await a_moment()
        sub.close()
        sub.close()
        store.go.set()
        await acting
        with pytest.raises(StopAsyncIteration):
            await anext(sub)
        assert not house.rooms["den"].fanout


def open_watchers(house: House) -> int:
    return sum(len(watchers) for watchers in vars(house.identities)["_watchers"].values())


async def test_a_closed_subscription_leaves_nothing_behind() -> None:
    async with open_house() as house:
        who = await make_room(house)
        for _ in range(3):
            sub = await subscribed(who["bob"])
            assert open_watchers(house) == 1
            sub.close()
            assert open_watchers(house) == 0
