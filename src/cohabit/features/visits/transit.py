"""System entries of a transit through the Nexus. Members cannot call these.

A transit is a ticket that two rooms record: the Nexus and the game. The game records ``transit_in`` when the agent
arrives; the same ticket brings nobody twice. When the agent leaves, the room keeps what it takes along (``leaving``)
until the Nexus has confirmed the package with ``visit_closed``. So wherever the server stops, both sides can be brought
to the same end, and no change has to be made in two rooms at once.
"""

from copy import deepcopy

from msgspec import Struct

from cohabit.bodies import EmbodiedWorld
from cohabit.errors import Conflict, PermissionDenied
from cohabit.features.bodies import avatars
from cohabit.features.bodies.own import newest_dead
from cohabit.features.bodies.state import career_of
from cohabit.features.bodies.views import has_bodies
from cohabit.features.visits import ends
from cohabit.features.visits.state import VISITS, Visit, visit_of
from cohabit.features.visits.visits import end_visit, leave_place
from cohabit.model.grant import Capability
from cohabit.model.observation import one_line
from cohabit.model.travel import EntryPackage
from cohabit.room.access.members import drop_member
from cohabit.room.base import BaseRoom, Context
from cohabit.room.commands import system_entry
from cohabit.room.play import seats
from cohabit.room.seeing.visibility import ACCOUNT
from cohabit.room.state import Member


class Receipt(Struct, omit_defaults=True):
    """The outcome of an arrival."""

    ticket: str
    member: str
    seat: str | None = None
    avatar: str = ""
    woken: bool = False  # its body was there before
    items: dict[str, int] = {}  # what its body could take
    max_steps: int | None = None
    enforced: tuple[str, ...] = ()  # exit conditions that end the visit
    notes: tuple[str, ...] = ()  # exit conditions that only the agent can judge
    difficulty: str = "normal"  # that holds here
    damage: float = 1.0
    revived: bool = False  # its body was dead


@system_entry(audit="joined")
def transit_in(ctx: Context, package: EntryPackage, admitted: bool = False, respawn: str = "") -> Receipt:
    """An agent arrives from the Nexus. ``admitted``: it became a member for this visit. ``respawn``: by this option its
    dead body comes back to life."""
    state, room = ctx.state, ctx.room
    me = room.member_of(package.identity)
    if me is None:
        raise Conflict("this identity is not a member of the room")
    kept = VISITS.read(state)
    if kept.tickets.get(package.identity) == package.ticket:
        return receipt(room, package.identity)
    if package.identity in kept.visits:
        raise Conflict("you are in this game already")
    _check_may_play(me)
    given: dict[str, int] = {}
    woken = revived = False
    if isinstance(room.world, EmbodiedWorld):
        if avatars.controlled(room, me) is not None:
            raise Conflict("you control a body here already; leave it first (`jack_out`)")
        is_first = not VISITS.is_kept(state)
        visit = VISITS.change(state).visits[package.identity] = _visit(ctx, package, admitted)
        room.features_changed()  # the visit has a say in how its body arrives
        try:
            if respawn and (dead := newest_dead(room, package.identity)) is not None:
                avatars.come_back(ctx, me, dead, respawn)
                woken = revived = True
            else:
                woken = avatars.enter_body(
                    ctx, me, package.avatar, package.bonuses, package.spawn, new=package.new_avatar
                )
        except BaseException:
            del VISITS.change(state).visits[package.identity]
            if is_first:
                VISITS.drop(state)
            raise
        assert me.seat is not None
        for item, count in package.items.items():
            taken = room.crash_on_error(room.world.put_items, me.seat, item, count)
            if not 0 <= taken <= count:
                raise RuntimeError(f"put_items() says that the body took {taken} of {count} {item}")
            if taken:
                given[item] = taken
    else:
        if me.seat is None:
            seats.take_seat(ctx, me, None)
        visit = VISITS.change(state).visits[package.identity] = _visit(ctx, package, admitted)
    visit.items = given
    body = avatars.controlled(room, me)
    if body is not None:
        visit.bonuses = dict(body.bonuses)
    VISITS.change(state).tickets[package.identity] = package.ticket
    ctx.tell(f"{me.handle} {'returns to its body' if woken else 'arrives'} from the Nexus", "roster")
    found = receipt(room, package.identity, woken)
    found.revived = revived
    found.notes = tuple(text for text in package.exit_conditions if text not in visit.conditions)
    notes = [
        *(f"goal: {one_line(goal)}" for goal in package.goals),
        *([f"your visit ends after {package.max_steps} steps"] if package.max_steps is not None else []),
        *(f"your visit ends by itself: {ends.explained(text)}" for text in found.enforced),
        *(f"leave when: {one_line(text)}" for text in found.notes),
        *(f"you remember: {one_line(what)}" for what in package.memories),
    ]
    if notes:
        ctx.tell("; ".join(notes), ACCOUNT, members=(me.id,))
    return found


