"""Commands for the time of a real-time world: pause, resume, set_speed, list_speeds.

If the member who paused disconnects or leaves the room, the pause ends after a while.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated

from msgspec import Meta, Struct

from cohabit.errors import PermissionDenied, UnknownAsset
from cohabit.model.grant import Capability
from cohabit.model.suggest import nearest
from cohabit.room.base import BaseRoom, Context
from cohabit.room.commands import command, system_entry
from cohabit.room.feature import Feature
from cohabit.room.play.games import clock_changed
from cohabit.room.slices import Slice
from cohabit.room.state import Member, RoomState, handle_of
from cohabit.room.timers import Due
from cohabit.scenario import Scenario
from cohabit.world import Pace, World

C = Capability
GRACE_MS = 30_000
"""The time that a pause lasts after its member has gone, if the scenario does not say. Records do not have this number,
so it cannot change."""


class Pause(Struct, omit_defaults=True):
    asked: list[str] = []  # ids of the players who have asked for a pause
    away_since: int | None = None  # the member who paused was away already, since this time
    ends_at: int | None = None  # when the pause ends, because that member has gone
    grace_ms: int = GRACE_MS


PAUSE = Slice("game_clock", Pause)


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
    state, limited, asked = room.state, room.state.turn_ms is not None, PAUSE.read(room.state).asked
    return [
        m
        for m in state.members.values()
        if m.seat is not None and m is not member and m.id not in asked
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
        kept = PAUSE.change(state)
        kept.asked = list(dict.fromkeys([*kept.asked, ctx.member.id]))
        waits = " and ".join(m.handle for m in others)
        ctx.tell(f"{ctx.member.handle} asks for a pause; it begins when {waits} also pauses", "turn")
        return Paused(False, False)
    if not was:
        state.paused_at = ctx.at
    state.paused, state.paused_by = True, ctx.member.id
    _forget(state)
    PAUSE.change(state).away_since = ctx.member.away_since
    clock_changed(ctx.room)
    ctx.tell(f"{ctx.member.handle} paused the game", "turn")
    return Paused(was, True)


@command(category="control", needs=C.ADVANCE_TIME, records=True, only_if=_has_clock)
def resume(ctx: Context) -> Paused:
    """Resume the world after a pause."""
    was = ctx.state.paused
    _end_pause(ctx.room, ctx.at)
    if was:
        ctx.tell(f"{ctx.member.handle} resumed the game", "turn")
    return Paused(was, False)


class SpeedSet(Struct):
    speed_id: str
    multiplier: float
    previous: str


def _is_offered_speed(room: BaseRoom, member: Member) -> bool:
    """To a host, and to a player who plays alone or against bots: the speed of a game is a matter of all its players.
    Others may set it and are not offered it: clients of other protocols do."""
    if C.CONTROL_WORLD in member.held:
        return True
    return not any(m.seat is not None and m is not member and not m.played_by_bot for m in room.state.members.values())


@command(
    category="control",
    needs=C.ADVANCE_TIME,
    records=True,
    only_if=_has_clock,
    offered_if=_is_offered_speed,
)
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


@system_entry()
def pause_expired(ctx: Context) -> None:
    """The member who paused left: the game resumes."""
    ctx.tell(f"{handle_of(ctx.state.paused_by or '')} paused and left; the game resumes", "turn")
    _end_pause(ctx.room, ctx.at)


def _end_pause(room: BaseRoom, at: int) -> None:
    """End a pause. The turn timer resumes with its remaining time."""
    state = room.state
    if state.paused:
        state.turn_started += at - max(state.paused_at, state.turn_started)
    state.paused, state.paused_by = False, None
    _forget(state)
    clock_changed(room)


def _forget(state: RoomState) -> None:
    """Nobody waits for a pause any more, or for its end."""
    if PAUSE.is_kept(state):
        kept = PAUSE.change(state)
        kept.asked, kept.away_since, kept.ends_at = [], None, None


class GameClockFeature(Feature):
    name = "game_clock"
    room_slice = PAUSE

    def active(self, room: BaseRoom) -> bool:
        return room.state.paused

    def opening(self, scenario: Scenario, world: World) -> Pause | None:
        grace = scenario.pause_seconds * 1000
        return Pause(grace_ms=grace) if grace != GRACE_MS else None

    def follow(self, ctx: Context) -> None:
        """When the member who paused has disconnected or left, the pause ends after a while, unless it comes back."""
        kept, who = PAUSE.change(ctx.state), ctx.state.members.get(ctx.state.paused_by or "")
        if who is not None and who.here:
            kept.away_since = None
        has_gone = who is None or who.away_since != kept.away_since
        if has_gone != (kept.ends_at is not None):
            kept.ends_at = ctx.at + kept.grace_ms if has_gone else None
            ctx.room.timers.changed()

    def due(self, room: BaseRoom) -> Iterable[Due]:
        ends = PAUSE.read(room.state).ends_at
        return [(ends, "pause_expired", {})] if ends is not None and not room.state.archived else []

    def after_downtime(self, room: BaseRoom, gap: int) -> None:
        kept = PAUSE.change(room.state)
        kept.ends_at = kept.ends_at + gap if kept.ends_at is not None else None
        kept.away_since = kept.away_since + gap if kept.away_since is not None else None
