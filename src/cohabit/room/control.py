"""Commands that control a room: pause, speed, seats, reset, rematch, archive."""

from typing import Annotated

from msgspec import Meta, Struct

from cohabit.errors import AskerError, Conflict, GameRejected, PermissionDenied, UnknownAsset
from cohabit.model.grant import Capability
from cohabit.model.suggest import nearest
from cohabit.room import turns
from cohabit.room.commands import command
from cohabit.room.context import Context
from cohabit.room.membership import keep_seat
from cohabit.room.remote import RemoteWorld
from cohabit.room.state import Member
from cohabit.room.system import begin_again, next_seed
from cohabit.scenario import parse_seed
from cohabit.world import Arrival, World

C = Capability


def _has_clock(world: World) -> bool:
    return world.pace == "clock"


def _is_local(world: World) -> bool:
    """A room cannot reset a remote world."""
    return not isinstance(world, RemoteWorld)


class Paused(Struct):
    previous_paused: bool
    paused: bool


@command(category="control", needs=C.ADVANCE_TIME, records=True, only_if=_has_clock)
def pause(ctx: Context) -> Paused:
    """Pause the world. If you disconnect, it resumes automatically after a while."""
    state, was = ctx.state, ctx.state.paused
    if not was:
        state.paused_at = ctx.at
    state.paused, state.paused_by, state.pause_until = True, ctx.member.id, None
    turns.clock_changed(ctx.room)
    ctx.tell(f"{ctx.member.handle} paused the game", "turn")
    return Paused(was, True)


@command(category="control", needs=C.ADVANCE_TIME, records=True, only_if=_has_clock)
def resume(ctx: Context) -> Paused:
    """Resume the world after a pause."""
    was = ctx.state.paused
    turns.resume(ctx.room, ctx.at)
    ctx.tell(f"{ctx.member.handle} resumed the game", "turn")
    return Paused(was, False)


class SpeedSet(Struct):
    speed_id: str
    multiplier: float
    previous: str


@command(category="control", needs=C.ADVANCE_TIME, records=True, only_if=_has_clock)
def set_speed(ctx: Context, speed_id: Annotated[str, Meta(description="the id of a speed, such as x5")]) -> SpeedSet:
    """Set how fast the world's time runs."""
    speeds = ctx.room.extension.speeds
    if speed_id not in speeds:
        raise UnknownAsset(
            f"unknown speed {speed_id[:40]!r}; use one of {', '.join(speeds)}",
            did_you_mean=nearest(speed_id[:40], list(speeds)),
        )
    previous, ctx.state.speed = ctx.state.speed, speed_id
    turns.clock_changed(ctx.room)
    ctx.tell(f"{ctx.member.handle} set the speed to {speed_id}", "turn")
    return SpeedSet(speed_id, speeds[speed_id] / 1000, previous)


class Speed(Struct):
    id: str
    multiplier: float


class Speeds(Struct):
    items: list[Speed]
    count: int
    current: str


@command(category="discovery", only_if=_has_clock)
def list_speeds(ctx: Context) -> Speeds:
    """The speeds that set_speed takes, and the current one."""
    speeds = ctx.room.extension.speeds
    return Speeds([Speed(i, m / 1000) for i, m in speeds.items()], len(speeds), ctx.state.speed)


class Seated(Struct):
    seat: str | None


@command(category="meta", needs=C.ACT, records=True)
def sit(
    ctx: Context,
    seat: Annotated[str | None, Meta(description="the id of a free seat; default: any free seat")] = None,
) -> Seated:
    """Take a free seat. Some worlds open a new seat for you.

    In worlds with hidden information you keep your seat until the game ends.
    """
    room, me = ctx.room, ctx.member
    if me.claim is not None:
        raise PermissionDenied(f"your credential claims {me.claim}; you cannot take another seat")
    if me.seat is not None and me.seat in room.seats and seat in (None, me.seat):
        return Seated(me.seat)
    played = ctx.state.played.get(me.identity or me.id)
    if played is not None:  # it has seen that seat's hidden information, so it must not take another one
        if seat not in (None, played):
            raise GameRejected(
                f"you have already played seat {played} in this game; you can change seats in the next game"
            )
        if played not in room.seats and not room.has_arrivals:
            raise GameRejected(f"your seat {played} is closed; you can take another one in the next game")
        seat = played
    if room.has_arrivals and (seat is None or seat not in room.seats):
        _arrive(ctx, me, seat, played)
    else:
        taken = _free_seat(ctx, seat)
        turns.leave_seat(room, me, "left")
        me.seat = taken
    keep_seat(room, me)
    ctx.tell(f"{me.handle} takes seat {me.seat}", "roster")
    return Seated(me.seat)


