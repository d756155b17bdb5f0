"""A room as the fold of its record: how it is created, restored, replayed and rolled back.

``Room`` adds what a call does. Both use ``_perform``, which lets an entry take effect: the same code for a call and
for a replay.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import chain
from typing import Any, Self

import msgspec

from cohabit.errors import CohabitError, GameCrash, RecordCorrupt
from cohabit.model.record import Told
from cohabit.model.seat import Seat
from cohabit.room import remote, system, turns
from cohabit.room.commands import Command, CommandTable, declared_in
from cohabit.room.record import Line, Record, Snapshot
from cohabit.room.replies import keep_reply
from cohabit.room.state import RoomState
from cohabit.world import World

MakeWorld = Callable[[str, Mapping[str, Any]], World]
SYSTEM = {c.name: c for c in chain(declared_in(system), declared_in(remote))}
"""The entries that the house itself writes, by name."""


class WorldInterrupted(BaseException):
    """Raised inside world code that took too long. Not an Exception, so that a world does not swallow it."""


class RecordedRoom:
    """See the module."""

    commands: CommandTable

    def __init__(self, state: RoomState, world: World) -> None:
        self.state = state
        self.world = world
        self.record = Record()
        self.clocks = turns.Clocks()
        self._checkpoint: Snapshot | None = None

    def set_seats(self, seats: Sequence[Seat]) -> None:
        """The seats there are from now on."""
        raise NotImplementedError

    def _write(self, at: int, do: str, member: None, args: Any, command: Command, checked: Mapping[str, Any]) -> Any:
        """Run something and put it on record."""
        raise NotImplementedError

    def _perform(
        self, by: str | None, at: int, command: Command, args: Mapping[str, Any]
    ) -> tuple[Any, Sequence[Told]]:
        """Let an entry take effect."""
        raise NotImplementedError

    # -- making one -------------------------------------------------------------------------------
    @classmethod
    def create(cls, state: RoomState, world: World, at: int) -> Self:
        """A new room; its first entry holds all that is needed to make it again."""
        room = cls(state, world)
        opening = msgspec.to_builtins(state)
        room._write(at, "open", None, {"state": opening}, SYSTEM["open"], {"state": opening})
        room._checkpoint = room.snapshot()
        return room

    @classmethod
    def restore(cls, snapshot: Snapshot, lines: Iterable[Line], make_world: MakeWorld) -> Self:
        """The room as it was at ``snapshot``, brought forward by the lines that follow it."""
        state = snapshot.state
        world = make_world(state.source, state.config)
        _same_version(state, world)
        world.restore(snapshot.world)
        room = cls(state, world)
        room.record = Record(snapshot.seq, snapshot.digest, snapshot.at)
        room._checkpoint = snapshot
        room._run_again(lines)
        return room

    @classmethod
    def replay(cls, lines: Iterable[Line], make_world: MakeWorld) -> Self:
        """The room that a whole record describes, from its first entry."""
        rest = iter(lines)
        room = cls._opened_by(next(rest, None), make_world)
        room._run_again(rest)
        return room

    @classmethod
    def replaying(cls, lines: Iterable[Line], make_world: MakeWorld) -> Iterator[tuple[Self, Line]]:
        """The same, entry by entry: the room as it was after each line. It is one room that moves on."""
        rest = iter(lines)
        first = next(rest, None)
        room = cls._opened_by(first, make_world)
        assert first is not None
        yield room, first
        yield from room.following(rest)

    def following(self, lines: Iterable[Line]) -> Iterator[tuple[Self, Line]]:
        """Bring this room forward by the lines that follow, one by one."""
        for line in lines:
            self._run_again([line])
            self.record.tail.clear()  # nothing rolls back from here, and a long record is not kept in memory
            yield self, line

    @classmethod
    def _opened_by(cls, first: Line | None, make_world: MakeWorld) -> Self:
        if first is None or first.entry.do != "open":
            raise RecordCorrupt("a record begins with the entry that opened the room; this one does not")
        state = msgspec.convert(first.entry.args["state"], RoomState)
        world = make_world(state.source, state.config)
        _same_version(state, world)
        room = cls(state, world)
        room._run_again([first])
        return room

    def _run_again(self, lines: Iterable[Line]) -> None:
        for line in lines:
            entry = line.entry
            command = SYSTEM[entry.do] if entry.by is None else self.commands.named(entry.do)
            try:
                result, told = self._perform(entry.by, entry.at, command, command.check(entry.args))
            except CohabitError as refused:
                raise RecordCorrupt(f"entry {entry.seq} does not replay: {refused.as_text()}", seq=entry.seq) from None
            except WorldInterrupted:
                raise
            except BaseException as bug:
                what = type(bug).__name__
                raise RecordCorrupt(f"entry {entry.seq} does not replay: the world failed ({what})") from bug
            if tuple(told) != entry.told:
                raise RecordCorrupt(f"entry {entry.seq} replays to another outcome", seq=entry.seq)
            keep_reply(self.state, entry, result)
            self.record.tail.append(line)
            self.record.seq, self.record.digest, self.record.at = line.seq, line.digest, entry.at

    # -- rolling back -----------------------------------------------------------------------------
    def snapshot(self) -> Snapshot:
        return Snapshot.of(self.record, self.state, self.guarded(self.world.snapshot))

    def stored(self, snapshot: Snapshot) -> None:
        """Everything up to this snapshot is on disk: from now on a rollback starts from it."""
        self._checkpoint = snapshot
        self.record.tail = [line for line in self.record.tail if line.seq > snapshot.seq]

    def digest(self) -> str:
        """One hash over the whole state: two rooms are alike exactly if their digests are.

        Of the messages only the counts go in: their contents are in the record already, under the chain.
        """
        mail = {who: (len(box.items), box.items[-1].seq, len(box.dropped)) for who, box in self.state.inboxes.items()}
        whole = sha256(msgspec.json.encode((msgspec.structs.replace(self.state, inboxes={}), mail)))
        whole.update(self.guarded(self.world.snapshot))
        return whole.hexdigest()

    def go_back(self, lines: int = 0) -> None:
        """Undo whatever is not on record, and the last ``lines`` entries of it, by running the rest again.

        The rest runs in a second room around the same world, whose state replaces this one's at the end: the event loop
        may read the state of a room whose world runs on a thread.
        """
        back = self._checkpoint
        assert back is not None
        tail = self.record.tail[: len(self.record.tail) - lines]
        pending = self.record.pending[: max(0, len(self.record.pending) - lines)]
        again = type(self)(back.state, self.world)
        again.record = Record(back.seq, back.digest, back.at)
        self.world.restore(back.world)
        again._run_again(tail)
        self.state, self.record = again.state, again.record
        self.record.pending = pending
        self.set_seats(self.state.seats)
        self.clocks.changed()

    def guarded(self, run: Callable[..., Any], *args: Any) -> Any:
        """Run something with world code in it; anything it raises that is not one of our errors is a crash.

        ``call`` guards itself; this is for what the house does without anybody's call.
        """
        try:
            return run(*args)
        except (CohabitError, WorldInterrupted):
            raise
        except BaseException as bug:
            raise self._crashed(bug) from bug

    def obliged(self, run: Callable[..., Any], *args: Any) -> Any:
        """Call world code that may not refuse, because something has changed already: a refusal is a crash."""
        try:
            return run(*args)
        except WorldInterrupted:
            raise
        except BaseException as bug:
            raise self._crashed(bug) from bug

    def _crashed(self, bug: BaseException, lines: int = 0) -> GameCrash:
        """Roll back to before the crash, and take back the last ``lines`` entries with it."""
        if self._checkpoint is not None:
            self.go_back(lines)
        # Only the type is told: the text of a world's exception may hold what the caller must not see.
        what = type(bug).__name__
        return GameCrash(
            f"the world {self.state.world!r} failed ({what}); the room was rolled back", exception={"type": what}
        )


def _same_version(state: RoomState, world: World) -> None:
    if world.spec.version != state.version:
        raise RecordCorrupt(
            f"room {state.id} was recorded with version {state.version} of {state.world!r}, and version "
            f"{world.spec.version} is installed; install the old version to continue this room"
        )
