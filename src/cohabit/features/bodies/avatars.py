"""Avatars: bodies that agents jack into, leave behind, and return to. In worlds whose seats are bodies (`bodies.py`).

The member on a seat of such a world controls the avatar of that seat. ``follow`` keeps the avatars in step with seats
and bodies after every entry, so it does not matter by which command a seat was taken or left.
"""

from collections.abc import Mapping
from hashlib import blake2b
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from cohabit.bodies import BodyState, EmbodiedWorld
from cohabit.errors import AskerError, BadArgs, Conflict, GameRejected, UnknownAsset
from cohabit.features.bodies import own
from cohabit.features.bodies.state import BODIES, Bodies, Career, OwnedAvatar, avatars_in
from cohabit.features.bodies.views import embodied, has_bodies, shown, world_of
from cohabit.features.round_results import RESULTS
from cohabit.model.avatar import Avatar, AvatarRoster, AvatarState, DeathEvent, JackInResult, JackOutResult
from cohabit.model.grant import Capability
from cohabit.model.observation import one_line
from cohabit.model.record import Told
from cohabit.model.seat import SeatId
from cohabit.model.suggest import nearest
from cohabit.model.timestamps import utc
from cohabit.model.travel import MAX_APPEARANCE, NewAvatar
from cohabit.model.travel import MAX_AVATAR_NAME as MAX_NAME
from cohabit.room.base import BaseRoom, Context
from cohabit.room.commands import command
from cohabit.room.play import seats
from cohabit.room.state import Member
from cohabit.world import Arrival, Pace, World

C = Capability
State = AvatarState
MAX_DESTROYED = 20
"""The number of destroyed avatars of one agent that are remembered."""
MAX_DESPAWNED = 20
"""The number of bodies that an agent can despawn in one game. Worlds have a limit of bodies that there ever were, and
without this one agent could use it up for all."""
Mode = Literal["dormant", "suspend", "despawn"]
LEFT_IN: Mapping[str, State] = {
    "dormant": State.DORMANT,
    "suspend": State.SUSPENDED,
    "despawn": State.DESTROYED,
}
AvatarId = Annotated[str, Meta(max_length=40, description="an avatar of yours (see `avatars`)")]


# -- keeping avatars in step with seats and bodies ----------------------------------------------------
def follow(ctx: Context) -> None:
    """After an entry: bind the avatars of those who took a seat, release those of members who left one, and note
    deaths."""
    room, at = ctx.room, ctx.at
    avatars = avatars_in(room.state)
    by_seat = {avatar.seat: avatar for avatar in avatars.values() if avatar.seat}
    players = {seat.id: m for m in room.state.members.values() if (seat := room.seat_of(m)) is not None}
    for seat_id, member in players.items():
        avatar = by_seat.get(seat_id) or _new_avatar(room, member, at, seat_id)
        is_dead = avatar.state is State.DESTROYED and not world_of(room).is_alive(seat_id)
        if avatar.by != member.id and not is_dead:  # some worlds bring the dead back by themselves
            _bind(room, avatar, member, at)
    for avatar in list(avatars.values()):
        if avatar.by is not None and (avatar.seat not in players or players[avatar.seat].id != avatar.by):
            _release(room, avatar, LEFT_IN.get(avatar.left_as, State.SUSPENDED), at)
        if avatar.state in (State.BOUND, State.DORMANT) and not world_of(room).is_alive(avatar.seat):
            _die(ctx, avatar)


def take_body(ctx: Context, me: Member, avatar_id: str | None) -> None:
    """Seat a member in a body of its own that waits for it, or in a new one. ``follow`` binds it."""
    room = ctx.room
    avatar = own.to_take(room, own.owner_of(me), avatar_id)
    name, seat = (avatar.name, avatar.seat or None) if avatar is not None else (me.name or me.handle, None)
    seats.arrive(ctx, me, Arrival(name, seat, returns=seat is not None), moves=_is_on_dead_body(room, me))
    if avatar is not None:
        avatar.seat = me.seat or ""
    seats.remember_seat(room, me)


