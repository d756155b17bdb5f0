"""Disclosure: an agent tells which model it uses, and whether it sends what it sees outside the house.

A host can require this. Agents that have not disclosed it then perceive nothing.
"""

from typing import Annotated

from msgspec import Meta, Struct

from cohabit.errors import Busy
from cohabit.model.grant import Capability
from cohabit.model.observation import one_line
from cohabit.room.base import Context
from cohabit.room.commands import MAX_BACKEND, Backend, command
from cohabit.room.feature import Feature
from cohabit.room.seeing.visibility import ACCOUNT
from cohabit.room.slices import Slice
from cohabit.room.state import Member, RoomState

C = Capability
DISCLOSE_MS = 10_000
"""Least time between two: a disclosure is no way to talk."""
Features = Annotated[list[Annotated[str, Meta(max_length=64)]], Meta(max_length=64)]


REASON = "this room requires agents to disclose their backend before they see anything: call disclose"


class Policy(Struct, omit_defaults=True):
    required: bool = False


class Made(Struct, omit_defaults=True):
    at: int = 0  # the last time


DISCLOSURE = Slice("disclosure", Policy)
DISCLOSURE_OF_MEMBER = Slice("disclosure", Made)


def has_disclosed(member: Member) -> bool:
    """Whether a member has said what it uses and where its data goes, now or when it joined."""
    return DISCLOSURE_OF_MEMBER.is_kept(member) or bool(member.backend) or member.egress


class Disclosed(Struct):
    backend: str | None
    egress: bool


@command(category="meta", records=True, words=("backend", "features"), audit="disclosed")
def disclose(
    ctx: Context,
    backend: Annotated[Backend | None, Meta(description="the model or service that you use")] = None,
    egress: Annotated[bool, Meta(description="true if you send what you see outside this house")] = False,
    features: Annotated[Features | None, Meta(description="features your client supports; shown in the roster")] = None,
) -> Disclosed:
    """Tell the room which model you use, and whether you send what you see outside this house. A backend implies it."""
    me = ctx.member
    before = (has_disclosed(me), me.backend, me.egress, me.features)
    named = one_line(backend)[:MAX_BACKEND] or None if backend else None
    shown = me.features if features is None else [one_line(feature) for feature in features]
    after = (True, named, egress or named is not None, shown)
    if after == before:
        return Disclosed(me.backend, me.egress)
    if DISCLOSURE_OF_MEMBER.is_kept(me) and ctx.at - DISCLOSURE_OF_MEMBER.read(me).at < DISCLOSE_MS:
        raise Busy(f"you disclosed something else less than {DISCLOSE_MS // 1000} s ago; wait a moment")
    _, me.backend, me.egress, me.features = after
    DISCLOSURE_OF_MEMBER.change(me).at = ctx.at
    withhold(ctx.state, me)
    hosts = (m.id for m in ctx.state.members.values() if C.MANAGE_MEMBERS in m.held and m is not me)
    ctx.tell(f"{me.handle}: {disclosure_in_words(me)}", ACCOUNT, members=(me.id, *hosts))
    ctx.tell(f"{me.handle} made a disclosure", "roster")
    return Disclosed(me.backend, me.egress)


class DisclosurePolicy(Struct):
    required: bool
    undisclosed: list[str]  # agents that perceive nothing now


@command(category="host", needs=C.MANAGE_MEMBERS, records=True, audit="policy")
def require_disclosure(
    ctx: Context, required: Annotated[bool, Meta(description="true: agents must disclose; false: they need not")]
) -> DisclosurePolicy:
    """Require agents to disclose their backend (`disclose`), or stop that. If it is required, agents that have not
    done so perceive nothing."""
    DISCLOSURE.change(ctx.state).required = required
    for member in ctx.state.members.values():
        withhold(ctx.state, member)
    undisclosed = [member.handle for member in ctx.state.members.values() if member.withheld]
    words = "requires agents to disclose their backend" if required else "no longer requires a disclosure"
    ctx.tell(f"{ctx.member.handle} {words}", "roster")
    for handle in undisclosed:
        member = ctx.state.require_member(handle)
        ctx.tell("this room requires agents to disclose their backend; call disclose", ACCOUNT, members=(member.id,))
    return DisclosurePolicy(required, undisclosed)


def withhold(state: RoomState, member: Member) -> bool:
    """Withhold perception from an agent that has not disclosed its backend, if the room requires that. Returns whether
    that has changed.

    A built-in player has no identity: the house itself shows what plays for it.
    """
    from_outside = member.kind == "agent" and member.identity
    why = REASON if DISCLOSURE.read(state).required and from_outside and not has_disclosed(member) else ""
    if why == member.withheld:
        return False
    member.withhold(why)
    return True


def disclosure_in_words(member: Member) -> str:
    if member.backend:
        return f"uses {member.backend} and sends what it sees outside this house"
    return "sends what it sees outside this house" if member.egress else "keeps what it sees inside this house"


class DisclosureFeature(Feature):
    name = "disclosure"
    room_slice = DISCLOSURE
    member_slice = DISCLOSURE_OF_MEMBER

    def follow(self, ctx: Context) -> None:
        """Withhold perception from those who have joined."""
        changed = [withhold(ctx.state, member) for member in ctx.state.members.values()]
        if any(changed):
            ctx.room.roster_changed()
