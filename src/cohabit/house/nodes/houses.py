"""The other houses of a cluster, as the front of one of them sees them: where their rooms are, which house leads, and
whose rooms this one takes over.

The store says who is there and who has what (`Survey`). A front reads that whenever something has changed, and after
each renewal of its leases. Nothing is agreed on between houses: each acts by what it has read, and a lease settles it
if two do so at once.
"""

import asyncio
import logging
from contextlib import suppress
from functools import partial
from typing import Final

from cohabit.errors import CohabitError
from cohabit.house.directory import FRONT, HOUSE_RECORD, MOVING, name_elsewhere, place_of
from cohabit.house.house import House
from cohabit.house.nodes.cluster import Cluster
from cohabit.house.nodes.houses_log import HousesLog
from cohabit.house.nodes.shares import counts_by_place, home_of_travellers, surplus, with_places
from cohabit.house.nodes.temporary_tokens import TemporaryTokens
from cohabit.house.store.cluster_contract import ClusterStore, LiveNode, News, Survey
from cohabit.house.store.leases import LEASE_MS, HeldElsewhere
from cohabit.house.threads import run_in_thread

log = logging.getLogger("cohabit")
PAUSE_S: Final = 0.05
"""Between two surveys: what changes at the same time is read once."""
AGAIN_S: Final = 0.5
"""After a survey with rooms that nobody has."""
GRACE_S: Final = LEASE_MS / 2000
"""After this time every house has renewed its leases, if it can: it tries so every third of their duration."""
PATIENCE_S: Final = 10.0
"""A room that the house whose turn it is has not opened within this time is anybody's."""
LEAVING: Final = "this house is being stopped, and its rooms go to other houses; connect to another one"
DRAIN_S: Final = 60.0
"""The time that a house that is stopped may take to hand its rooms over."""
MAX_AT_ONCE: Final = 8
"""Rooms that are handed over at the same time."""