def _is_on_dead_body(room: BaseRoom, me: Member) -> bool:
    seat = room.seat_of(me)
    return seat is not None and not world_of(room).is_alive(seat.id)


def end_game(ctx: Context, count: bool) -> None:
    """All bodies are gone with their world. Visits go on in the next game. ``count``: the world still has them."""
    kept = BODIES.change(ctx.state)
    for avatar in kept.avatars.values():
        if avatar.by is not None:
            _release(ctx.room, avatar, State.DESTROYED, ctx.at, count)
    kept.avatars = {}
    here = {own.owner_of(member) for member in ctx.state.members.values()}
    kept.careers = {owner: career for owner, career in kept.careers.items() if owner in here}


def adopt_bodies(ctx: Context, played: Mapping[str, SeatId]) -> None:
    """After a save was loaded: its bodies wait for those who played them."""
    world = world_of(ctx.room)
    for owner, seat in played.items():
        member = next((m for m in ctx.state.members.values() if own.owner_of(m) == owner), None)
        made = _add(ctx.room, owner, member.name or member.handle if member else seat, ctx.at)
        made.seat, made.state = seat, State.SUSPENDED
        if not ctx.room.crash_on_error(world.is_alive, seat):
            made.state = State.DESTROYED


def _new_avatar(room: BaseRoom, member: Member, at: int, seat: SeatId) -> OwnedAvatar:
    made = _add(room, own.owner_of(member), room.seats[seat].name or member.name or member.handle, at)
    made.seat = seat
    return made


def _add(room: BaseRoom, owner: str, name: str, at: int) -> OwnedAvatar:
    kept = BODIES.change(room.state)
    gone = [a.id for a in kept.avatars.values() if a.owner == owner and a.state is State.DESTROYED]
    for old in gone[:-MAX_DESTROYED]:
        del kept.avatars[old]
    made = OwnedAvatar(_new_id(kept, room.state.secret), owner, name[:MAX_NAME], created_at=at, last_active=at)
    kept.avatars[made.id] = made
    return made


def _new_id(kept: Bodies, secret: str) -> str:
    """An id that tells nothing of the avatars of others. A number would count them."""
    while True:
        kept.made += 1
        number = kept.made.to_bytes(8, "big")
        made = blake2b(number, key=bytes.fromhex(secret), digest_size=4, person=b"avatar").hexdigest()
        if f"avatar-{made}" not in kept.avatars:
            return f"avatar-{made}"


def _bind(room: BaseRoom, avatar: OwnedAvatar, member: Member, at: int) -> None:
    """A member takes control. A built-in player may have handed its seat to it."""
    if avatar.by is not None:
        _release(room, avatar, State.SUSPENDED, at)
    avatar.owner, avatar.by, avatar.state = own.owner_of(member), member.id, State.BOUND
    avatar.bound_at = avatar.last_active = at
    avatar.actions, avatar.deaths_before = 0, avatar.deaths
    avatar.deeds_before = dict(room.crash_on_error(world_of(room).deeds, avatar.seat))
    avatar.reward_before = _reward(room, avatar)
    _career(room, avatar.owner).avatar = avatar.id


def _release(room: BaseRoom, avatar: OwnedAvatar, state: State, at: int, count: bool = True) -> dict[str, Any]:
    """End a session: count what it was, and let go of the body. Returns its figures. ``count=False``: the world has
    other bodies now, so what this one has done is not known any more."""
    deeds: dict[str, int] = {}
    if count:
        now = room.crash_on_error(world_of(room).deeds, avatar.seat)
        deeds = {name: n - avatar.deeds_before.get(name, 0) for name, n in now.items()}
        deeds = {name: n for name, n in deeds.items() if n > 0}
    playtime = at - avatar.bound_at
    reward = _reward(room, avatar) - avatar.reward_before if count else 0.0
    deaths = avatar.deaths - avatar.deaths_before
    _career(room, avatar.owner).add(playtime, reward, deaths, deeds)
    avatar.playtime_ms += playtime
    avatar.last_active = at
    avatar.by, avatar.state, avatar.left_as = None, state, ""
    actions = avatar.actions - (avatar.seat in RESULTS.read(room.state).chosen)  # that one does not happen any more
    return {
        "playtime": playtime // 1000, "actions": actions, "reward": round(reward, 6), "deaths": deaths,
        "achievements": [n.partition(":")[2] for n in deeds if n.startswith("achievement:")],
    }  # fmt: skip


