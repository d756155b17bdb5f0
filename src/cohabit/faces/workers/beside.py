"""The ports of other protocols in a house with workers: that of the Nexus is open in the worker that has the Nexus."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack

from cohabit import registry
from cohabit.faces.serve import SideServer
from cohabit.house.house import House

LOOK_EVERY_S = 1.0
"""The interval at which a worker checks if a port is its own. The worker that had it may still be ending."""


async def serve_beside(house: House) -> None:
    """Until this is cancelled."""
    await asyncio.gather(*(_keep_open(house, make) for make in registry.side_servers()))


async def _keep_open(house: House, make: Callable[[House], SideServer | None]) -> None:
    server: SideServer | None = None
    async with AsyncExitStack() as serving:
        while True:
            if server is None or not server.wanted:
                await serving.aclose()
                server = make(house)
                if server is None:  # it is switched off
                    return
                if server.wanted:
                    await serving.enter_async_context(server.serving())
                server = server if server.is_listening else None
            await asyncio.sleep(LOOK_EVERY_S)