def _free_seat(ctx: Context, seat: str | None) -> str:
    state = ctx.state
    holders = {m.seat: m.handle for m in state.members.values() if m.seat is not None}
    if seat is None:
        free = next((s.id for s in state.seats if s.id not in holders), None)
        if free is None:
            raise Conflict("every seat is taken")
        return free
    if seat not in ctx.room.seats:
        vacant = [s.id for s in state.seats if s.id not in holders]
        raise UnknownAsset(
            f"unknown seat {seat[:40]!r}; free seats: {', '.join(vacant[:20]) or 'none'}",
            did_you_mean=nearest(seat[:40], vacant, 3),
        )
    if seat in holders:
        raise Conflict(f"seat {seat} is taken by {holders[seat]}")
    return seat


def _arrive(ctx: Context, me: Member, seat: str | None, played: str | None) -> None:
    """Let the world seat a member. Contract violations here are crashes, because the world has already changed."""
    room, state = ctx.room, ctx.state
    if me.seat is not None and me.seat in room.seats:
        raise Conflict(f"you have seat {me.seat}; leave it first (stand_up)")
    try:
        opened = room.world.arrive(Arrival(me.name or me.handle, seat)).id
    except AskerError as refused:
        room.check_unchanged("arrive", refused)
        raise
    seats = room.obliged(room.world.seats_now)
    if seats is None or all(s.id != opened for s in seats):
        raise RuntimeError(f"arrive() returned seat {opened!r}, which seats_now() does not list")
    if any(m.seat == opened for m in state.members.values() if m is not me):
        raise RuntimeError(f"arrive() returned seat {opened!r}, which another member holds")
    if played is not None and opened != played and opened in state.seats_ever:
        raise RuntimeError(f"arrive() returned seat {opened!r} for a member that has played another seat in this game")
    me.seat = opened
    turns.bind(room, seats)


@command(category="meta", records=True)
def stand_up(ctx: Context) -> Seated:
    """Leave your seat, so another member can take it."""
    me = ctx.member
    if me.claim is not None:
        raise PermissionDenied(f"your credential claims {me.claim}; that seat stays yours")
    if me.seat is None:
        raise GameRejected("you have no seat")
    ctx.tell(f"{me.handle} leaves seat {me.seat}", "roster")
    turns.leave_seat(ctx.room, me, "left")
    return Seated(None)


class Begun(Struct, omit_defaults=True):
    game: int
    seed: str | None = None  # only for members with read_all, because it reveals hidden information


@command(category="control", needs=C.CONTROL_WORLD, records=True, ungated=True, only_if=_is_local)
def reset(
    ctx: Context,
    seed: Annotated[
        int | str | None,
        Meta(
            description="a new seed: an integer below 2^64 or a string of up to 32 hexadecimal digits; "
            "default: the current seed"
        ),
    ] = None,
) -> Begun:
    """Restart the world with the same seed, or with a new one. The record continues."""
    if seed is None:
        return _begin_again(ctx, ctx.state.seed, "reset the world")
    if C.READ_ALL not in ctx.member.held and not ctx.room.world.spec.open_information:
        raise PermissionDenied(
            "choosing a seed requires read_all, because it reveals hidden information; omit seed",
            needs=[C.READ_ALL],
        )
    return _begin_again(ctx, parse_seed(seed), "reset the world")


@command(category="control", needs=C.CONTROL_WORLD, records=True, ungated=True, only_if=_is_local)
def rematch(ctx: Context) -> Begun:
    """Start a new game with a new seed, derived from the last one."""
    return _begin_again(ctx, next_seed(ctx), "started a rematch")


def _begin_again(ctx: Context, seed: str, words: str) -> Begun:
    begin_again(ctx, seed)
    ctx.tell(f"{ctx.member.handle} {words}: game {ctx.state.games}", "turn")
    return Begun(ctx.state.games, seed if C.READ_ALL in ctx.member.held else None)


class Archived(Struct):
    archived: bool


@command(category="control", needs=C.CONTROL_WORLD, records=True, ungated=True)
def archive(ctx: Context) -> Archived:
    """Archive the room permanently. It stays readable but cannot be changed."""
    ctx.state.archived = True
    ctx.tell(f"{ctx.member.handle} archived this room")
    return Archived(True)
