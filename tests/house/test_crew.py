"""Work on threads: so many at once, and a place is free only when the work has ended."""

import asyncio
import threading

import pytest

from cohabit.house.crew import Crew


async def test_the_answer_comes_back_and_so_does_what_was_raised() -> None:
    crew = Crew("test", 1)
    assert await crew.do(lambda: 7) == 7
    with pytest.raises(KeyError):
        await crew.do(lambda: {}["x"])
    assert await crew.rest(1)


async def test_no_more_than_so_many_work_at_once() -> None:
    crew, go, begun = Crew("test", 2), threading.Event(), []

    def work() -> None:
        begun.append(1)
        go.wait(10)

    jobs = [asyncio.ensure_future(crew.do(work)) for _ in range(5)]
    while len(begun) < 2:
        await asyncio.sleep(0)
    assert len(begun) == 2
    assert not await crew.rest(0)
    go.set()
    await asyncio.gather(*jobs)
    assert len(begun) == 5


async def test_a_place_stays_taken_until_the_work_ends_although_nobody_waits() -> None:
    crew, go, begun = Crew("test", 1), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        go.wait(10)

    forgotten = asyncio.ensure_future(crew.do(work))
    await asyncio.to_thread(begun.wait)
    forgotten.cancel()
    second = asyncio.ensure_future(crew.do(lambda: "second"))
    for _ in range(20):
        await asyncio.sleep(0)
    assert not second.done()
    go.set()
    assert await second == "second"


async def test_a_thread_that_cannot_be_started_gives_its_place_back(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    crew = Crew("test", 1)
    with monkeypatch.context() as full:
        full.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError, match="new thread"):
            await crew.do(lambda: 1)
    assert await crew.rest(0)
    assert await asyncio.wait_for(crew.do(lambda: 7), 10) == 7
