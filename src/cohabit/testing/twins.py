"""Two rooms that differ in nothing that an eye may see: a copy, and a copy that ``World.resample`` has redrawn.

Whatever one member gets in one of them and not in the other tells it something that it may not know.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct, structs

from cohabit.bodies import EmbodiedWorld
from cohabit.errors import CohabitError
from cohabit.lab.imagine import reseed, streams_in
from cohabit.model.observation import Observation
from cohabit.model.seat import ALL, Eye
from cohabit.model.stream import Stream
from cohabit.registry import make_world
from cohabit.room.record import Snapshot
from cohabit.room.room import Room
from cohabit.room.seeing.visibility import feed
from cohabit.room.state import Member
from cohabit.room.timers import can_skip
from cohabit.testing.play import GOD, Play, Watched, array_bytes, as_text
from cohabit.testing.samples import WORDS, sample_args, texts_in
from cohabit.world import Seat, overrides

QUERIES_EACH = 3
"""The number of times that a query with arguments is asked."""
MAX_WORDS = 60
Got = dict[str, str]
"""The results of an eye, as text by name."""


class Attempt(Struct, frozen=True):
    """Something that happens in both rooms: an action of a member, or time that passes (``by`` is empty)."""

    by: str
    name: str
    args: Mapping[str, Any]

    def __str__(self) -> str:
        args = msgspec.json.encode(self.args).decode()
        return f"{self.by or 'the room'}: {self.name}{f' {args}' if self.args else ''}"


class Result(Struct, frozen=True):
    """The result for a member: the outcome of its own call, and the news that it is told."""

    refused: str  # empty: it was done
    told: str


class Twins:
    """The rooms of a play at one step, for one eye."""

    def __init__(self, play: Play, eye: Eye, draw: int) -> None:
        self.kept = Snapshot.decode(play.room.snapshot().encode())
        self.eye = eye
        self.seed = play.seed
        self.purpose = f"resample {play.steps} {eye.seat or eye.sees} {draw}"
        self.at = play.at + 1000
        self.room, self.other = self.copy(), self.copy()
        self.redraw(self.other)

    def redraw(self, room: Room) -> None:
        """Redraw a copy. It always draws the same."""
        with Watched():
            room.world.resample(self.eye, Stream(self.seed, self.purpose))
        room.roster_changed()  # drop the room's cached views

    def renew(self) -> None:
        """Make both again, to do the same in both. Their streams of random numbers are the same: dice fall alike."""
        self.room, self.other = self.copy(), self.copy(self._with_same_luck)

    @cached_property
    def _with_same_luck(self) -> bytes:
        room = self.copy()
        self.redraw(room)
        _copy_streams(self.copy().world, room.world)
        return room.world.snapshot()

    def copy(self, world: bytes | None = None) -> Room:
        """Without a ``world``, one in which nothing was redrawn."""
        room = Room.restore(structs.replace(self.kept, world=world or self.kept.world), [], make_world)
        room.checks_refusals = room.counts_calls = False
        return room

    def same_stream_gives_the_same(self) -> bool:
        """True if a second copy is redrawn in the same way."""
        again = self.copy()
        self.redraw(again)
        return again.world.snapshot() == self.other.world.snapshot()

    @property
    def both(self) -> tuple[Room, Room]:
        return self.room, self.other

    def member(self, room: Room) -> Member | None:
        """The member that looks through this eye."""
        return next((m for m in room.state.members.values() if m.seat is not None and m.seat == self.eye.seat), None)

    # -- what the eye gets ------------------------------------------------------------------------------
    def seen(self, room: Room, *, drawing: bool = True, before: Observation | None = None) -> Got:
        """Everything that the eye gets without doing anything."""
        world, eye, got = room.world, self.eye, self.glance(room)
        got["observe_data()"] = _got(lambda: as_text(world.observe_data(eye)))
        if before is not None and overrides(world, "changes"):
            got["changes()"] = _got(lambda: as_text(world.changes(before, world.observe(eye))))
        for name, ask in self._questions(room):
            got[name] = _got(ask)
        if overrides(world, "scene"):
            got["scene()"] = _got(lambda: as_text(world.scene(eye)))
        if drawing:
            got["picture()"] = _got(lambda: sha256(world.picture(eye) or b"").hexdigest())
            for form in world.arrays():
                got[f"array({form!r})"] = _got(lambda form=form: sha256(array_bytes(world, eye, form)).hexdigest())  # type: ignore[misc]
        return got

    def glance(self, room: Room) -> Got:
        """The data that the eye gets without asking: its view, the score board, whose turn it is."""
        world, member = room.world, self.member(room)
        got = {
            "describe()": _got(world.describe),
            "to_move()": _got(lambda: as_text(world.to_move())),
            "is_over()": _got(lambda: as_text(world.is_over())),
            "seats_now()": _got(lambda: as_text(world.seats_now())),
            "standings()": _got(lambda: as_text(world.standings())),
            "observe()": _got(lambda: as_text(world.observe(self.eye))),
            "the view": _got(lambda: as_text(room.view_through(self.eye))),
        }
        if member is not None:  # with its goals, legal actions, fallback, rewards and body
            got["the view as the room gives it"] = _got(lambda: as_text(room.call(member.id, "view", at=self.at)))
            if (own := room.seat_of(member)) is not None:
                got["useful()"] = _got(lambda: as_text(world.useful(own)))
            got["returns()"] = _got(lambda: as_text(world.returns().get(self.eye.seat or "")))
        if isinstance(world, EmbodiedWorld) and (seat := room.seats.get(self.eye.seat or "")) is not None:
            got["body()"] = _got(lambda: as_text(world.body(seat.id)))
            got["deeds()"] = _got(lambda: as_text(world.deeds(seat.id)))
            got["hears()"] = _got(lambda: as_text(world.hears(seat.id)))
            got["blocked_actions()"] = _got(lambda: as_text(world.blocked_actions(seat)))
        return got

    def _questions(self, room: Room) -> Iterator[tuple[str, Callable[[], str]]]:
        draws = Stream(self.seed, f"questions of {self.purpose}")
        for query in room.commands:
            if query.where != "world" or query.records or query.sees_all:
                continue
            for _ in range(QUERIES_EACH if query.schema.get("properties") else 1):
                args = sample_args(query.schema, draws, self.words)
                yield (
                    f"{query.name}({', '.join(f'{k}={v!r}' for k, v in args.items())})",
                    lambda query=query, args=args: as_text(query.run_in(room.world)(self.eye, **query.check(args))),  # type: ignore[misc]
                )

    def everything(self, room: Room) -> str:
        """The data for an eye that sees all: the observation, and the answers to queries that need no arguments."""
        queries = [q for q in room.commands if q.where == "world" and not q.records and not q.schema.get("required")]
        answers = [_got(lambda query=query: as_text(query.run_in(room.world)(ALL))) for query in queries]  # type: ignore[misc]
        return "\n".join([as_text(room.world.observe(ALL)), *answers])

    @cached_property
    def words(self) -> list[str]:
        """Words for arguments: the seats, and names of things, also of those that are hidden in either room."""
        found = dict.fromkeys([*WORDS, *(seat.id for seat in self.room.state.seats)])
        for room in self.both:
            seen = room.world.observe(ALL)
            texts = texts_in(msgspec.to_builtins([seen.status, seen.nearby_entities]))
            found.update(dict.fromkeys(text for text in texts if 0 < len(text) < 30))  # names, not sentences
        return list(found)[:MAX_WORDS]

    # -- doing the same in both -------------------------------------------------------------------------
    def attempts(self, play: Play, count: int) -> list[Attempt]:
        """The attempts of members: legal actions of anybody in either room, tried by everybody, and nonsense."""
        draws = Stream(self.seed, f"attempts of {self.purpose}")
        players = [m.id for m in self.room.state.members.values() if m.seat is not None]
        listed = [
            (action.name, action.parameters)
            for room in self.both
            for seat in room.state.seats
            for action in _legal(room, seat)
        ]
        draws.shuffle(listed)
        found = [Attempt(player, name, dict(args)) for name, args in listed[:count] for player in players]
        for command in play.actions():
            who = players if command.needs_seat else [GOD]
            found += [Attempt(one, command.name, sample_args(command.schema, draws, self.words)) for one in who]
        draws.shuffle(found)
        own = self.member(self.room)
        found.sort(key=lambda attempt: own is None or attempt.by != own.id)  # the eye's own first
        return found

    def choices_of_others(self, seats: int, each: int) -> Iterator[list[Attempt]]:
        """For some of the other seats: some of the actions that are legal for them now."""
        draws, room = Stream(self.seed, f"choices of {self.purpose}"), self.room
        players = [(member.id, room.seat_of(member)) for member in room.state.members.values()]
        others = [(by, seat) for by, seat in players if seat is not None and seat.id != self.eye.seat]
        draws.shuffle(others)
        moving = room.to_move()
        others.sort(key=lambda other: other[1].id not in moving)
        for by, seat in others[:seats]:
            listed = [Attempt(by, action.name, dict(action.parameters)) for action in _legal(room, seat)]
            draws.shuffle(listed)
            yield listed[:each]

    def time_passes(self) -> list[Attempt]:
        if self.room.pace == "clock":
            return [Attempt("", "ticks", {"n": 3})]
        late = self.room.pace == "rounds" or (self.room.pace == "turns" and can_skip(self.room.world))
        return [Attempt("", "turn_timeout", {})] if late and self.room.to_move() else []

    def do(self, room: Room, attempt: Attempt) -> Result:
        """Do this in one of the rooms. Returns what the eye learns."""
        first, member, answer = len(room.record.tail), self.member(room), ""
        try:
            if attempt.by:
                result = room.call(attempt.by, attempt.name, dict(attempt.args), at=self.at, look=False)
                answer = as_text(result) if member is not None and attempt.by == member.id else ""
            else:
                room.system(attempt.name, attempt.args, self.at)
        except CohabitError as refused:
            return Result(_refusal(refused), "")
        told = [text for line in room.record.tail[first:] for text in _heard(line.entry, member, self.eye)]
        room.roster_changed()
        return Result("", "\n".join(filter(None, [answer, *told])))


def _heard(entry: Any, member: Member | None, eye: Eye) -> list[str]:
    if member is None:
        return [as_text((t.kind, t.text)) for t in entry.told if t.seats is None and t.members is None]
    return [as_text((item.by, item.kind, item.text, item.data)) for item in feed(entry, member, eye)]


def _legal(room: Room, seat: Seat) -> Sequence[Any]:
    try:
        return room.world.legal(seat) or ()
    except CohabitError:
        return ()


def _got(ask: Callable[[], str]) -> str:
    try:
        return ask()
    except CohabitError as refused:
        return _refusal(refused)


def _refusal(error: CohabitError) -> str:
    """A refusal with everything that is sent: suggestions and details, too."""
    return f"{error.as_text()} {as_text(error.details)}" if error.details else error.as_text()


def _copy_streams(source: object, target: object) -> None:
    """Give the streams in ``target`` the state of those at the same places in ``source``."""
    theirs = dict(streams_in(target))
    for place, stream in streams_in(source):
        if place in theirs:
            reseed(theirs[place], stream.seed, stream.purpose, stream.counter)
