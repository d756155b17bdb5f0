"""Commands that begin another game or end the room: reset, rematch, archive, unarchive."""

from typing import Annotated

from msgspec import Meta, Struct

from cohabit.errors import GameRejected, PermissionDenied
from cohabit.model.grant import Capability
from cohabit.remote import RemoteWorld
from cohabit.room.base import BaseRoom, Context
from cohabit.room.commands import command
from cohabit.room.play.games import begin_again, next_seed, stood_still
from cohabit.room.state import Member
from cohabit.scenario import parse_seed
from cohabit.world import Pace, World

C = Capability


def _is_local(world: type[World], pace: Pace) -> bool:
    """A room cannot reset a remote world."""
    return not issubclass(world, RemoteWorld)


class Begun(Struct, omit_defaults=True):
    game: int
    seed: str | None = None  # only for members with read_all, because it reveals hidden information


@command(category="control", needs=C.CONTROL_WORLD, records=True, any_turn=True, only_if=_is_local)
def reset(
    ctx: Context,
    seed: Annotated[
        int | str | None,
        Meta(
            description="a new seed: an integer below 2^64 or a string of up to 32 hexadecimal digits; "
            "default: the current seed, or a new one in a world that deals only once"
        ),
    ] = None,
) -> Begun:
    """Restart the world with the same seed, or with a new one. The record continues."""
    if seed is None:
        again = next_seed(ctx) if ctx.room.world.spec.deals_once else ctx.state.seed
        return _begin_again(ctx, again, "reset the world")
    if C.READ_ALL not in ctx.member.held and not ctx.room.world.spec.open_information:
        raise PermissionDenied(
            "choosing a seed requires read_all, because it reveals hidden information; omit seed",
            needs=[C.READ_ALL],
        )
    return _begin_again(ctx, parse_seed(seed), "reset the world")


@command(category="control", needs=C.CONTROL_WORLD, records=True, any_turn=True, only_if=_is_local)
def rematch(ctx: Context) -> Begun:
    """Start a new game with a new seed, derived from the last one."""
    return _begin_again(ctx, next_seed(ctx), "started a rematch")


def _begin_again(ctx: Context, seed: str, words: str) -> Begun:
    begin_again(ctx, seed)
    member, games = ctx.member, ctx.state.games
    ctx.tell(f"{member.handle} {words}: game {games}", "turn")
    return Begun(games, seed if C.READ_ALL in member.held else None)


class Archived(Struct):
    archived: bool


@command(category="control", needs=C.CONTROL_WORLD, records=True, any_turn=True)
def archive(ctx: Context) -> Archived:
    """Archive the room. It stays readable but cannot be changed, until `unarchive`. Visits end."""
    ctx.state.archived, ctx.state.archived_at = True, ctx.at
    ctx.tell(f"{ctx.member.handle} archived this room")
    return Archived(True)


def _is_archived(room: BaseRoom, member: Member) -> bool:
    return room.state.archived


@command(
    category="control", needs=C.CONTROL_WORLD, records=True, any_turn=True, when_archived=True, offered_if=_is_archived
)
def unarchive(ctx: Context) -> Archived:
    """Bring an archived room back. No time has passed in it: time limits continue where they stopped."""
    if not ctx.state.archived:
        raise GameRejected("this room is not archived")
    stood_still(ctx.room, ctx.at - (ctx.state.archived_at or ctx.room.record.at))
    ctx.state.archived, ctx.state.archived_at = False, 0
    ctx.state.turn_started = min(ctx.state.turn_started, ctx.at)  # a player may have left while it was archived
    for member in ctx.state.members.values():
        if member.away_since is not None:  # it may have gone while the room was archived
            member.away_since = min(member.away_since, ctx.at)
    ctx.tell(f"{ctx.member.handle} brought this room back from the archive")
    return Archived(False)
