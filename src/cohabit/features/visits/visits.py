"""Visits: whether agents can come here through the Nexus, and how they leave. How they arrive is in ``transit``."""

from collections.abc import Container
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from cohabit.bodies import EmbodiedWorld
from cohabit.errors import BadArgs, Conflict, GameRejected, PermissionDenied
from cohabit.features.bodies import avatars
from cohabit.features.bodies.avatars import Mode
from cohabit.features.bodies.own import avatars_of
from cohabit.features.bodies.state import avatars_in
from cohabit.features.bodies.views import has_bodies, world_of
from cohabit.features.visits.state import VISITS, NexusEntry, done_in, is_leaving, visit_of
from cohabit.model.avatar import AvatarState
from cohabit.model.grant import ROLES, Capability
from cohabit.model.travel import ExitPackage, LeftBody
from cohabit.room.access.grants import check_grantable
from cohabit.room.base import BaseRoom, Context
from cohabit.room.commands import command
from cohabit.room.play import seats
from cohabit.room.state import Member, RoomState

C = Capability
NEXUS = "nexus"
VISITORS = "player"
"""The role of those who come through the Nexus."""
MAX_KINDS = 20
"""The number of kinds of items that an agent can carry out."""
Destination = Annotated[
    str, Meta(max_length=64, description="nexus, or the id of another game, which you then enter at once")
]


def in_another_game(game: str) -> str:
    """Why an agent cannot play here."""
    how = "return from it (`leave_game` in the Nexus, or `exit_game` there), or leave your body or seat there"
    return f"you are in the game {game}, and in one game at a time: {how} (`jack_out` or `stand_up`)"


# -- for hosts ----------------------------------------------------------------------------------------
class OpenToNexus(Struct, omit_defaults=True):
    open: bool
    role: str = ""
    capacity: int = 0
    visitors: int = 0
    maintenance: bool = False


@command(category="host", needs=C.MANAGE_MEMBERS, records=True, audit="policy")
def open_to_nexus(
    ctx: Context,
    open: bool = True,  # noqa: A002 - the wire's name
    capacity: Annotated[
        Annotated[int, Meta(ge=1, le=1000)] | None, Meta(description="visitors at the same time; at first 64")
    ] = None,
    description: Annotated[
        Annotated[str, Meta(max_length=500)] | None, Meta(description="what agents in the Nexus read about it")
    ] = None,
    maintenance: Annotated[bool | None, Meta(description="no new visitors for now")] = None,
) -> OpenToNexus:
    """Let agents come here as players through the Nexus of this house, or stop it. Visitors who are here stay.

    Capacity, description and maintenance keep their values if you omit them.
    """
    if open and ctx.state.world == NEXUS:
        raise Conflict("this room is the Nexus itself; open the rooms in which agents are to play")
    if open:
        check_grantable(ctx.member, ROLES[VISITORS], "visitors")
    kept = VISITS.change(ctx.state)
    known = kept.nexus or NexusEntry(VISITORS)
    entry = NexusEntry(
        VISITORS,
        known.capacity if capacity is None else capacity,
        known.description if description is None else description,
        known.maintenance if maintenance is None else maintenance,
    )
    kept.nexus = entry if open else None
    how = "maintenance" if entry.maintenance else f"for {entry.capacity} visitors"
    ctx.tell(
        f"{ctx.member.handle} {f'opened this room to the Nexus ({how})' if open else 'closed this room to the Nexus'}"
    )
    return _shown(ctx.room)


def _shown(room: BaseRoom) -> OpenToNexus:
    kept = VISITS.read(room.state)
    entry, visitors = kept.nexus, len(kept.visits)
    if entry is None:
        return OpenToNexus(False, visitors=visitors)
    return OpenToNexus(True, entry.role, entry.capacity, visitors, entry.maintenance)


