"""Disclosure: an agent tells which model it uses, and whether it sends what it sees outside the house.

A host can require this. Agents that have not disclosed it then perceive nothing. A host can also set how many bytes may
be sent to a member in all; the house counts them, and sends nothing more when they are used up.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta, Struct

from cohabit.errors import BadArgs, Busy, UnknownAsset
from cohabit.model.egress import NO_LIMIT, STEP, THIS_HOUSE
from cohabit.model.grant import Capability
from cohabit.model.observation import one_line
from cohabit.room.base import BaseRoom, Context
from cohabit.room.commands import MAX_BACKEND, Backend, command
from cohabit.room.feature import Feature, Sending
from cohabit.room.seeing.visibility import ACCOUNT
from cohabit.room.slices import Slice
from cohabit.room.state import Member, RoomState

C = Capability
DISCLOSE_MS = 10_000
"""Least time between two: a disclosure is no way to talk."""
Features = Annotated[list[Annotated[str, Meta(max_length=64)]], Meta(max_length=64)]


REASON = "this room requires agents to disclose their backend before they see anything: call `disclose`"


class Policy(Struct, omit_defaults=True):
    required: bool = False
    budget: int | None = None  # bytes for each member; 0: no limit; None: as the house says
    budgets: dict[str, int] = {}  # of single members, by identity, so that they hold when somebody comes back


class Made(Struct, omit_defaults=True):
    at: int = 0  # the last time


DISCLOSURE = Slice("disclosure", Policy)
DISCLOSURE_OF_MEMBER = Slice("disclosure", Made)


def has_disclosed(member: Member) -> bool:
    """True if a member has said what it uses and where its data goes, now or when it joined."""
    return DISCLOSURE_OF_MEMBER.is_kept(member) or bool(member.backend) or member.egress


class Disclosed(Struct):
    backend: str | None
    egress: bool


def _is_withheld(room: BaseRoom, member: Member) -> bool:
    return bool(member.withheld)


@command(
    category="meta", records=True, words=("backend", "features"), audit="disclosed", listed_if=_is_withheld,
    hint="is required before you see anything here: say which model you use.",
)  # fmt: skip
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


# -- how much may leave ---------------------------------------------------------------------------
MAX_BUDGETS = 1_000
"""Members of a room with a budget of their own, those who have left included."""


class EgressBudget(Struct, omit_defaults=True):
    budget: int | None  # bytes that may be sent to each member; 0: no limit; null: as the house says
    members: dict[str, int] = {}  # those with a budget of their own


def _has_a_step(room: BaseRoom, member: Member, args: Mapping[str, Any], via: str | None) -> None:
    """In a sealed room budgets count in whole steps, so that a host cannot find out how large a view is."""
    if 0 < (args.get("budget") or 0) < STEP and room.is_sealed:
        raise BadArgs(
            f"budget: this room is sealed, so a budget counts in steps of {STEP} bytes, and less than one is nothing: "
            f"set at least {STEP}, or 0 for no limit"
        )


@command(
    category="host", needs=C.MANAGE_MEMBERS, records=True, audit="policy", when_used_up=True, check_here=_has_a_step
)
def set_egress_budget(
    ctx: Context,
    budget: Annotated[
        Annotated[int, Meta(ge=0, le=2**53)] | None,
        Meta(description="bytes that may be sent to a member in all; 0: no limit; null: the default"),
    ],
    member: Annotated[
        str | None,
        Meta(description="only for this member, or of one who has left `who` in `egress`; default: for every member"),
    ] = None,
) -> EgressBudget:
    """Limit how many bytes are sent to each member of this room, or to one of them, in all, over every interface.

    When they are used up, the member gets EGRESS_USED_UP and nothing more, until you raise the budget.
    """
    policy, about = DISCLOSURE.read(ctx.state), "every member"
    if member is None:
        DISCLOSURE.change(ctx.state).budget = budget
    else:
        key, about = _whose(ctx, member, policy)
        if budget is not None and key not in policy.budgets and len(policy.budgets) >= MAX_BUDGETS:
            raise BadArgs(f"{MAX_BUDGETS} members have a budget of their own already; set one for every member")
        budgets = DISCLOSURE.change(ctx.state).budgets
        if budget is None:
            budgets.pop(key, None)
        else:
            budgets[key] = budget
    words = "the default" if budget is None else "no limit" if not budget else f"{budget} bytes"
    ctx.tell(f"{ctx.member.handle} set the egress budget of {about} to {words}", "roster")
    policy = DISCLOSURE.read(ctx.state)
    own = {
        m.handle: policy.budgets[key]
        for m in ctx.state.members.values()
        if (key := m.identity or m.id) in policy.budgets
    }
    if member in policy.budgets:  # it has left
        own[member] = policy.budgets[member]
    return EgressBudget(policy.budget, own)


def _whose(ctx: Context, member: str, policy: Policy) -> tuple[str, str]:
    """By what a member's budget is kept, and what the member is called. No handle looks like an identity."""
    state = ctx.state
    if state.with_handle(member) is None and member in (*state.former, *policy.budgets):
        return member, "a former member"
    try:
        who = state.require_member(member, ctx.member)
    except UnknownAsset as unknown:
        about = f"{unknown.message}; for one who has left, pass its `who` in the reply to `egress`"
        raise UnknownAsset(about, did_you_mean=unknown.did_you_mean) from None
    return who.identity or who.id, who.handle


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

    def sending(self, room: BaseRoom, member: Member) -> Sending:
        """The disclosure of a member, and the budget that a host has set."""
        policy = DISCLOSURE.read(room.state)
        limit = policy.budgets.get(member.identity or member.id, policy.budget)
        inside = DISCLOSURE_OF_MEMBER.is_kept(member) and not member.egress
        return Sending(THIS_HOUSE if inside else "", NO_LIMIT if limit == 0 else limit)

    def follow_roster(self, ctx: Context) -> None:
        """Withhold perception from those who have joined."""
        changed = [withhold(ctx.state, member) for member in ctx.state.members.values()]
        if any(changed):
            ctx.room.roster_changed()
