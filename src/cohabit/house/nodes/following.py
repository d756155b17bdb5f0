"""A front in a cluster of houses: it follows the log of what the others change, and waits until they know its own
changes.

The log is read after each renewal of the lease, and when there is news. It is applied to this house, and told to its
workers, in order. When all of them know it, that is acknowledged. The house is valid only after the log was read once
more after a renewal: another house that did not wait for this one had stored its changes before.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from math import inf
from typing import Any, cast

from cohabit.errors import CohabitError
from cohabit.house.house import House
from cohabit.house.nodes.replicas import Replicas
from cohabit.house.store.cluster_contract import ChangesMissed, ClusterStore, News
from cohabit.house.store.contract import Store
from cohabit.house.threads import run_in_thread

log = logging.getLogger("cohabit")
LOOK_EVERY_S = 0.25
"""The interval at which a change checks if the other houses know it, when there is no news."""


@asynccontextmanager
async def following_others(house: House, store: Store, replicas: Replicas) -> "AsyncIterator[Following | None]":
    """Follow the other houses if this one is of a cluster. ``house``: that of the front."""
    if house.validity is None:
        yield None
        return
    following = Following(house, cast(ClusterStore, store), replicas)
    async with following.running():
        yield following


class Following:
    """See the module."""

    def __init__(self, house: House, store: ClusterStore, replicas: Replicas) -> None:
        self._house, self._store, self._replicas = house, store, replicas
        self._loop = asyncio.get_running_loop()
        self._reading = asyncio.Lock()
        self._will_read = False  # somebody waits to read, so what is new now will be read
        self._read = store.first_change
        self._confirmed = store.first_change  # known to all workers
        self._confirming: asyncio.Task[None] | None = None  # the last one
        self._acknowledged = store.first_change
        self._news = asyncio.Event()  # replaced by another one each time
        self._look: asyncio.Future[float] | None = None  # the last one, and the one that follows it
        self._next_look: asyncio.Future[float] | None = None
        self._tasks: set[asyncio.Task[Any]] = set()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Follow, from the first renewal on, after which the house is valid."""
        leases = self._house.rooms.leases
        leases.on_renewed = self._renewed
        self._replicas.known_by_others = self.known_by_others
        self._replicas.caught_up = self._catch_up_if_possible
        stop = await run_in_thread("news", partial(self._store.listen, self._heard_on_thread))
        try:
            await leases.renew()
            yield
        finally:
            leases.on_renewed = None
            await run_in_thread("news", stop)
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    # -- hearing ----------------------------------------------------------------------------------
    def _heard_on_thread(self, news: News) -> None:
        self._loop.call_soon_threadsafe(self._heard, news)

    def _heard(self, news: News) -> None:
        if news in (News.CHANGES, News.RECONNECTED) and not self._will_read:
            self._will_read = True
            self._start(self._catch_up_if_possible())
        if news in (News.APPLIED, News.RECONNECTED):
            self._news.set()
            self._news = asyncio.Event()
        self._replicas.heard(news)

    def _start(self, work: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    # -- following --------------------------------------------------------------------------------
    async def _renewed(self, until: float) -> None:
        """The lease lasts until then."""
        if await self._catch_up_if_possible():
            await self._house.valid_until(until)
            self._replicas.tell_validity(until)
            self._start(self._tidy())  # the next renewal does not wait for it
        self._replicas.heard(News.RECONNECTED)

    async def _tidy(self) -> None:
        await self._acknowledge()
        try:
            await run_in_thread("changes", self._store.tidy_changes)
        except CohabitError as failed:
            log.log(self._severity, "old changes could not be removed: %s", failed.as_text())

    async def _catch_up_if_possible(self) -> bool:
        """True if everything up to now is applied."""
        try:
            await self._catch_up()
        except ChangesMissed as missed:
            log.error("%s", missed.message)
            self._house.rooms.leases.on_out()
        except CohabitError as failed:
            log.log(self._severity, "the changes of other houses could not be read: %s", failed.as_text())
        else:
            return True
        return False

    @property
    def _severity(self) -> int:
        """Of failures. While the database is away, the store says so, and all the rest follows from it."""
        return logging.WARNING if self._store.is_reachable else logging.DEBUG

    async def _catch_up(self) -> None:
        async with self._reading:
            self._will_read = False
            found = await run_in_thread("changes", partial(self._store.changes, self._read))
            if not found:
                return
            others = [each for each in found if each.place != self._store.place_id]
            told = self._replicas.changed_elsewhere(others)
            self._read = found[-1].seq  # only now: what could not be applied is read again
            self._confirming = self._start(self._confirm(self._confirming, self._read, told, bool(others)))

    async def _confirm(
        self,
        before: "asyncio.Task[None] | None",
        seq: int,
        told: "Sequence[asyncio.Future[Any]]",
        is_waited_for: bool,
    ) -> None:
        """Acknowledge changes when all workers have applied them, or are dead; and those before as well."""
        waiting = [*told, *([before] if before is not None else [])]
        if waiting:
            await asyncio.wait(waiting)
        self._confirmed = max(self._confirmed, seq)
        if is_waited_for:  # else it is enough after the next renewal
            await self._acknowledge()

    async def _acknowledge(self) -> None:
        seq = self._confirmed
        if seq <= self._acknowledged:
            return
        try:
            await run_in_thread("changes", partial(self._store.acknowledge, seq))
        except CohabitError as failed:  # again after the next renewal
            log.log(self._severity, "changes of other houses could not be acknowledged: %s", failed.as_text())
        else:
            self._acknowledged = max(self._acknowledged, seq)

    # -- waiting for others -----------------------------------------------------------------------
    async def known_by_others(self) -> None:
        """Returns when every other house knows what this one has stored before, or has no lease any more. It waits for
        a database that is away: what was stored stays stored, so a failure here must not undo it."""
        seq = self._store.last_change
        while True:
            news = self._news
            with suppress(CohabitError):
                if await self._reached() >= seq:
                    return
            with suppress(TimeoutError):
                await asyncio.wait_for(news.wait(), LOOK_EVERY_S)

    async def _reached(self) -> float:
        """Up to where all others know the log. Callers share one query, which starts after they called."""
        if self._next_look is None:
            self._next_look = asyncio.ensure_future(self._look_after(self._look))
        return await asyncio.shield(self._next_look)

    async def _look_after(self, before: "asyncio.Future[float] | None") -> float:
        if before is not None:
            await asyncio.wait([before])
        self._look, self._next_look = self._next_look, None
        found = await run_in_thread("other houses", self._store.acknowledged_by_others)
        return inf if found is None else found