def _career(room: BaseRoom, owner: str) -> Career:
    return BODIES.change(room.state).careers.setdefault(owner, Career())


def _die(ctx: Context, avatar: OwnedAvatar) -> None:
    room, at = ctx.room, ctx.at
    body: BodyState = room.crash_on_error(world_of(room).body, avatar.seat)
    assert body.death is not None
    avatar.deaths += 1
    owner = room.member_of(avatar.owner) or room.state.members.get(avatar.owner)
    if avatar.by is not None:
        _release(room, avatar, State.DESTROYED, at)
    avatar.state, avatar.last_active = State.DESTROYED, at
    if owner is None:
        return
    killer = f", killed by {body.death.killer}" if body.death.killer else ""
    ways = ", ".join(option.id for option in body.respawn_options)
    again = f" `respawn` brings it back: {ways}." if ways else ""
    text = f"Your avatar {avatar.name} died ({body.death.cause}{killer}).{again}"
    ctx.told.append(Told(one_line(text), "danger", None, (owner.id,), by_world=True))


def _reward(room: BaseRoom, avatar: OwnedAvatar) -> float:
    """As the world counts it now: the room reports it only at the end of an entry."""
    total: float = room.crash_on_error(room.world.returns).get(avatar.seat, 0.0)
    return total


# -- reading ------------------------------------------------------------------------------------------
def controlled(room: BaseRoom, member: Member) -> OwnedAvatar | None:
    """The avatar that this member controls."""
    if member.seat is None:
        return None
    return next((avatar for avatar in avatars_in(room.state).values() if avatar.by == member.id), None)


def for_bodies(world: type[World], pace: Pace) -> bool:
    """For commands of worlds whose seats are bodies."""
    return issubclass(world, EmbodiedWorld)


def is_embodied(room: BaseRoom, member: Member) -> bool:
    return controlled(room, member) is not None


def _is_disembodied(room: BaseRoom, member: Member) -> bool:
    return controlled(room, member) is None


def _may_have_another(room: BaseRoom, member: Member) -> bool:
    return own.may_have_another(room, member, beside=member.seat)


def _has_another(room: BaseRoom, member: Member) -> bool:
    """True if a member could change its body for another one of its own."""
    waiting = any(avatar.state in own.WAITING for avatar in own.avatars_of(room, own.owner_of(member)))
    return waiting and is_embodied(room, member)


def _is_dead(room: BaseRoom, member: Member) -> bool:
    bodies = [avatar for avatar in own.avatars_of(room, own.owner_of(member)) if avatar.seat]
    return bool(bodies) and all(avatar.state is State.DESTROYED for avatar in bodies)


def _can_come_back(room: BaseRoom, member: Member) -> bool:
    return world_of(room).respawns and _is_dead(room, member)


@command(category="read", needs=C.ACT, only_if=for_bodies)
def avatars(ctx: Context) -> AvatarRoster:
    """Your avatars in this world: their state, body and history."""
    return roster(ctx.room, ctx.member, ctx.at)


def roster(room: BaseRoom, member: Member, at: int) -> AvatarRoster:
    avatars = own.avatars_of(room, own.owner_of(member))
    active = controlled(room, member)
    return AvatarRoster(
        member.handle, room.id, [shown(room, avatar, member, at) for avatar in avatars], active.id if active else None,
        world_of(room).avatars_per_agent if world_of(room).respawns else 1,
    )  # fmt: skip


