"""Work with a time limit on the clock of the house."""

import asyncio
import time

import pytest

from cohabit.house.clock import SystemClock, in_time
from cohabit.testing.clock import FakeClock

from .making import a_moment


async def test_work_that_ends_in_time_gives_its_result_and_the_limit_does_nothing_any_more() -> None:
    clock = FakeClock()

    async def work() -> int:
        return 7

    assert await in_time(clock, 100, work()) == 7
    await clock.advance(1000)


async def test_work_that_takes_longer_is_cancelled_and_that_is_a_timeout() -> None:
    clock, ended = FakeClock(), []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled")

    waiting = asyncio.ensure_future(in_time(clock, 100, work()))
    await a_moment()
    await clock.advance(99)
    assert not ended
    await clock.advance(1)
    with pytest.raises(TimeoutError):
        await waiting
    assert ended == ["cancelled"]


async def test_a_caller_that_is_cancelled_is_not_told_of_a_timeout() -> None:
    waiting = asyncio.ensure_future(in_time(FakeClock(), 100, asyncio.Event().wait()))
    await a_moment()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_what_is_due_already_happens_at_once() -> None:
    clock, done = SystemClock(), asyncio.Event()
    clock.call_at(clock.now() - 10_000, done.set)
    assert await asyncio.wait_for(done.wait(), 120)


def test_the_clock_tells_milliseconds_of_the_system_time_and_does_not_follow_when_that_is_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    times = {"time_ns": 1_750_000_000_123_456_789, "monotonic_ns": 77_000_000_000_000}
    for name in times:
        monkeypatch.setattr(time, name, lambda name=name: times[name])
    clock = SystemClock()
    assert clock.now() == 1_750_000_000_123
    times["time_ns"] = 0
    times["monotonic_ns"] += 5_000_000_000
    assert clock.now() == 1_750_000_005_123