def _check_may_play(me: Member) -> None:
    """A member of the room gets no more through the Nexus than it has there."""
    if Capability.ACT in me.role_grant - me.held:
        raise PermissionDenied("a host has taken act from you in this game; ask a host to give it back")
    if Capability.ACT not in me.held:
        raise PermissionDenied(
            f"you are a member of this game as {me.role_name}, without act; `leave` that room, then enter it from "
            "the Nexus again, or ask a host to grant act"
        )
    if me.claim is not None and me.seat is None:
        raise PermissionDenied(f"your place in this game is bound to the claim {me.claim}, which is not open yet")


def _visit(ctx: Context, package: EntryPackage, admitted: bool) -> Visit:
    enforced = tuple(text for text in package.exit_conditions if ends.is_enforced(ctx.room, text))
    lasts = ends.time_limit(enforced)
    return Visit(
        package.ticket, ctx.at, package.goals, package.memories, dict(package.bonuses), package.entering,
        admitted=admitted, difficulty=package.difficulty, damage=package.damage, max_steps=package.max_steps,
        conditions=enforced,
        before=deepcopy(career_of(ctx.state, package.identity)),
        until=None if lasts is None else ctx.at + lasts,
    )  # fmt: skip


def receipt(room: BaseRoom, identity: str, woken: bool = False) -> Receipt:
    """The outcome of the last arrival of this identity."""
    me, visit = room.member_of(identity), visit_of(room.state, identity)
    ticket = VISITS.read(room.state).tickets[identity]
    if me is None or visit is None:  # it has left since
        return Receipt(ticket, me.handle if me is not None else "")
    return Receipt(
        ticket, me.handle, me.seat, career_of(room.state, identity).avatar, woken, dict(visit.items), visit.max_steps,
        visit.conditions, difficulty=visit.difficulty, damage=visit.damage,
    )  # fmt: skip


@system_entry(audit="removed")
def transit_refused(ctx: Context, identity: str) -> None:
    """An agent became a member for a visit, and could not be seated: it is none any more."""
    member = ctx.room.member_of(identity)
    if member is not None:
        drop_member(ctx, member)
        ctx.tell(f"{member.handle} could not stay", "roster")


@system_entry()
def visit_dropped(ctx: Context, identity: str) -> None:
    """A visit that the Nexus has given up, because this room did not answer: it takes nothing along."""
    visit, member = VISITS.change(ctx.state).visits.pop(identity, None), ctx.room.member_of(identity)
    if visit is not None and visit.admitted and member is not None:
        drop_member(ctx, member)
        ctx.tell(f"{member.handle} is no longer visiting", "roster")


@system_entry()
def meta_goal(ctx: Context, identity: str, text: str) -> None:
    """A visitor has reached one of its meta-goals."""
    member = ctx.room.member_of(identity)
    if member is not None:
        ctx.tell(text, "reward", members=(member.id,))
    if (visit := visit_of(ctx.state, identity)) is not None:
        visit.goals_reached += 1


@system_entry()
def visit_time_up(ctx: Context, identity: str) -> None:
    """The time of a visit is up. What follows from that is evaluated after every entry."""


@system_entry()
def visit_over(ctx: Context, identity: str) -> None:
    """A visit has come to its end by itself. Its body sleeps where it is, with what it carries."""
    visit, member = visit_of(ctx.state, identity), ctx.room.member_of(identity)
    if visit is None or member is None or identity not in VISITS.read(ctx.state).due:
        return
    leave_place(ctx, member, "dormant")
    end_visit(ctx.room, ctx.at, identity, visit.ends)
    ctx.tell(f"Your visit is over ({visit.ends}). You are on your way to the Nexus.", ACCOUNT, members=(member.id,))
    ctx.tell(f"{member.handle} leaves for the Nexus", "roster")


@system_entry()
def visit_archived(ctx: Context, identity: str) -> None:
    """The room was archived: nothing happens in it any more, so a visit ends whether its body is safe or not."""
    if visit_of(ctx.state, identity) is None:
        return
    member = ctx.room.member_of(identity)
    if member is not None:
        if member.claim is None:
            seats.leave_seat(ctx.room, member, "removed")
        if has_bodies(ctx.room):
            avatars.follow(ctx)  # ends the session of its body
        text = "Your visit is over: this game is archived. You are on your way to the Nexus."
        ctx.tell(text, ACCOUNT, members=(member.id,))
    end_visit(ctx.room, ctx.at, identity, "archived")


@system_entry(audit="removed")
def visit_closed(ctx: Context, ticket: str) -> None:
    """The Nexus has what the agent took along. A member that came only for this visit leaves the room."""
    package = VISITS.change(ctx.state).leaving.pop(ticket, None)
    member = ctx.room.member_of(package.identity) if package is not None else None
    if (
        package is not None
        and package.admitted
        and member is not None
        and visit_of(ctx.state, package.identity) is None
    ):
        drop_member(ctx, member)
        ctx.tell(f"{member.handle} left", "roster")
