"""Adding members to a room and removing them."""

from typing import TYPE_CHECKING, Any

from cohabit.errors import BadArgs, Conflict
from cohabit.model.identity import Kind
from cohabit.room import turns
from cohabit.room.context import Context
from cohabit.room.state import Member
from cohabit.scenario import check_claim

if TYPE_CHECKING:
    from cohabit.room.room import Room


def check_admission(ctx: Context, claim: str | None, team: str | None) -> None:
    """Check that a member with this claim and team can be added."""
    if claim is not None:
        check_claim(claim)
        if any(m.claim == claim for m in ctx.state.members.values()):
            raise Conflict(f"another member already claims {claim}")
    if team is not None and team not in ctx.state.teams:
        raise BadArgs(f"unknown team {team!r}", did_you_mean=list(ctx.state.teams))


def keep_seat(room: "Room", member: Member) -> None:
    """Remember a member's seat in a world with hidden information, so it cannot take another one in this game."""
    if member.seat is not None and not room.world.spec.open_information:
        room.state.played[member.identity or member.id] = member.seat


def add_member(ctx: Context, handle: str, kind: Kind, **details: Any) -> Member:
    """Add a member. The caller's right to do so has been checked."""
    state = ctx.state
    if state.with_handle(handle) is not None:
        raise Conflict(f"a member named {handle!r} already exists")
    check_admission(ctx, details.get("claim"), details.get("team"))
    member = Member(state.new_member_id(handle), kind, away_since=ctx.at, **details)
    state.members[member.id] = member
    if member.team is not None:
        state.teams[member.team].append(member.id)
    turns.bind(ctx.room, state.seats)
    keep_seat(ctx.room, member)
    ctx.tell(f"{member.handle} joined as {member.role_name}", "roster")
    return member


def remove_member(ctx: Context, member: Member) -> None:
    """Remove a member, with its seat, its messages, and its place in teams and in the turn order."""
    state = ctx.state
    member.claim = None
    turns.leave_seat(ctx.room, member, "removed")
    del state.members[member.id]
    state.inboxes.pop(member.id, None)
    state.replies.pop(member.id, None)
    for team in state.teams.values():
        if member.id in team:
            team.remove(member.id)
    if member.id in state.turn_order:
        _leave_turn_order(ctx, member.id)
    if state.paused_by == member.id:
        state.pause_until = ctx.at + state.pause_grace_ms


def _leave_turn_order(ctx: Context, who: str) -> None:
    """Remove a member from the turn order. The next member stays the next."""
    state = ctx.state
    current = state.turn_order[state.turn_index]
    before = sum(1 for name in state.turn_order[: state.turn_index] if name == who)
    state.turn_order = [name for name in state.turn_order if name != who]
    state.turn_index = (state.turn_index - before) % len(state.turn_order) if state.turn_order else 0
    if current == who:
        state.turn_started = ctx.at
