"""Time in a house: waits, presence, timeouts, ticks, and bots that stand in."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from msgspec.json import encode as to_json

from cohabit.errors import BadArgs, CohabitError, Quarantined, Unauthorized
from cohabit.house.calls.command_list import list_commands
from cohabit.house.house import House
from cohabit.house.running.runner import RoomRunner
from cohabit.house.store.memory import MemoryStore
from cohabit.model.grant import Capability
from cohabit.testing.clock import FakeClock

from .making import (
    ANN,
    BOB,
    HOST,
    OWL,
    REFUSALS,
    Client,
    HeldStore,
    a_moment,
    back_again,
    deeds,
    issue,
    make_room,
    open_house,
    player,
)


# -- waiting ----------------------------------------------------------------------------------------
async def test_a_wait_for_messages_ends_with_the_first_message() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house)
        waiting = asyncio.create_task(who["bob"]("recv_messages", {"wait_ms": 30_000}))
        await clock.advance(5_000)
        assert not waiting.done()
        await who["ann"]("send_message", {"to": "bob", "content": "wake up"})
        got = await waiting
        assert [m["content"] for m in got.items] == ["wake up"]


async def test_a_wait_ends_by_itself_and_not_before() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house)
        waiting = asyncio.create_task(who["bob"]("recv_messages", {"wait_ms": 2_000, "since_seq": 0}))
        await clock.advance(1_999)
        assert not waiting.done()
        await clock.advance(1)
        assert (await waiting).items == []


async def test_a_wait_is_not_ended_by_what_the_member_may_not_know() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house, ANN, BOB, HOST, partial_intel=True)
        mail = asyncio.create_task(who["bob"]("recv_messages", {"wait_ms": 10_000}))
        cursor = (await who["bob"]("events")).cursor
        news = asyncio.create_task(who["bob"]("events", {"cursor": cursor, "wait_ms": 10_000}))
        await a_moment()
        await who["ann"]("hide", {"n": 1})
        await who["ann"]("send_message", {"to": "hostess", "content": "x"})
        await a_moment()
        assert not mail.done()
        assert not news.done()
        await clock.advance(10_000)
        assert (await mail).items == []
        after = await news
        assert {item.do for item in after.items} <= {"presence"}


@pytest.mark.parametrize("wait_ms", [-1, 30_001, 10**12, "long"])
async def test_a_wait_has_a_limit_and_a_longer_one_is_refused_and_audited(wait_ms: Any) -> None:
    async with open_house() as house:
        who = await make_room(house)
        for name in ("recv_messages", "wait_for_turn"):
            with pytest.raises(BadArgs):
                await who["bob"](name, {"wait_ms": wait_ms})
        with pytest.raises(BadArgs):
            await who["bob"]("events", {"wait_ms": wait_ms})
        refused = (await who["hostess"]("audit", REFUSALS)).lines
        assert {r.command for r in refused} >= {"recv_messages", "wait_for_turn"}


async def test_waiting_for_the_turn_ends_when_it_comes_or_when_the_game_is_over() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house, world="nim", config={"stones": 3})
        waiting = asyncio.create_task(who["bob"]("wait_for_turn", {"wait_ms": 30_000}))
        await a_moment()
        assert not waiting.done()
        await who["ann"]("take", {"n": 1})
        assert (await waiting).your_turn
        waiting = asyncio.create_task(who["ann"]("wait_for_turn", {"wait_ms": 30_000}))
        await a_moment()
        await who["bob"]("take", {"n": 2})
        assert (await waiting).over


async def test_after_the_end_the_first_wait_tells_it_and_the_next_one_waits_for_the_next_game() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house, world="nim", config={"stones": 3}, rematch_seconds=20)
        both = [asyncio.create_task(who["bob"]("wait_for_turn", {"wait_ms": 30_000})) for _ in range(2)]
        await a_moment()
        await who["ann"]("take", {"n": 3})
        assert [(await waiting).over for waiting in both] == [True, True]  # two connections of one member
        assert (await who["ann"]("view")).over
        assert (await who["ann"]("wait_for_turn", {"wait_ms": 30_000})).over
        waiting = asyncio.create_task(who["ann"]("wait_for_turn", {"wait_ms": 30_000}))
        await clock.advance(19_999)
        assert not waiting.done()
        await clock.advance(1)
        reply = await waiting
        assert (reply.over, reply.your_turn) == (False, True)
        await who["ann"]("take", {"n": 3})
        assert (await who["ann"]("wait_for_turn", {"wait_ms": 30_000})).over  # the end of another game


async def test_a_wait_for_a_next_game_that_does_not_come_ends_when_its_time_is_up() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house, world="nim", config={"stones": 3})
        await who["ann"]("take", {"n": 3})
        assert (await who["bob"]("wait_for_turn", {"wait_ms": 5_000})).over
        assert (await who["bob"]("wait_for_turn", {"wait_ms": 0})).over
        waiting = asyncio.create_task(who["bob"]("wait_for_turn", {"wait_ms": 5_000}))
        await clock.advance(4_999)
        assert not waiting.done()
        await clock.advance(1)
        assert (await waiting).over


async def test_events_that_are_there_already_are_not_waited_for() -> None:
    async with open_house() as house:
        who = await make_room(house)
        cursor = (await who["bob"]("events")).cursor
        await who["ann"]("shout", {"text": "early"})
        got = await who["bob"]("events", {"cursor": cursor, "wait_ms": 30_000})
        assert any("early" in item.text for item in got.items)


async def test_an_own_action_does_not_end_a_wait_for_events_and_comes_with_what_does() -> None:
    async with open_house() as house:
        who = await make_room(house)
        cursor = (await who["bob"]("events")).cursor
        waiting = asyncio.create_task(who["bob"]("events", {"cursor": cursor, "wait_ms": 30_000}))
        await a_moment()
        await who["bob"]("shout", {"text": "mine"})
        await a_moment()
        assert not waiting.done()
        await who["ann"]("shout", {"text": "hers"})
        got = await waiting
        assert [item.text for item in got.items if item.do == "shout"] == ["blue: mine", "red: hers"]
        assert (await who["bob"]("events", {"cursor": got.cursor})).items == []


async def test_own_actions_are_delivered_when_the_time_is_up_and_never_twice() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house, ANN, OWL)
        await who["ann"]("shout", {"text": "before"})
        cursor = (await who["ann"]("events")).cursor  # what comes after it is in memory: no read that takes real time
        await who["ann"]("shout", {"text": "one"})
        waiting = asyncio.create_task(who["ann"]("events", {"cursor": cursor, "wait_ms": 5_000}))
        await clock.advance(1_000)  # the connection of ann is noted; that is no news to ann
        await who["ann"]("shout", {"text": "two"})
        await clock.advance(3_999)
        assert not waiting.done()
        await clock.advance(1)
        got = await waiting
        assert [item.text for item in got.items] == ["red: one", "ann connected", "red: two"]
        assert (await who["ann"]("events", {"cursor": got.cursor})).items == []


async def test_a_full_page_of_own_actions_is_not_waited_for() -> None:
    async with open_house() as house:
        who = await make_room(house)
        cursor = (await who["ann"]("events")).cursor
        for number in range(3):
            await who["ann"]("shout", {"text": str(number)})
        got = await who["ann"]("events", {"cursor": cursor, "wait_ms": 30_000, "max": 2})
        assert (len(got.items), got.more) == (2, True)


async def test_a_waiting_call_runs_again_only_for_entries_that_concern_its_caller(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs: list[str] = []
    submit = RoomRunner.submit

    def counted(runner: RoomRunner, call: Any) -> Any:
        runs.append(getattr(call, "name", ""))
        return submit(runner, call)

    monkeypatch.setattr(RoomRunner, "submit", counted)
    async with open_house() as house:
        who = await make_room(house, partial_intel=True)
        await who["bob"]("shout", {"text": "what bob has been told before"})
        waiting = asyncio.create_task(who["bob"]("recv_messages", {"wait_ms": 30_000}))
        await a_moment()
        for number in (1, 2):
            await who["ann"]("mumble", {"n": number})
            await a_moment()
        assert runs.count("recv_messages") == 1
        await who["ann"]("send_message", {"to": "bob", "content": "hello"})
        assert [item["content"] for item in (await waiting).items] == ["hello"]
        assert runs.count("recv_messages") == 2


async def test_an_own_action_ends_a_wait_that_asks_for_it() -> None:
    async with open_house() as house:
        who = await make_room(house)
        cursor = (await who["bob"]("events")).cursor
        waiting = asyncio.create_task(who["bob"]("events", {"cursor": cursor, "wait_ms": 30_000, "own": True}))
        await a_moment()
        await who["bob"]("shout", {"text": "mine"})
        assert [item.text for item in (await waiting).items][-1] == "blue: mine"


async def test_what_happens_in_a_step_is_news_also_to_the_member_who_passed_last() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, world="lanterns", step_ticks=1_000)
        cursor = (await who["ann"]("events")).cursor
        await who["ann"]("turn_advance")
        got = await who["ann"]("events", {"cursor": cursor, "wait_ms": 30_000})
        assert ("your lantern goes dark", None) in {(item.text, item.by) for item in got.items}


async def test_where_time_runs_by_itself_waiting_for_the_turn_waits_for_news_of_others() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house, ANN, BOB, HOST, world="Ticker")
        await who["ann"]("view")
        await clock.advance(1_000)
        waiting = asyncio.create_task(who["ann"]("wait_for_turn", {"wait_ms": 30_000}))
        await clock.advance(1_000)  # time passes, and that is no news
        await who["ann"]("drop")
        await who["bob"]("send_message", {"to": "hostess", "content": "not for ann"})
        await a_moment()
        assert not waiting.done()
        await who["bob"]("drop")
        got = await waiting
        assert got.your_turn
        assert got.observation.status["ticks"] == house.rooms["den"].room.world.ticks


@pytest.mark.parametrize("reader", ["ann", "hostess"])
async def test_what_is_new_since_the_last_view_is_not_waited_for_and_nothing_is_new_twice(reader: str) -> None:
    clock = FakeClock()
    async with open_house(clock=clock, away_ms=10**6) as house:
        who = await make_room(house, ANN, BOB, HOST, world="Ticker")
        wait = {"wait_ms": 30_000}
        assert (await who[reader]("wait_for_turn", wait)).tick == 0, (
            "everything is new to a member that has seen nothing"
        )
        await who["bob"]("view")
        await clock.advance(1_000)
        first = await who[reader]("view")
        await who["bob"]("drop")
        await clock.advance(1_000)
        assert (await who[reader]("wait_for_turn", wait)).tick == first.tick + 10
        waiting = asyncio.create_task(who[reader]("wait_for_turn", wait))
        await clock.advance(29_999)
        assert not waiting.done()
        await clock.advance(1)
        last = (await waiting).tick
        assert last > first.tick + 10
        assert (await who[reader]("wait_for_turn", wait | {"since": first.id})).tick == last, (
            "bob dropped one since then"
        )


async def test_waiting_for_news_ends_when_the_token_expires() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house, ANN, BOB, HOST, world="Ticker")
        operator = house.identify(house.operator_token())
        made = await house.call(operator, None, "issue_credential", {"name": "ann", "room": "den", "expires_in_s": 10})
        ann = Client(house, "den", "ann", made.token)
        await ann("view")
        await clock.advance(1_000)
        waiting = asyncio.create_task(ann("wait_for_turn", {"wait_ms": 30_000}))
        await clock.advance(8_000)
        assert not waiting.done()
        await clock.advance(2_000)
        with pytest.raises(Unauthorized, match="expired"):
            await waiting
        assert (await who["ann"]("view")).tick > 0


async def test_a_wait_for_the_turn_can_return_what_has_changed() -> None:
    async with open_house() as house:
        who = await make_room(house, ANN, BOB, world="lanterns", step_ticks=5)
        first = await who["ann"]("view")
        await who["ann"]("turn_advance")
        waiting = asyncio.create_task(who["ann"]("wait_for_turn", {"wait_ms": 30_000, "since": first.id}))
        await a_moment()
        assert not waiting.done()
        await who["bob"]("turn_advance")
        got = await waiting
        assert (got.your_turn, got.since) == (True, first.id)
        assert got.changed["step"] == 5
        assert got.text.startswith(f"Changes since view {first.id}")


async def test_a_hundred_waiters_are_all_woken() -> None:
    async with open_house() as house:
        who = await make_room(house)
        waiting = [asyncio.create_task(who["bob"]("recv_messages", {"wait_ms": 30_000})) for _ in range(100)]
        await a_moment()
        await who["ann"]("send_message", {"to": "bob", "content": "all of you"})
        assert all([(await w).count == 1 for w in waiting])


# -- presence ---------------------------------------------------------------------------------------
async def test_a_member_that_calls_is_here_and_one_that_is_silent_is_away_after_a_while() -> None:
    clock = FakeClock()
    async with open_house(clock=clock, away_ms=10_000) as house:
        who = await make_room(house)

        async def here() -> set[str]:
            await house.rooms["den"].drained()
            return {m.id for m in house.rooms["den"].room.state.members.values() if m.here}

        assert await here() == set()
        await who["ann"]("view")
        await who["bob"]("view")
        await clock.advance(500)
        assert await here() == {"ann", "bob"}
        await clock.advance(8_000)
        await who["ann"]("view")
        await clock.advance(8_000)
        assert await here() == {"ann"}
        await clock.advance(30_000)
        assert await here() == set()
        came = [e.args["members"] for e in deeds(house.rooms["den"].room, "presence") if e.args["here"]]
        assert came == [["ann", "bob"]], "arrivals are put on record together"


async def test_while_a_room_is_busy_a_member_that_left_is_noted_once_and_a_timeout_is_asked_for_once() -> None:
    clock = FakeClock()
    async with open_house(clock=clock, away_ms=10_000) as house:
        who = await make_room(house, world="Stuck", turn_based=True, turn_seconds=30)
        await who["ann"]("view")
        await clock.advance(500)
        busy = asyncio.create_task(who["ann"]("doze", {"ms": 500}))
        await a_moment()
        clock.between, rest = None, clock.between
        for _ in range(100):
            await clock.advance(1_000)
        assert not busy.done()
        runner = house.rooms["den"]
        assert len(runner._queue) <= 2  # one for the member that left, one for the turn that has timed out
        clock.between = rest
        await busy
        await clock.advance(1)
        assert [e.args["members"] for e in deeds(runner.room, "presence") if not e.args["here"]] == [["ann"]]


async def test_a_member_with_a_subscription_is_here_however_silent() -> None:
    clock = FakeClock()
    async with open_house(clock=clock, away_ms=10_000) as house:
        who, runner = await make_room(house), house.rooms["den"]
        reader = await who["ann"].reader(views=False)
        await clock.advance(100_000)
        assert runner.room.state.members["ann"].here
        reader.sub.close()
        await clock.advance(100_000)
        assert not runner.room.state.members["ann"].here


async def test_calling_often_does_not_flood_the_record() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house)
        for _ in range(200):
            await who["ann"]("view")
            await clock.advance(50)
        assert len(deeds(house.rooms["den"].room, "presence")) == 1


# -- timeouts and ticks- ----------------------------------------------------------------------------
async def test_a_silent_seat_is_skipped_by_the_clock_of_the_house() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house, world="nim", turn_seconds=10, config={"stones": 20})
        await house.subscribe(house.identify(who["ann"].token), "den")  # one who is away is not waited for again
        await clock.advance(10_000)
        assert (await who["bob"]("whoami")).your_turn
        await clock.advance(10_000)
        assert (await who["ann"]("whoami")).your_turn
        assert len(deeds(house.rooms["den"].room, "turn_timeout")) == 2


async def test_a_grant_expires_by_the_clock_of_the_house() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        who = await make_room(house)
        await who["hostess"]("grant", {"member": "ann", "may": ["watch"], "expires_in_s": 5})
        await clock.advance(5_000)
        assert len(deeds(house.rooms["den"].room, "grant_expired")) == 1


async def test_a_clock_world_runs_at_its_speed_stands_while_paused_and_its_ticks_are_summed() -> None:
    clock = FakeClock()
    async with open_house(clock=clock, beat_ms=200) as house:
        who = await make_room(house, world="Ticker")
        room = house.rooms["den"].room
        await clock.advance(10_000)
        assert room.state.tick == 100
        assert len(deeds(room, "ticks")) == 50
        await who["hostess"]("set_speed", {"speed_id": "x5"})
        await clock.advance(10_000)
        assert 590 <= room.state.tick <= 600
        await who["ann"]("pause")
        paused_at = room.state.tick
        cursor = asyncio.create_task(keep_calling(who["ann"], clock, 20))
        await cursor
        assert room.state.tick == paused_at
        await who["ann"]("resume")
        await clock.advance(1_000)
        assert room.state.tick > paused_at


async def keep_calling(client: Any, clock: FakeClock, times: int) -> None:
    for _ in range(times):
        await clock.advance(1_000)
        await client("whoami")


async def test_time_in_which_the_machine_slept_is_not_made_up_for() -> None:
    clock = FakeClock()
    async with open_house(clock=clock, beat_ms=200) as house:
        await make_room(house, world="Ticker")
        vars(clock)["_now"] += 3_600_000  # the machine slept
        await clock.advance(200)
        assert house.rooms["den"].room.state.tick <= 30


async def test_the_pause_of_a_player_that_leaves_ends_after_a_while() -> None:
    clock = FakeClock()
    async with open_house(clock=clock, away_ms=10_000) as house:
        who = await make_room(house, world="Ticker", pause_seconds=30)
        await who["ann"]("pause")
        await clock.advance(9_000)
        assert house.rooms["den"].room.state.paused
        await clock.advance(60_000)
        assert not house.rooms["den"].room.state.paused


async def test_a_player_that_returns_in_time_keeps_its_pause() -> None:
    clock = FakeClock()
    async with open_house(clock=clock, away_ms=10_000) as house:
        who = await make_room(house, world="Ticker", pause_seconds=30)
        await who["ann"]("pause")
        await clock.advance(25_000)
        await who["ann"]("whoami")
        await clock.advance(9_000)
        await who["ann"]("whoami")
        await clock.advance(9_000)
        assert house.rooms["den"].room.state.paused


# -- stand-ins --------------------------------------------------------------------------------------
async def until(clock: FakeClock, done: Any) -> None:
    async with asyncio.timeout(120):
        while not done():
            await clock.advance(1_000)
            await asyncio.sleep(0.001)  # a bot thinks on a thread of its own


async def test_a_bot_plays_for_a_player_that_is_away_and_gives_the_seat_back_at_once() -> None:
    clock = FakeClock()
    async with open_house(clock=clock, away_ms=10_000) as house:
        who = await make_room(
            house,
            player("ann", 0, stand_in="random"),
            BOB,
            HOST,
            world="nim",
            stand_in_seconds=20,
            config={"stones": 900},
        )
        room = house.rooms["den"].room
        await who["ann"]("take", {"n": 1})
        await who["bob"]("take", {"n": 1})
        await until(clock, lambda: deeds(room, "take")[-1].via == "random")
        assert deeds(room, "stand_in")
        assert (await who["bob"]("roster")).members[0].played_by == "random"
        await who["bob"]("take", {"n": 1})
        await until(clock, lambda: len(deeds(room, "take")) == 5)
        assert [e.via for e in deeds(room, "take")] == [None, None, "random", None, "random"]
        me = await who["ann"]("whoami")
        assert not me.your_turn
        assert not room.state.members["ann"].played_by_bot
        await who["bob"]("take", {"n": 1})
        for _ in range(8):  # ann plays her seat again, so no bot does
            await clock.advance(1_000)
            await who["ann"]("view")
        assert len(deeds(room, "take")) == 6
        assert (await who["ann"]("take", {"n": 1})).success


async def test_a_stand_in_in_a_world_with_rounds_plays_at_the_pace_of_a_person_and_its_player_is_told() -> None:
    clock = FakeClock()
    async with open_house(clock=clock, away_ms=10_000) as house:
        away, bot = player("ann", 0, stand_in="trader"), player("bob", 1, brain="trader")
        who = await make_room(house, away, bot, HOST, world="statecraft", stand_in_seconds=20)
        room = house.rooms["den"].room
        await who["ann"]("submit", {})
        await until(clock, lambda: deeds(room, "stand_in") != [])
        turn, began = room.world.state.turn, clock.now()
        await until(clock, lambda: room.world.state.turn == turn + 3)
        assert clock.now() - began >= 3 * 10_000
        await who["ann"]("view")
        told = [t for line in room.record.tail for t in line.entry.told if t.members == ("ann",)]
        assert [t.text.startswith("your stand-in played for you for ") for t in told] == [True]


async def test_no_bot_plays_for_the_silent_players_of_a_world_opened_alone() -> None:
    clock = FakeClock()
    async with open_house(clock=clock, away_ms=10_000) as house:
        host = house.identify(house.operator_token())
        await house.call(host, None, "create_room", {"world": "nim", "players": ["x", "y"], "room": "den"})
        room = house.rooms["den"].room
        await clock.advance(600_000)
        assert (deeds(room, "stand_in"), deeds(room, "take")) == ([], [])
        assert [m.stand_in for m in room.state.members.values() if m.claim] == [None, None]


async def test_a_seat_with_a_brain_is_played_from_the_start_to_the_end() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        brains = [player("x", 0, brain="random"), player("y", 1, brain="nim-master")]
        await make_room(house, *brains, HOST, world="nim", config={"stones": 30})
        room = house.rooms["den"].room
        await until(clock, lambda: not room.world.to_move())
        assert {e.via for e in deeds(room, "take")} == {"random", "nim-master"}


async def test_a_bot_whose_game_ends_while_it_pauses_does_not_stop_with_an_error(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        await make_room(house, player("x", 0, brain="random"), player("y", 1, brain="random"), HOST, world="lanterns",
            config={"ticks": 20},
        )  # fmt: skip
        room = house.rooms["den"].room
        await until(clock, room.is_over)
        for _ in range(5):
            await clock.advance(1_000)
            await asyncio.sleep(0.001)  # a bot thinks on a thread of its own
        assert "stopped" not in caplog.text


@pytest.mark.parametrize(
    ("world", "brains", "keys"),
    [
        ("statecraft", ("hawk", "tit-for-tat"), {"turn_seconds": 20}),
        pytest.param(
            "kingdoms", ("warlord", "steward"), {"config": {"zones_x": 2, "zones_y": 2}}, marks=pytest.mark.soak
        ),
    ],
)
async def test_hidden_brains_are_in_nothing_that_a_member_can_reach_who_does_not_see_everything(
    world: str, brains: tuple[str, str], keys: dict[str, Any]
) -> None:
    """Every command that changes nothing, the events, and what is pushed; to the member on the seat of a bot too."""
    clock = FakeClock()
    async with open_house(clock=clock, calls_per_second=100_000) as house:
        members = [player("ann", 0, brain=brains[0]), player("bob", 1, brain=brains[1]), player("cy", 2), HOST]
        members += [{"id": "owl", "role": "observer"}, {"id": "pat", "kind": "human"}]
        who = await make_room(house, *members, world=world, hide_brains=True, **keys)
        watching = await house.subscribe(house.identify(who["cy"].token), "den")
        room = house.rooms["den"].room
        blind = [m.id for m in room.state.members.values() if Capability.READ_ALL not in m.held]
        assert blind == ["ann", "bob", "cy", "hostess", "pat"]
        moves: set[int] = set()

        def four_moves() -> bool:  # a snapshot shortens the tail of the record
            moves.update(line.seq for line in room.record.tail if line.entry.via)
            return len(moves) >= 4

        await until(clock, four_moves)
        reached = [(await anext(watching)).decode() for _ in range(5)]
        for name in reversed(blind):  # the first call of a player takes the seat back from its bot
            credential = house.identify(who[name].token)
            for command in list_commands(house.services, credential, "den"):
                if not command.records and not command.schema["required"]:
                    args = {"wait_ms": 0} if command.waits else {"frames": 4} if command.name == "film" else {}
                    reached.append(f"{name} {command.name}: {to_json(await who[name](command.name, args)).decode()}")
        assert len(reached) > 40
        found = [text for text in reached for brain in brains if re.search(rf"\b{brain.replace('-', '.')}\b", text)]
        assert found == []


async def test_a_brain_that_does_not_exist_opens_no_room() -> None:
    async with open_house() as house:
        for key in ("brain", "stand_in"):
            with pytest.raises(BadArgs) as refused:
                await make_room(house, ANN, player("bob", 1, **{key: "randon"}))
            assert "agents[1]" in refused.value.message
            assert refused.value.did_you_mean[0] == "random"
        assert house.rooms == {}


async def test_an_invitation_with_a_stand_in_that_does_not_exist_is_refused() -> None:
    async with open_house() as house:
        who = await make_room(house)
        with pytest.raises(BadArgs, match="unknown brain 'nobody'"):
            await who["hostess"]("invite", {"id": "cy", "stand_in": "nobody"})
        assert (await who["hostess"]("invites")).invites == []


# -- a clock that was set back ------------------------------------------------------------------------
HOUR_MS = 3_600_000


@asynccontextmanager
async def set_back(clock: FakeClock, world: str = "nim", **keys: Any) -> AsyncIterator[tuple[House, dict[str, Any]]]:
    """A house whose record is an hour ahead of ``clock``: the system time was set back between two runs."""
    store = LastingStore()
    async with open_house(store=store, clock=FakeClock(clock.now() + HOUR_MS)) as house:
        who = await make_room(house, world=world, **keys)
        await who["ann"]("whoami")
        ahead = house.rooms["den"].room.record.at
    assert ahead >= clock.now() + HOUR_MS
    async with open_house(store=store, clock=clock) as house:
        yield house, back_again(house, who)


class LastingStore(MemoryStore):
    """A store that is kept when its house closes."""

    def close(self) -> None:
        pass


async def test_a_rate_limit_ends_after_a_second_though_the_record_is_ahead_of_the_clock() -> None:
    clock = FakeClock()
    async with set_back(clock) as (house, who):
        house.rooms["den"].room.budget.per_second = 10
        for _ in range(3):
            results = await asyncio.gather(*(who["ann"]("whoami") for _ in range(12)), return_exceptions=True)
            assert [isinstance(r, CohabitError) for r in results] == [False] * 10 + [True] * 2
            await clock.advance(1_000)


async def test_a_silent_seat_is_skipped_though_the_record_is_ahead_of_the_clock() -> None:
    clock = FakeClock()
    async with set_back(clock, turn_seconds=10, config={"stones": 20}) as (house, who):
        await house.subscribe(house.identify(who["ann"].token), "den")  # one who is away is not waited for again
        await clock.advance(10_000)
        assert (await who["bob"]("whoami")).your_turn
        await who["bob"]("take", {"n": 1})
        await clock.advance(10_000)
        assert (await who["bob"]("whoami")).your_turn
        times = [line.entry.at for line in house.rooms["den"].room.record.tail]
        assert times == sorted(times)
        assert times[-1] - times[0] >= 20_000


async def test_a_grant_expires_though_the_record_is_ahead_of_the_clock() -> None:
    clock = FakeClock()
    async with set_back(clock, world="Secrets") as (house, who):
        await who["hostess"]("grant", {"member": "ann", "may": ["watch"], "expires_in_s": 5})
        await clock.advance(4_000)
        assert not deeds(house.rooms["den"].room, "grant_expired")
        await clock.advance(1_000)
        assert len(deeds(house.rooms["den"].room, "grant_expired")) == 1


async def test_time_goes_on_evenly_when_the_clock_reaches_the_record_again() -> None:
    clock = FakeClock()
    async with set_back(clock, world="Secrets") as (house, who):
        await who["ann"]("hide", {"n": 1})
        await clock.advance(1_000)
        await who["ann"]("hide", {"n": 2})
        vars(clock)["_now"] += 2 * HOUR_MS  # nothing was recorded meanwhile
        await who["ann"]("hide", {"n": 3})
        first, second, third = (entry.at for entry in deeds(house.rooms["den"].room, "hide"))
        assert (second - first, third - second) == (1_000, 2 * HOUR_MS)


async def test_a_new_token_is_valid_for_its_time_though_the_record_is_ahead_of_the_clock() -> None:
    clock = FakeClock()
    async with set_back(clock) as (house, _):
        guest = await issue(house, "gus", host=True, expires_in_s=600)
        await guest("join")
        await clock.advance(599_000)
        assert await guest("whoami")
        await clock.advance(1_000)
        with pytest.raises(Unauthorized):
            await guest("whoami")


# -- nobody can stall the house -----------------------------------------------------------------------
async def test_a_room_that_waits_for_its_disk_does_not_keep_others_from_answering() -> None:
    store = HeldStore()
    async with open_house(store=store) as house:
        one, two = await make_room(house, room="one"), await make_room(house, room="two")
        await asyncio.gather(house.rooms["one"].drained(), house.rooms["two"].drained())
        store.go.clear()
        held = asyncio.create_task(one["ann"]("hide", {"n": 1}))
        await a_moment()
        assert (await asyncio.wait_for(two["ann"]("view"), 120)).text
        store.go.set()
        await held


async def test_a_member_over_its_budget_is_busy_and_the_others_are_not() -> None:
    async with open_house(calls_per_second=10) as house:
        who = await make_room(house)
        results = await asyncio.gather(*(who["ann"]("whoami") for _ in range(30)), return_exceptions=True)
        assert sum(isinstance(r, CohabitError) and r.code == "BUSY" for r in results) == 20
        await who["bob"]("whoami")


async def test_bots_play_on_after_their_room_was_reopened() -> None:
    clock = FakeClock()
    async with open_house(clock=clock) as house:
        brains = [player("x", 0, brain="random"), player("y", 1, brain="random")]
        who = await make_room(house, *brains, HOST, world="nim", config={"stones": 900})
        await until(clock, lambda: len(deeds(house.rooms["den"].room, "take")) >= 4)
        house.rooms["den"].stop(Quarantined("for the test"))
        await who["hostess"]("reopen_room")
        played = len(deeds(house.rooms["den"].room, "take"))
        await until(clock, lambda: len(deeds(house.rooms["den"].room, "take")) >= played + 4)
        assert house.rooms["den"].failure is None
