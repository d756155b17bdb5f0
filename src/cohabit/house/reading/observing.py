"""The command `observe`: the view, the roster and the new events of any room, in one call that can wait."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct, defstruct

from cohabit.feature_registry import usual_features
from cohabit.house.calls.context import HouseContext
from cohabit.house.reading.feed import CAN_READ, Events, OwnEvents, events
from cohabit.house.running.calls import PeekCall
from cohabit.model.grant import Capability
from cohabit.model.observation import one_line
from cohabit.room.access.grants import grant_wire
from cohabit.room.base import Context
from cohabit.room.command_modules import features_named
from cohabit.room.commands import WaitMs, command
from cohabit.room.feature import answer
from cohabit.room.room import Room
from cohabit.room.seeing.info import RosterLine, roster_of
from cohabit.room.seeing.looking import CAN_VIEW, view_reply
from cohabit.room.seeing.visibility import FeedItem

C = Capability
NEWEST = 50
"""The number of events in the first reply."""
DATA_SHOWN = 2_000
"""The bytes of an event's data that the text shows."""
MEMBERS_NAMED = 50
"""The number of members that the text names."""


class Observed(Struct, omit_defaults=True):
    """Features add fields to it: see ``FullyObserved``."""

    text: str  # the world as you see it, and the events
    events: list[FeedItem]
    cursor: str
    your_turn: bool
    roster: list[RosterLine]  # empty without read_roster
    grant: dict[str, Any]


_fields: list[Any] = [
    (*field, None) for made in features_named(usual_features()).all for field in made.observed.items()
]
_fields += [("over", bool, False), ("more", bool, False)]  # more: there are more events, call again with the cursor
FullyObserved: Any = defstruct("Observed", _fields, bases=(Observed,), omit_defaults=True)
FIELDS = frozenset(FullyObserved.__struct_fields__)
NothingNew: Any = defstruct("NothingNew", [], bases=(FullyObserved,), omit_defaults=True)
"""Nothing new has happened. A call that waits continues to wait."""


@command(
    category="read",
    where="house",
    needs=CAN_READ,
    waits=lambda observed: isinstance(observed, NothingNew),
    hint="returns your view and the events since a cursor. With `wait_ms` it waits for something new.",
    for_talk=True,
    result=FullyObserved,
    sends="views",
)
async def observe(
    ctx: HouseContext,
    cursor: Annotated[str, Meta(description="the cursor of the last reply; empty: the newest events")] = "",
    wait_ms: WaitMs = 0,
) -> Observed:
    """Your current view, the roster, and the events since your last call. Pass `cursor` to the next call."""
    page: Events = await events(ctx, cursor) if cursor else await events(ctx, last=NEWEST)
    me = ctx.member.id
    seen: dict[str, Any] = await ctx.runner.submit(PeekCall(lambda room: _seen(room, me, ctx.house.clock.now())))
    kind = NothingNew if cursor and isinstance(page, OwnEvents) else FullyObserved
    reached = page.cursor or cursor
    text = seen.pop("text")
    happened = [f"- {one_line(item.text)}{_data_of(item)}" for item in _not_in(text, page.items)]
    title = "Since your last call:" if cursor else "The newest events:"
    nothing = f"{title} the messages above." if page.items else "Nothing has happened."
    lines = [
        text,
        *_roster_lines(seen["roster"], ctx.member.handle),
        "",
        *([title, *happened] if happened else [nothing]),
        f"Cursor: {reached}",
    ]
    observed: Observed = kind(text="\n".join(lines), events=page.items, cursor=reached, more=page.more, **seen)
    return observed


def _not_in(view: str, items: Sequence[FeedItem]) -> list[FeedItem]:
    """The events without messages that a view has in full."""
    shown = Counter(line.partition("): ")[2] for line in view.split("\n") if line.startswith("- "))
    kept = []
    for item in reversed(items):  # a view has the newest
        words = one_line(item.text).partition(": ")[2] if item.kind in ("chat", "direct") else ""
        if words and shown[words]:
            shown[words] -= 1
        else:
            kept.append(item)
    return kept[::-1]


def _data_of(item: FeedItem) -> str:
    """The request to an app, or the data sent to it, as JSON. Views are elsewhere in the text."""
    if item.data is None or item.kind.endswith("app view"):
        return ""
    text = msgspec.json.encode(item.data)
    return f": {text[:DATA_SHOWN].decode(errors='ignore')}{' …' if len(text) > DATA_SHOWN else ''}"


def _roster_lines(roster: list[RosterLine], me: str) -> list[str]:
    """The members in one line of the text."""
    if not roster:
        return []
    named = [
        f"{line.handle} ({line.role}{', you' if line.handle == me else '' if line.here else ', away'})"
        for line in roster[:MEMBERS_NAMED]
    ]
    more = f" and {len(roster) - MEMBERS_NAMED} more" if len(roster) > MEMBERS_NAMED else ""
    return ["", f"Members: {', '.join(named)}{more}"]


def _seen(room: Room, member: str, at: int) -> dict[str, Any]:
    me = room.state.members[member]
    ctx = Context(room, room.state, me, at)
    view = view_reply(ctx) if not me.held.isdisjoint(CAN_VIEW) else None
    nothing: Mapping[str, Any] = {}
    added = [answer(feature.observes, nothing, room, me) for feature in room.features.that_answer["observes"]]
    return {
        "text": view.text if view is not None else "You don't have permission to view this world.",
        "your_turn": view is not None and view.your_turn,
        "over": view is not None and view.over,
        "roster": roster_of(room, me) if C.READ_ROSTER in me.held else [],
        "grant": grant_wire(me),
        **{name: value for values in added for name, value in values.items() if name in FIELDS},
    }
