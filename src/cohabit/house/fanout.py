"""Fan-out: from what was put on record to what each connection is sent.

Connections whose members hold the same grant and look through the same eye form a group, and a group
shares each frame: it is made and encoded once. Only who is named in an entry gets a frame of its own.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Protocol

import msgspec

from cohabit.errors import CohabitError, Unauthorized
from cohabit.house.store import Credential
from cohabit.model.seat import Eye
from cohabit.room.record import Line
from cohabit.room.room import Room
from cohabit.room.state import Member
from cohabit.room.views import FeedItem, feed, seal


class Sink(Protocol):
    """Where pushes go: one connection."""

    def events(self, frame: bytes) -> None: ...

    def view(self, frame: bytes) -> None: ...

    def end(self, reason: CohabitError) -> None: ...


class Subscription:
    """One connection that is told what happens, and optionally gets every new view."""

    __slots__ = ("credential", "held", "member", "sink", "views")

    def __init__(self, member: str, sink: Sink, views: bool, credential: Credential | None) -> None:
        self.member = member
        self.credential = credential  # what the connection came in with
        self.sink = sink
        self.views = views
        self.held: list[bytes] | None = []  # event frames that wait until the backlog is out


class Group:
    """Subscriptions that are told the same."""

    def __init__(self, member: Member, looks: Eye | None) -> None:
        self.like = member  # any of them: what they may perceive is equal
        self.looks = looks
        self.subs: list[Subscription] = []
        self.viewers: list[Subscription] = []


class Frames:
    """What one batch will push once it is durable, made while the world is at hand."""

    def __init__(self, lines: list[Line], subs: Collection[Subscription] = ()) -> None:
        self.lines = lines
        self.subs = subs  # all that were there
        self.events: list[tuple[Sequence[Subscription], bytes]] = []
        self.views: list[tuple[Sequence[Subscription], bytes]] = []


class Fanout:
    """The subscriptions of one room."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._subs: dict[Sink, Subscription] = {}
        self._known: Collection[Subscription] | None = None
        self._groups: list[Group] | None = None
        self._groups_of = -1
        self._last_views: dict[Eye, bytes] = {}

    def __len__(self) -> int:
        return len(self._subs)

    def add(self, member: str, sink: Sink, views: bool, credential: Credential | None = None) -> Subscription:
        sub = self._subs[sink] = Subscription(member, sink, views, credential)
        self._groups = self._known = None
        return sub

    def remove(self, sink: Sink) -> Subscription | None:
        sub = self._subs.pop(sink, None)
        self._groups = self._known = None
        return sub

    def members(self) -> set[str]:
        return {sub.member for sub in self._subs.values()}

    def end(self, reason: CohabitError) -> None:
        for sub in list(self._subs.values()):
            sub.sink.end(reason)

    def show_out(self, at: int) -> None:
        """End the connections of those who were removed, or whose token no longer opens the door."""
        for sub in list(self._subs.values()):
            held = sub.credential
            if sub.member not in self._room.state.members:
                sub.sink.end(Unauthorized("you were removed from this room"))
            elif held is not None and (held.revoked or (held.expires_at is not None and at >= held.expires_at)):
                sub.sink.end(Unauthorized("this token was revoked or has expired; ask your host for a new one"))

    def forget_views(self) -> None:
        """What was last seen is not so any more: the room went back."""
        self._last_views.clear()

    # -- making frames ----------------------------------------------------------------------------
    def frames(self, lines: list[Line]) -> Frames:
        """The frames for what these lines tell, each for whoever may see it."""
        made = Frames(lines, self._current_subs())
        if lines and self._subs:
            if any(line.entry.told for line in lines):
                made.events.extend(self._events(lines))
            made.views.extend(self._views())
        return made

    def catch_up(self, frames: Frames) -> None:
        """Tell those who came after these frames were made, and before they were durable."""
        if frames.subs is self._known:
            return
        for sub in self._subs.values():
            member = self._room.state.members.get(sub.member)
            if sub not in frames.subs and member is not None:
                frame = self._event_frame(frames.lines, member, self._room.eye(member))
                if frame:
                    _tell(sub, frame)

    def _current_subs(self) -> Collection[Subscription]:
        if self._known is None:
            self._known = frozenset(self._subs.values())
        return self._known

    def _current_groups(self) -> list[Group]:
        room = self._room
        if self._groups is None or self._groups_of != room.roster_version:
            found: dict[Any, Group] = {}
            for sub in list(self._subs.values()):
                member = room.state.members.get(sub.member)
                if member is None:
                    continue
                looks = room.eye(member)
                key = (member.held, looks)
                group = found.get(key)
                if group is None:
                    group = found[key] = Group(member, looks)
                group.subs.append(sub)
                if sub.views:
                    group.viewers.append(sub)
            self._groups = list(found.values())
            self._groups_of = room.roster_version
        return self._groups

    def _events(self, lines: Sequence[Line]) -> Iterator[tuple[Sequence[Subscription], bytes]]:
        named = _named(lines)
        for group in self._current_groups():
            subs: Sequence[Subscription] = group.subs
            if named:
                apart = [sub for sub in subs if sub.member in named]
                if apart:
                    subs = [sub for sub in subs if sub.member not in named]
                for sub in apart:
                    frame = self._event_frame(lines, self._room.state.members[sub.member], group.looks)
                    if frame:
                        yield (sub,), frame
            if subs:
                other = next((s.member for s in subs), group.like.id)
                frame = self._event_frame(lines, self._room.state.members[other], group.looks)
                if frame:
                    yield subs, frame

    def _event_frame(self, lines: Sequence[Line], member: Member, looks: Eye | None) -> bytes:
        items: list[FeedItem] = []
        last = -1
        for line in lines:
            told = feed(line.entry, member, looks)
            if told:
                items.extend(told)
                last = line.seq
        if not items:
            return b""
        state = self._room.state
        return encode({"push": "events", "room": state.id, "cursor": seal(state.secret, last), "items": items})

    def _views(self) -> Iterator[tuple[Sequence[Subscription], bytes]]:
        made: dict[Eye, bytes] = {}
        for group in self._current_groups():
            looks = group.looks
            if looks is None or not group.viewers:
                continue
            if looks not in made:
                frame = self._view_frame(looks)
                made[looks] = b"" if frame == self._last_views.get(looks) else frame
                self._last_views[looks] = frame
            if made[looks]:
                yield group.viewers, made[looks]

    def _view_frame(self, looks: Eye) -> bytes:
        return encode({"push": "view", "room": self._room.id, "view": self._room.view_through(looks)})

    def first_view(self, who: str) -> bytes:
        """The view as it is now, for somebody who has just come."""
        member = self._room.state.members.get(who)
        looks = self._room.eye(member) if member is not None else None
        if looks is None:
            return b""
        frame = self._view_frame(looks)
        if not self._room.record.pending:  # then nothing newer is on its way, and the same again would be no news
            self._last_views[looks] = frame
        return frame


def push(frames: Frames) -> None:
    """Hand the frames to their connections."""
    for subs, frame in frames.events:
        for sub in subs:
            _tell(sub, frame)
    for subs, frame in frames.views:
        for sub in subs:
            sub.sink.view(frame)


def _tell(sub: Subscription, frame: bytes) -> None:
    if sub.held is None:
        sub.sink.events(frame)
    else:
        sub.held.append(frame)


def _named(lines: Iterable[Line]) -> set[str]:
    """Who is told something of these lines that others like them are not."""
    named: set[str] = set()
    for line in lines:
        entry = line.entry
        if entry.by is not None:
            named.add(entry.by)
        for told in entry.told:
            if told.members is not None:
                named.update(told.members)
    return named


encode = msgspec.json.Encoder().encode
"""A push frame as it goes out."""
