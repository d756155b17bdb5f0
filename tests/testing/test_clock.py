import asyncio

import pytest

from cohabit.testing.clock import START, FakeClock
from cohabit.testing.faces import reference_house


async def test_a_fake_clock_stands_still_until_it_is_told_to_go_on():
    clock = FakeClock()
    rang: list[int] = []
    clock.call_at(START + 10, lambda: rang.append(clock.now()))
    await asyncio.sleep(0)
    assert (clock.now(), rang) == (START, [])
    await clock.advance(9)
    assert (clock.now(), rang) == (START + 9, [])
    await clock.advance(1)
    assert (clock.now(), rang) == (START + 10, [START + 10])


async def test_timers_fire_in_order_each_at_its_own_time():
    clock = FakeClock(at=0)
    rang: list[tuple[str, int]] = []
    for name, at in (("late", 30), ("early", 10), ("also early", 10), ("past", -5)):
        clock.call_at(at, lambda name=name: rang.append((name, clock.now())))
    await clock.advance(100)
    assert rang == [("past", 0), ("early", 10), ("also early", 10), ("late", 30)]
    assert clock.now() == 100


async def test_a_cancelled_timer_does_not_ring():
    clock = FakeClock()
    rang: list[str] = []
    clock.call_at(START + 1, lambda: rang.append("one")).cancel()
    await clock.advance(5)
    assert rang == []


async def test_a_timer_set_by_a_timer_rings_within_the_same_advance():
    clock = FakeClock(at=0)
    rang: list[int] = []

    def beat() -> None:
        rang.append(clock.now())
        clock.call_at(clock.now() + 10, beat)

    clock.call_at(10, beat)
    await clock.advance(35)
    assert rang == [10, 20, 30]


async def test_tasks_that_a_timer_wakes_are_done_before_the_next_timer_fires():
    clock = FakeClock(at=0)
    log: list[str] = []
    woken = asyncio.Event()

    async def sleeper() -> None:
        await woken.wait()
        log.append("woken")

    task = asyncio.create_task(sleeper())
    clock.call_at(1, woken.set)
    clock.call_at(2, lambda: log.append("next"))
    await clock.advance(5)
    await task
    assert log == ["woken", "next"]


async def test_time_does_not_go_back():
    with pytest.raises(ValueError, match="must not be negative"):
        await FakeClock().advance(-1)


async def test_a_world_that_runs_by_itself_runs_on_the_fake_clock():
    async with reference_house() as reference:
        assert isinstance(reference.clock, FakeClock)
        await reference.clock.advance(10_000)
        world = reference.house.rooms["island"].room.world
        assert world.observe.__self__.tick == 10
