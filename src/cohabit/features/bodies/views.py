"""The views of an agent's avatars: each one, and the world through the one that it controls."""

from cohabit.bodies import BodyState, EmbodiedWorld
from cohabit.features.bodies.own import WAITING, avatars_of, owner_of, why_not_in
from cohabit.features.bodies.state import OwnedAvatar
from cohabit.model.avatar import Avatar, EmbodiedObservation
from cohabit.model.grant import Capability
from cohabit.model.observation import Observation, one_line
from cohabit.model.timestamps import utc
from cohabit.room.base import BaseRoom
from cohabit.room.commands import command_of
from cohabit.room.decide import by_features, by_grant, by_turn
from cohabit.room.play.seats import sit
from cohabit.room.state import Member

SEES_OWN = frozenset((Capability.READ_OWN, Capability.READ_ALL))
SENSES = (
    "facing", "stance", "velocity", "vision_range", "vision_cone", "hearing_range", "fatigue", "encumbrance"
)  # fmt: skip
"""The fields that an observation has under the same name as the body."""


def has_bodies(room: BaseRoom) -> bool:
    return isinstance(room.world, EmbodiedWorld)


def world_of(room: BaseRoom) -> EmbodiedWorld:
    assert isinstance(room.world, EmbodiedWorld)
    return room.world


def body_of(room: BaseRoom, avatar: OwnedAvatar) -> BodyState:
    """The body of an avatar, or what one is like that it does not have yet, or no longer."""
    if avatar.despawned:
        return BodyState(health=0.0)
    if not avatar.seat:
        return BodyState()
    body: BodyState = room.crash_on_error(world_of(room).body, avatar.seat)
    return body


def shown(room: BaseRoom, avatar: OwnedAvatar, owner: Member, at: int) -> Avatar:
    """An avatar as its owner sees it, who may not be allowed to see its body."""
    return _shown(room, avatar, body_of(room, avatar) if sees_body(room, owner) else BodyState(), at)


def sees_body(room: BaseRoom, member: Member) -> bool:
    """True if a member may see what its body sees and has."""
    return room.world.spec.open_information or not member.held.isdisjoint(SEES_OWN)


def _shown(room: BaseRoom, avatar: OwnedAvatar, body: BodyState, at: int) -> Avatar:
    """``at``: now. The time of the newest entry would tell when somebody else did something, also in secret."""
    playtime = avatar.playtime_ms
    if avatar.by is not None:
        playtime += max(0, (room.state.archived_at or at) - avatar.bound_at)
    by = room.state.members.get(avatar.by) if avatar.by is not None else None
    return Avatar(
        avatar.id, room.id, by.handle if by is not None else None, avatar.state, avatar.name, body.position,
        dict(avatar.appearance), body.health, body.max_health, dict(body.inventory), dict(body.equipment),
        utc(avatar.created_at), utc(avatar.last_active), playtime // 1000, avatar.deaths, body.respawn_point,
    )  # fmt: skip


def bodies_text(room: BaseRoom, me: Member) -> str:
    """A line for a member that controls no body, or could change it for another one of its own."""
    if Capability.ACT not in me.held or me.handed_over or room.is_over():
        return ""
    own = list(avatars_of(room, owner_of(me)))
    if not any(avatar.by == me.id for avatar in own) and (why := why_not_in(room, me)):
        return f"{why[0].upper()}{why[1:]}."
    if by_features(room, me, command_of(sit)).code:
        return ""
    waiting = [avatar for avatar in own if avatar.state in WAITING]
    named = ", ".join(f"{one_line(avatar.name)} ({avatar.id}, {avatar.state.value})" for avatar in waiting)
    if any(avatar.by == me.id for avatar in own):
        return f"Your other bodies here: {named}. `transfer` takes you to one." if waiting else ""
    if waiting:
        return f"You control no body now. `jack_in` takes one of yours: {named}."
    if not own and me.claim is not None:  # its place opens by itself
        return ""
    return "You control no body now. `jack_in` takes a new one."


def embodied(room: BaseRoom, avatar: OwnedAvatar, me: Member, seen: Observation, at: int) -> EmbodiedObservation:
    """An observation of the member that controls this avatar, with what the body feels, hears and can do."""
    body, world = body_of(room, avatar), world_of(room)
    available, blocked = _actions(room, avatar, me)
    fields = {name: getattr(seen, name) for name in Observation.__struct_fields__}
    fields.update({name: getattr(body, name) for name in SENSES})
    names = [" ".join(filter(None, (entity.type, entity.name))) for entity in seen.nearby_entities]
    return EmbodiedObservation(
        **fields,
        avatar=_shown(room, avatar, body, at),
        is_grounded=body.grounded,
        can_see=list(dict.fromkeys(names)),
        can_hear=list(room.crash_on_error(world.hears, avatar.seat)),
        injuries=list(body.injuries),
        actions_available=available,
        actions_blocked=blocked,
    )


def _actions(room: BaseRoom, avatar: OwnedAvatar, me: Member) -> tuple[list[str], dict[str, str]]:
    """The actions of the world that a member may do: those that it can do now, and why it cannot do the others. An
    action that waits for its turn says that first."""
    world = world_of(room)
    to_move = room.crash_on_error(world.to_move)
    over = not to_move and room.crash_on_error(world.is_over)
    impossible = room.crash_on_error(world.blocked_actions, room.seats[avatar.seat])
    available, blocked = [], {}
    for command in room.commands:
        if not (command.is_action and command.for_model and by_grant(me, command)):
            continue
        turn = by_turn(room, me, command, to_move, over)
        if reason := turn.reason or impossible.get(command.name, ""):
            blocked[command.name] = reason
        else:
            available.append(command.name)
    return available, blocked
