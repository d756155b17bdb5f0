"""Which avatars a member has, and which of them it takes. In worlds whose seats are bodies (`bodies.py`)."""

from collections.abc import Iterator, Sequence

from cohabit.bodies import EmbodiedWorld
from cohabit.errors import GameRejected, UnknownAsset
from cohabit.features.bodies.state import OwnedAvatar, avatars_in
from cohabit.model.avatar import AvatarState
from cohabit.model.seat import SeatId
from cohabit.model.suggest import nearest
from cohabit.room.base import BaseRoom
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


def newest_dead(room: BaseRoom, me: Member) -> OwnedAvatar | None:
    """The dead avatar of a member that could come back to life, if the world allows that."""
    dead = [a for a in avatars_of(room, owner_of(me)) if a.state is State.DESTROYED and not a.despawned and a.seat]
    return newest(dead) if dead else None


def why_no_body(room: BaseRoom, owner: str) -> str:
    """Why an agent gets no body any more in this game, its own or another; empty: it can."""
    if _world(room).respawns:
        return ""
    lost = next((a for a in avatars_of(room, owner) if a.state is State.DESTROYED), None)
    if lost is None:
        return ""
    how = "was despawned" if lost.despawned else "died"
    return f"your body {lost.name} {how}, and nobody comes back to life in this game; you can watch"


def why_no_new_body(room: BaseRoom, me: Member) -> str:
    """Why a member gets no further body; empty: it can, or it has none yet."""
    if why := why_no_body(room, owner_of(me)):
        return why
    if not _world(room).respawns and any(avatars_of(room, owner_of(me))):
        return "in this game every agent has one body, because nobody comes back to life; use the one that you have"
    return ""


def has_waiting(room: BaseRoom, me: Member) -> bool:
    return any(avatar.state in WAITING for avatar in avatars_of(room, owner_of(me)))


def to_take(room: BaseRoom, me: Member, avatar_id: str | None = None) -> OwnedAvatar | None:
    """The avatar of a member to jack into; None: a new one. A member has at most one that does not wait for it."""
    own = list(avatars_of(room, owner_of(me)))
    if avatar_id is None:
        waiting = [avatar for avatar in own if avatar.state in WAITING]
        return newest(waiting) if waiting else None
    avatar = next((avatar for avatar in own if avatar.id == avatar_id), None)
    if avatar is None:
        ids = [known.id for known in own]
        raise UnknownAsset(f"you have no avatar {avatar_id!r} here", did_you_mean=nearest(avatar_id, ids, 3))
    if avatar.state not in WAITING:
        raise GameRejected(f"{avatar.name} is destroyed; bring it back (`respawn`), or jack into another one")
    return avatar


def check_limit(room: BaseRoom, me: Member, beside: SeatId | None = None) -> None:
    """Refuse one avatar more than an agent may have."""
    if not may_have_another(room, me, beside):
        limit = _limit(room)
        raise GameRejected(f"you have {_kept(room, me, beside)} avatars here, the most is {limit}; use one of them")


def may_have_another(room: BaseRoom, me: Member, beside: SeatId | None = None) -> bool:
    """Whether an agent may have one more avatar. ``beside``: a body that it keeps, also if it is dead, because it can
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
