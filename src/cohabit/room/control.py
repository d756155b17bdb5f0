"""Commands over a room's time and life: pause, speed, seats, reset, rematch."""

from typing import Annotated

from msgspec import Meta, Struct

from cohabit.errors import Conflict, GameRejected, PermissionDenied, UnknownAsset
from cohabit.model.grant import Capability
from cohabit.model.suggest import nearest
from cohabit.room import turns
from cohabit.room.commands import command
from cohabit.room.context import Context
from cohabit.room.system import begin_again, next_seed
from cohabit.world import RemoteWorld, World

C = Capability
SPEEDS = {
    "slow_mo": 500, "x1": 1000, "x2": 2000, "x3": 3000, "x4": 4000, "x5": 5000, "x10": 10_000, "x15": 15_000,
    "x20": 20_000, "x40": 20_000,
}  # fmt: skip
"""Speed ids and their multipliers in thousandths. x40 runs like x20, as in the game whose ids these are."""


def _runs_by_itself(world: World) -> bool:
    return world.spec.pace == "clock"


def _is_here(world: World) -> bool:
    """A world elsewhere does not start over because a room wants it to."""
    return not isinstance(world, RemoteWorld)


class Paused(Struct):
    previous_paused: bool
    paused: bool


@command(category="control", needs=C.ADVANCE_TIME, records=True, only_if=_runs_by_itself)
def pause(ctx: Context) -> Paused:
    """Stop the world's time. If you then leave, time goes on by itself after a while."""
    state, was = ctx.state, ctx.state.paused
    if not was:
        state.paused_at = ctx.at
    state.paused, state.paused_by, state.pause_until = True, ctx.member.id, None
    turns.clock_changed(ctx)
    ctx.tell(f"{ctx.member.id} paused", "turn")
    return Paused(was, True)


@command(category="control", needs=C.ADVANCE_TIME, records=True, only_if=_runs_by_itself)
def resume(ctx: Context) -> Paused:
    """Let the world's time go on."""
    was = ctx.state.paused
    turns.go_on(ctx)
    ctx.tell(f"{ctx.member.id} let time go on", "turn")
    return Paused(was, False)


class SpeedSet(Struct):
    speed_id: str
    multiplier: float
    previous: str


@command(category="control", needs=C.ADVANCE_TIME, records=True, only_if=_runs_by_itself)
def set_speed(
    ctx: Context, speed_id: Annotated[str, Meta(description="one of the ids of list_speeds, such as x5")]
) -> SpeedSet:
    """Set how fast the world's time runs."""
    if speed_id not in SPEEDS:
        raise UnknownAsset(
            f"there is no speed {speed_id[:40]!r}; there are {', '.join(SPEEDS)}",
            did_you_mean=nearest(speed_id[:40], list(SPEEDS)),
        )
    previous, ctx.state.speed = ctx.state.speed, speed_id
    turns.clock_changed(ctx)
    ctx.tell(f"{ctx.member.id} set the speed to {speed_id}", "turn")
    return SpeedSet(speed_id, SPEEDS[speed_id] / 1000, previous)


class Speed(Struct):
    id: str
    multiplier: float


class Speeds(Struct):
    items: list[Speed]
    count: int
    current: str


@command(category="discovery", only_if=_runs_by_itself)
def list_speeds(ctx: Context) -> Speeds:
    """The speeds that set_speed takes, and the current one."""
    return Speeds([Speed(i, m / 1000) for i, m in SPEEDS.items()], len(SPEEDS), ctx.state.speed)


class Seated(Struct):
    seat: str | None


@command(category="meta", needs=C.ACT, records=True)
def sit(ctx: Context, seat: Annotated[str, Meta(description="the id of a free seat")]) -> Seated:
    """Take a free seat. A seat that a credential claims is kept for it."""
    state, me = ctx.state, ctx.member
    if me.claim is not None:
        raise PermissionDenied(f"your credential claims {me.claim}; you cannot take another seat")
    if all(s.id != seat for s in state.seats):
        known = [s.id for s in state.seats]
        raise UnknownAsset(f"there is no seat {seat[:40]!r}", did_you_mean=nearest(seat[:40], known, 3))
    holder = next((m.id for m in state.members.values() if m.seat == seat), None)
    if holder not in (None, me.id):
        raise Conflict(f"seat {seat} is taken by {holder}")
    me.seat = seat
    ctx.tell(f"{me.id} sits down at {seat}", "roster")
    return Seated(seat)


@command(category="meta", records=True)
def stand_up(ctx: Context) -> Seated:
    """Leave your seat, so that somebody else can take it."""
    me = ctx.member
    if me.claim is not None:
        raise PermissionDenied(f"your credential claims {me.claim}; that seat stays yours")
    if me.seat is None:
        raise GameRejected("you hold no seat")
    ctx.tell(f"{me.id} leaves seat {me.seat}", "roster")
    me.seat = None
    turns.bind(ctx.room, ctx.state.seats)
    return Seated(None)


class Begun(Struct):
    game: int
    seed: int


@command(category="control", needs=C.CONTROL_WORLD, records=True, ungated=True, only_if=_is_here)
def reset(
    ctx: Context,
    seed: Annotated[
        Annotated[int, Meta(ge=0, le=2**63 - 1)] | None, Meta(description="another seed; left out: the same again")
    ] = None,
) -> Begun:
    """Start the world over, from the same seed unless you give another. The record goes on."""
    return _begin_again(ctx, ctx.state.seed if seed is None else seed, "reset the world")


@command(category="control", needs=C.CONTROL_WORLD, records=True, ungated=True, only_if=_is_here)
def rematch(ctx: Context) -> Begun:
    """Play again with a new seed, drawn from the last one."""
    return _begin_again(ctx, next_seed(ctx), "called a rematch")


def _begin_again(ctx: Context, seed: int, words: str) -> Begun:
    begin_again(ctx, seed)
    ctx.tell(f"{ctx.member.id} {words}: game {ctx.state.games}", "turn")
    return Begun(ctx.state.games, seed)


class Archived(Struct):
    archived: bool


@command(category="control", needs=C.CONTROL_WORLD, records=True, ungated=True)
def archive(ctx: Context) -> Archived:
    """Close the room for good: it can still be read, watched and replayed, not changed."""
    ctx.state.archived = True
    ctx.tell(f"{ctx.member.id} archived this room")
    return Archived(True)