@command(category="read", needs=C.ACT, only_if=for_bodies, offered_if=_is_dead)
def death(ctx: Context) -> DeathEvent:
    """Tell how your avatar died, what it lost, and how it can come back (`respawn`)."""
    room = ctx.room
    avatar = _dead_avatar(room, ctx.member)
    body: BodyState = room.crash_on_error(world_of(room).body, avatar.seat)
    if body.death is None:
        raise GameRejected("this avatar is not dead any more")
    return DeathEvent(
        avatar.id, body.death.cause, body.death.killer, body.position, utc(avatar.last_active),
        dict(body.death.items_dropped), 0.0, list(body.respawn_options),
    )  # fmt: skip


# -- jacking in and out ------------------------------------------------------------------------------
def _check_jack_in(room: BaseRoom, me: Member, args: dict[str, Any], via: str | None) -> None:
    if controlled(room, me) is None:
        own.check_taken(room, me, args.get("avatar_id"))


@command(
    category="meta", needs=C.ACT, records=True, only_if=for_bodies, offered_if=_may_have_another,
    words=("name", "appearance"),
)  # fmt: skip
def create_avatar(
    ctx: Context,
    name: Annotated[Annotated[str, Meta(max_length=MAX_NAME)] | None, Meta(description="default: yours")] = None,
    appearance: Annotated[
        dict[str, str] | None, Meta(description="such as {'hair': 'red'}; others do not see it")
    ] = None,
    spawn_location: Literal["safe", "random", "challenging"] = "safe",
) -> Avatar:
    """Create an avatar without jacking in. Its body appears when you do (`jack_in`)."""
    me = ctx.member
    own.check_limit(ctx.room, me, beside=me.seat)
    if appearance is not None and len(msgspec.json.encode(appearance)) > MAX_APPEARANCE:
        raise BadArgs(f"appearance is too long: at most {MAX_APPEARANCE:,} bytes of JSON")
    made = _add(ctx.room, own.owner_of(me), one_line(name or me.name or me.handle), ctx.at)
    made.appearance, made.spawn = appearance or {}, spawn_location
    ctx.tell(f"you created the avatar {made.name} ({made.id})", members=(me.id,))
    return shown(ctx.room, made, me, ctx.at)


@command(
    category="meta", needs=C.ACT, records=True, only_if=for_bodies, offered_if=_is_disembodied, listed=True,
    check_here=_check_jack_in,
)  # fmt: skip
def jack_in(
    ctx: Context,
    avatar_id: Annotated[AvatarId | None, Meta(description="default: one that waits, or a new one")] = None,
) -> JackInResult:
    """Take control of one of your avatars, or of a new one. You see and act through its body."""
    me = ctx.member
    wakes = enter_body(ctx, me, avatar_id)
    ctx.tell(f"{me.handle} {'returns to its body' if wakes else 'arrives'}", "roster")
    return jacked_in(ctx.room, me, ctx.at, "You are back in your body." if wakes else "You have a new body.")


def jacked_in(room: BaseRoom, me: Member, at: int, message: str) -> JackInResult:
    """The result of taking a body. Its senses are only for a member who may see what its seat sees."""
    avatar, eye = required(room, me), room.eye(me)
    seen = embodied(room, avatar, me, room.observe(eye), at) if eye is not None and eye.sees != "public" else None
    return JackInResult(True, shown(room, avatar, me, at), message, dict(avatar.bonuses), seen)


def enter_body(
    ctx: Context,
    me: Member,
    avatar_id: str | None,
    bonuses: Mapping[str, float] | None = None,
    spawn: str = "",
    *,
    is_first: bool = True,
    new: NewAvatar | None = None,
) -> bool:
    """Seat a member in one of its bodies, or in a new one. Returns whether the body was there before. ``is_first``: see
    ``seats.arrive``. ``new``: in a new one, like this, although others may wait."""
    room = ctx.room
    if (held := controlled(room, me)) is not None:
        raise Conflict(f"you control {held.name} ({held.id}); leave it first (`jack_out`)")
    avatar = own.to_take(room, own.owner_of(me), avatar_id)
    if new is not None:
        own.check_limit(room, me)
        avatar = None
    arrival = _arrival(room, me, avatar, bonuses, spawn)
    if new is not None and new.name:
        arrival = msgspec.structs.replace(arrival, name=one_line(new.name))
    wakes = arrival.returns
    seats.arrive(ctx, me, arrival, is_first=is_first, moves=_is_on_dead_body(room, me))
    seats.remember_seat(room, me)
    assert me.seat is not None
    if avatar is None:
        avatar = _new_avatar(room, me, ctx.at, me.seat)
        avatar.appearance = dict(new.appearance) if new is not None else {}
    avatar.seat = me.seat
    if not wakes:
        avatar.bonuses, avatar.name = dict(arrival.bonuses), room.seats[me.seat].name or avatar.name
    _bind(room, avatar, me, ctx.at)
    return wakes


