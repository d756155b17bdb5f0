"""Work on threads: a limited number at once, and a place is free only when the work has ended."""

import asyncio
import threading

import pytest

from cohabit.errors import WorldTimeout
from cohabit.house.threads import Pool, Worker, run_in_thread
from cohabit.testing.clock import FakeClock

from .making import make_room, open_house


async def test_the_result_of_the_work_comes_back_and_so_does_its_exception() -> None:
    pool = Pool("test", 1)
    assert await pool.run(lambda: 7) == 7
    thread = await pool.run(threading.current_thread)
    thread.join(10)
    assert not thread.is_alive(), "no thread is kept"
    with pytest.raises(KeyError):
        await pool.run(lambda: {}["x"])
    assert await pool.drain(1)


async def test_no_more_than_the_limit_run_at_once() -> None:
    pool, go, begun = Pool("test", 2), threading.Event(), []

    def work() -> None:
        begun.append(1)
        go.wait(100)

    jobs = [asyncio.ensure_future(pool.run(work)) for _ in range(5)]
    while len(begun) < 2:
        await asyncio.sleep(0)
    assert len(begun) == 2
    assert not await pool.drain(0)
    go.set()
    await asyncio.gather(*jobs)
    assert len(begun) == 5


async def test_a_place_stays_taken_until_the_work_ends_although_nobody_waits() -> None:
    pool, go, begun = Pool("test", 1), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        go.wait(100)

    cancelled = asyncio.ensure_future(pool.run(work))
    await asyncio.to_thread(begun.wait)
    cancelled.cancel()
    second = asyncio.ensure_future(pool.run(lambda: "second"))
    for _ in range(20):
        await asyncio.sleep(0)
    assert not second.done()
    go.set()
    assert await second == "second"


async def test_a_thread_that_cannot_be_started_gives_its_place_back(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    pool = Pool("test", 1)
    with monkeypatch.context() as full:
        full.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError, match="new thread"):
            await pool.run(lambda: 1)
    assert await pool.drain(0)
    assert await asyncio.wait_for(pool.run(lambda: 7), 120) == 7


async def test_work_that_does_not_return_in_time_is_a_world_timeout_that_names_it() -> None:
    go = threading.Event()
    with pytest.raises(WorldTimeout, match=r"room den did not open within 0\.05 s"):
        await run_in_thread("room den", go.wait, 0.05)
    go.set()


@pytest.mark.parametrize("raised", [SystemExit, KeyboardInterrupt, StopIteration, asyncio.CancelledError])
async def test_work_that_raises_what_would_end_the_event_loop_does_not_end_it(raised: type[BaseException]) -> None:
    def work() -> None:
        raise raised("from a world")

    with pytest.raises(RuntimeError, match=raised.__name__) as wrong:
        await run_in_thread("a world", work)
    assert isinstance(wrong.value.__cause__, raised), "the log shows where it was raised"


async def test_a_worker_runs_its_jobs_in_order_and_ends_after_the_last() -> None:
    worker, done = Worker("test"), []
    results = [worker.run(lambda i=i: done.append(i)) for i in range(20)]  # type: ignore[misc]  # mypy cannot infer a default in a lambda
    worker.close()
    await asyncio.gather(*results)
    assert done == list(range(20))


async def test_the_threads_of_a_house_end_with_it_and_none_keeps_its_process_from_ending() -> None:
    before = threading.enumerate()
    async with open_house(clock=FakeClock()) as house:
        who = await make_room(house, world="Stuck")
        await who["ann"]("view")
        ours = {thread.name: thread for thread in threading.enumerate() if thread not in before}
        assert {"cohabit-watchdog", "cohabit-writer", "cohabit-world-den"} <= ours.keys()
        assert [name for name, thread in ours.items() if not thread.daemon] == []
    for thread in ours.values():
        thread.join(10)
    assert [name for name, thread in ours.items() if thread.is_alive()] == []
