"""Commands that show the world: view, wait_for_turn, picture."""

from typing import Any

from msgspec import Struct

from cohabit.errors import GameRejected
from cohabit.model.grant import Capability
from cohabit.model.observation import Observation
from cohabit.room.commands import Resource, WaitMs, command
from cohabit.room.context import Context
from cohabit.room.state import Member
from cohabit.room.turns import is_turn_of
from cohabit.world import World, overrides

C = Capability
CAN_VIEW = (C.WATCH, C.READ_OWN, C.READ_ALL)


WATCH_ONLY = (
    "You can watch this room but not act in it. To play, ask a host to invite you as a player, or to grant you act and "
    "read_own; then take a seat (sit)."
)


def watch_only(member: Member) -> str:
    """A note for a member who may not act; empty for others."""
    does_more = {C.ACT, C.ACT_GLOBAL, C.CONTROL_WORLD, C.MANAGE_MEMBERS}
    return WATCH_ONLY if C.WATCH in member.held and does_more.isdisjoint(member.held) else ""


class ViewReply(Struct, omit_defaults=True):
    text: str
    observation: Observation
    to_move: list[str]
    your_turn: bool
    over: bool = False
    paused: bool = False
    tick: int = 0
    total_reward: float | None = None


@command(
    category="read",
    needs=CAN_VIEW,
    resource=Resource("view", "View", "The world as you see it now", topics=frozenset({"view"}), text="text"),
    hint="shows what you see now.",
    listed=True,
)
def view(ctx: Context) -> ViewReply:
    """The world as you see it now."""
    return view_reply(ctx)


def view_reply(ctx: Context) -> ViewReply:
    seen, note = ctx.room.view(ctx.member), watch_only(ctx.member)
    return ViewReply(
        f"{seen.text}\n{note}" if note else seen.text, seen.observation, seen.to_move,
        is_turn_of(ctx.room, ctx.member), seen.over, seen.paused, seen.tick, seen.total_reward,
    )  # fmt: skip


def _not_yet(result: Any) -> bool:
    return isinstance(result, ViewReply) and not (result.your_turn or result.over)


@command(
    category="read",
    needs=CAN_VIEW,
    waits=_not_yet,
    task=("your_turn", "over"),
    hint="waits until it is your turn. If it still is not, call it again.",
    listed=True,
)
def wait_for_turn(ctx: Context, wait_ms: WaitMs = 10_000) -> ViewReply:
    """Wait up to `wait_ms` for your turn or the end of the game, then return the view.

    If it still is not your turn, call it again.
    """
    return view_reply(ctx)


class Picture(Struct):
    format: str
    base64: bytes  # msgspec writes bytes as base64


def _has_pictures(world: World) -> bool:
    return overrides(world, "picture")


@command(category="read", needs=C.SEE_SCREEN, only_if=_has_pictures)
def picture(ctx: Context) -> Picture:
    """The world as you see it, as a base64-encoded PNG."""
    drawn = ctx.room.world.picture(ctx.room.eye_of(ctx.member))
    if drawn is None:
        raise GameRejected("there is no picture now; use view instead")
    return Picture("png", drawn)
