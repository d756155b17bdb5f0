"""Work with a time limit on the clock of the house."""

import asyncio

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
    await asyncio.wait_for(done.wait(), 60)
