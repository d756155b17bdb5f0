"""The command ``delayed_view``: what spectators see of a running game.

It is the last frame of their film. It is made once for all spectators of a room, and at most once a second.
"""

import asyncio
from collections.abc import Hashable
from hashlib import blake2b
from typing import Annotated, Any

from msgspec import Meta, Struct
from msgspec.json import decode

from cohabit.errors import PermissionDenied
from cohabit.house.calls.context import HouseContext
from cohabit.house.films.command import Page, until_for
from cohabit.house.films.filming import Watch
from cohabit.house.films.maker import FilmMaker
from cohabit.house.films.rights import full_view_until
from cohabit.house.store.keyframes import Keyframes
from cohabit.model.grant import Capability
from cohabit.model.seat import ALL
from cohabit.room.commands import command

MAX_ROOMS = 32
"""Of how many rooms the newest view is kept."""
KEPT_MS = 1_000
NOTHING_YET = "Nothing is shown yet: spectators see everything some steps later."


class DelayedView(Struct, omit_defaults=True):
    text: str
    id: str = ""  # of what is seen
    view: dict[str, Any] | None = None
    scene: dict[str, Any] | None = None


class Still(Struct):
    """The newest view for the spectators of a room."""

    record: Hashable  # of which record it is
    until: int  # its last entry
    made_at: int
    shown: DelayedView

    def serves(self, until: int, now: int) -> bool:
        """An older one does for a while: it is delayed anyway."""
        return self.until == until or (self.until < until and now < self.made_at + KEPT_MS)


class Stills:
    """The newest views for spectators, by room."""

    def __init__(self) -> None:
        self._kept: dict[str, Still] = {}
        self._making: dict[str, asyncio.Lock] = {}

    async def get(self, ctx: HouseContext, until: int) -> DelayedView:
        room, now = ctx.room.id, ctx.house.clock.now()
        record = (ctx.room.state.secret, ctx.house.need(Keyframes).forgotten(room))
        lock = self._making.setdefault(room, asyncio.Lock())
        try:
            async with lock:
                kept = self._kept.get(room)
                if kept is not None and kept.record == record and kept.serves(until, now):
                    return kept.shown
                shown = await _make(ctx, until)
                self._kept.pop(room, None)
                self._kept[room] = Still(record, until, ctx.house.clock.now(), shown)
                if len(self._kept) > MAX_ROOMS:
                    del self._kept[next(iter(self._kept))]
                return shown
        finally:
            if not lock.locked():
                self._making.pop(room, None)


async def _make(ctx: HouseContext, until: int) -> DelayedView:
    maker = ctx.house.need(FilmMaker)
    async with maker.turn(f"the spectators of {ctx.room.id}"):
        frame = await Page(ctx, Watch(ALL, delayed=True), maker, "", until).newest()
    if not frame:
        return DelayedView(NOTHING_YET)
    made = decode(frame)
    view, shown = made["view"], blake2b(frame, digest_size=6).hexdigest()
    return DelayedView(f"Everything, some steps ago:\n{view['text']}", shown, view, made.get("scene", {}))


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
    """What spectators see: everything, as it was some steps ago. Call `spectate` first."""
    until = await until_for(ctx)
    shown = await ctx.house.need(Stills).get(ctx, until)
    if await until_for(ctx) < until:  # meanwhile it may have taken a seat
        raise PermissionDenied("what you may see has changed; try again")
    if data and shown.id == since != "":
        return DelayedView("", since)
    return shown if data else DelayedView(shown.text, shown.id)