def _arrival(
    room: BaseRoom,
    me: Member,
    avatar: OwnedAvatar | None,
    bonuses: Mapping[str, float] | None = None,
    spawn: str = "",
) -> Arrival:
    """The arrival to announce to the world when a member takes this avatar, or a new one."""
    name = avatar.name if avatar is not None else me.name or me.handle
    first = not any(known.seat for known in own.avatars_of(room, own.owner_of(me)))  # nobody collects what bonuses give
    where = spawn or (avatar.spawn if avatar is not None else "safe")
    seat = avatar.seat if avatar is not None and avatar.seat else None
    return Arrival(name, seat, returns=seat is not None, bonuses=dict(bonuses or {}) if first else {}, spawn=where)


def _check_transfer(room: BaseRoom, me: Member, args: dict[str, Any], via: str | None) -> None:
    if (held := controlled(room, me)) is not None and held.id != args["avatar_id"]:
        own.check_taken(room, me, args.get("avatar_id"))
        check_despawn(room, me, args, via)


def check_despawn(room: BaseRoom, me: Member, args: dict[str, Any], via: str | None) -> None:
    """Refuse to despawn a hurt body where its agent could have a new one, which is not hurt."""
    held = controlled(room, me) if args.get("mode") == "despawn" and has_bodies(room) else None
    if held is None or not world_of(room).respawns:
        return
    body: BodyState = room.crash_on_error(world_of(room).body, held.seat)
    if body.health < body.max_health or body.injuries:
        raise GameRejected(f"{held.name} is hurt, and only an unhurt body can be despawned; leave it dormant")


@command(
    category="meta", needs=C.ACT, records=True, only_if=for_bodies, offered_if=is_embodied, check_here=check_despawn
)
def jack_out(ctx: Context, mode: Mode = "dormant") -> JackOutResult:
    """Leave your body. It must be safe: not falling, not fighting.

    dormant: it stays in the world asleep, and can be hurt. suspend: it is out of the world until you return.
    despawn: it is deleted, with everything that it carries. It must not be hurt; where the dead cannot come back,
    you get no other one in this game.
    """
    me = ctx.member
    avatar = required(ctx.room, me)
    stats = leave_body(ctx, me, mode)
    ctx.tell(f"{me.handle} leaves its body", "roster")
    told = {"dormant": "sleeps where you left it", "suspend": "waits outside the world", "despawn": "is gone"}[mode]
    back = " `jack_in` brings you back." if mode != "despawn" else ""
    return JackOutResult(True, avatar.state, f"{avatar.name} {told}.{back}", stats)


@command(
    category="meta", needs=C.ACT, records=True, only_if=for_bodies, offered_if=_has_another, check_here=_check_transfer
)
def transfer(ctx: Context, avatar_id: AvatarId, mode: Mode = "dormant") -> JackInResult:
    """Leave your body as by `jack_out`, and take control of another avatar of yours. If one of the two is not possible,
    nothing changes."""
    room, me = ctx.room, ctx.member
    left = required(room, me)
    if avatar_id == left.id:
        raise Conflict(f"you control {left.name} already; name another avatar of yours")
    taken = own.to_take(room, own.owner_of(me), avatar_id)
    check_leaving(room, left, mode)
    if why := room.crash_on_error(world_of(room).why_not_arrive, _arrival(room, me, taken), left.seat):
        raise GameRejected(why)
    leave_body(ctx, me, mode)
    try:
        enter_body(ctx, me, avatar_id, is_first=False)
    except AskerError:
        room.roll_back()  # the world could not tell before; a refusal changes nothing, so it must not have left
        raise
    ctx.tell(f"{me.handle} changes its body", "roster")
    now = required(room, me).name
    asleep = f" {left.name} sleeps where you left it, and can be hurt." if mode == "dormant" else ""
    return jacked_in(room, me, ctx.at, f"You have left {left.name}, and control {now}.{asleep}")


