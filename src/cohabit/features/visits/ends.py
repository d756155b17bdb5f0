"""Visits that end by themselves: after as many steps as the agent wanted, by one of its exit conditions, or because the
game is over.

After every entry the room notes which visits have come to their end. Each is then ended by an entry of its own
(``visit_over``), before anything else happens in the room, and as soon as the body is safe.
"""

from cohabit.bodies import BodyState
from cohabit.features.bodies import avatars
from cohabit.features.bodies.own import avatars_of
from cohabit.features.bodies.views import body_of, has_bodies, world_of
from cohabit.features.visits.state import VISITS, Visit, done_in, has_only_to_leave, visit_of
from cohabit.model.exit_conditions import OF_BODIES, ExitCondition, exit_condition
from cohabit.model.observation import one_line
from cohabit.room.base import BaseRoom, Context
from cohabit.room.seeing.visibility import ACCOUNT
from cohabit.room.state import Member
from cohabit.world import overrides

MAX_STEPS, GAME_OVER = "max_steps", "game_over"
ACHIEVEMENT = "achievement:"


def is_enforced(room: BaseRoom, text: str) -> bool:
    """True if the room ends a visit by this condition. Others are notes for the agent."""
    condition = exit_condition(text)
    return condition is not None and (has_bodies(room) or condition.kind not in OF_BODIES)


def time_limit(conditions: tuple[str, ...]) -> int | None:
    """The milliseconds that a visit with these conditions lasts; None if there is no limit."""
    found = [exit_condition(text) for text in conditions]
    return min([int(one.value * 1000) for one in found if one is not None and one.kind == "playtime"], default=None)


def find_ended(ctx: Context) -> None:
    """Note which visits have come to their end, and which of them can end now. For after every entry."""
    room, due = ctx.room, list[str]()
    kept = VISITS.change(room.state)
    for identity, visit in kept.visits.items():
        is_new = not visit.ends
        visit.ends = visit.ends or _reason(room, identity, visit, ctx.at)
        member = room.member_of(identity) if visit.ends else None
        if member is None:
            continue
        if _can_end(room, member):
            due.append(identity)
        elif is_new:
            text = f"Your visit ends as soon as your body is safe ({visit.ends})"
            ctx.tell(text, ACCOUNT, members=(member.id,))
    if due != kept.due:
        kept.due = due
        room.timers.changed()


def explained(text: str) -> str:
    """An enforced condition, with what it does not say itself."""
    condition = exit_condition(text)
    return f"{text} (one of your goals)" if condition is not None and condition.kind == "goal_complete" else text


def visit_text(room: BaseRoom, member: Member) -> str:
    """A line of the view about the visit of a member, if it is one or was."""
    visit = visit_of(room.state, member.identity)
    if visit is None:
        is_over = has_only_to_leave(room.state, member.identity)
        return "Your visit is over: you are on your way to the Nexus." if is_over else ""
    facts = [
        f"step {visit.steps} of {visit.max_steps}" if visit.max_steps is not None else "",
        f"ends by itself: {', '.join(map(explained, visit.conditions))}" if visit.conditions else "",
        f"difficulty {visit.difficulty}" if visit.difficulty != "normal" else "",
        f"your goals: {'; '.join(visit.goals)}" if visit.goals else "",
    ]
    known = "; ".join(one_line(fact) for fact in facts if fact)
    return f"Your visit: {known}. `exit_game` ends it." if known else "You are on a visit; `exit_game` ends it."


def ended_text(room: BaseRoom, member: Member) -> str:
    """The text for a member with its last action, if its visit ends now."""
    kept = VISITS.read(room.state)
    if member.identity not in kept.due:
        return ""
    return f"Your visit is over ({kept.visits[member.identity].ends}): you are on your way to the Nexus."


def _reason(room: BaseRoom, identity: str, visit: Visit, at: int) -> str:
    """Why a visit is over; empty: it is not."""
    if visit.max_steps is not None and visit.steps >= visit.max_steps:
        return MAX_STEPS
    conditions = {text: found for text in visit.conditions if (found := exit_condition(text)) is not None}
    needs_body = any(condition.kind == "health" for condition in conditions.values())
    body = _body(room, identity) if needs_body else None  # once: a world may have to compute it
    for text, condition in conditions.items():
        if _holds(room, identity, visit, condition, at, body):
            return text
    over_since = room.state.over_since
    if over_since is None or over_since <= visit.since or room.state.rematch_ms is not None:
        return ""
    # In a world with bodies, nobody to move means that nobody is there, unless the world itself says that it is over.
    return GAME_OVER if not has_bodies(room) or overrides(room.world, "is_over") else ""


def _body(room: BaseRoom, identity: str) -> BodyState | None:
    member = room.member_of(identity)
    avatar = avatars.controlled(room, member) if member is not None else None
    return body_of(room, avatar) if avatar is not None else None


def _holds(
    room: BaseRoom, identity: str, visit: Visit, condition: ExitCondition, at: int, body: BodyState | None
) -> bool:
    if condition.kind == "steps":
        return condition.holds_for(visit.steps)
    if condition.kind == "playtime":
        return visit.until is not None and at >= visit.until
    if condition.kind == "died":
        return done_in(room.state, identity, visit).deaths > 0
    if condition.kind == "goal_complete":
        return visit.goals_reached > 0 or _has_achieved(room, identity, visit)
    if body is None:
        return False
    whole = body.max_health or 1.0
    return condition.holds_for(100 * body.health / whole if condition.percent else body.health)


def _has_achieved(room: BaseRoom, identity: str, visit: Visit) -> bool:
    """True if one of the agent's goals for this visit is an achievement of this world that it has now."""
    if not has_bodies(room):
        return False
    wanted = {ACHIEVEMENT + goal.strip().casefold().replace(" ", "_") for goal in visit.goals}
    if not wanted.isdisjoint(done_in(room.state, identity, visit).deeds):
        return True
    mine = [avatar for avatar in avatars_of(room, identity) if avatar.by is not None]
    for avatar in mine if wanted else ():
        done = room.crash_on_error(world_of(room).deeds, avatar.seat)
        if any(done.get(deed, 0) > avatar.deeds_before.get(deed, 0) for deed in wanted):
            return True
    return False


def _can_end(room: BaseRoom, member: Member) -> bool:
    """True if the body of a member can be left now. In rounds, its last choice is carried out first."""
    if room.pace == "rounds" and member.seat in room.seats and not room.is_over():
        acts = avatars.controlled(room, member) is not None or not has_bodies(room)
        if acts and member.seat not in room.state.waiting_for:
            return False
    avatar = avatars.controlled(room, member) if has_bodies(room) else None
    return avatar is None or not body_of(room, avatar).unsafe
