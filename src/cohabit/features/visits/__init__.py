"""Visits: agents come through the Nexus to play here, and return to it.

state       what a room keeps of them
visits      whether agents can come, and how they leave
ends        how a visit ends by itself
transit     the system entries of a transit
"""

from collections.abc import Iterator

import msgspec

from cohabit.errors import BadArgs
from cohabit.features.bodies import has_chosen
from cohabit.features.visits import ends, transit, visits
from cohabit.features.visits.state import VISITS, NexusEntry, Visits, has_only_to_leave, visit_of
from cohabit.model.grant import Capability
from cohabit.room.base import BaseRoom, Context
from cohabit.room.commands import Command
from cohabit.room.decision import Decision
from cohabit.room.feature import Feature
from cohabit.room.state import Member, RoomState
from cohabit.room.timers import Due
from cohabit.scenario import OpenedToNexus, Scenario
from cohabit.world import Arrival, World

LEAVES_A_BODY = frozenset(("jack_out", "stand_up"))


class VisitsFeature(Feature):
    name = "visits"
    modules = (visits, transit)
    room_slice = VISITS

    def opening(self, scenario: Scenario, world: World) -> Visits | None:
        if scenario.nexus is False:
            return None
        if world.spec.name == visits.NEXUS:
            raise BadArgs("nexus: this room is the Nexus itself; set it for the rooms in which agents are to play")
        opened = scenario.nexus if isinstance(scenario.nexus, OpenedToNexus) else OpenedToNexus()
        return Visits(nexus=NexusEntry(capacity=opened.capacity, description=opened.description))

    def follow(self, ctx: Context) -> None:
        """The visit of a member that was removed is over; others may have come to their end."""
        room = ctx.room
        here = {member.identity for member in room.state.members.values()}
        for identity in [identity for identity in VISITS.read(room.state).visits if identity not in here]:
            visits.end_visit(room, ctx.at, identity, "removed")
            room.timers.changed()
        visits.forget_admissions(room.state, here)
        ends.find_ended(ctx)

    def acted(self, room: BaseRoom, member: Member) -> None:
        """Count a step. In rounds, a new body in the same round gives no other one."""
        visit = visit_of(room.state, member.identity)
        if visit is not None and not visit.has_chosen and has_chosen(room, member):
            visit.steps += 1
            visit.has_chosen = room.pace == "rounds"

    def round_ended(self, room: BaseRoom) -> None:
        for visit in VISITS.read(room.state).visits.values():
            visit.has_chosen = False

    def after_downtime(self, room: BaseRoom, gap: int) -> None:
        for visit in VISITS.read(room.state).visits.values():
            if visit.until is not None:
                visit.until += gap

    def due(self, room: BaseRoom) -> Iterator[Due]:
        kept = VISITS.read(room.state)
        if room.state.archived:
            for identity in kept.visits:
                yield 0, "visit_archived", {"identity": identity}
            return
        for identity in kept.due:
            yield 0, "visit_over", {"identity": identity}
        for identity, visit in kept.visits.items():
            if visit.until is not None and not visit.ends:
                yield visit.until, "visit_time_up", {"identity": identity}

    def refuses(self, room: BaseRoom, member: Member, command: Command) -> Decision | None:
        """A visitor that has left cannot act any more: that would be in no package. An agent in another game of the
        Nexus cannot act here, no matter how it got a body here."""
        if not command.records or Capability.ACT not in command.needed:
            return None
        if has_only_to_leave(room.state, member.identity):
            return Decision("PERMISSION_DENIED", "your visit is over: you are on your way to the Nexus")
        if command.name in LEAVES_A_BODY or (command.is_action and member.seat is None):
            return None
        if other := room.elsewhere(member):
            return Decision("PERMISSION_DENIED", visits.in_another_game(other))
        return None

    def arrival(self, room: BaseRoom, member: Member, arrival: Arrival) -> Arrival:
        visit = visit_of(room.state, member.identity)
        return arrival if visit is None else msgspec.structs.replace(arrival, damage=visit.damage)

    def view_lines(self, room: BaseRoom, member: Member) -> str:
        return ends.visit_text(room, member)

    def announces(self, room: BaseRoom) -> bool:
        kept = VISITS.read(room.state)
        return bool(kept.visits or kept.leaving)

    def absence(self, state: RoomState, identity: str) -> str:
        if identity not in VISITS.read(state).tickets:
            return ""
        where = "the view of the Nexus says where you are, and enter_game brings you back"
        return f"your visit to {state.id} is over; {where}"

    def reply_note(self, room: BaseRoom, member: Member) -> str:
        return ends.ended_text(room, member)
