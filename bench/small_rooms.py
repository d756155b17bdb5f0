"""The cost of single steps of a message in a small room, each with and without its shortcut, in one process."""

import asyncio
import socket
import time
from collections.abc import Awaitable, Callable
from hashlib import blake2b
from unittest.mock import patch

from bench.common import WORLDS, quotients
from bench.report import Report

ROUNDS = 7
Side = Callable[[], Awaitable[None]]


def add_steps(report: Report, quick: bool) -> None:
    """Add a ratio for each step: CPU time with the shortcut over that without."""
    times = 50 if quick else 2000
    report.ratio(
        "a message in a small room: cursor from prepared hashes, over new ones", cursors(times), 0.75, "at most"
    )
    report.ratio(
        "a message in a small room: one frame for all, over another one for the sender",
        asyncio.run(frames(times)), 0.8, "at most",
    )  # fmt: skip
    report.ratio(
        "a message in a small room: event and reply in one write, over two", asyncio.run(writes(times)), 0.75, "at most"
    )


async def compared(with_it: Side, without: Side) -> list[float]:
    """Ratios of CPU time, in turns."""
    found: tuple[list[float], list[float]] = [], []
    for side in (with_it, without):
        await side()
    for _ in range(ROUNDS):
        for side, used in zip((with_it, without), found, strict=True):
            began = time.thread_time()
            await side()
            used.append(time.thread_time() - began)
    return quotients(*found)


def cursors(times: int) -> list[float]:
    from cohabit.house.streams.cursors import seal

    secrets = [bytes([i]).hex() * 16 for i in range(200)]
    numbers = iter(range(10**9))

    def new_hashes(secret: str, seq: int) -> str:
        left, right = seq >> 32, seq & 0xFFFFFFFF
        for i in range(4):
            hashed = blake2b(right.to_bytes(4, "big"), key=bytes.fromhex(secret), digest_size=4, salt=bytes([i]))
            left, right = right, left ^ int.from_bytes(hashed.digest(), "big")
        return f"{left:08x}{right:08x}"

    assert seal(secrets[0], 7) == new_hashes(secrets[0], 7)

    def side(make: Callable[[str, int], str]) -> Side:
        async def run() -> None:
            for _ in range(times):
                number = next(numbers)
                make(secrets[number % len(secrets)], number)

        return run

    return asyncio.run(compared(side(seal), side(new_hashes)))


async def frames(times: int) -> list[float]:
    """Those of a message to everyone, in a room of four."""
    from cohabit.house.house import House
    from cohabit.house.settings import Settings
    from cohabit.house.store.memory import MemoryStore
    from cohabit.scenario import AgentSpec, Scenario

    plaza = str(WORLDS / "plaza.py")
    async with House.open(Settings(data="", trusted_worlds=plaza), store=MemoryStore()) as house:
        people = [AgentSpec(id=f"p{n}", role="human", kind="human") for n in range(4)]
        room, tokens = await house.create_room(Scenario(world=plaza, agents=people), "bench", 1)
        callers = [house.identify(token) for token in tokens.values()]
        for caller in callers:
            await house.subscribe(caller, room, views=False)
        await house.door.call(callers[0], room, "send_message", {"to": "*", "content": "x" * 200})
        runner = house.rooms[room]
        said = [runner.history.recent[-1]]
        assert len(runner.fanout.frames(said).events) == 1

        async def one() -> None:
            for _ in range(times):
                runner.fanout.frames(said)

        async def two() -> None:
            with patch("cohabit.house.streams.fanout.author_sees_more", lambda entry: True):
                for _ in range(times):
                    runner.fanout.frames(said)

        return await compared(one, two)


async def writes(times: int) -> list[float]:
    """To a socket, as ``DirectProtocol.write_with_next`` does it."""
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    transport, _ = await asyncio.get_running_loop().create_connection(asyncio.Protocol, sock=ours)
    event, reply = b"x" * 380, b"y" * 90

    def side(*parts: bytes) -> Side:
        async def run() -> None:
            for _ in range(times):
                for part in parts:
                    transport.write(part)
                theirs.recv(4096)

        return run

    try:
        return await compared(side(event + reply), side(event, reply))
    finally:
        transport.close()
        theirs.close()
