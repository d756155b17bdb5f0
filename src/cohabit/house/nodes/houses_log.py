"""Log messages about the other houses of a cluster: which of them come and go, and how long it takes until the rooms
of one that has died are open again."""

import logging
from collections.abc import Mapping

from msgspec import Struct

from cohabit.house.directory import FRONT, HOUSE_RECORD, MOVING, place_of
from cohabit.house.store.cluster_contract import Survey

log = logging.getLogger("cohabit")


class KnownHouse(Struct):
    """A house at the last survey. ``front``: the id of its front. ``ends_at``: when its last lease ends, if it is not
    renewed. ``rooms``: those that it has, or that were left by one of its processes."""

    address: str
    front: str = ""
    is_draining: bool = False
    ends_at: float = 0.0
    rooms: frozenset[str] = frozenset()


class HousesLog:
    """``here``: the place of this house."""

    def __init__(self, here: str) -> None:
        self._here = here
        self._known: dict[str, KnownHouse] | None = None  # by place; None before the first survey
        self._taken_over: list[KnownHouse] = []  # dead houses whose rooms are not all open yet

    @property
    def waits(self) -> bool:
        """True if rooms of a dead house are still to be opened."""
        return bool(self._taken_over)

    def surveyed(self, survey: Survey, now: float) -> None:
        """Compare a survey with the one before. ``now``: when it was made."""
        before, self._known = self._known, self._known_in(survey, now)
        if before is None:
            others = ", ".join(house.address for house in self._known.values())
            log.info("this house has joined the cluster; other houses: %s", others or "none yet")
            return
        for place, house in self._known.items():
            _tell_change(before.get(place), house)
        for place, house in before.items():
            if place not in self._known:
                self._tell_end(house, has_died=place in survey.dead)

    def _known_in(self, survey: Survey, now: float) -> dict[str, KnownHouse]:
        found: dict[str, KnownHouse] = {}
        for node in survey.nodes:
            if node.place != self._here:
                house = found.setdefault(node.place, KnownHouse(node.address, is_draining=node.is_draining))
                house.ends_at = max(house.ends_at, now + node.lasts_s)
                house.front = node.house if node.node == FRONT else house.front
        for place, house in found.items():
            before = self._known.get(place) if self._known is not None else None
            held = {room for room, holder in survey.rooms.items() if holder.place == place and room != HOUSE_RECORD}
            left = before.rooms & survey.orphans.keys() if before is not None else frozenset()
            house.rooms = left | held
        return found

    def _tell_end(self, house: KnownHouse, has_died: bool) -> None:
        if not has_died:
            log.info("house %s has left the cluster", house.address)
            return
        log.warning("house %s is gone: its lease has ended, %s", house.address, _rooms(len(house.rooms)))
        if house.rooms:
            self._taken_over.append(house)

    def placed(self, rooms: Mapping[str, str], now: float) -> None:
        """``rooms``: which node has each room now."""
        for house in list(self._taken_over):
            holders = [rooms[room] for room in house.rooms if room in rooms]  # the others were deleted
            if MOVING not in holders:
                self._taken_over.remove(house)
                here = sum(1 for node in holders if not place_of(node))
                log.info(
                    "house %s was taken over from: %s open again, %d of them in this house, %.1f s after its lease "
                    "ended", house.address, _rooms(len(holders)), here, now - house.ends_at
                )  # fmt: skip


def _tell_change(before: KnownHouse | None, now: KnownHouse) -> None:
    if before is None:
        log.info("house %s has joined the cluster", now.address)
    elif before.front and now.front and before.front != now.front:
        log.warning("house %s has ended and started again", now.address)
    elif now.is_draining and not before.is_draining:
        log.info("house %s is being stopped, and hands over %s", now.address, _rooms(len(now.rooms)))


def _rooms(count: int) -> str:
    return "1 room" if count == 1 else f"{count} rooms"
