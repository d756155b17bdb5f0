"""Objectives: a scenario gives them to its members, whose views show them; objective_status lists all."""

from typing import Any

from msgspec import Struct

from cohabit.model.grant import Capability
from cohabit.model.observation import one_line
from cohabit.room.base import BaseRoom, Context
from cohabit.room.commands import command
from cohabit.room.feature import Feature
from cohabit.room.seeing.looking import CAN_VIEW
from cohabit.room.state import Member
from cohabit.world import Standing

C = Capability
OBJECTIVES_SHOWN, LABEL_SHOWN = 3, 160
"""The number of objectives in a view, and of the characters of each."""


class MemberObjectives(Struct, omit_defaults=True):
    handle: str
    role: str
    objectives: list[dict[str, Any]]
    seat: str | None = None


class ObjectiveStatus(Struct, omit_defaults=True):
    scenario: str
    members: list[MemberObjectives]
    standings: list[Standing]


@command(category="meta", needs=CAN_VIEW)
def objective_status(ctx: Context) -> ObjectiveStatus:
    """The declared objectives of all members and the world's standings. Objectives are not scored."""
    return ObjectiveStatus(
        ctx.state.scenario,
        [
            MemberObjectives(m.handle, m.role_name, m.objectives, m.seat)
            for m in ctx.state.members.values()
            if m.objectives or C.READ_ROSTER in ctx.member.held
        ],
        list(ctx.room.world.standings()),
    )


class ObjectivesFeature(Feature):
    name = "objectives"

    def active(self, room: BaseRoom) -> bool:
        return any(member.objectives for member in room.state.members.values())

    def view_lines(self, room: BaseRoom, member: Member) -> str:
        labels = [one_line(str(goal.get("label") or goal.get("id") or ""))[:LABEL_SHOWN] for goal in member.objectives]
        return f"Your objectives: {'; '.join(labels[:OBJECTIVES_SHOWN])}" if labels else ""
