"""Commands for what shows a room to people: next_view for the front end of a world, view_notes for the page."""

from collections.abc import Mapping
from hashlib import blake2b
from typing import Annotated, Any, cast

from msgspec import Meta, Struct, field
from msgspec.json import encode

from cohabit.room.base import BaseRoom, Context
from cohabit.room.commands import Ready, WaitMs, command
from cohabit.room.feature import Feature
from cohabit.room.seeing.looking import CAN_VIEW, ViewReply
from cohabit.room.seeing.view import players_of
from cohabit.room.state import Member
from cohabit.world import Pace, World


def _view_id(room: BaseRoom, member: Member) -> str:
    """A digest of what a member sees. It fits no other view, and says nothing that the member has not seen."""
    return blake2b(encode(room.view(member)), digest_size=6).hexdigest()


def _until_changed(room: BaseRoom, member: Member, args: Mapping[str, Any]) -> Ready:
    """Until the view differs from the one that the caller has."""
    return lambda room, member: _view_id(room, member) != args["since"]


def _has_front_end(world: type[World], pace: Pace) -> bool:
    return bool(world.spec.front_end)


def _never(result: Any) -> bool:
    return False


class NextView(ViewReply, omit_defaults=True):
    """A whole view, and the handles of the members who hold the seats. ``seat`` is the member's own."""

    players: dict[str, str] = field(default_factory=dict)
    seat: str | None = None


@command(
    category="read",
    needs=CAN_VIEW,
    waits=_never,
    ready=_until_changed,
    only_if=_has_front_end,
    for_model=False,
    for_front_end=True,
    sends="views",
)
def next_view(
    ctx: Context,
    since: Annotated[str, Meta(description="the `id` of the view that you have")] = "",
    wait_ms: WaitMs = 0,
) -> NextView:
    """Wait until your view differs from the view `since`, even by your own action. Returns the whole view."""
    room, me, seen = ctx.room, ctx.member, ctx.room.view(ctx.member)
    return NextView(
        seen.text, seen.to_move, room.is_turn_of(me), seen.observation, seen.over, seen.paused, seen.tick,
        seen.total_reward, id=_view_id(room, me), players=players_of(room.state), seat=me.seat,
    )  # fmt: skip


class ViewNotes(Struct):
    notes: dict[str, str]  # by the name of the feature


@command(category="read", needs=CAN_VIEW, for_model=False, sends="views")
def view_notes(ctx: Context) -> ViewNotes:
    """The lines that features add to the text of your view, for a page that shows the rest of it by itself."""
    room, me = ctx.room, ctx.member
    said = [(cast(Any, ask).__self__.name, room.run_hook(ask, room, me)) for ask in room.hooks.view_lines]
    return ViewNotes({feature: text for feature, text in said if text})


class FrontEndsFeature(Feature):
    name = "front_ends"
