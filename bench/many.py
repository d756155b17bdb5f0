"""A house with many rooms, as ``cohabit serve`` runs it: in one process, or with workers."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack, closing
from typing import TYPE_CHECKING, Any

from bench.child import say
from bench.common import WORLDS

if TYPE_CHECKING:
    from cohabit.faces.workers.supervisor import Supervisor
    from cohabit.house.house import House
    from cohabit.house.settings import Settings
    from cohabit.scenario import Scenario

AT_ONCE = 32
"""Rooms that are created at the same time, so that they share the syncs of the disk."""
PLAZA = str(WORLDS / "plaza.py")


def token_of(room: int, member: int) -> str:
    """A token that a bench knows without asking, also after the house was started again."""
    return f"cohabit-bench-{room:08}-{member:06}-abcdefgh"


def tokens_of(rooms: Sequence[int], members: int) -> list[str]:
    return [token_of(room, member) for room in rooms for member in range(members)]


async def house(
    *,
    workers: int,
    rooms: int,
    members: int,
    data: str = "",
    store: str = "",
    house_wide: Sequence[int] = (),
    mcp: bool = False,
    others: dict[str, Any] | None = None,
) -> None:
    """A house that has, after it has opened what is stored, at least this many rooms. ``workers``: 0: one process.
    ``house_wide``: the rooms whose tokens are not bound to them. ``others``: more settings.

    It reports its address, the seconds that opening and creating rooms took, and the node of each room.
    """
    from cohabit.faces.workers.supervisor import open_front  # before the time is taken
    from cohabit.house.house import House
    from cohabit.house.settings import Settings

    many = 10**9  # a bench does more than one member or one address may
    settings = Settings(
        port=0, data=data, store=store, trusted_worlds=PLAZA, workers=max(1, workers), calls_per_second=many,
        frames_per_second=many, connections_limit=many, connections_per_address=many, member_bytes_per_hour=many**2,
        room_bytes=0, rooms_limit=10**6, log_level="error", **(others or {}),
    )  # fmt: skip
    began = time.perf_counter()
    async with AsyncExitStack() as stack:
        opened: House
        supervisor: Supervisor | None = None
        if workers:
            opened, supervisor = await stack.enter_async_context(open_front(settings, mcp=mcp))
        else:
            opened = await stack.enter_async_context(House.open(settings))
        opened_s = time.perf_counter() - began
        table = supervisor.cluster.table.rooms if supervisor is not None else dict.fromkeys(opened.rooms, "")
        missing = [number for number in range(rooms) if f"bench-{number}" not in table]
        began = time.perf_counter()
        await _create(opened, missing, members, house_wide)
        made_s = time.perf_counter() - began
        nodes = supervisor.cluster.table.rooms if supervisor is not None else {}

        def ready(url: str) -> None:
            say({"url": url, "opened_s": opened_s, "made_s": made_s, "nodes": nodes})

        await _serve(opened, supervisor, settings, ready, mcp)


async def _serve(opened: "House", supervisor: "Supervisor | None", settings: "Settings", ready: Any, mcp: bool) -> None:
    from cohabit.faces.serve import bind, serve

    if supervisor is None:
        await serve(opened, ready=ready, mcp=mcp)
        return
    with closing(bind(settings)) as listener:
        await supervisor.serve(listener, ready=ready)


async def _create(opened: "House", numbers: Sequence[int], members: int, house_wide: Sequence[int]) -> None:
    slots = asyncio.Semaphore(AT_ONCE)

    async def create(number: int) -> None:
        async with slots:
            await opened.create_room(_scenario(number, members, number in house_wide), f"bench-{number}")

    await asyncio.gather(*map(create, numbers))


def _scenario(number: int, members: int, house_wide: bool) -> "Scenario":
    from cohabit.scenario import AgentSpec, Scenario

    people = [
        AgentSpec(id=f"p{member}", role="human", kind="human", token=token_of(number, member))
        for member in range(members)
    ]
    return Scenario(world=PLAZA, agents=people, house_tokens=house_wide)