class Houses:
    """See the module. ``house`` and ``cluster``: those of the front."""

    def __init__(self, house: House, cluster: Cluster, store: ClusterStore) -> None:
        self._house = house
        self._cluster = cluster
        self._table = cluster.table
        self._store = store
        self._here = cluster.place = store.place_id
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self._looked = asyncio.Event()  # set for a moment after each survey was acted on
        self._orphan_since: dict[str, float] = {}
        self._places: set[str] = set()  # that take rooms, at the last survey
        self._is_draining = False
        self._was_cut_off = False  # from the database, for longer than its lease
        self._fronts: dict[str, str] = {}  # of the other houses, by place
        self._next_end: float | None = None  # when the first lease of another house ends, unless it is renewed
        self._log = HousesLog(self._here)
        self._temporary_tokens = TemporaryTokens(house, cluster.replicas, self._here)
        assert house.validity is not None, "a house of a cluster has a lease"
        self._validity = house.validity
        self._validity.on_end.append(self._cut_off)
        cluster.on_held_elsewhere = self._news.set
        cluster.replicas.on_news.append(self._hear)

    def _hear(self, news: News) -> None:
        if news in (News.ROOMS, News.RECONNECTED):
            self._news.set()

    def _cut_off(self) -> None:
        self._was_cut_off = True

    async def fronts(self) -> list[str]:
        """The addresses of the fronts of the other houses."""
        survey = await self._survey()
        return [_address(node) for node in survey.nodes if node.node == FRONT and node.place != self._here]

    async def start(self) -> None:
        """Take the rooms that this house should have, and open them."""
        await self._look()
        await self._cluster.settled()

    async def run(self) -> None:
        """Until this is cancelled."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._until_next_survey()):
                    await self._news.wait()
            self._news.clear()
            try:
                await self._look()
            except CohabitError as away:  # the store; whatever is missed now is seen after the next renewal
                severity = logging.WARNING if self._store.is_reachable else logging.DEBUG  # the store has told it
                log.log(severity, "the other houses could not be looked up: %s", away.as_text())
            except Exception:
                log.exception("the other houses could not be looked up")
            self._looked.set()
            self._looked.clear()
            await asyncio.sleep(PAUSE_S)

    def _until_next_survey(self) -> float | None:
        """The time, if there is no news. A house that dies says nothing: what tells is that its lease ends."""
        if self._orphan_since or self._log.waits:
            return AGAIN_S
        return None if self._next_end is None else max(0.0, self._next_end - self._loop.time())

    # -- looking ----------------------------------------------------------------------------------
    async def _look(self) -> None:
        survey, now = await self._survey(), self._loop.time()
        self._orphan_since = {room: self._orphan_since.get(room, now) for room in survey.orphans}
        self._next_end = min((now + node.lasts_s for node in survey.nodes if node.place != self._here), default=None)
        self._log.surveyed(survey, now)
        self._update_directory(survey)
        self._log.placed(self._table.rooms, now)
        if self._may_take and (not survey.orphans or await self._knows_changes()):
            self._take(survey, now)
            if HOUSE_RECORD in survey.orphans:
                await self._lead()
            await self._gather_travellers(survey)
            await self._share_with_new(survey)
        await self._temporary_tokens.share(self._fronts)

    @property
    def _may_take(self) -> bool:
        """Not right after the database was away: the others could not renew their leases either, and are about to."""
        if self._was_cut_off:
            self._was_cut_off = self._validity.now() - self._validity.since < GRACE_S
        return self._validity.is_valid and not self._was_cut_off and not self._is_draining

    async def _knows_changes(self) -> bool:
        """Before this house opens a room of another one, it knows what that one has changed."""
        caught_up = self._cluster.replicas.caught_up
        return caught_up is None or await caught_up()

    async def _survey(self) -> Survey:
        """A survey that knows every room that this process knows of."""
        while True:
            known = self._cluster.known_rooms
            survey = await run_in_thread("the other houses", self._store.survey)
            if known == self._cluster.known_rooms:
                return survey

    def _update_directory(self, survey: Survey) -> None:
        others = [node for node in survey.nodes if node.place != self._here]
        self._cluster.names = {node.house: name_elsewhere(node.place, node.node) for node in others}
        sockets = {name_elsewhere(node.place, node.node): _address(node) for node in others}
        leaving = {name_elsewhere(node.place, node.node): True for node in others if node.is_draining}
        known = [node for node in self._table.sockets if place_of(node)]
        self._cluster.tell(
            self._moved(survey),
            {
                **{node: None for node in known if node not in sockets},
                **{node: there for node, there in sockets.items() if self._table.sockets.get(node) != there},
            },
            {
                **{node: None for node in self._table.leaving if place_of(node) and node not in leaving},
                **{node: True for node in leaving if node not in self._table.leaving},
            },
        )
        self._fronts = {node.place: name_elsewhere(node.place, FRONT) for node in others if node.node == FRONT}

    def _moved(self, survey: Survey) -> dict[str, str | None]:
        """The places of the rooms that this house does not have."""
        now: dict[str, str | None] = dict.fromkeys(survey.orphans, MOVING)
        for room, held in survey.rooms.items():
            if held.place != self._here:
                now[room] = name_elsewhere(held.place, held.node)
        for room, node in self._table.rooms.items():  # those that were deleted
            if (node == MOVING or place_of(node)) and room not in now and room not in survey.rooms:
                now[room] = None
        if self._house.ledger.is_here:
            now[HOUSE_RECORD] = FRONT
        elif HOUSE_RECORD not in now or now[HOUSE_RECORD] is None:
            now[HOUSE_RECORD] = MOVING
        known = self._table.rooms
        return {
            room: node for room, node in now.items() if not self._cluster.has(room) and known.get(room, None) != node
        }

    # -- leading ----------------------------------------------------------------------------------
    async def _lead(self) -> None:
        """Nobody leads: this house does, unless another one is faster."""
        if self._house.ledger.is_here:
            return
        try:
            await self._house.lead()
        except HeldElsewhere:
            return
        except CohabitError as wrong:
            log.error("this house cannot lead: %s", wrong.as_text())
            return
        log.info("this house leads now")
        self._cluster.tell({HOUSE_RECORD: FRONT})

    # -- taking rooms -----------------------------------------------------------------------------
    def _take(self, survey: Survey, now: float) -> None:
        """Open the rooms that nobody has, as far as it is the turn of this house."""
        orphans = {room: wished for room, wished in survey.orphans.items() if room != HOUSE_RECORD}
        counts = counts_by_place(survey)
        home = home_of_travellers(survey, counts)
        for room, place in with_places(orphans, counts, survey.travelling, home).items():
            is_late = now - self._orphan_since[room] >= PATIENCE_S
            if (place == self._here or is_late) and not self._cluster.has(room):
                self._cluster.take(room)

    async def _gather_travellers(self, survey: Survey) -> None:
        """Rooms that travel together are in one house."""
        own = [room for room in self._cluster.placement.together if self._cluster.placement.worker_of(room) is not None]
        unmarked: dict[str, list[str]] = {}
        for room in own:
            held = survey.rooms.get(room)
            if held is not None and held.place == self._here and not held.travels:
                unmarked.setdefault(held.house, []).append(room)
        for house, rooms in unmarked.items():
            await run_in_thread("the leases", partial(self._store.mark_travels, rooms, house))
        home = home_of_travellers(survey, counts_by_place(survey))
        if home is not None and home != self._here:
            for room in own:
                self._cluster.give(room, home)

    async def _share_with_new(self, survey: Survey) -> None:
        """Give a house that is new some rooms in which nobody would be disturbed."""
        counts = counts_by_place(survey)
        new, self._places = counts.keys() - self._places, set(counts)
        if not new - {self._here} or self._here not in counts:
            return
        given = surplus(self._here, counts)
        quiet = await self._quiet_rooms() if given else []
        for place, count in given.items():
            for _ in range(min(count, len(quiet))):
                self._cluster.give(quiet.pop(), place)

    async def _quiet_rooms(self) -> list[str]:
        together, found = self._cluster.placement.together, list[str]()
        for link in list(self._cluster.links.values()):
            with suppress(CohabitError):  # a worker that has ended, or is not ready yet
                rooms = (await link.ask("status"))["rooms"]
                found += [room for room, is_quiet in rooms.items() if is_quiet and room not in together]
        return found

    # -- stopping ---------------------------------------------------------------------------------
    async def drain(self) -> None:
        """Hand all rooms and the house record over to other houses. Returns early if there are none. What is not taken
        in time is released when the house closes, as without other houses."""
        self._is_draining = True
        self._house.readiness.checks.append(lambda: LEAVING)
        self._cluster.tell(leaving={node: True for node in self._table.nodes() if not place_of(node)})
        await run_in_thread("the leases", self._store.drain)
        with suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_S):
                await self._hand_over()

    async def _hand_over(self) -> None:
        while rooms := [room for room in self._table.rooms if self._cluster.placement.worker_of(room) is not None]:
            survey = await run_in_thread("the other houses", self._store.survey)
            counts = counts_by_place(survey)
            if not counts:
                break
            home = home_of_travellers(survey, counts)
            first = rooms[:MAX_AT_ONCE]
            chosen = with_places(dict.fromkeys(first, ""), counts, self._cluster.placement.together, home)
            for room in first:
                self._cluster.give(room, chosen[room])
            await self._cluster.settled()
            await self._until_taken(first)
        if self._house.ledger.is_here and self._fronts:
            await self._house.stop_leading()
            self._cluster.tell({HOUSE_RECORD: MOVING})
            await self._until_taken([HOUSE_RECORD])

    async def _until_taken(self, rooms: list[str]) -> None:
        """Until requests about these rooms can be sent on. A house that opens none of them is not waited for."""
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_S):
                while any(self._table.rooms.get(room) == MOVING for room in rooms):
                    self._news.set()
                    await self._looked.wait()


def _address(node: LiveNode) -> str:
    return f"tcp://{node.address}/{node.place}/{node.node}"
