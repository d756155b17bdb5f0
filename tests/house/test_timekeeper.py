"""The timer of a room: ticks at its speed, fewer for a world that does not keep up, and none that are made up for."""

from typing import Any

import pytest

from cohabit.house.running.calls import Call
from cohabit.house.running.timekeeper import ARRIVALS_MS, MAX_TICKS, RETRY_MS, Timekeeper
from cohabit.house.settings import Settings
from cohabit.testing.clock import FakeClock

from .making import House, make_room, open_house

BEAT = 200


class Scene:
    """A timekeeper whose entries are collected and run only when the test says so."""

    def __init__(self, house: House, **settings: Any) -> None:
        self.room = house.rooms["den"].room
        self.clock = FakeClock()
        self.posted: list[Call] = []
        self.connected: set[str] = set()
        chosen = Settings(beat_ms=BEAT, **settings)
        self.time = Timekeeper(self.room, self.clock, chosen, lambda: self.connected, self.posted.append)
        self.time.reschedule()

    async def beat(self, run: bool = True) -> list[Any]:
        """The arguments of what one beat puts on record."""
        self.posted.clear()
        await self.clock.advance(BEAT)
        for call in self.posted:
            call.ran = run
        return [call.args for call in self.posted]


async def test_ticks_pass_at_the_speed_of_the_room_and_what_is_left_over_is_not_lost() -> None:
    async with open_house() as house:
        await make_room(house, world="Ticker")
        scene = Scene(house)
        assert [await scene.beat() for _ in range(3)] == [[{"n": 2}]] * 3
        scene.room.state.speed = "x0.5"
        assert [await scene.beat() for _ in range(3)] == [[{"n": 1}]] * 3
        scene.time.stop()
        assert await scene.beat() == []
        scene.time.reschedule()  # by a call that was on its way
        assert await scene.beat() == []


async def test_a_world_that_does_not_keep_up_gets_no_more_ticks_and_then_fewer_at_once() -> None:
    async with open_house() as house:
        await make_room(house, world="Ticker")
        scene = Scene(house)
        scene.room.state.speed = "x20"
        assert await scene.beat(run=False) == [{"n": 40}]
        for _ in range(4):  # 200, 100, 50, 25, 12 at once
            assert await scene.beat(run=False) == []
        scene.time._ticking.ran = True  # type: ignore[union-attr]
        assert await scene.beat() == [{"n": MAX_TICKS // 16}]
        assert await scene.beat() == [{"n": MAX_TICKS // 16 + 1}]  # and slowly more again


async def test_after_a_failed_write_the_timer_waits_a_while() -> None:
    async with open_house() as house:
        await make_room(house, world="Ticker")
        scene = Scene(house)
        scene.time.back_off()
        await scene.beat()
        for _ in range(RETRY_MS // BEAT - 2):
            assert await scene.beat() == []
        assert len(await scene.beat()) == 1


async def test_arrivals_are_put_on_record_together_and_soon_and_only_once() -> None:
    async with open_house() as house:
        await make_room(house)
        scene = Scene(house, away_ms=60_000)
        scene.time.mark_seen("ann")
        scene.time.mark_seen("bob")
        scene.time.mark_seen("ann")
        await scene.clock.advance(ARRIVALS_MS - 1)
        assert scene.posted == []
        await scene.clock.advance(1)
        assert [call.args for call in scene.posted] == [{"members": ["ann", "bob"], "here": True}]
        assert (scene.time.last_seen("ann"), scene.time.last_seen("hostess")) == (scene.clock.now() - ARRIVALS_MS, None)


async def test_nobody_is_away_while_it_is_connected_or_has_called_within_the_time() -> None:
    async with open_house() as house:
        await make_room(house)
        scene = Scene(house, away_ms=1000)
        for who in ("ann", "bob", "hostess"):
            scene.room.state.members[who].here = True
        scene.connected = {"hostess"}
        scene.time.mark_seen("ann")
        await scene.clock.advance(500)
        scene.time.mark_seen("bob")
        await scene.clock.advance(700)
        assert [call.args for call in scene.posted] == [{"members": ["ann"], "here": False}]


async def test_a_world_that_never_keeps_up_gets_one_tick_at_once_and_no_fewer() -> None:
    async with open_house() as house:
        await make_room(house, world="Ticker")
        scene = Scene(house)
        scene.room.state.speed = "x20"
        assert await scene.beat(run=False) == [{"n": 40}]
        for _ in range(20):
            assert await scene.beat(run=False) == []
        scene.time._ticking.ran = True  # type: ignore[union-attr]
        assert await scene.beat() == [{"n": 1}]


@pytest.mark.parametrize(("keys", "ticks"), [
    ({}, True), ({"turn_based": True}, True), ({"turn_based": True, "ticks_per_turn": 5}, False),
    ({"step_ticks": 5}, False),
])  # fmt: skip
async def test_the_timer_ticks_only_where_time_does_not_advance_by_turns_or_steps(
    keys: dict[str, Any], ticks: bool
) -> None:
    async with open_house() as house:
        await make_room(house, world="Ticker", **keys)
        assert bool(await Scene(house).beat()) is ticks


async def test_a_room_has_one_timer_however_often_something_earlier_comes_up() -> None:
    async with open_house() as house:
        await make_room(house)
        scene = Scene(house)
        for who in ("ann", "bob", "hostess"):
            scene.time.mark_seen(who)
            live = [timer for *_, timer in vars(scene.clock)["_timers"] if vars(timer)["_then"] is not None]
            assert len(live) == 1
