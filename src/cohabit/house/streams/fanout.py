"""Fan-out: turns recorded lines into the frames of each subscription.

Subscriptions whose members have the same grant and the same eye form a group. A group shares each frame, which is built
and encoded once. Only members who are told something else than the others get separate frames.
"""

import logging
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from cohabit.errors import CohabitError, Unauthorized
from cohabit.house.streams.cursors import seal
from cohabit.house.streams.subscriptions import NO_GRANT, Grant, Labelled, Subscription
from cohabit.model.egress import OF_EVENTS
from cohabit.model.record import Entry
from cohabit.model.seat import Eye, SeatId
from cohabit.room.access.grants import grant_wire
from cohabit.room.record import Line
from cohabit.room.room import Room
from cohabit.room.seeing.visibility import FeedItem, feed, has_details
from cohabit.room.state import Member

log = logging.getLogger("cohabit")
encode = msgspec.json.Encoder().encode
"""Encodes a frame for sending."""


class Group:
    """Subscriptions that receive the same frames."""

    def __init__(self, eye: Eye | None) -> None:
        self.eye = eye
        self.subs: list[Subscription] = []
        self.members: set[str] = set()


class Viewers:
    """Subscriptions that receive the same views."""

    __slots__ = ("eye", "last", "subs")

    def __init__(self, eye: Eye, last: bytes = b"") -> None:
        self.eye = eye
        self.last = last  # the frame that they got last
        self.subs: list[Subscription] = []


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
        self._groups_by_member: dict[str, Group] = {}
        self._groups_by_seat: dict[SeatId, list[Group]] = {}  # those that look from the seat
        self._groups_seeing_all: list[Group] = []
        self._viewers: dict[Eye, Viewers] = {}
        self._grouped_version = -1  # of the roster, when they were made; -1: they are out of date
        self._view_head = encode({"push": "view", "room": room.id})[:-1] + b',"view":'
        self._new_eyes: set[Subscription] = set()  # those that have not got a view since their eye changed

    def __len__(self) -> int:
        return len(self.subscriptions)

    def add(self, sub: Subscription) -> None:
        member = self._room.state.members.get(sub.member)
        if member is not None:
            sub.held, sub.through, sub.eye = member.held, member.through, self._room.eye(member)
        self.subscriptions[sub] = None
        self._grouped_version, self._known = -1, None

    def remove(self, sub: Subscription) -> bool:
        self._grouped_version, self._known = -1, None
        known = sub in self.subscriptions
        self.subscriptions.pop(sub, None)
        return known

    @property
    def asks_world(self) -> bool:
        """True if making frames may run code of the world: for views, and to group those who see the same."""
        return bool(self._viewers) or (self._grouped_version != self._room.roster_version and bool(self.subscriptions))

    def members(self) -> set[str]:
        return {sub.member for sub in self.subscriptions}

    def end(self, reason: CohabitError) -> None:
        """End every subscription."""
        for sub in list(self.subscriptions):
            sub.end(reason)

    def end_removed(self, members: Container[str]) -> None:
        """End the subscriptions of members who were removed."""
        for sub in list(self.subscriptions):
            if sub.member in members:
                sub.end(Unauthorized("you were removed from this room"))

    def forget_views(self) -> None:
        """Forget the last views after a rollback."""
        for viewers in self._viewers.values():
            viewers.last = b""

    # -- making frames ----------------------------------------------------------------------------
    def frames(self, lines: list[Line]) -> Frames:
        """The frames for these lines, each with the subscriptions that may see it."""
        made = Frames(lines, self._current_subs(), self._room.roster_version)
        if lines and self.subscriptions:
            if self._grouped_version != self._room.roster_version:
                self._group(made)
            if any(line.entry.told for line in lines):
                made.events.extend(self._events(lines))
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

    def _group(self, made: Frames) -> None:
        """Group the subscriptions by what they may see, and tell those whose grant has changed."""
        room, before = self._room, self._viewers
        found: dict[Any, Group] = {}
        self._viewers, self._groups_by_member = {}, {}
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
            self._groups_by_member[sub.member] = group
            if sub.views and eye is not None:
                if eye not in self._viewers:
                    self._viewers[eye] = Viewers(eye, before[eye].last if eye in before else b"")
                self._viewers[eye].subs.append(sub)
        self._groups = list(found.values())
        self._groups_by_seat, self._groups_seeing_all = {}, []
        for group in self._groups:
            if group.eye is not None and group.eye.sees == "all":
                self._groups_seeing_all.append(group)
            elif group.eye is not None and group.eye.seat is not None:
                self._groups_by_seat.setdefault(group.eye.seat, []).append(group)
        self._grouped_version = room.roster_version

    def _events(self, lines: Sequence[Line]) -> Iterator[tuple[Sequence[Subscription], bytes]]:
        named, seats, members = _named(lines), _seats_told(lines), self._room.state.members
        for group in self._groups if seats is None else self._concerned(named, seats):
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
            if subs:  # all members of a group see the same, so use the first
                frame = self._event_frame(lines, members[subs[0].member], group.eye)
                if frame:
                    yield subs, frame

    def _concerned(self, named: Iterable[str], seats: Iterable[SeatId]) -> Iterable[Group]:
        """The groups to which notices for these members and seats may be visible. Most groups see none of them."""
        found = dict.fromkeys(self._groups_by_member[who] for who in named if who in self._groups_by_member)
        for seat in seats:
            found.update(dict.fromkeys(self._groups_by_seat.get(seat, ())))
        found.update(dict.fromkeys(self._groups_seeing_all))
        return found

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
        for viewers in self._viewers.values():
            try:
                frame = self._view_frame(viewers.eye)
            except CohabitError as failed:  # the entries stand, and the other views are made
                log.warning("room %s: no view: %s", self._room.id, failed.as_text())
                continue
            if frame != viewers.last:
                viewers.last = frame
                yield viewers.subs, frame
            elif self._new_eyes:
                yield [sub for sub in viewers.subs if sub in self._new_eyes], frame
        self._new_eyes.clear()

    def _view_frame(self, eye: Eye) -> bytes:
        return self._view_head + encode(self._room.view_through(eye)) + b"}"

    def first_view(self, room: Room, who: str) -> tuple[bytes, Grant]:
        """The current view, for a member who has just subscribed, and the grant under which it was made."""
        if room is not self._room:  # the room was reopened meanwhile, and the subscription ends
            return b"", NO_GRANT
        member = self._room.state.members.get(who)
        eye = self._room.eye(member) if member is not None else None
        if member is None or eye is None:
            return b"", NO_GRANT
        frame = self._view_frame(eye)
        if not self._room.record.pending:  # no newer view is pending, so an identical one need not be sent
            self._viewers.setdefault(eye, Viewers(eye)).last = frame
        return frame, (member.held, member.through, eye)


