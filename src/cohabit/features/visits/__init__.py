"""Visits: agents come through the Nexus to play here, and return to it.

visits      whether agents can come, and how they leave
ends        how a visit ends by itself
transit     the system entries of a transit
"""

from collections.abc import Iterator

import msgspec

from cohabit.features.bodies import has_chosen
from cohabit.features.visits import ends, transit, visits
from cohabit.model.grant import Capability
from cohabit.model.record import Told
from cohabit.room.base import BaseRoom
from cohabit.room.commands import Command
from cohabit.room.decision import Decision
from cohabit.room.feature import Feature
from cohabit.room.state import Member
from cohabit.room.timers import Due
from cohabit.world import Arrival


class Visits(Feature):
    name = "visits"
    modules = (visits, transit)

    def active(self, room: BaseRoom) -> bool:
        state = room.state
        return bool(state.visits or state.visits_due or state.leaving)

    def follow(self, room: BaseRoom, at: int, told: list[Told]) -> None:
        """The visit of a member that was removed is over; others may have come to their end."""
        here = {member.identity for member in room.state.members.values()}
        for identity in [identity for identity in room.state.visits if identity not in here]:
            visits.end_visit(room, at, identity, "removed")
            room.timers.changed()
        visits.forget_admissions(room.state, here)
        ends.find_ended(room, at, told)

    def acted(self, room: BaseRoom, member: Member) -> None:
        """Count a step. In rounds, a new body in the same round gives no other one."""
        visit = room.state.visits.get(member.identity)
        if visit is not None and not visit.has_chosen and has_chosen(room, member):
            visit.steps += 1
            visit.has_chosen = room.pace == "rounds"

    def round_ended(self, room: BaseRoom) -> None:
        for visit in room.state.visits.values():
            visit.has_chosen = False

    def reopened(self, room: BaseRoom, gap: int) -> None:
        for visit in room.state.visits.values():
            if visit.until is not None:
                visit.until += gap

    def due(self, room: BaseRoom) -> Iterator[Due]:
        state = room.state
        if state.archived:
            return
        for identity in state.visits_due:
            yield 0, "visit_over", {"identity": identity}
        for identity, visit in state.visits.items():
            if visit.until is not None and not visit.ends:
                yield visit.until, "visit_time_up", {"identity": identity}

    def refuses(self, room: BaseRoom, member: Member, command: Command) -> Decision | None:
        """A visitor that has left cannot act any more: that would be in no package."""
        acts = command.records and Capability.ACT in command.needed
        if acts and room.state.has_only_to_leave(member.identity):
            return Decision("PERMISSION_DENIED", "your visit is over: you are on your way to the Nexus")
        return None

    def arrives(self, room: BaseRoom, member: Member, arrival: Arrival) -> Arrival:
        visit = room.state.visits.get(member.identity)
        return arrival if visit is None else msgspec.structs.replace(arrival, damage=visit.damage)

    def lines(self, room: BaseRoom, member: Member) -> str:
        return ends.visit_text(room, member)

    def last_words(self, room: BaseRoom, member: Member) -> str:
        return ends.ended_text(room, member)
