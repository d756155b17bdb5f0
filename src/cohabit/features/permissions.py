"""The command `permissions`: an overview for hosts, to be read before they change something."""

from msgspec import Struct

from cohabit.features.chat_limits import ChatLimits, limits_of
from cohabit.features.disclosure import DISCLOSURE, has_disclosed
from cohabit.model.grant import Capability, in_order
from cohabit.model.identity import Kind
from cohabit.room.access.grants import grantable
from cohabit.room.base import Context
from cohabit.room.commands import command
from cohabit.room.feature import Feature
from cohabit.room.state import Member

C = Capability


class MemberPermissions(Struct, omit_defaults=True):
    """``by_role``: the capabilities without changes by a host. ``ends_at``: the time when the first permission ends.
    ``disclosed``: the member has called `disclose`, or said the same when it joined."""

    member: str
    kind: Kind
    role: str
    held: tuple[Capability, ...]
    by_role: tuple[Capability, ...]
    name: str = ""
    seat: str | None = None
    through: str | None = None
    ends_at: int | None = None
    changed: bool = False
    built_in: bool = False
    disclosed: bool = False
    backend: str | None = None
    egress: bool = False
    withheld: bool = False


class Permissions(Struct):
    """``grantable``: the capabilities that you may grant."""

    members: list[MemberPermissions]  # empty for a host who may not read the roster
    disclosure_required: bool
    chat_limits: ChatLimits
    grantable: tuple[Capability, ...]


@command(category="host", needs=C.MANAGE_MEMBERS)
def permissions(ctx: Context) -> Permissions:
    """The permissions of every member, the disclosures of agents, and the rules for agents in this room."""
    state = ctx.state
    limits = limits_of(state)
    shown = state.members.values() if C.READ_ROSTER in ctx.member.held else ()
    lines = [_permissions_of(member) for member in shown]
    return Permissions(lines, DISCLOSURE.read(state).required, limits, in_order(grantable(ctx.member)))


def _permissions_of(member: Member) -> MemberPermissions:
    return MemberPermissions(
        member=member.handle,
        kind=member.kind,
        role=member.role_name,
        held=in_order(member.held),
        by_role=in_order(member.role_grant),
        name=member.name,
        seat=member.seat,
        through=member.through,
        ends_at=min((layer.expires_at for layer in member.layers if layer.expires_at is not None), default=None),
        changed=bool(member.layers),
        built_in=not member.identity or (member.played_by_bot and member.stand_in_since is None),
        disclosed=has_disclosed(member),
        backend=member.backend,
        egress=member.egress,
        withheld=bool(member.withheld),
    )


class PermissionsFeature(Feature):
    name = "permissions"
