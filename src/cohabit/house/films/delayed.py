"""The command ``delayed_view``: what spectators see of a running game.

It is the last frame of their film. It is made once for all spectators of a room, and at most once a second.
"""

from collections.abc import Hashable
from hashlib import blake2b
from typing import Annotated, Any

from msgspec import Meta, Struct
from msgspec.json import decode, encode

from cohabit.errors import PermissionDenied
from cohabit.house.calls.context import HouseContext
from cohabit.house.calls.newest import Newest
from cohabit.house.films.command import Page, Shown, shown_to
from cohabit.house.films.filming import Watch
from cohabit.house.films.maker import FilmMaker
from cohabit.house.films.rights import full_view_until
from cohabit.house.store.keyframes import Keyframes
from cohabit.model.grant import Capability
from cohabit.model.seat import ALL
from cohabit.room.commands import command

MAX_ROOMS = 32
"""The number of rooms whose newest views are kept."""
KEPT_MS = 1_000
"""An older view serves for this long."""
NOTHING_YET = "Nothing is shown yet: spectators see everything some steps later."


class DelayedView(Struct, omit_defaults=True):
    text: str
    id: str = ""  # of what is seen
    steps_ago: int | None = None  # 0 when the game is over; None: nothing is shown yet
    view: dict[str, Any] | None = None
    scene: dict[str, Any] | None = None


class Still(Struct):
    """The newest view for the spectators of a room."""

    record: Hashable  # names the record that it is of
    until: int  # its last entry
    step: int  # the number of steps until there
    made_at: int
    shown: DelayedView

    def serves(self, until: int, now: int) -> bool:
        """An older one does for a while: it is delayed anyway."""
        return self.until == until or (self.until < until and now < self.made_at + KEPT_MS)


class Stills:
    """The newest views for spectators, by room."""

    def __init__(self) -> None:
        self._newest: Newest[Still] = Newest(MAX_ROOMS)

    async def get(self, ctx: HouseContext, due: Shown) -> Still:
        until = due.until
        clock = ctx.house.clock
        record = (ctx.room.state.secret, ctx.house.need(Keyframes).forgotten(ctx.room.id))

        async def make() -> Still:
            shown = await _make(ctx, until)
            return Still(record, until, due.step, clock.now(), shown)

        return await self._newest.get(
            ctx.room.id, lambda kept: kept.record == record and kept.serves(until, clock.now()), make
        )


async def _make(ctx: HouseContext, until: int) -> DelayedView:
    maker = ctx.house.need(FilmMaker)
    async with maker.turn(f"the spectators of {ctx.room.id}"):
        frame = await Page(ctx, Watch(ALL, delayed=True), maker, "", until).newest()
    if not frame:
        return DelayedView(NOTHING_YET)
    made = decode(frame)
    view, scene = made["view"], made.get("scene", {})
    # Not of the whole frame: the number of its entry would tell how much happens in secret.
    digest = blake2b(encode((view, scene)), digest_size=6).hexdigest()
    return DelayedView(view["text"], digest, view=view, scene=scene)


@command(
    category="read",
    where="house",
    needs=Capability.WATCH,
    offered_in=lambda runner, member: full_view_until(runner.room, member) is not None,
    listed=True,
    sends="views",
)
async def delayed_view(
    ctx: HouseContext,
    data: Annotated[bool, Meta(description="with the values and the scene, for pages")] = False,
    since: Annotated[str, Meta(max_length=40, description="`id` of the last reply: leave out what is the same")] = "",
) -> DelayedView:
    """The view of spectators: everything, as it was some steps ago (`steps_ago`). Call `spectate` first."""
    due = await shown_to(ctx)
    still = await ctx.house.need(Stills).get(ctx, due)
    after = await shown_to(ctx)
    if after.until < due.until:  # meanwhile it may have taken a seat
        raise PermissionDenied("what you may see has changed; try again")
    shown = still.shown
    if not shown.id:  # nothing is shown yet
        return shown
    ago = after.now - still.step
    if data and shown.id == since:
        return DelayedView("", since, ago)
    text = f"Everything, as it was {ago:,} step{'s' * (ago != 1)} ago:\n{shown.text}"
    return DelayedView(text, shown.id, ago, shown.view, shown.scene) if data else DelayedView(text, shown.id, ago)
