"""Fan-out: turns recorded lines into the frames of each subscription.

Subscriptions whose members have the same grant and the same eye form a group. A group shares each frame, which is built
and encoded once. Only members who are named in an entry get separate frames.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from cohabit.errors import CohabitError, Unauthorized
from cohabit.house.subscriptions import NO_GRANT, Grant, Subscription
from cohabit.model.seat import Eye
from cohabit.room.cursors import seal
from cohabit.room.grants import grant_wire
from cohabit.room.record import Line
from cohabit.room.room import Room
from cohabit.room.state import Member
from cohabit.room.visibility import FeedItem, feed

encode = msgspec.json.Encoder().encode
"""Encodes a frame for sending."""


class Group:
    """Subscriptions that receive the same frames."""

    def __init__(self, eye: Eye | None) -> None:
        self.eye = eye
        self.subs: list[Subscription] = []
        self.members: set[str] = set()


class Frames(Struct):
    """The frames of one batch, built while the world is available and pushed when durable."""

    lines: list[Line]
    subs: Collection[Subscription] = ()  # all at the time
    roster_version: int = -1  # of the room at the time
    events: list[tuple[Sequence[Subscription], bytes]] = []
    views: list[tuple[Sequence[Subscription], bytes]] = []

    def push(self) -> None:
        """Push the frames to their subscriptions."""
        for subs, frame in self.events:
            for sub in subs:
                sub.push_event(frame)
        for subs, frame in self.views:
            for sub in subs:
                sub.push_view(frame)


class Fanout:
    """The subscriptions of one room."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self.subscriptions: dict[Subscription, None] = {}
        self._known: Collection[Subscription] | None = None
        self._groups: list[Group] = []
        self._viewers: dict[Eye, list[Subscription]] = {}  # those that get views, by what they see
        self._groups_of = -1  # the version of the roster that they are made from; -1: they are out of date
        self._last_views: dict[Eye, bytes] = {}
        self._new_eyes: set[Subscription] = set()  # those that have not got a view since their eye changed

    def __len__(self) -> int:
        return len(self.subscriptions)

    def add(self, sub: Subscription) -> None:
        member = self._room.state.members.get(sub.member)
        if member is not None:
            sub.held, sub.through, sub.eye = member.held, member.through, self._room.eye(member)
        self.subscriptions[sub] = None
        self._groups_of, self._known = -1, None

    def remove(self, sub: Subscription) -> bool:
        self._groups_of, self._known = -1, None
        known = sub in self.subscriptions
        self.subscriptions.pop(sub, None)
        return known

    def members(self) -> set[str]:
        return {sub.member for sub in self.subscriptions}

    def end(self, reason: CohabitError) -> None:
        """End every subscription."""
        for sub in list(self.subscriptions):
            sub.end(reason)

    def end_removed(self) -> None:
        """End the subscriptions of members who were removed."""
        for sub in list(self.subscriptions):
            if sub.member not in self._room.state.members:
                sub.end(Unauthorized("you were removed from this room"))

    def forget_views(self) -> None:
        """Forget the last views after a rollback."""
        self._last_views.clear()

    # -- making frames ----------------------------------------------------------------------------
    def frames(self, lines: list[Line]) -> Frames:
        """The frames for these lines, each with the subscriptions that may see it."""
        made = Frames(lines, self._current_subs(), self._room.roster_version)
        if lines and self.subscriptions:
            groups = self._current_groups(made)
            if any(line.entry.told for line in lines):
                made.events.extend(self._events(lines, groups))
            made.views.extend(self._views())
        return made

    def deliver(self, frames: Frames) -> None:
        """Push the frames of a batch that has become durable. A reader whose grant was narrowed gets none."""
        if frames.roster_version != self._room.roster_version:
            for sub in frames.subs:
                sub.end_if_narrowed()
        frames.push()
        self._catch_up(frames)

    def _catch_up(self, frames: Frames) -> None:
        """Push to subscriptions that were added after these frames were built, but before they were durable."""
        if frames.subs is self._known:
            return
        for sub in list(self.subscriptions):
            member = self._room.state.members.get(sub.member)
            if sub not in frames.subs and member is not None:
                frame = self._event_frame(frames.lines, member, self._room.eye(member))
                if frame:
                    sub.push_event(frame)

    def _current_subs(self) -> Collection[Subscription]:
        if self._known is None:
            self._known = frozenset(self.subscriptions)
        return self._known

    def _current_groups(self, made: Frames) -> list[Group]:
        room = self._room
        if self._groups_of != room.roster_version:
            found: dict[Any, Group] = {}
            self._viewers = {}
            for sub in list(self.subscriptions):
                member = room.state.members.get(sub.member)
                if member is None:
                    continue
                eye, held = room.eye(member), member.held
                if held != sub.held or member.through != sub.through:
                    sub.held, sub.through = held, member.through
                    frame = encode({"push": "grant", "room": room.id, "grant": grant_wire(member)})
                    made.events.append(((sub,), frame))
                if eye != sub.eye:
                    sub.eye = eye
                    self._new_eyes.add(sub)
                group = found.get((held, eye))
                if group is None:
                    group = found[held, eye] = Group(eye)
                group.subs.append(sub)
                group.members.add(sub.member)
                if sub.views and eye is not None:
                    self._viewers.setdefault(eye, []).append(sub)
            self._groups = list(found.values())
            self._groups_of = room.roster_version
        return self._groups

    def _events(self, lines: Sequence[Line], groups: Iterable[Group]) -> Iterator[tuple[Sequence[Subscription], bytes]]:
        named, seats, members = _named(lines), _seats_told(lines), self._room.state.members
        for group in groups:
            subs: Sequence[Subscription] = group.subs
            if not named.isdisjoint(group.members):
                subs = [sub for sub in group.subs if sub.member not in named]
                own: dict[str, list[Subscription]] = {}  # all subscriptions of a member share its frame
                for sub in group.subs:
                    if sub.member in named:
                        own.setdefault(sub.member, []).append(sub)
                for who, its_subs in own.items():
                    frame = self._event_frame(lines, members[who], group.eye)
                    if frame:
                        yield its_subs, frame
            if subs and _concerns(group.eye, seats):  # all members of a group see the same, so use the first
                frame = self._event_frame(lines, members[subs[0].member], group.eye)
                if frame:
                    yield subs, frame

    def _event_frame(self, lines: Sequence[Line], member: Member, eye: Eye | None) -> bytes:
        items: list[FeedItem] = []
        last = -1
        for line in lines:
            told = feed(line.entry, member, eye)
            if told:
                items.extend(told)
                last = line.seq
        return event_frame(self._room, last, items) if items else b""

    def _views(self) -> Iterator[tuple[Sequence[Subscription], bytes]]:
        last = self._last_views
        for eye, subs in self._viewers.items():
            frame = self._view_frame(eye)
            if frame != last.get(eye):
                last[eye] = frame
                yield subs, frame
            elif self._new_eyes:
                yield [sub for sub in subs if sub in self._new_eyes], frame
        self._new_eyes.clear()

    def _view_frame(self, eye: Eye) -> bytes:
        return encode({"push": "view", "room": self._room.id, "view": self._room.view_through(eye)})

    def first_view(self, who: str) -> tuple[bytes, Grant]:
        """The current view, for a member who has just subscribed, and the grant under which it was made."""
        member = self._room.state.members.get(who)
        eye = self._room.eye(member) if member is not None else None
        if member is None or eye is None:
            return b"", NO_GRANT
        frame = self._view_frame(eye)
        if not self._room.record.pending:  # no newer view is pending, so an identical one need not be sent
            self._last_views[eye] = frame
        return frame, (member.held, member.through, eye)


def event_frame(room: Room, seq: int, items: Sequence[FeedItem]) -> bytes:
    """Events up to an entry, with the cursor to resume from."""
    return encode({"push": "events", "room": room.id, "cursor": seal(room.state.secret, seq), "items": items})


def _seats_told(lines: Iterable[Line]) -> set[str] | None:
    """The seats that receive notices from these lines; None if a notice is public."""
    seats: set[str] = set()
    for line in lines:
        for told in line.entry.told:
            if told.seats is None and told.members is None:
                return None
            seats.update(told.seats or ())
    return seats


def _concerns(eye: Eye | None, seats: set[str] | None) -> bool:
    """Whether notices for these seats may be visible to this eye. Most groups see none and need no frame."""
    return seats is None or (eye is not None and (eye.sees == "all" or eye.seat in seats))


def _named(lines: Iterable[Line]) -> set[str]:
    """Members who receive notices that others with the same grant do not."""
    named: set[str] = set()
    for line in lines:
        entry = line.entry
        if entry.by is not None:
            named.add(entry.by)
        for told in entry.told:
            if told.members is not None:
                named.update(told.members)
    return named
