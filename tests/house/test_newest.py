"""The newest answer about a room is made once for all who ask at the same time."""

import asyncio

import pytest

from cohabit.house.calls.newest import Newest


class Maker:
    """Makes numbered answers. Each is done when the test says so."""

    def __init__(self) -> None:
        self.made = 0
        self.at_once = 0
        self.most_at_once = 0
        self.go_on = asyncio.Semaphore(0)

    async def __call__(self) -> int:
        self.made += 1
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await self.go_on.acquire()
        self.at_once -= 1
        return self.made


async def test_callers_at_the_same_time_get_one_answer() -> None:
    newest, make = Newest[int](2), Maker()
    calls = [asyncio.create_task(newest.get("a", lambda kept: True, make)) for _ in range(5)]
    await asyncio.sleep(0)
    make.go_on.release()
    assert await asyncio.gather(*calls) == [1] * 5
    assert make.made == 1


async def test_an_answer_that_no_longer_serves_is_made_again_and_never_by_two_at_once() -> None:
    newest, make = Newest[int](2), Maker()

    async def ask() -> int:
        return await newest.get("a", lambda kept: False, make)

    first, second = asyncio.create_task(ask()), asyncio.create_task(ask())
    await asyncio.sleep(0)
    make.go_on.release()
    assert await first == 1
    third = asyncio.create_task(ask())  # comes when the second has just begun
    for _ in range(5):
        await asyncio.sleep(0)
    assert (make.made, make.most_at_once) == (2, 1)
    make.go_on.release()
    make.go_on.release()
    assert sorted([await second, await third]) == [2, 3]
    assert make.most_at_once == 1


async def test_a_failure_leaves_the_answer_before_and_the_next_caller_tries_again() -> None:
    newest, serves = Newest[int](2), False

    async def fail() -> int:
        raise ValueError("no")

    async def make() -> int:
        return 7

    assert await newest.get("a", lambda kept: serves, make) == 7
    with pytest.raises(ValueError, match="no"):
        await newest.get("a", lambda kept: serves, fail)
    serves = True
    assert await newest.get("a", lambda kept: serves, fail) == 7


async def test_the_oldest_answers_are_dropped() -> None:
    newest, asked = Newest[str](2), list[str]()

    async def ask(room: str) -> str:
        async def make() -> str:
            asked.append(room)
            return room

        return await newest.get(room, lambda kept: True, make)

    for room in ("a", "b", "c", "c", "b", "a"):
        assert await ask(room) == room
    assert asked == ["a", "b", "c", "a"]
