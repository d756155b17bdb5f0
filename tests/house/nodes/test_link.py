"""Requests and replies between two processes."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.errors import BadArgs, Busy, Internal
from cohabit.house.nodes.link import Frames, Handler, Link, framed


@asynccontextmanager
async def linked(left: dict[str, Handler], right: dict[str, Handler]) -> AsyncIterator[tuple[Link, Link]]:
    ours, theirs = socket.socketpair()
    one, other = await Link.over(ours, left), await Link.over(theirs, right)
    try:
        yield one, other
    finally:
        one.close()
        other.close()
        await asyncio.gather(one.run(), other.run())


async def test_either_side_asks_and_errors_keep_their_code_and_words() -> None:
    def refuse() -> None:
        raise BadArgs("no such cell", did_you_mean=["4"], field="cell")

    async def slow(a: int, b: bytes) -> list[Any]:
        await asyncio.sleep(0)
        return [a, b]

    async with linked({"slow": slow}, {"refuse": refuse}) as (one, other):
        assert await other.ask("slow", a=1, b=b"\xff") == [1, b"\xff"]
        with pytest.raises(BadArgs) as refused:
            await one.ask("refuse")
        assert refused.value.as_wire() == BadArgs("no such cell", did_you_mean=["4"], field="cell").as_wire()
        with pytest.raises(Internal, match="KeyError"):
            await one.ask("unknown")


async def test_what_is_told_is_handled_in_order_and_before_the_next_question() -> None:
    told: list[int] = []
    async with linked({}, {"note": lambda number: told.append(number), "noted": lambda: list(told)}) as (one, _):
        for number in range(100):
            one.tell("note", number=number)
        one.tell("note")  # without its argument: that is logged, and the link goes on
        assert await one.ask("noted") == list(range(100))


async def test_a_question_over_a_link_that_has_ended_may_be_forgotten() -> None:
    """Asyncio complains of an error that nobody has looked at."""
    complaints: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, complaint: complaints.append(complaint))
    async with linked({}, {}) as (one, _):
        one.close()
        for _ in range(2):
            assert one.asked("anything").done()
    assert complaints == []


async def test_a_side_that_is_gone_answers_every_question_with_busy() -> None:
    async def forever() -> None:
        await asyncio.get_running_loop().create_future()

    async with linked({}, {"forever": forever}) as (one, other):
        waiting = one.asked("forever")
        other.close()
        with pytest.raises(Busy, match="has ended"):
            await waiting
        with pytest.raises(Busy, match="has ended"):
            await one.ask("forever")
        one.tell("forever")


@given(st.lists(st.binary(max_size=300), max_size=10), st.integers(1, 50))
def test_frames_come_whole_however_the_stream_is_cut(bodies: list[bytes], size: int) -> None:
    stream, frames = b"".join(map(framed, bodies)), Frames()
    found = [frame for at in range(0, len(stream), size) for frame in frames.feed(stream[at : at + size])]
    assert found == bodies