# -- leaving --------------------------------------------------------------------------------------------
class Exited(Struct, omit_defaults=True):
    """``status``: in the Nexus, or in transit until it has the package."""

    game: str
    destination: str
    avatar_state: str = ""
    steps: int = 0
    playtime: int = 0
    reward: float = 0.0
    deaths: int = 0
    deeds: dict[str, int] = {}
    items: dict[str, int] = {}
    message: str = ""


def _is_visiting(room: BaseRoom, member: Member) -> bool:
    return visit_of(room.state, member.identity) is not None


@command(
    category="meta", records=True, offered_if=_is_visiting, listed_if=_is_visiting, check_here=avatars.check_despawn
)
def exit_game(
    ctx: Context,
    reason: Annotated[str, Meta(max_length=100)] = "voluntary",
    destination: Destination = NEXUS,
    mode: Annotated[Mode, Meta(description="what happens to your body; see `jack_out`")] = "dormant",
    carry: Annotated[
        dict[str, Annotated[int, Meta(ge=1, le=1000)]] | None,
        Meta(description="portable items to take along, such as {'iron': 2}; by default all stays with your body"),
    ] = None,
    remember: Annotated[
        Annotated[list[Annotated[str, Meta(max_length=300)]], Meta(max_length=5)] | None,
        Meta(description="what you want to remember"),
    ] = None,
) -> Exited:
    """Leave this game and return to the Nexus, with what you have learned. Your body must be safe."""
    room, me = ctx.room, ctx.member
    if ctx.state.world == NEXUS:
        raise GameRejected("this is the Nexus; leave_game brings you back from the game that you are in")
    if visit_of(ctx.state, me.identity) is None:
        if is_leaving(ctx.state, me.identity):
            raise GameRejected("your visit is over: you are on your way to the Nexus")
        raise GameRejected("you did not come here through the Nexus; to go, use `leave`")
    if destination == room.id:
        raise BadArgs(f"you are in {room.id}; `destination` is another game, or {NEXUS}")
    avatar = avatars.controlled(room, me) if has_bodies(room) else None
    if carry and C.ACT not in me.held:
        raise PermissionDenied("you may not act here, so you cannot take anything along; leave without `carry`")
    items = _check_carried(room, me, carry or {})
    if avatar is not None:
        avatars.check_leaving(room, avatar, mode)
        taken = {
            item: room.crash_on_error(world_of(room).take_items, avatar.seat, item, n) for item, n in items.items()
        }
        if taken != items:
            raise RuntimeError(f"take_items() took {taken} of {items}, which the body has")
    leave_place(ctx, me, mode)
    package = end_visit(room, ctx.at, me.identity, reason, items, destination, tuple(remember or ()))
    ctx.tell(f"{me.handle} leaves for the Nexus", "roster")
    return Exited(
        room.id, destination, package.avatar_state, package.steps, package.playtime_ms // 1000, package.reward,
        package.deaths, dict(package.deeds), dict(items), _where_to(package) + _of_body(room, package),
    )  # fmt: skip


def leave_place(ctx: Context, me: Member, mode: Mode) -> None:
    """Free a visitor of its body, or of its seat where there are no bodies."""
    if has_bodies(ctx.room) and avatars.controlled(ctx.room, me) is not None:
        avatars.leave_body(ctx, me, mode)
    elif me.seat is not None and me.claim is None:
        seats.leave_seat(ctx.room, me, "left")
    if has_bodies(ctx.room):
        avatars.follow(ctx)  # ends the session of its body, if it is not ended yet


def _where_to(package: ExitPackage) -> str:
    if not package.destination:
        return "You are on your way to the Nexus."
    return f"You are on your way to {package.destination}. If you cannot enter it, the Nexus tells you why."


def _of_body(room: BaseRoom, package: ExitPackage) -> str:
    """The fate of a dead body, as a sentence after others."""
    is_dead = package.avatar_id in avatars_in(room.state) and package.avatar_state == AvatarState.DESTROYED.value
    return " Your dead body comes back to life when you enter again." if is_dead and world_of(room).respawns else ""


