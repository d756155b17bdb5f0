"""In which game an agent is. An identity is in one game of the Nexus at a time, however it came there.

Rooms know nothing of each other, so the house is asked before each action in a room that is open to the Nexus. The
answer comes from the rooms as they are now: it does not matter by which command, save or claim somebody got a seat.
"""

from typing import TYPE_CHECKING

from cohabit.features.visits.state import VISITS
from cohabit.model.grant import Capability
from cohabit.nexus.profiles import Profiles

if TYPE_CHECKING:
    from cohabit.house.calls.context import Services
    from cohabit.house.running.runner import RoomRunner

NOWHERE, CLAIMS, SEATED, VISITS_IT = range(4)
"""The strength of an agent's tie to a game. A claimed seat is given to it, so that does not keep it from others."""


class Places:
    """The games in which the agents of a house are."""

    def __init__(self, house: "Services", profiles: Profiles) -> None:
        self._house = house
        self._profiles = profiles

    def elsewhere(self, game: str, identity: str) -> str:
        """The game in which an agent is instead of this one; empty: in none. Of two that it has a seat in, it is in
        the one that it visits, then in the one with the first id, so it can act in one of them."""
        if not identity:
            return ""
        here = self._house.rooms[game]
        held = self._hold(here, identity)
        if held < VISITS_IT and VISITS.read(here.room.state).nexus is None:
            return ""  # it is no game of the Nexus
        for runner in list(self._house.rooms.values()):
            if runner.id == game or not VISITS.is_kept(runner.room.state):
                continue
            there = self._hold(runner, identity)
            if there > max(held, CLAIMS) or (there and there == held and runner.id < game):
                return runner.id
        return self._in_a_broken_room(identity) if held < VISITS_IT else ""

    def _hold(self, runner: "RoomRunner", identity: str) -> int:
        state = runner.room.state
        kept = VISITS.read(state)
        visit = kept.visits.get(identity)
        if visit is not None and not self._is_given_up(identity, visit.ticket):
            return VISITS_IT
        member = runner.room.member_of(identity)
        if member is None or member.seat is None or Capability.ACT not in member.held:
            return NOWHERE
        if kept.nexus is None or state.archived or runner.failure is not None:
            return NOWHERE
        return CLAIMS if member.claim is not None else SEATED

    def _is_given_up(self, identity: str, ticket: str) -> bool:
        profile = self._profiles.cached(identity)
        return profile is not None and (ticket in profile.given_up or ticket in profile.closed)

    def _in_a_broken_room(self, identity: str) -> str:
        """The game of its session, if that could not be opened. Its agent can give it up."""
        profile = self._profiles.cached(identity)
        session = profile.session if profile is not None else None
        return session.game if session is not None and session.game in self._house.rooms.broken else ""
