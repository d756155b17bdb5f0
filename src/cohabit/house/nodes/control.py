"""A worker, as the front controls it: which rooms it opens and closes, and what it is told."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import msgspec

from cohabit.errors import Busy, CohabitError, StorageFailed
from cohabit.house.directory import FRONT, Table
from cohabit.house.house import House
from cohabit.house.nodes.link import Handler, Link
from cohabit.house.nodes.numbers import numbers_of
from cohabit.house.nodes.replicas import apply, read_changes
from cohabit.house.store.contract import Write
from cohabit.house.store.leases import HeldElsewhere
from cohabit.house.threads import run_in_thread
from cohabit.model.identity import Credential, Identity
from cohabit.remote import RemoteWorld
from cohabit.room.room import Room


class WorkerControl:
    """The handlers of a worker's link. They are there before its house: changes that come earlier are applied to what
    the house has read from the store, before it serves anybody."""

    def __init__(self, stop: Callable[[], None] = lambda: None) -> None:
        self.table = Table("")
        self._stop = stop
        self._house: House | None = None
        self._early: list[Write] = []
        self._made: list[tuple[Identity, Credential]] = []
        self._valid_until = 0.0
        self._stays: set[str] = set()  # rooms that the front knows to travel

    def handlers(self) -> dict[str, Handler]:
        return {
            "open": self._open, "close": self._close, "apply": self._apply, "temporaries": self._temporaries,
            "directory": self.table.update, "ping": self._ping, "status": self._status, "stop": self._stop,
            "address": self._address, "valid": self._valid,
        }  # fmt: skip

    def attach(self, house: House, link: Link) -> None:
        """The house is open."""
        self._house = house
        apply(house, self._early)
        house.identities.put_temporaries(self._made)
        self._valid(self._valid_until)

        async def known_by_all() -> None:
            await link.ask("known_by_all")

        house.writer.known_by_all = known_by_all
        house.rooms.others = lambda: len(self.table.rooms) - 1 - len(house.rooms)

    # -- rooms ------------------------------------------------------------------------------------
    async def _open(self, room: str) -> dict[str, Any]:
        house = self._need()
        await house.rooms.open(room)
        problem = house.rooms.broken.get(room)
        is_held, passes = isinstance(problem, HeldElsewhere), isinstance(problem, StorageFailed | Busy)
        if is_held:
            del house.rooms.broken[room]
        elif problem is not None and not passes and house.settings.houses_address:
            # No other house needs to try as well.
            with suppress(CohabitError):
                await run_in_thread("the leases", partial(house.rooms.leases.acquire, room))
        return {
            "problem": problem.as_wire() if problem is not None else None,
            "held_elsewhere": is_held,
            "passes": passes,
            "travels": room in house.rooms and travels(house.rooms[room].room),
        }

    async def _close(self, room: str, place: str = "") -> None:
        self._stays.discard(room)
        await self._need().rooms.let_go(room, place)

    # -- what changed elsewhere -------------------------------------------------------------------
    def _apply(self, changes: Any) -> None:
        found = read_changes(changes)
        if self._house is None:
            self._early += found
            return
        apply(self._house, found)

    def _temporaries(self, made: Any) -> None:
        found = msgspec.convert(made, list[tuple[Identity, Credential]])
        if self._house is None:
            self._made += found
        else:
            self._house.identities.put_temporaries(found)

    def _valid(self, until: float) -> None:
        self._valid_until = until
        if self._house is not None and self._house.validity is not None:
            self._house.validity.extend(FRONT, until)

    def _address(self, url: str) -> None:
        self._need().gate.address = url

    # -- questions --------------------------------------------------------------------------------
    def _ping(self) -> list[str]:
        """The rooms that travel with others since the last time."""
        rooms = self._house.rooms if self._house is not None else {}
        found = [room for room, runner in rooms.items() if room not in self._stays and travels(runner.room)]
        self._stays.update(found)
        return found

    def _status(self) -> dict[str, Any]:
        """Its numbers, and of each room whether nobody would be disturbed if it moved."""
        house = self._need()
        return {"numbers": numbers_of(house), "rooms": {room: house.rooms.is_quiet(room) for room in house.rooms}}

    def _need(self) -> House:
        if self._house is None:  # the front asks about quiet rooms before it is ready
            raise Busy("this process is starting", retry_after_s=1)
        return self._house


def travels(room: Room) -> bool:
    """True if a room has to be in the same process as others: the Nexus, and what is open to it."""
    if isinstance(room.world, RemoteWorld) and room.world.is_of_house:
        return True
    return any(feature.active(room) for feature in room.features.that_answer["announces"])
