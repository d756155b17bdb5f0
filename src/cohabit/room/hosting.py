"""Commands for whoever hosts a room: members, grants, the audit."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from cohabit.errors import BadArgs, Conflict, PermissionDenied, UnknownAsset
from cohabit.model.grant import ROLES, Capability, Grant, capabilities, role_named
from cohabit.model.suggest import nearest
from cohabit.room import turns
from cohabit.room.audit import Refusal
from cohabit.room.commands import command
from cohabit.room.common import grant_wire
from cohabit.room.context import Context
from cohabit.room.scenario import check_claim, check_id
from cohabit.room.state import Kind, Member

C = Capability
MemberId = Annotated[str, Meta(description="the member's id")]
Names = Annotated[list[str], Meta(description="capabilities, in either family's names")]


class Granted(Struct):
    member: str
    grant: dict[str, Any]


def _other(ctx: Context, name: str) -> Member:
    members = ctx.state.members
    if name not in members:
        raise UnknownAsset(f"nobody here is called {name[:80]!r}", did_you_mean=nearest(name[:80], list(members), 3))
    return members[name]


def _put(ctx: Context, who: Member, grant: Grant | None, words: str) -> Granted:
    if who.id == ctx.member.id and grant is not None and C.MANAGE_MEMBERS not in grant.may:
        raise Conflict("that would take the right to manage members from yourself; let another host do it")
    beyond = sorted(set(grant.may) - who.held) if grant is not None and who.id == ctx.member.id else []
    if beyond:
        raise PermissionDenied(f"you cannot give yourself what you do not hold: {', '.join(beyond)}")
    if grant is not None and grant.through is not None and grant.through not in ctx.room.seats:
        known = list(ctx.room.seats)
        raise UnknownAsset(f"there is no seat {grant.through[:40]!r}", did_you_mean=nearest(grant.through, known, 3))
    who.override, who.lent, who.before = grant, False, None
    ctx.tell(f"{ctx.member.id} {words} for {who.id}", "roster")
    return Granted(who.id, grant_wire(who))


def _expiry(ctx: Context, expires_in_s: int | None) -> int | None:
    return None if expires_in_s is None else ctx.at + expires_in_s * 1000


ExpiresIn = Annotated[Annotated[int, Meta(ge=1, le=10**9)] | None, Meta(description="runs out after so many seconds")]


@command(category="host", needs=C.MANAGE_MEMBERS, records=True)
def grant(
    ctx: Context,
    member: MemberId,
    may: Names,
    through: Annotated[str | None, Meta(description="look through this seat (a kibitzer)")] = None,
    expires_in_s: ExpiresIn = None,
) -> Granted:
    """Set exactly what a member may perceive and do, in place of its role."""
    return _put(ctx, _other(ctx, member), Grant.of(may, through, _expiry(ctx, expires_in_s)), "set the grant")


@command(category="host", needs=C.MANAGE_MEMBERS, records=True)
def widen(ctx: Context, member: MemberId, may: Names, expires_in_s: ExpiresIn = None) -> Granted:
    """Give a member more on top of what it holds; with `expires_in_s` only lent: then it holds what it held."""
    who, given = _other(ctx, member), capabilities(may)
    lent, before = who.lent or expires_in_s is not None, who.before if who.lent else who.override
    if who.lent and expires_in_s is None:  # what is given for good stays when the loan goes
        before = Grant.of([*_without_loan(who), *given], _through(who))
    more = Grant.of([*who.held, *given], _through(who), _expiry(ctx, expires_in_s) or _ends(who))
    granted = _put(ctx, who, more, f"allowed {', '.join(may)}")
    who.lent, who.before = (True, before) if lent else (False, None)
    return granted


@command(category="host", needs=C.MANAGE_MEMBERS, records=True)
def narrow(ctx: Context, member: MemberId, may: Names) -> Granted:
    """Take something away from what a member holds."""
    who, taken = _other(ctx, member), capabilities(may)
    lent, before = who.lent, Grant.of(sorted(_without_loan(who) - taken), _through(who))
    left = Grant.of(sorted(who.held - taken), _through(who), _ends(who))
    granted = _put(ctx, who, left, f"took away {', '.join(may)}")
    if lent:  # it does not come back with the end of the loan
        who.lent, who.before = True, before
    return granted


@command(category="host", needs=C.MANAGE_MEMBERS, records=True)
def revoke(ctx: Context, member: MemberId) -> Granted:
    """Take everything from a member: it may ask who it is, and nothing else."""
    return _put(ctx, _other(ctx, member), Grant(), "revoked everything")


@command(category="host", needs=C.MANAGE_MEMBERS, records=True)
def clear_grant(ctx: Context, member: MemberId) -> Granted:
    """Drop the override: the member holds what its role gives again."""
    return _put(ctx, _other(ctx, member), None, "cleared the override")


def _without_loan(who: Member) -> frozenset[Capability]:
    """What a member will hold when what was lent to it is gone."""
    if not who.lent:
        return who.held
    return frozenset(who.before.may) if who.before is not None else ROLES[who.role_name]


def _through(who: Member) -> str | None:
    return who.override.through if who.override else None


def _ends(who: Member) -> int | None:
    return who.override.expires_at if who.override and who.override.may else None  # one that ran out has no end


class Joined(Struct):
    member: str
    role: str
    seat: str | None


@command(category="host", needs=C.MANAGE_MEMBERS, records=True)
def add_member(
    ctx: Context,
    id: Annotated[str, Meta(description="a name nobody here has")],  # noqa: A002 - the wire's name
    kind: Kind = "agent",
    role: Annotated[str | None, Meta(description="left out: watch-only for agents, full for people")] = None,
    claim: Annotated[str | None, Meta(description="auto:N or id:X")] = None,
    team: str | None = None,
    stand_in: Annotated[str | None, Meta(description="the brain that plays while this player is away")] = None,
    backend: Annotated[Annotated[str, Meta(max_length=80)] | None, Meta(description="the model it uses")] = None,
) -> Joined:
    """Add a member. (The house's `invite` does this and makes a credential too.)"""
    state = ctx.state
    check_id(id)
    if id in state.members:
        raise Conflict(f"there is a member called {id!r} already")
    named = role_named(role) if role is not None else None
    if named is not None and not ROLES[named] <= ctx.member.held | ROLES["human"]:
        beyond = sorted(ROLES[named] - ctx.member.held - ROLES["human"])
        raise PermissionDenied(f"you cannot give what you do not hold: {', '.join(beyond)}")
    if claim is not None:
        check_claim(claim)
        if any(m.claim == claim for m in state.members.values()):
            raise Conflict(f"somebody claims {claim} already")
    if team is not None:
        if team not in state.teams:
            raise BadArgs(f"there is no team {team!r}", did_you_mean=list(state.teams))
        state.teams[team].append(id)
    made = Member(id, kind, named, claim, team=team, stand_in=stand_in, backend=backend, away_since=ctx.at)
    state.members[id] = made
    turns.bind(ctx.room, state.seats)
    ctx.tell(f"{id} joined as {state.members[id].role_name}", "roster")
    return Joined(id, state.members[id].role_name, state.members[id].seat)


class Removed(Struct):
    removed: str


@command(category="host", needs=C.MANAGE_MEMBERS, records=True)
def remove_member(ctx: Context, member: MemberId) -> Removed:
    """Show somebody the door: its membership and its seat are gone."""
    who = _other(ctx, member)
    if who.id == ctx.member.id:
        raise Conflict("you cannot remove yourself; let another host do it")
    state = ctx.state
    del state.members[who.id]
    state.inboxes.pop(who.id, None)
    state.replies.pop(who.id, None)
    for team in state.teams.values():
        if who.id in team:
            team.remove(who.id)
    if who.id in state.turn_order:
        _out_of_order(ctx, who.id)
    if state.paused_by == who.id:
        state.pause_until = ctx.at + state.pause_grace_ms
    turns.bind(ctx.room, state.seats)  # its seat is free for whoever else claims it
    ctx.tell(f"{ctx.member.id} removed {who.id}", "roster")
    return Removed(who.id)


def _out_of_order(ctx: Context, who: str) -> None:
    """Whoever was next stays next."""
    state = ctx.state
    current = state.turn_order[state.turn_index]
    before = sum(1 for name in state.turn_order[: state.turn_index] if name == who)
    state.turn_order = [name for name in state.turn_order if name != who]
    state.turn_index = (state.turn_index - before) % len(state.turn_order) if state.turn_order else 0
    if current == who:
        state.turn_started = ctx.at


class AuditReply(Struct):
    refusals: list[Refusal]
    grants: list[Granted]


@command(category="host", needs=C.MANAGE_MEMBERS)
def audit(
    ctx: Context,
    member: Annotated[str | None, Meta(description="only this member's")] = None,
    max: Annotated[int, Meta(ge=1, le=500)] = 50,  # noqa: A002 - the wire's name
) -> AuditReply:
    """What was refused, newest first, and the overrides in force. Changes of grants are in `events`."""
    lines = [r for r in reversed(ctx.room.audit.kept) if member in (None, r.member)]
    over = [Granted(m.id, grant_wire(m)) for m in ctx.state.members.values() if m.override is not None]
    return AuditReply(lines[:max], over)
