"""The time of a real-time world: pause, resume, set_speed, list_speeds."""

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta, Struct

from cohabit.errors import PermissionDenied, UnknownAsset
from cohabit.model.grant import Capability
from cohabit.model.record import Told
from cohabit.model.suggest import nearest
from cohabit.room.base import BaseRoom, Context
from cohabit.room.commands import command
from cohabit.room.state import Member
from cohabit.world import Pace, World

C = Capability


def _has_clock(world: type[World], pace: Pace) -> bool:
    return pace == "clock"


class Paused(Struct):
    previous_paused: bool
    paused: bool


def _without_consent(room: BaseRoom, member: Member) -> list[Member]:
    """The others who have to ask for a pause before this member's one begins.

    A pause must not be a weapon: every player who is present has to agree. Where it would stop a time limit, those who
    are away have to agree too, and bots never do.
    """
    if C.CONTROL_WORLD in member.held:
        return []
    state, limited = room.state, room.state.turn_ms is not None
    return [
        m
        for m in state.members.values()
        if m.seat is not None and m is not member and m.id not in state.pause_wanted
        if limited or (m.here and not m.played_by_bot)
    ]


def _may_pause(room: BaseRoom, member: Member) -> bool:
    return room.state.paused or not any(m.played_by_bot for m in _without_consent(room, member))


@command(category="control", needs=C.ADVANCE_TIME, records=True, only_if=_has_clock, offered_if=_may_pause)
def pause(ctx: Context) -> Paused:
    """Pause the world; with other players present, when all of them have asked for it.

    A pause stops the time limit of a turn, so in a room with one all players must ask, and bots do not. If you
    disconnect, it resumes automatically after a while.
    """
    state, was = ctx.state, ctx.state.paused
    others = [] if was else _without_consent(ctx.room, ctx.member)
    if bots := [m.handle for m in others if m.played_by_bot]:
        raise PermissionDenied(
            f"a pause would stop the time limit of this room, and {' and '.join(bots)} (played by a bot) cannot agree "
            "to one; ask a host to pause",
            needs=[C.CONTROL_WORLD],
        )
    if others:
        state.pause_wanted = list(dict.fromkeys([*state.pause_wanted, ctx.member.id]))
        waits = " and ".join(m.handle for m in others)
        ctx.tell(f"{ctx.member.handle} asks for a pause; it begins when {waits} also pauses", "turn")
        return Paused(False, False)
    state.pause_wanted = []
    if not was:
        state.paused_at = ctx.at
    state.paused, state.paused_by, state.pause_until = True, ctx.member.id, None
    clock_changed(ctx.room)
    ctx.tell(f"{ctx.member.handle} paused the game", "turn")
    return Paused(was, True)


@command(category="control", needs=C.ADVANCE_TIME, records=True, only_if=_has_clock)
def resume(ctx: Context) -> Paused:
    """Resume the world after a pause."""
    was = ctx.state.paused
    end_pause(ctx.room, ctx.at)
    if was:
        ctx.tell(f"{ctx.member.handle} resumed the game", "turn")
    return Paused(was, False)


class SpeedSet(Struct):
    speed_id: str
    multiplier: float
    previous: str


@command(category="control", needs=C.ADVANCE_TIME, records=True, only_if=_has_clock)
def set_speed(ctx: Context, speed_id: Annotated[str, Meta(description="the id of a speed, such as x5")]) -> SpeedSet:
    """Set how fast the world's time runs."""
    speeds = ctx.room.features.speeds
    if speed_id not in speeds:
        raise UnknownAsset(
            f"unknown speed {speed_id[:40]!r}; use one of {', '.join(speeds)}",
            did_you_mean=_nearest_speeds(speed_id[:40], speeds),
        )
    previous, ctx.state.speed = ctx.state.speed, speed_id
    clock_changed(ctx.room)
    ctx.tell(f"{ctx.member.handle} set the speed to {speed_id}", "turn")
    return SpeedSet(speed_id, speeds[speed_id] / 1000, previous)


def _nearest_speeds(wanted: str, speeds: Mapping[str, int]) -> list[str]:
    """The speeds nearest in value; without a number, those with a similar name."""
    number = wanted.removeprefix("x")
    if not (number.isascii() and number.isdecimal()):
        return nearest(wanted, speeds)
    return sorted(speeds, key=lambda speed: abs(speeds[speed] - 1000 * int(number)))[:2]


class Speed(Struct):
    id: str
    multiplier: float


class Speeds(Struct):
    items: list[Speed]
    count: int
    current: str


@command(category="discovery", only_if=_has_clock)
def list_speeds(ctx: Context) -> Speeds:
    """The speeds that `set_speed` takes, and the current one."""
    speeds = ctx.room.features.speeds
    return Speeds([Speed(i, m / 1000) for i, m in speeds.items()], len(speeds), ctx.state.speed)


def advance(room: BaseRoom, ticks: int, told: list[Told]) -> None:
    """Advance the time of a real-time world."""
    room.state.tick += ticks
    told.extend(room.crash_on_error(room.world.advance, ticks))


def end_pause(room: BaseRoom, at: int) -> None:
    """End a pause. The turn timer resumes with its remaining time."""
    state = room.state
    if state.paused:
        state.turn_started += at - max(state.paused_at, state.turn_started)
    state.paused, state.paused_by, state.pause_until, state.pause_wanted = False, None, None, []
    clock_changed(room)


def clock_changed(room: BaseRoom) -> None:
    """Tell a real-time world whether it is paused and how fast it runs."""
    if room.pace == "clock":
        room.crash_on_error(room.world.clock, room.state.paused, room.state.speed)
