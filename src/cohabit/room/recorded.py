"""Applying entries to a room, and everything that follows from its record: creating, restoring, replaying and rolling
back. A call and its replay apply an entry with the same code, ``perform``.

``Room`` adds the calls.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import isfinite
from typing import Any, Self

import msgspec
from msgspec.structs import replace

from cohabit.errors import AskerError, CohabitError, Quarantined, RecordCorrupt
from cohabit.model.record import Entry, Told, why_unreadable
from cohabit.model.seat import SeatId
from cohabit.room.base import BaseRoom, Context, WorldInterrupted
from cohabit.room.command_modules import command_table, features_of_record
from cohabit.room.commands import Command
from cohabit.room.feature import FeatureSet
from cohabit.room.play import rewards, seats, turns
from cohabit.room.record import Line, Record, Snapshot
from cohabit.room.replies import keep_reply
from cohabit.room.state import FORMAT, HIDDEN_BRAIN, Member, RoomState
from cohabit.world import Outcome, World, overrides

MakeWorld = Callable[[str, Mapping[str, Any]], World]
DIGEST_EVERY = 256
"""After this many entries the room records a digest of its state, so a replay can be verified."""


class RecordedRoom(BaseRoom):
    """A room that follows from its record."""

    __slots__ = ("_checkpoint", "_followed", "_refusals", "checks_refusals", "digest_every", "replay_is_quick")

    def __init__(self, state: RoomState, world: World, features: FeatureSet | None = None) -> None:
        features = features or features_of_record(state)
        super().__init__(state, world, features, command_table(world, features))
        if not overrides(world, "snapshot"):
            # The default snapshot reads ``__dict__``. In Python 3.11 that makes attributes slow if the dict shares its
            # keys with those of other worlds, so the world gets one of its own.
            object.__setattr__(world, "__dict__", {**vars(world)})
        self.digest_every = DIGEST_EVERY
        self.checks_refusals = True
        self.replay_is_quick = True  # since the last snapshot; set by the house
        self._refusals: dict[tuple[str, str], int] = {}  # how many of each kind
        self._checkpoint: Snapshot | Line | None = None  # where a rollback begins; of a new room: its first entry
        self._followed = -1  # up to which version of the roster the features have followed

    # -- creating and restoring -------------------------------------------------------------------
    @classmethod
    def create(cls, state: RoomState, world: World, at: int) -> Self:
        """A new room. Its first entry contains everything needed to recreate it."""
        return cls.open(msgspec.to_builtins(state), world, at)

    @classmethod
    def open(cls, opening: Mapping[str, Any], world: World, at: int) -> Self:
        """A new room from its initial state as plain values, which are part of the record and must not change."""
        room, args = cls(msgspec.convert(opening, RoomState), world), {"state": opening}
        room._write(at, room.commands.system["open"], None, args, args)
        room._checkpoint = room.record.tail[0]
        return room

    @classmethod
    def open_alike(
        cls, opening: Mapping[str, Any], opened: Mapping[str, Any], world: World, at: int, features: FeatureSet
    ) -> Self:
        """The room that ``open`` makes, where the state after opening is known. Only what depends on the seed is left:
        the world is set up, and says whose turn it is."""
        room = cls(msgspec.convert(opened, RoomState), world, features)
        room.crash_on_error(world.reset, int(room.state.seed, 16), room.state.seats)
        room._follow_up(at, [])
        room._checkpoint = room.record.append(Entry(0, at, "open", args={"state": opening}))
        return room

    @classmethod
    def restore(cls, snapshot: Snapshot, lines: Iterable[Line], make_world: MakeWorld) -> Self:
        """The room at ``snapshot``, with the following lines replayed."""
        state = snapshot.state
        world = _world_of(state, make_world)
        world.restore(snapshot.world)
        room = cls(state, world)
        room.record = Record(snapshot.seq, snapshot.digest, snapshot.at)
        room._checkpoint = snapshot
        room._replay_lines(lines)
        return room

    @classmethod
    def replay(cls, lines: Iterable[Line], make_world: MakeWorld) -> Self:
        """The room after replaying a whole record."""
        rest = iter(lines)
        room = cls._opened_by(rest, make_world)
        opened = room.record.tail[0]
        room._replay_lines(rest)
        room._checkpoint = opened
        return room

    @classmethod
    def replaying(cls, lines: Iterable[Line], make_world: MakeWorld) -> Iterator[tuple[Self, Line]]:
        """Replay entry by entry, yielding the room after each one. It is the same Room object each time."""
        rest = iter(lines)
        room = cls._opened_by(rest, make_world)
        yield room, room.record.tail[0]
        yield from room.following(rest)

    def following(self, lines: Iterable[Line]) -> Iterator[tuple[Self, Line]]:
        """Replay the lines that follow, yielding the room after each one."""
        for line in lines:
            self._replay_lines([line])
            self.record.tail.clear()  # no rollback is needed here, and a long record would fill the memory
            yield self, line

    @classmethod
    def _opened_by(cls, lines: Iterator[Line], make_world: MakeWorld) -> Self:
        first = next(lines, None)
        if first is None or first.entry.do != "open":
            raise RecordCorrupt("the record does not begin with an 'open' entry")
        try:
            state = msgspec.convert(first.entry.args["state"], RoomState)
        except (msgspec.ValidationError, KeyError, TypeError) as wrong:
            raise RecordCorrupt(f"the first entry of the record is not that of a room: {wrong}") from None
        room = cls(state, _world_of(state, make_world))
        room._replay_lines([first])
        return room

    def _replay_lines(self, lines: Iterable[Line]) -> None:
        for line in lines:
            entry = line.entry
            try:
                command = self.commands.of_entry(entry)
                result, told = self.perform(entry.by, entry.at, command, command.check(entry.args))
            except CohabitError as refused:
                raise RecordCorrupt(f"entry {entry.seq} does not replay: {refused.as_text()}", seq=entry.seq) from None
            except WorldInterrupted:
                raise
            except BaseException as bug:
                what = type(bug).__name__
                raise RecordCorrupt(f"entry {entry.seq} does not replay: the world failed ({what})") from bug
            if tuple(told) != entry.told:
                raise RecordCorrupt(
                    f"entry {entry.seq} replays to a different outcome; has its world or a feature changed since?",
                    seq=entry.seq,
                )
            keep_reply(self.state, entry, result)
            self.record.tail.append(line)
            self.record.seq, self.record.digest, self.record.at = line.seq, line.digest, entry.at

    # -- applying an entry -------------------------------------------------------------------------
    def _write(
        self, at: int, command: Command, by: str | None, args: Any, checked: Mapping[str, Any],
        why: str | None = None, key: str | None = None, via: str | None = None,
    ) -> Any:  # fmt: skip
        """Apply an entry with the ``checked`` arguments, and record it with ``args``."""
        result, told = self.perform(by, at, command, checked)
        if told and (wrong := why_unreadable(told)):
            raise TypeError(wrong)
        record = self.record
        if via is not None and self.state.hide_brains:
            via, why = HIDDEN_BRAIN, None  # its reasons show which one it is
        players = self.players_of(told)
        entry = Entry(record.seq + 1, at, command.name, by, args or None, tuple(told), why, key, via, players)
        if key is not None:
            keep_reply(self.state, entry, result)
        # Everything that can fail comes first: a world that cannot be serialized counts as crashed.
        proof = None if (entry.seq + 1) % self.digest_every else self.digest()
        record.append(entry)
        if proof is not None:
            record.append(Entry(entry.seq + 1, at, "digest", args={"sha256": proof}))
        return result

    def players_of(self, told: Sequence[Told]) -> dict[SeatId, str] | None:
        """The members on the seats that are notified."""
        found: dict[SeatId, str] | None = None
        for notice in told:
            if notice.seats:
                players, found = self.seat_players(), found or {}
                for seat in notice.seats:
                    if seat in players:
                        found[seat] = players[seat]
        return found or None

    def perform(self, by: str | None, at: int, command: Command, args: Mapping[str, Any]) -> tuple[Any, Sequence[Told]]:
        """Apply an entry. Shared by call and replay."""
        state = self.state
        if command.where == "world":
            assert by is not None
            told: list[Told] = []
            member = state.members[by]
            result: Any = self._act(member, command, args, told)
            chose = self.hooks["chose"] if result.pending else ()
            for feature in chose:
                self.crash_on_error(feature.chose, self, member, command.name)
            for feature in self.hooks["acted"]:
                self.crash_on_error(feature.acted, self, member)
            if self.hooks["sent"]:
                Context(self, state, member, at).spoke(command, args)
            if member.stand_in_since is not None or member.moves_by_bot or member.timeouts:
                member.has_moved()
            if self.pace == "turns" and member.seat in state.waiting_for:
                state.turn_started = at  # also if the same seat moves again
            ended = self._follow_up(at, told)
            if result.pending:
                result = turns.came_of(self, member, result, ended) if chose else replace(result, pending=False)
            if self._has_returns:
                result = rewards.rewarded(self, by, result, told)
            return result, told
        context = Context(self, state, state.members[by] if by is not None else None, at)
        result = command.run(context, **args)
        if command.category != "bus":
            if self.hooks["sent"]:
                context.spoke(command, args)
            self.roster_changed()
            self.features_changed()
            self.timers.changed()
            self._follow_up(at, context.told)
            if self._has_returns:
                rewards.report_returns(self, context.told)
        return result, context.told

    def _follow_up(self, at: int, told: list[Told]) -> bool:
        """Run after each entry: resolve a complete round, adopt changed seats, note whether the game is over, restart
        the turn timer, and let features follow."""
        state = self.state
        self._turn = None
        if self._views:
            self._views = {}
        to_move = self._to_move = self.world.to_move()
        ended = not to_move and self.pace == "rounds" and bool(state.waiting_for)
        if ended:
            turns.resolve(self, told)
            to_move = self.to_move()
            state.turn_started = at  # also if the same seats are to move again
        if self.has_moving_seats:
            seats.follow_seats(self)
            to_move = self.to_move()
        over = self._is_over = self.world.is_over() if self._overrides_is_over else not to_move
        if over != (state.over_since is not None):
            state.over_since = at if over else None
        if self._takes_turns:
            waiting = [*to_move]
            if waiting != state.waiting_for:
                # In rounds, only a new round restarts the timer. Players who come later have what is left of it.
                if self.pace == "turns" or not state.waiting_for:
                    state.turn_started = at
                state.waiting_for = waiting
        if self._followed != self.roster_version:
            self._followed = self.roster_version
            for feature in self.hooks["follow_roster"]:
                self.crash_on_error(feature.follow_roster, Context(self, state, None, at, told))
        for feature in self.hooks["follow"]:
            self.crash_on_error(feature.follow, Context(self, state, None, at, told))
        return ended

    def _act(self, member: Member, command: Command, args: Mapping[str, Any], told: list[Told]) -> Outcome:
        try:
            run = getattr(self.world, command.method) if command.method else command.run  # inlined `run_in`
            outcome = run(self.seats.get(member.seat) if member.seat is not None else None, **args)
        except AskerError as refused:
            self.check_unchanged(command.name, refused)
            raise
        if not isinstance(outcome, Outcome):
            outcome = Outcome("" if outcome is None else str(outcome))
        reward = outcome.reward
        if reward != 0.0 or type(reward) is not float:
            if not isfinite(reward):
                raise ValueError(f"a reward must be a finite number, not {reward!r}")
            if type(reward) not in (float, int):  # a number of NumPy, which no answer can hold
                outcome = replace(outcome, reward=float(reward))
        if outcome.told:
            told.extend(outcome.told)
        if outcome.public:
            told.append(Told(outcome.public))
        if not told:
            seats = (member.seat,) if member.seat is not None else ()
            told.append(Told(outcome.message or f"{command.name} done", "info", seats, (member.id,)))
        return outcome

    # -- rolling back -----------------------------------------------------------------------------
    def snapshot(self) -> Snapshot:
        record, world = self.record, self.crash_on_bug(self.world.snapshot)
        return Snapshot(record.seq, record.digest, record.at, msgspec.msgpack.encode(self.state), world)

    def stored(self, snapshot: Snapshot) -> None:
        """Use this snapshot, now on disk, as the rollback point."""
        self._checkpoint = snapshot
        newer = self.record.seq - snapshot.seq  # the tail ends with the last entry and has no gaps
        self.record.tail = self.record.tail[-newer:] if newer else []

    def roll_back(self, lines: int = 0) -> None:
        """Roll back to the last recorded entry, minus the last ``lines`` entries.

        The entries are replayed in a second room around the same world, whose state then replaces this one's. The event
        loop may read the state of a room whose world runs on a thread, and must not see an old one.
        """
        back = self._checkpoint
        if back is None:  # the room is being opened or replayed
            return
        tail = self.record.tail[: len(self.record.tail) - lines]
        pending = self.record.pending[: max(0, len(self.record.pending) - lines)]
        if isinstance(back, Line):
            state, record = msgspec.convert(back.entry.args["state"], RoomState), Record()
        else:
            self.world.restore(back.world)
            state, record = back.state, Record(back.seq, back.digest, back.at)
        again = type(self)(state, self.world, self.features)
        again.record = record
        again._replay_lines(tail)
        self.state, self.record = again.state, again.record
        self.record.pending = pending
        self.record.pending_bytes = sum(len(line.body) for line in pending)
        self.set_seats(self.state.seats)
        self.timers.changed()
        self.features_changed()

    def check_unchanged(self, what: str, refused: AskerError) -> None:
        """Verify that a refusal left the world unchanged. The check costs a rollback, so it runs on the 1st, 2nd, 4th,
        8th … refusal of each kind, and only if a replay does not take so long that the world seems to hang."""
        if self._checkpoint is None or not (self.checks_refusals and self.replay_is_quick):
            return
        kind = what, refused.code
        count = self._refusals[kind] = self._refusals.get(kind, 0) + 1
        if count & (count - 1):
            return
        found = self.world.snapshot()
        self.roll_back()
        if self.world.snapshot() != found:
            raise Quarantined(
                f"the world {self.state.world!r} changed its state before refusing {what} (or changes when observed). "
                "The room was rolled back. World authors: validate before changing state; "
                "`cohabit check` locates the problem"
            )


def _world_of(state: RoomState, make_world: MakeWorld) -> World:
    """The world of a record, if this version of Cohabit and of the world can read it."""
    if state.format != FORMAT:
        whose = "an earlier alpha" if state.format < FORMAT else "a newer version"
        raise RecordCorrupt(
            f"the record of room {state.id} was made by {whose} of Cohabit, whose records this version cannot read; "
            f"use the version that made it (its format is {state.format}, this version reads {FORMAT})"
        )
    world = make_world(state.source, state.config)
    if world.spec.version != state.version:
        raise RecordCorrupt(
            f"room {state.id} needs version {state.version} of {state.world!r}, but version {world.spec.version} is "
            f"installed. Install version {state.version} to open this room"
        )
    return world
