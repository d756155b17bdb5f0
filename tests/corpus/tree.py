"""Everything that the corpus imports from Cohabit. A tree that has its own copy of this file is driven by that copy, so
names may move: change them here, and the scripts and the player stay as they are.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from cohabit.errors import CohabitError, StorageFailed
from cohabit.faces.python import connect
from cohabit.house import house as house_module
from cohabit.house.access.strangers import knock
from cohabit.house.house import House
from cohabit.house.running import runner as runner_module
from cohabit.house.settings import Settings
from cohabit.house.store.contract import Write
from cohabit.house.store.memory import MemoryStore
from cohabit.scenario import parse_scenario
from cohabit.testing.clock import FakeClock

__all__ = ["Clock", "House", "Refusal", "Store", "at_rest", "connect", "create", "open_house", "without_token"]
Clock, Refusal = FakeClock, CohabitError
house_module.LOOP_LIMIT_S = 60.0  # a world that waits for a busy machine must not be taken for one that hangs …
runner_module.SLOW_S = 60.0  # … or for one that is slow
NOTHING = Write()
"""It is written to learn that everything before it has been written."""
LASTING_THREADS = ("cohabit-writer", "cohabit-watchdog", "cohabit-agents", "cohabit-decisions", "cohabit-world-")


class Store(MemoryStore):
    """A store whose power can fail: after ``power`` more writes nothing is stored.

    How many writes are committed at once depends on the time that they take. So they are counted one by one: a batch for
    which there is not enough power is refused, and the house then tries its writes singly.
    """

    def __init__(self) -> None:
        super().__init__()
        self.power: int | None = None
        self.commits = 0

    @property
    def is_off(self) -> bool:
        return self.power is not None and self.power <= 0

    def commit(self, writes: Sequence[Write]) -> None:
        writes = [write for write in writes if write is not NOTHING]
        if not writes:
            return
        self.commits += 1
        if self.power is not None:
            if self.power < len(writes):
                self.power = self.power if len(writes) > 1 else 0
                raise StorageFailed("the power has failed")
            self.power -= len(writes)
        super().commit(writes)


def open_house(
    data: Path, store: Store, clock: FakeClock, settings: Mapping[str, Any]
) -> AbstractAsyncContextManager[House]:
    ports = {"port": 0, "bridge_port": 0, "nexus_port": 0}  # any that is free, since two trees play at the same time
    chosen = Settings(data=str(data), world_deadline_s=120, **ports, **settings)
    return House.open(chosen, store=store, clock=clock)


async def at_rest(house: House, store: Store) -> None:
    """Wait until nothing is under way: no call, no write, no thread that reads, no transit."""
    quiet, before = 0, -1
    while quiet < 3:
        for _ in range(15):
            await asyncio.sleep(0)
        await asyncio.wait([house.rooms.leases.renewing])
        for connector in list(house.rooms.connectors.values()):
            if (recovered := getattr(connector, "_recovered", None)) is not None:
                await asyncio.wait([recovered])
                await connector.transit.at_rest()  # type: ignore[attr-defined]
        for runner in [*house.rooms.values(), house.ledger.runner]:
            with suppress(CohabitError):  # a room that has stopped, a disk that fails
                await runner.drained()
        await house.writer.submit(NOTHING)
        busy = [t for t in threading.enumerate() if t.name.startswith("cohabit-")]
        if any(not thread.name.startswith(LASTING_THREADS) for thread in busy):
            await asyncio.sleep(0.0005)
            quiet = 0
            continue
        quiet, before = (quiet + 1 if store.commits == before else 0), store.commits


async def create(house: House, scenario: str, room: str, seed: int) -> tuple[str, dict[str, str]]:
    """A room from a scenario as a user writes it: its id, and a token for each member."""
    return await house.create_room(parse_scenario(scenario), room, seed=seed)


async def without_token(house: House, args: Mapping[str, Any]) -> Any:
    """Join as somebody who has no token, or an invite in the arguments."""
    return msgspec.to_builtins(await knock(house.door, args))


@asynccontextmanager
async def door(face: str, house: House, folder: Path) -> AsyncIterator[Any]:
    """How to connect over an interface: given a token, a client."""
    if face == "python":
        yield lambda token: connect(house, token)
        return
    from tests.faces.doors import doors

    async with doors({"mcp": "mcp 2026-07-28"}.get(face, face), house, folder) as opened:
        yield opened