def event_frame(room: Room, seq: int, items: Sequence[FeedItem]) -> bytes:
    """Events up to an entry, with the cursor to resume from."""
    frame = encode({"push": "events", "room": room.id, "cursor": seal(room.state.secret, seq), "items": items})
    kind = OF_EVENTS.get(items[0].kind)
    if kind is None or (len(items) > 1 and any(OF_EVENTS.get(item.kind) != kind for item in items)):
        return frame
    labelled = Labelled(frame)
    labelled.kind = kind
    return labelled


def _seats_told(lines: Iterable[Line]) -> set[str] | None:
    """The seats that receive notices from these lines; None if a notice is public."""
    seats: set[str] = set()
    for line in lines:
        for told in line.entry.told:
            if told.seats is None and told.members is None:
                return None
            seats.update(told.seats or ())
    return seats


def _named(lines: Iterable[Line]) -> set[str]:
    """Members who receive something that others with the same grant do not. The sender of a message to everyone does
    not: one frame is for all. In a small room a second one is about a tenth of the CPU time of a call."""
    named: set[str] = set()
    for line in lines:
        entry = line.entry
        if entry.by is not None and author_sees_more(entry):
            named.add(entry.by)
        for told in entry.told:
            if told.members is not None:
                named.update(told.members)
    return named


def author_sees_more(entry: Entry) -> bool:
    """True if the author of an entry may be told something else than others with the same grant and eye. What seats are
    told depends on who plays there."""
    return entry.by is not None and any(told.seats is not None or has_details(told) for told in entry.told)