def leave_body(ctx: Context, me: Member, mode: Mode) -> dict[str, Any]:
    """Free a member of its body. Returns the figures of its session."""
    avatar = required(ctx.room, me)
    check_leaving(ctx.room, avatar, mode)
    stats = _release(ctx.room, avatar, LEFT_IN[mode], ctx.at)
    seats.leave_seat(ctx.room, me, mode)
    if mode == "despawn":
        avatar.despawned = True
        ctx.state.played.pop(avatar.owner, None)  # there is no body to return to
    return stats


def check_leaving(room: BaseRoom, avatar: OwnedAvatar, mode: Mode) -> None:
    """Refuse to leave a body that is in danger, and to despawn one too many."""
    seats.check_may_leave(room, avatar.seat)
    if mode == "despawn" and sum(known.despawned for known in own.avatars_of(room, avatar.owner)) >= MAX_DESPAWNED:
        raise GameRejected(
            f"you have despawned {MAX_DESPAWNED} bodies in this game; leave this one dormant or suspended"
        )


@command(category="meta", needs=C.ACT, records=True, only_if=for_bodies, offered_if=_can_come_back, listed=True)
def respawn(
    ctx: Context, option: Annotated[str | None, Meta(description="an option of `death`; default: the first")] = None
) -> JackInResult:
    """Bring your dead avatar back to life, and jack in. Until then you get no new one."""
    room, me = ctx.room, ctx.member
    if controlled(room, me) is not None:
        raise Conflict("your avatar lives")
    avatar = _dead_avatar(room, me)
    chosen = _respawn_option(room, avatar, option)
    come_back(ctx, me, avatar, chosen)
    ctx.tell(f"{me.handle} respawns", "roster")
    return jacked_in(room, me, ctx.at, "Your avatar lives again.")


def come_back(ctx: Context, me: Member, avatar: OwnedAvatar, option: str) -> None:
    """A member returns to its dead body, which lives again."""
    room = ctx.room
    arrives = me.seat != avatar.seat
    if arrives:
        own.check_limit(room, me)
        seats.arrive(ctx, me, Arrival(avatar.name, avatar.seat, returns=True), moves=_is_on_dead_body(room, me))
        seats.remember_seat(room, me)
    try:
        world_of(room).respawn(room.seats[avatar.seat], option)
    except AskerError:
        if arrives:  # a refusal changes nothing, so it must not have arrived
            room.roll_back()
        raise
    _bind(room, avatar, me, ctx.at)


def _respawn_option(room: BaseRoom, avatar: OwnedAvatar, option: str | None) -> str:
    options = own.ways_back(room, avatar)
    if not options:
        why = own.why_no_body(room, avatar.owner, avatar)
        raise GameRejected(why or "nobody comes back to life in this world; take a new body (`jack_in`)")
    if option is not None and option not in options:
        raise UnknownAsset(f"choose one of: {', '.join(options)}", did_you_mean=nearest(option[:40], options, 2))
    return option or options[0]


def _dead_avatar(room: BaseRoom, me: Member) -> OwnedAvatar:
    dead = own.newest_dead(room, own.owner_of(me))
    if dead is None:
        raise GameRejected("you have no dead avatar here")
    return dead


def required(room: BaseRoom, me: Member) -> OwnedAvatar:
    avatar = controlled(room, me)
    if avatar is None:
        raise GameRejected("you control no avatar here; `jack_in` takes one, `respawn` brings a dead one back")
    return avatar
