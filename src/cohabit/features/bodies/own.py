"""The avatars of a member, and the one that it takes, in worlds whose seats are bodies (`bodies.py`)."""

from collections.abc import Iterator, Sequence

from cohabit.bodies import EmbodiedWorld
from cohabit.errors import GameRejected, UnknownAsset
from cohabit.features.bodies.state import OwnedAvatar, avatars_in
from cohabit.model.avatar import AvatarState
from cohabit.model.seat import SeatId
from cohabit.model.suggest import nearest
from cohabit.room.base import BaseRoom
from cohabit.room.play.seats import open_to
from cohabit.room.state import Member

State = AvatarState
WAITING = (State.DORMANT, State.SUSPENDED, State.UNBOUND)
"""The states from which an agent can jack in."""


def owner_of(member: Member) -> str:
    return member.identity or member.id


def avatars_of(room: BaseRoom, owner: str) -> Iterator[OwnedAvatar]:
    return (avatar for avatar in avatars_in(room.state).values() if avatar.owner == owner)


def newest(avatars: Sequence[OwnedAvatar]) -> OwnedAvatar:
    """The one that was used last; of several, the one that was made last."""
    return max(reversed(avatars), key=lambda avatar: avatar.last_active)


def newest_dead(room: BaseRoom, owner: str) -> OwnedAvatar | None:
    """The dead avatar of an agent that could come back to life, if the world allows that."""
    dead = [a for a in avatars_of(room, owner) if a.state is State.DESTROYED and not a.despawned and a.seat]
    return newest(dead) if dead else None


def ways_back(room: BaseRoom, dead: OwnedAvatar | None) -> tuple[str, ...]:
    """By which options a dead body can come back to life."""
    if dead is None or not _world(room).respawns:
        return ()
    return tuple(option.id for option in room.crash_on_error(_world(room).body, dead.seat).respawn_options)


def why_no_body(room: BaseRoom, owner: str, takes: OwnedAvatar | None) -> str:
    """Why an agent does not get this avatar, or a new one (None); empty: it gets it. The setting of the world decides
    what death means: without ``respawns`` an agent has one body in a game, and none after it has died; with it the dead
    come back by `respawn` alone, at the cost that the world sets, and not in a new body."""
    own = list(avatars_of(room, owner))
    if not _world(room).respawns:
        lost = next((a for a in own if a.state is State.DESTROYED), None)
        if lost is not None:
            how = "was despawned" if lost.despawned else "died"
            return f"your body {lost.name} {how}, and nobody comes back to life in this game; you can watch"
        if takes is None and own:
            return "in this game every agent has one body, because nobody comes back to life; use the one that you have"
        return ""
    dead = newest_dead(room, owner) if takes is None or not takes.seat else None
    if dead is not None and (ways := ways_back(room, dead)):
        return f"your body {dead.name} is dead, and you get no other one: `respawn` brings it back ({', '.join(ways)})"
    return ""


def why_not_in(room: BaseRoom, me: Member) -> str:
    """Why a member can take none of its avatars, nor a new one; empty: it can."""
    waiting: list[OwnedAvatar | None] = [a for a in avatars_of(room, owner_of(me)) if a.state in WAITING]
    reasons = [why_no_body(room, owner_of(me), takes) for takes in waiting or [None]]
    return reasons[0] if all(reasons) else ""


def why_no_seat(room: BaseRoom, me: Member) -> str:
    """Why a member may not sit down now; empty: it may. A seat that it could choose may be the body of somebody else,
    which is a new one for this member."""
    own = {avatar.seat for avatar in avatars_of(room, owner_of(me))}
    why = why_no_body(room, owner_of(me), to_take(room, owner_of(me)))
    if not why and any(seat not in own for seat in open_to(room)) and why_no_body(room, owner_of(me), None):
        why = "you have a body of your own here, and get no other one: return to yours (`jack_in`)"
    return why


def to_take(room: BaseRoom, owner: str, avatar_id: str | None = None) -> OwnedAvatar | None:
    """The avatar of an agent to jack into; None: a new one. It has at most one that does not wait for it."""
    own = list(avatars_of(room, owner))
    if avatar_id is None:
        waiting = [avatar for avatar in own if avatar.state in WAITING]
        return newest(waiting) if waiting else None
    avatar = next((avatar for avatar in own if avatar.id == avatar_id), None)
    if avatar is None:
        ids = [known.id for known in own]
        which = f"you have {', '.join(ids[:10])}" if ids else "without avatar_id you get a new one"
        raise UnknownAsset(f"you have no avatar {avatar_id!r} here; {which}", did_you_mean=nearest(avatar_id, ids, 3))
    if avatar.state not in WAITING:
        raise GameRejected(f"{avatar.name} is destroyed; bring it back (`respawn`), or jack into another one")
    return avatar


def check_taken(room: BaseRoom, me: Member, avatar_id: str | None) -> None:
    """Refuse an avatar that its agent does not get by the rules of the world about death."""
    if why := why_no_body(room, owner_of(me), to_take(room, owner_of(me), avatar_id)):
        raise GameRejected(why)


def check_limit(room: BaseRoom, me: Member, beside: SeatId | None = None) -> None:
    """Refuse one avatar more than an agent may have."""
    if not may_have_another(room, me, beside):
        limit = _limit(room)
        raise GameRejected(f"you have {_kept(room, me, beside)} avatars here, the most is {limit}; use one of them")


def may_have_another(room: BaseRoom, me: Member, beside: SeatId | None = None) -> bool:
    """True if an agent may have one more avatar. ``beside``: a body that it keeps, also if it is dead, because it can
    come back to life."""
    return _kept(room, me, beside) < _limit(room)


def _kept(room: BaseRoom, me: Member, beside: SeatId | None) -> int:
    own = avatars_of(room, owner_of(me))
    return sum(avatar.state is not State.DESTROYED or avatar.seat == beside for avatar in own)


def _limit(room: BaseRoom) -> int:
    return _world(room).avatars_per_agent


def _world(room: BaseRoom) -> EmbodiedWorld:
    assert isinstance(room.world, EmbodiedWorld)
    return room.world
