"""The audit: refused calls are in the hash chain, changes are listed for those whom they concern, and what left is counted."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from cohabit.errors import BadArgs, PermissionDenied, ScopeViolation
from cohabit.house.house import House
from cohabit.house.running import history
from cohabit.house.store.contract import Write
from cohabit.house.store.memory import MemoryStore
from cohabit.testing.clock import FakeClock

from .making import ANN, BOB, HOST, REFUSALS, Client, HeldStore, a_moment, make_room, open_house

OWL = {"id": "owl", "kind": "agent"}


def entries(house: House, do: str) -> list[Any]:
    return [line.entry for line in house.rooms["den"].history.recent if line.entry.do == do]


async def refuse(caller: Client, name: str, args: dict[str, Any] | None = None) -> None:
    with pytest.raises(PermissionDenied):
        await caller(name, args or {})


async def test_a_refused_call_is_part_of_the_record_when_its_minute_is_over() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house)
        await refuse(who["ann"], "revoke", {"member": "bob"})
        await refuse(who["ann"], "revoke", {"member": "bob"})
        await clock.advance(59_000)
        assert entries(house, "refused") == []
        await clock.advance(62_000)
        (entry,) = entries(house, "refused")
        (line,) = entry.args["lines"]
        assert (line["member"], line["command"], line["code"], line["count"]) == (
            "ann",
            "revoke",
            "PERMISSION_DENIED",
            2,
        )
        await clock.advance(300_000)
        assert len(entries(house, "refused")) == 1


async def test_refusals_are_in_the_record_before_the_house_closes(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        who = await make_room(house)
        await refuse(who["bob"], "archive")
        room = house.rooms["den"].room
    assert [e.entry.args["lines"][0]["command"] for e in room.record.tail if e.entry.do == "refused"] == ["archive"]
    async with open_house(tmp_path) as house:
        assert house.rooms["den"].room.state.audited == room.state.audited == 1
        assert house.rooms["den"].room.digest() == room.digest()


async def test_refusals_are_stored_within_a_second() -> None:
    clock, store = FakeClock(), HeldStore()
    async with open_house(store=store, clock=clock) as house:
        who = await make_room(house)
        await refuse(who["ann"], "archive")
        await clock.advance(2_000)
        for number, name in ((2, "revoke"), (3, "unblock")):
            await refuse(who["ann"], name, {"member": "bob"})
            await clock.advance(999)
            await house.writer.submit(Write())  # after everything that was written before
            assert len(store.refusals("den")) == number - 1
            await clock.advance(1)
            await house.writer.submit(Write())
            assert len(store.refusals("den")) == number


async def test_every_refused_call_is_recorded_once_its_own_minute_is_over() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house)
        await refuse(who["ann"], "archive")
        await clock.advance(30_000)
        await refuse(who["bob"], "archive")
        await clock.advance(31_000)
        assert [[line["member"] for line in e.args["lines"]] for e in entries(house, "refused")] == [["ann"]]
        await clock.advance(60_000)
        assert [[line["member"] for line in e.args["lines"]] for e in entries(house, "refused")] == [["ann"], ["bob"]]
        await refuse(who["ann"], "archive")
        await clock.advance(61_000)
        assert len(entries(house, "refused")) == 3


@pytest.mark.parametrize("archived", [False, True])
async def test_closing_a_house_adds_nothing_to_a_room_without_refusals_or_in_the_archive(archived: bool) -> None:
    async with open_house() as house:
        who = await make_room(house)
        if archived:
            await refuse(who["bob"], "archive")
            await who["hostess"]("archive")
        room = house.rooms["den"].room
        before = room.record.seq
    assert room.record.seq == before


async def test_a_change_of_long_ago_is_found_in_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "PAGE", 20)
    async with open_house(recent_entries=10) as house:
        who = await make_room(house, ANN, BOB, HOST, OWL)
        await who["hostess"]("narrow", {"member": "owl", "may": ["read_chat"]})
        for number in range(50):
            await who["ann"]("hide", {"n": number})
        await who["hostess"]("widen", {"member": "owl", "may": ["read_chat"]})
        changes = (await who["hostess"]("audit", {"member": "owl"})).lines
        assert [change.what for change in changes] == ["granted", "revoked"]
        assert [change.what for change in (await who["owl"]("audit", {"max": 1})).lines] == ["granted"]


async def test_no_more_of_the_store_is_read_than_a_list_of_changes_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    read, lines = list[int](), MemoryStore.lines

    def counted(store: MemoryStore, room: str, after: int, limit: int | None = None) -> Any:
        if limit is not None:
            read.append(limit)
        return lines(store, room, after, limit)

    monkeypatch.setattr(history, "PAGE", 20)
    monkeypatch.setattr(MemoryStore, "lines", counted)
    async with open_house(recent_entries=10) as house:
        who = await make_room(house, ANN, BOB, HOST, OWL)
        for number in range(30):
            await who["ann"]("hide", {"n": number})
        await who["hostess"]("widen", {"member": "owl", "may": ["read_chat"]})
        assert len((await who["hostess"]("audit", {"max": 1})).lines) == 1
        assert read == []
        oldest = house.rooms["den"].history.recent[0].seq
        assert len((await who["hostess"]("audit", {"max": 500})).lines) == 1
        assert read == [20, oldest - 20]


async def test_a_host_reads_every_change_and_a_member_those_that_concern_it() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, OWL)
        await who["hostess"]("narrow", {"member": "ann", "may": ["send_message"]})
        request = (await who["owl"]("ask", {"may": ["send_message"], "why": "to talk"})).request
        await who["hostess"]("allow", {"request": request, "lasts": "game"})
        await who["owl"]("disclose", {"backend": "Claude"})

        async def kinds(reader: str, **args: Any) -> list[str]:
            return [line.what for line in (await who[reader]("audit", args)).lines]

        assert await kinds("hostess") == ["disclosed", "allowed", "asked", "revoked"]
        assert await kinds("hostess", member="ann") == ["revoked"]
        assert await kinds("owl") == ["disclosed", "allowed", "asked"]
        assert await kinds("ann") == ["revoked"]
        assert await kinds("bob") == []
        assert await kinds("bob", member="ann") == []


async def test_a_host_who_asks_for_a_member_reads_of_reports_that_name_only_its_messages_the_member_not() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST)
        await who["bob"]("send_message", {"to": "ann", "content": "an insult"})
        (message,) = (await who["ann"]("recv_messages")).items
        made = await who["ann"]("report", {"reason": "he insults me", "messages": [message["seq"]]})
        await who["hostess"]("close_report", {"report": made.report})
        (line,) = (await who["hostess"]("audit", {"member": "bob"})).lines
        assert (line.what, line.text, line.by) == ("reported", f"report {made.report} of ann is about bob", "ann")
        assert (await who["bob"]("audit")).lines == []
        assert [line.what for line in (await who["ann"]("audit")).lines] == ["reported"]


async def test_a_member_sees_its_own_refusals_with_their_reasons_and_nobody_elses() -> None:
    async with open_house() as house:
        who = await make_room(house)
        await refuse(who["ann"], "revoke", {"member": "bob"})
        await refuse(who["bob"], "archive")
        assert [line.command for line in (await who["ann"]("audit", REFUSALS)).lines] == ["revoke"]
        assert [line.command for line in (await who["ann"]("audit", {"member": "bob", **REFUSALS})).lines] == ["revoke"]
        assert {line.command for line in (await who["hostess"]("audit", REFUSALS)).lines} == {"revoke", "archive"}
        with pytest.raises(PermissionDenied):
            await who["ann"]("revoke", {"member": "bob"})


async def test_what_left_to_which_backend_is_counted_and_recorded_once_a_minute() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house, ANN, BOB, HOST, OWL)
        for _ in range(3):
            await who["ann"]("view")
            await who["owl"]("view")
        await clock.advance(120_000)
        assert entries(house, "sent_outside") == []  # nobody has said that anything leaves
        await who["owl"]("disclose", {"backend": "Claude"})
        for _ in range(3):
            await who["ann"]("view")
            await who["owl"]("view")
        await clock.advance(60_000)
        (entry,) = entries(house, "sent_outside")
        assert (entry.args["member"], entry.args["replies"]) == ("owl", 3)
        (change,) = (await who["owl"]("audit", {"kinds": ["egress"]})).lines
        assert change.text.startswith("to Claude through owl: 3 replies")
        assert not (await who["ann"]("audit", {"kinds": ["egress"]})).lines


async def test_what_is_sent_to_a_member_counts_also_if_a_host_has_named_its_backend() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house, ANN, BOB, HOST, {**OWL, "backend": "Claude"})
        await who["owl"]("view")
        await clock.advance(60_000)
        (entry,) = entries(house, "sent_outside")
        assert (entry.args["member"], entry.args["backend"], entry.args["replies"]) == ("owl", "Claude", 1)


async def test_pushed_frames_are_counted_too_also_of_a_stream_that_has_ended() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house, ANN, BOB, HOST, OWL)
        await who["owl"]("disclose", {"egress": True})
        stream = await house.subscribe(house.identify(who["owl"].token), "den", None)
        await who["hostess"]("send_message", {"to": "*", "content": "hello"})
        await house.rooms["den"].drained()
        read = [await anext(stream), await anext(stream)]
        stream.close()
        await clock.advance(60_000)
        (entry,) = entries(house, "sent_outside")
        assert entry.args["frames"] == len(read)
        assert entry.args["size"] == sum(map(len, read)) > len("hello")


def sent(house: House) -> list[tuple[str, int, bool]]:
    """Each entry about what was sent outside: to whom, how many replies, and whether there were frames."""
    return [(e.args["member"], e.args["replies"], e.args["frames"] > 0) for e in entries(house, "sent_outside")]


async def test_what_an_open_stream_pushes_is_recorded_every_minute_and_counted_once() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house, ANN, BOB, HOST, OWL)
        await who["owl"]("disclose", {"egress": True})
        readers = [await who[name].reader() for name in ("owl", "ann")]
        await clock.advance(60_000)
        before = len(entries(house, "sent_outside"))
        for number in (1, 2):
            await who["hostess"]("send_message", {"to": "*", "content": "hello"})
            await clock.advance(60_000)
            assert sent(house)[before:] == [("owl", 0, True)] * number
        sizes = [e.args["size"] for e in entries(house, "sent_outside")[before:]]
        assert sizes[0] < 2 * sizes[1] < 4 * sizes[0]
        assert all(reader.ended is None for reader in readers)


async def test_replies_are_recorded_in_each_minute_in_which_there_were_some() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house, ANN, BOB, HOST, {**OWL, "backend": "Claude"})
        for calls in (1, 3):
            for _ in range(calls):
                await who["owl"]("view")
                await clock.advance(1_000)
            await clock.advance(120_000)
        assert sent(house) == [("owl", 1, False), ("owl", 3, False)]


async def test_what_was_sent_while_the_room_is_busy_is_recorded_a_minute_later() -> None:
    clock, store = FakeClock(), HeldStore()
    async with open_house(store=store, clock=clock, queue_limit=20) as house:
        who = await make_room(house, ANN, BOB, HOST, {**OWL, "backend": "Claude"})
        await clock.advance(30_000)
        await who["owl"]("view")
        await clock.advance(59_000)
        store.go.clear()
        clock.between, at_rest = None, clock.between
        held = [asyncio.create_task(who["ann"]("hide", {"n": 0}))]  # it is being written, and the others wait for it
        await a_moment()
        held += [asyncio.create_task(who["ann"]("hide", {"n": n})) for n in range(20)]
        await a_moment()
        await clock.advance(1_000)
        store.go.set()
        await asyncio.gather(*held)
        clock.between = at_rest
        assert sent(house) == []
        await clock.advance(60_000)
        assert sent(house) == [("owl", 1, False)]


async def test_what_left_is_recorded_also_for_a_member_that_takes_its_disclosure_back_or_leaves() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house, ANN, BOB, HOST, OWL, {"id": "emu", "kind": "agent"})
        for name in ("owl", "emu"):
            await who[name]("disclose", {"backend": "Claude"})
        await clock.advance(20_000)
        for name in ("owl", "emu"):
            await who[name]("view")
        await who["owl"]("disclose", {})
        await who["emu"]("leave")
        await clock.advance(60_000)
        assert {(e.args["member"], e.args["backend"]) for e in entries(house, "sent_outside")} == {
            ("owl", "Claude"),
            ("emu", "Claude"),
        }


async def test_a_member_with_a_reused_handle_reads_nothing_of_the_one_before() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, {"id": "eve", "kind": "agent"})
        await who["hostess"]("narrow", {"member": "eve", "may": ["read_chat"]})
        await who["eve"]("disclose", {"backend": "Claude"})
        await who["hostess"]("remove_member", {"member": "eve"})
        made = await who["hostess"]("invite", {"id": "eve"})
        new = await Client(house, "den", "eve", made.token).join()
        assert (await new("whoami")).handle == "eve"
        assert [(line.what, line.text) for line in (await new("audit")).lines] == [
            ("joined", "eve joined as agent, with an invite of hostess")
        ]


async def test_a_refused_subscription_is_in_the_audit() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, OWL)
        await who["hostess"]("revoke", {"member": "owl"})
        with pytest.raises(PermissionDenied):
            await house.subscribe(house.identify(who["owl"].token), "den", None)
        assert [(r.command, r.code) for r in (await who["owl"]("audit", REFUSALS)).lines] == [
            ("events", "PERMISSION_DENIED")
        ]


async def test_a_cursor_of_the_audit_tells_nothing_about_the_numbers_and_times_of_hidden_entries() -> None:
    """As a cursor of `events`, a number that grows with each refusal would tell which numbers the events have."""
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, partial_intel=True)
        clock: Any = house.clock
        for _ in range(8):
            await who["ann"]("mumble", {"n": 1})
            await who["bob"]("shout", {"text": "hello"})
        parts: list[str] = []
        for number in range(12):
            with pytest.raises(ScopeViolation):
                await who["bob"]("strike", {"target": f"nobody {number}"})
            await clock.advance(1)
            page = await who["bob"]("audit", {"max": 1})
            parts += page.cursor.split(".")
            if number:
                (older,) = (await who["bob"]("audit", {"max": 1, "cursor": page.cursor})).lines
                assert older.at < page.lines[0].at
        assert parts
        for part in parts:
            with pytest.raises(BadArgs, match="cursor"):
                await who["bob"]("events", {"cursor": part})
        for wrong in ("..", "0.0.0", parts[0], f"{parts[0]}.."):
            with pytest.raises(BadArgs, match="cursor"):
                await who["bob"]("audit", {"cursor": wrong})


async def test_a_page_of_events_is_limited_by_what_is_in_it() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, HOST, {"id": "pat", "kind": "human"})
        for number in range(6):
            await who["pat"]("send_data", {"data": f"{number}" + "x" * 100_000})
        cursor, sizes, seen = "", [], []
        while True:
            page = await who["hostess"]("events", {"cursor": cursor, "max": 500})
            sizes.append(sum(len(item.data or "") for item in page.items))
            seen += [item.data[0] for item in page.items if item.data]
            cursor = page.cursor
            if not page.more:
                break
        assert seen == list("012345")
        assert max(sizes) < 300_000
        newest = (await who["hostess"]("events", {"last": 500})).items
        assert sum(len(item.data or "") for item in newest) < 300_000
        assert newest[-1].data[0] == "5"
