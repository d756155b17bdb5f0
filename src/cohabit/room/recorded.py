"""Creating, restoring, replaying and rolling back a room from its record.

``Room`` adds calls. Both apply an entry with ``_perform``, so a call and its replay run the same code.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, Self

import msgspec

from cohabit.errors import AskerError, CohabitError, GameCrash, Quarantined, RecordCorrupt
from cohabit.model.record import Told
from cohabit.model.seat import Seat
from cohabit.room.commands import Command, CommandTable
from cohabit.room.record import Line, Record, Snapshot
from cohabit.room.replies import keep_reply
from cohabit.room.state import FORMAT, RoomState
from cohabit.room.timers import Timers
from cohabit.world import World, overrides

MakeWorld = Callable[[str, Mapping[str, Any]], World]


class WorldInterrupted(BaseException):
    """Raised inside world code that took too long. Not an Exception, so worlds do not swallow it."""


class RecordedRoom:
    """The part of a room that follows from its record."""

    __slots__ = (
        "_checkpoint", "_refusals", "checks_refusals", "commands", "record", "replay_is_quick", "state", "timers",
        "world",
    )  # fmt: skip
    commands: CommandTable

    def __init__(self, state: RoomState, world: World) -> None:
        self.state = state
        self.world = world
        if not overrides(world, "snapshot"):
            # The default snapshot reads ``__dict__``. In Python 3.11 that makes attributes slow if the dict shares its
            # keys with those of other worlds, so the world gets one of its own.
            object.__setattr__(world, "__dict__", {**vars(world)})
        self.record = Record()
        self.timers = Timers()
        self.checks_refusals = True
        self.replay_is_quick = True  # since the last snapshot; set by the house
        self._refusals: dict[tuple[str, str], int] = {}  # how many of each kind
        self._checkpoint: Snapshot | Line | None = None  # where a rollback begins; of a new room: its first entry

    def set_seats(self, seats: Sequence[Seat]) -> None:
        """Replace the list of seats."""
        raise NotImplementedError

    def _write(self, at: int, command: Command, by: None, args: Any, checked: Mapping[str, Any]) -> Any:
        """Apply an entry with the ``checked`` arguments, and record it with ``args``."""
        raise NotImplementedError

    def _perform(
        self, by: str | None, at: int, command: Command, args: Mapping[str, Any]
    ) -> tuple[Any, Sequence[Told]]:
        """Apply an entry."""
        raise NotImplementedError

    def _digested(self) -> RoomState:
        """The state, as it is in a digest."""
        raise NotImplementedError

    def _again(self, state: RoomState) -> Self:
        """A second room with this state, around the same world and with the same features."""
        raise NotImplementedError

    # -- creating and restoring -------------------------------------------------------------------
    @classmethod
    def create(cls, state: RoomState, world: World, at: int) -> Self:
        """A new room. Its first entry contains everything needed to recreate it."""
        return cls._opened(state, msgspec.to_builtins(state), world, at)

    @classmethod
    def open(cls, opening: Mapping[str, Any], world: World, at: int) -> Self:
        """A new room from its initial state as plain values, which are part of the record and must not change."""
        return cls._opened(msgspec.convert(opening, RoomState), opening, world, at)

    @classmethod
    def _opened(cls, state: RoomState, opening: Mapping[str, Any], world: World, at: int) -> Self:
        room, args = cls(state, world), {"state": opening}
        room._write(at, room.commands.system["open"], None, args, args)
        room._checkpoint = room.record.tail[0]
        return room

    @classmethod
    def restore(cls, snapshot: Snapshot, lines: Iterable[Line], make_world: MakeWorld) -> Self:
        """The room at ``snapshot``, with the following lines replayed."""
        state = snapshot.state
        _check_format(state)
        world = make_world(state.source, state.config)
        _check_version(state, world)
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
        room = cls._opened_by(next(rest, None), make_world)
        room._replay_lines(rest)
        return room

    @classmethod
    def replaying(cls, lines: Iterable[Line], make_world: MakeWorld) -> Iterator[tuple[Self, Line]]:
        """Replay entry by entry, yielding the room after each one. It is the same Room object each time."""
        rest = iter(lines)
        first = next(rest, None)
        room = cls._opened_by(first, make_world)
        assert first is not None
        yield room, first
        yield from room.following(rest)

    def following(self, lines: Iterable[Line]) -> Iterator[tuple[Self, Line]]:
        """Replay the lines that follow, yielding the room after each one."""
        for line in lines:
            self._replay_lines([line])
            self.record.tail.clear()  # no rollback is needed here, and a long record would fill the memory
            yield self, line

    @classmethod
    def _opened_by(cls, first: Line | None, make_world: MakeWorld) -> Self:
        if first is None or first.entry.do != "open":
            raise RecordCorrupt("the record does not begin with an 'open' entry")
        try:
            state = msgspec.convert(first.entry.args["state"], RoomState)
        except (msgspec.ValidationError, KeyError, TypeError) as wrong:
            raise RecordCorrupt(f"the first entry of the record is not that of a room: {wrong}") from None
        _check_format(state)
        world = make_world(state.source, state.config)
        _check_version(state, world)
        room = cls(state, world)
        room._replay_lines([first])
        return room

    def _replay_lines(self, lines: Iterable[Line]) -> None:
        for line in lines:
            entry = line.entry
            try:
                command = self.commands.system_entry(entry.do) if entry.by is None else self.commands.named(entry.do)
                result, told = self._perform(entry.by, entry.at, command, command.check(entry.args))
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

    # -- rolling back -----------------------------------------------------------------------------
    def snapshot(self) -> Snapshot:
        return Snapshot.of(self.record, self.state, self.crash_on_bug(self.world.snapshot))

    def stored(self, snapshot: Snapshot) -> None:
        """Use this snapshot, now on disk, as the rollback point."""
        self._checkpoint = snapshot
        newer = self.record.seq - snapshot.seq  # the tail ends with the last entry and has no gaps
        self.record.tail = self.record.tail[-newer:] if newer else []

    def digest(self) -> str:
        """A hash of the whole state: equal digests mean equal rooms.

        What is long and in the record anyway, as messages are, can be in it as a short value.
        """
        whole = sha256(msgspec.json.encode(self._digested()))
        whole.update(self.crash_on_bug(self.world.snapshot))
        return whole.hexdigest()

    def roll_back(self, lines: int = 0) -> None:
        """Roll back to the last recorded entry, minus the last ``lines`` entries.

        The entries are replayed in a second room around the same world, whose state then replaces this one's. The event
        loop may read the state of a room whose world runs on a thread, and must not see an old one.
        """
        back = self._checkpoint
        assert back is not None
        tail = self.record.tail[: len(self.record.tail) - lines]
        pending = self.record.pending[: max(0, len(self.record.pending) - lines)]
        if isinstance(back, Line):
            again = self._again(msgspec.convert(back.entry.args["state"], RoomState))
        else:
            self.world.restore(back.world)
            again = self._again(back.state)
            again.record = Record(back.seq, back.digest, back.at)
        again._replay_lines(tail)
        self.state, self.record = again.state, again.record
        self.record.pending = pending
        self.record.pending_bytes = sum(len(line.body) for line in pending)
        self.set_seats(self.state.seats)
        self.timers.changed()

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

    def crash_on_bug(self, run: Callable[..., Any], *args: Any) -> Any:
        """Run code that calls the world. Unexpected exceptions become GAME_CRASH.

        For system entries; calls and views handle exceptions themselves.
        """
        try:
            return run(*args)
        except (CohabitError, WorldInterrupted):
            raise
        except BaseException as bug:
            raise self._crashed(bug) from bug

    def crash_on_error(self, run: Callable[..., Any], *args: Any) -> Any:
        """Call code that must not refuse because state has already changed. Any exception becomes GAME_CRASH."""
        try:
            return run(*args)
        except (GameCrash, WorldInterrupted):
            raise
        except BaseException as bug:
            raise self._crashed(bug) from bug

    def run_hook(self, hook: Callable[..., Any], *args: Any) -> Any:
        """Call a hook of a feature that must not refuse. Any exception becomes GAME_CRASH."""
        try:
            return hook(*args)
        except (GameCrash, WorldInterrupted):
            raise
        except BaseException as bug:
            feature = getattr(hook, "__self__", None)
            raise self._crashed(bug, who=f"the feature {getattr(feature, 'name', '')!r}") from bug

    def _crashed(self, bug: BaseException, lines: int = 0, who: str = "") -> GameCrash:
        """Roll back to the last entry, minus the last ``lines`` entries. ``who`` failed; by default the world."""
        if self._checkpoint is not None:
            self.roll_back(lines)
        # Only the type is shown: the text of a world's exception may contain hidden information.
        what = type(bug).__name__
        return GameCrash(
            f"{who or f'the world {self.state.world!r}'} failed ({what}); the room was rolled back",
            exception={"type": what},
        )


def _check_format(state: RoomState) -> None:
    if state.format != FORMAT:
        whose = "an earlier alpha" if state.format < FORMAT else "a newer version"
        raise RecordCorrupt(
            f"the record of room {state.id} was made by {whose} of Cohabit, whose records this version cannot read; "
            f"use the version that made it (its format is {state.format}, this version reads {FORMAT})"
        )


def _check_version(state: RoomState, world: World) -> None:
    if world.spec.version != state.version:
        raise RecordCorrupt(
            f"room {state.id} needs version {state.version} of {state.world!r}, but version {world.spec.version} is "
            f"installed. Install version {state.version} to open this room"
        )