def _check_carried(room: BaseRoom, me: Member, carry: dict[str, int]) -> dict[str, int]:
    """Refuse to carry out what is not portable, or what the body does not have."""
    if not carry:
        return {}
    if not isinstance(room.world, EmbodiedWorld):
        raise BadArgs("there is nothing to carry out of this world")
    avatar = avatars.controlled(room, me)
    if avatar is None:
        raise GameRejected("you control no body, so you have nothing to carry")
    if len(carry) > MAX_KINDS:
        raise BadArgs(f"carry at most {MAX_KINDS} kinds of items")
    portable, body = room.world.travel.items, room.crash_on_error(room.world.body, avatar.seat)
    for item, count in carry.items():
        if item not in portable:
            raise BadArgs(f"{item[:40]!r} cannot leave this world; portable are: {', '.join(portable) or 'none'}")
        if body.inventory.get(item, 0) < count:
            raise GameRejected(f"you have {body.inventory.get(item, 0)} {item}, not {count}")
    return dict(carry)


def end_visit(
    room: BaseRoom,
    at: int,
    identity: str,
    reason: str,
    items: dict[str, int] | None = None,
    destination: str = NEXUS,
    memories: tuple[str, ...] = (),
) -> ExitPackage:
    """A visitor has no seat any more: pack what it takes back to the Nexus, and keep that until it is confirmed."""
    state = room.state
    kept = VISITS.change(state)
    visit = kept.visits.pop(identity)
    done = done_in(state, identity, visit)
    avatar = avatars_in(state).get(done.avatar)
    playtime = done.playtime_ms if has_bodies(room) else at - visit.since
    gone = AvatarState.DESTROYED.value if has_bodies(room) else ""
    package = ExitPackage(
        ticket=visit.ticket,
        identity=identity,
        game=room.id,
        world=state.world,
        at=at,
        reason=reason,
        steps=visit.steps - visit.has_chosen,  # what it chose in a round that is not over does not happen any more
        playtime_ms=playtime,
        reward=round(done.reward, 6),
        deaths=done.deaths,
        deeds=done.deeds,
        items=items or {},
        memories=memories,
        avatar_id=done.avatar,
        avatar_state=avatar.state.value if avatar is not None else gone,
        destination="" if destination == NEXUS else destination,
        admitted=visit.admitted,
        entering=visit.entering,
        entered=dict(visit.items),
        bodies=tuple(
            LeftBody(known.id, known.name, known.state.value)
            for known in avatars_of(room, identity)
            if known.state in (AvatarState.DORMANT, AvatarState.SUSPENDED)
        ),
    )
    kept.leaving[visit.ticket] = package
    return package


def forget_admissions(state: RoomState, here: Container[str]) -> None:
    """The membership that an agent had for its visits is over. If it becomes a member again, that is its own doing, and
    does not end when the Nexus confirms its packages. ``here``: the identities of the members."""
    leaving = VISITS.read(state).leaving
    for ticket, package in leaving.items():
        if package.admitted and package.identity not in here:
            leaving[ticket] = msgspec.structs.replace(package, admitted=False)


def ongoing(room: BaseRoom, identity: str) -> dict[str, Any] | None:
    """The totals of a visitor so far, without the parts that only a release counts; None if there is no visit."""
    visit = visit_of(room.state, identity)
    if visit is None:
        return None
    done = done_in(room.state, identity, visit)
    deeds = done.deeds
    me = room.member_of(identity)
    avatar = avatars.controlled(room, me) if me is not None and has_bodies(room) else None
    if avatar is not None:
        for name, n in room.crash_on_error(world_of(room).deeds, avatar.seat).items():
            deeds[name] = deeds.get(name, 0) + n - avatar.deeds_before.get(name, 0)
    return {"steps": visit.steps, "deeds": {name: n for name, n in deeds.items() if n > 0}, "deaths": done.deaths}
