"""The feed: a room's events, filtered for one member, from a cursor."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Annotated

from msgspec import Meta, Struct

from cohabit.errors import CohabitError, Unauthorized
from cohabit.house.calls.context import HouseContext
from cohabit.house.calls.door import Door
from cohabit.house.calls.resolve import resolve
from cohabit.house.streams.cursors import seal, unseal
from cohabit.house.streams.fanout import event_frame
from cohabit.house.streams.subscriptions import Deliver, Subscription
from cohabit.model.grant import Capability
from cohabit.model.identity import Credential
from cohabit.model.limits import characters
from cohabit.model.seat import Eye
from cohabit.room.commands import Resource, WaitMs, command, command_of
from cohabit.room.seeing.visibility import FeedItem, feed, is_news
from cohabit.room.state import Member

C = Capability
CAN_READ = (C.WATCH, C.READ_OWN, C.READ_ALL, C.READ_CHAT, C.RECEIVE_DIRECTED)
BACKLOG_ITEMS, BACKLOG_CHARACTERS = 200, 200_000
"""A page of a backlog ends after this many items, or this much text: clients accept frames of at most a megabyte."""


class Events(Struct):
    items: list[FeedItem]
    cursor: str
    more: bool


class OwnEvents(Events):
    """A page without news: empty, or with the caller's own actions only. A call that waits continues to wait."""


@command(
    category="read",
    where="house",
    needs=CAN_READ,
    waits=lambda page: isinstance(page, OwnEvents),
    resource=Resource("events", "Events", "Recent events", {"last": 100}, frozenset({"events"})),
    hint="lists events from a cursor.",
    listed=True,
    for_play=True,
    sends="events",
)
async def events(
    ctx: HouseContext,
    cursor: Annotated[str, Meta(description="of the last reply; empty: from the beginning")] = "",
    max: Annotated[int, Meta(ge=1, le=500)] = 100,  # noqa: A002 - the wire's name
    last: Annotated[Annotated[int, Meta(ge=1, le=500)] | None, Meta(description="only the newest N events")] = None,
    wait_ms: WaitMs = 0,
    own: Annotated[bool, Meta(description="your own actions end a wait too")] = False,
) -> Events:
    """Events that you may see, in order. Pass `cursor` to the next call."""
    runner, member = ctx.runner, ctx.member
    seq = unseal(runner.room.state.secret, cursor, runner.history.seq) if last is None else -1
    while True:
        eye, held = runner.room.eye(member), member.held
        if last is not None:
            found = await _newest(ctx, member, eye, last)
        else:
            found = await _page_of_events(ctx, seq, member, eye, max, own)
        # Reading takes a while. Discard a page that was built under an earlier grant.
        now = runner.room.state.members.get(member.id)
        if now is None:
            raise Unauthorized("you are no longer a member of this room")
        member = now
        if (runner.room.eye(member), member.held) == (eye, held):
            return found


async def _page_of_events(
    ctx: HouseContext, after: int, member: Member, eye: Eye | None, limit: int, own: bool
) -> Events:
    items: list[FeedItem] = []
    secret, reached, size, has_news = ctx.room.state.secret, after, 0, False
    async for line in ctx.runner.history.after(after):
        told = feed(line.entry, member, eye)
        if told:
            more = sum(map(_size, told))
            if items and (len(items) + len(told) > limit or size + more > BACKLOG_CHARACTERS):
                return Events(items, seal(secret, reached), True)
            items.extend(told)
            size += more
            reached = line.seq
            has_news = has_news or own or is_news(line.entry, member, eye)
    page = Events if has_news else OwnEvents
    return page(items, seal(secret, reached) if reached >= 0 else "", False)


def _size(item: FeedItem) -> int:
    return characters((item.text, item.args, item.why, item.data))


EVENTS = command_of(events)
"""A subscription requires the same grant as this command."""


async def _newest(ctx: HouseContext, member: Member, eye: Eye | None, limit: int) -> Events:
    """The newest events. It reads back as far as it must: what a member gets never depends on entries it cannot see."""
    told: list[tuple[int, FeedItem]] = []
    async with aclosing(ctx.runner.history.backwards()) as pages:
        async for lines in pages:
            told = [(line.seq, item) for line in lines for item in feed(line.entry, member, eye)] + told
            if len(told) >= limit:
                break
    cursor = seal(ctx.room.state.secret, told[-1][0]) if told else ""
    page = Events if told else OwnEvents
    return page(_newest_that_fit([item for _, item in told[-limit:]]), cursor, False)


def _newest_that_fit(items: list[FeedItem]) -> list[FeedItem]:
    """As many of the newest items as a page may have, at least one."""
    size, first = 0, len(items)
    while first and (size := size + _size(items[first - 1])) <= BACKLOG_CHARACTERS:
        first -= 1
    return items[min(first, max(len(items) - 1, 0)) :]


def subscribe(
    door: Door,
    credential: Credential,
    room: str | None,
    cursor: str | None,
    views: bool,
    deliver: Deliver | None,
    leaves: bool = True,
    watching: bool = False,
) -> Subscription:
    """Subscribe a caller. The subscription ends when the credential is revoked or expires."""
    house = door.services
    target = resolve(house, credential, room, EVENTS.name)
    try:
        door.decide(target, house.clock.now())
        if target.maybe_member is not None:
            target.runner.egress.of(target.member).check()
    except CohabitError as wrong:
        if target.maybe_runner is not None and target.maybe_member is not None:
            target.runner.refused(target.member.id, EVENTS.name, wrong)
        raise
    runner, member = target.runner, target.member
    after = unseal(runner.room.state.secret, cursor, runner.history.seq) if cursor is not None else None
    backlog = _backlog(target, after, runner.history.seq) if after is not None else None
    sub = Subscription(
        runner, member.id, credential, views=views, backlog=backlog, deliver=deliver, leaves=leaves, watching=watching
    )
    runner.subscribe(sub)
    sub.on_close.append(house.identities.until_invalid(house.clock, credential, sub.end_invalid))
    return sub


async def _backlog(ctx: HouseContext, after: int, head: int) -> AsyncIterator[bytes]:
    """Frames with the events that this member may see, after ``after`` up to ``head``, each with its cursor."""
    room, member = ctx.room, ctx.member
    eye = room.eye(member)
    items: list[FeedItem] = []
    reached, size = after, 0
    async for line in ctx.runner.history.after(after):
        if line.seq > head:
            break
        told = feed(line.entry, member, eye)
        if told:
            items.extend(told)
            reached = line.seq
            size += sum(map(_size, told))
        if len(items) >= BACKLOG_ITEMS or size >= BACKLOG_CHARACTERS:
            yield event_frame(room, reached, items)
            items, size = [], 0
    if items:
        yield event_frame(room, reached, items)
