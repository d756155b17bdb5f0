"""The command that shows refused calls, and grants that differ from a role."""

from collections.abc import Iterable
from typing import Annotated

from msgspec import Meta, Struct, structs

from cohabit.model.grant import Capability
from cohabit.room.access.grants import Granted, grant_wire
from cohabit.room.access.refusals import Refusal
from cohabit.room.base import Context
from cohabit.room.commands import Resource, command
from cohabit.room.feature import Feature
from cohabit.room.state import Member

C = Capability
PRIVATE_REASONS = ("GAME_REJECTED", "UNKNOWN_ASSET", "OUT_OF_BOUNDS", "SCOPE_VIOLATION", "BAD_ARGS", "UNKNOWN_COMMAND")
"""Refusals whose reason comes from the world or quotes what the caller sent, and may reveal hidden information."""


def _shown(refusal: Refusal, reader: Member) -> Refusal:
    refusal = structs.replace(refusal, id=0)  # it counts those of others too
    own = refusal.member == reader.id
    if refusal.code in PRIVATE_REASONS and not own and C.READ_ALL not in reader.held:
        return structs.replace(refusal, reason="(shown to members with read_all)")
    return refusal


class AuditReply(Struct):
    refusals: list[Refusal]
    grants: list[Granted]


@command(
    category="meta",
    resource=Resource("audit", "Audit", "Refused calls: of everyone for hosts, else your own"),
)
def audit(
    ctx: Context,
    member: Annotated[str | None, Meta(description="for hosts: only the refusals of this member")] = None,
    max: Annotated[int, Meta(ge=1, le=500)] = 50,  # noqa: A002 - the wire's name
) -> AuditReply:
    """Refused calls, newest first, and grants that differ from the member's role.

    Hosts see all of them, other members their own. `audit_log` lists changes of permissions.
    """
    me = ctx.member
    about: Member | None = me
    members: Iterable[Member] = [me]
    if C.MANAGE_MEMBERS in me.held:
        about = ctx.state.require_member(member, me) if member is not None else None
        members = ctx.state.members.values()
    lines = [_shown(r, me) for r in reversed(ctx.room.audit.kept) if about is None or r.member == about.id]
    return AuditReply(lines[:max], [Granted(m.handle, grant_wire(m)) for m in members if m.layers])


class AuditFeature(Feature):
    name = "audit"
