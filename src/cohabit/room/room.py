"""A room: one world, the members in it, and the one path that every call takes.

Synchronous and deterministic: no I/O, no clock (``at`` comes in with each call), no randomness of its
own. The room is the fold of its record: ``call`` decides, checks and runs, and leaves an entry;
``replay`` runs the same entries again and arrives at the same room.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import chain
from typing import Any

import msgspec

from cohabit.errors import (
    Busy,
    CohabitError,
    GameCrash,
    PermissionDenied,
    RecordCorrupt,
    ScopeViolation,
    Unauthorized,
)  # fmt: skip
from cohabit.model.action import ActionResult
from cohabit.model.grant import Capability
from cohabit.model.observation import Observation
from cohabit.model.record import Entry, Told
from cohabit.model.seat import Eye, Seat, SeatId
from cohabit.room import common, control, hosting, remote, system, turns, views, worldbox
from cohabit.room.audit import Audit
from cohabit.room.budget import Budget
from cohabit.room.commands import Command, CommandTable, commands_of, declared_in, renamed
from cohabit.room.context import Context
from cohabit.room.decide import YES, Decision, by_grant, by_seat, by_turn, names, refusal
from cohabit.room.record import Line, Record, Snapshot
from cohabit.room.remote import errand
from cohabit.room.replies import keep_reply, kept_reply
from cohabit.room.state import Member, RoomState
from cohabit.room.view import View, make_view
from cohabit.world import Outcome, RemoteWorld, World, overrides

DIGEST_EVERY = 256
"""After so many entries the room writes down a digest of itself, so that a replay proves itself."""
CALLS_PER_SECOND = 1_000
"""What one member may ask of one room; more is BUSY."""

MakeWorld = Callable[[str, Mapping[str, Any]], World]
_SYSTEM = {c.name: c for c in chain(declared_in(system), declared_in(remote))}


class Room:
    """See the module. Make one with ``create``, ``restore`` or ``replay``."""

    def __init__(self, state: RoomState, world: World) -> None:
        self.state = state
        self.world = world
        self.record = Record()
        self.audit = Audit()
        self.budget = Budget(CALLS_PER_SECOND)
        self.digest_every = DIGEST_EVERY
        modules = (common, control, hosting, worldbox)
        ours = (c for module in modules for c in declared_in(module, world))
        self.commands = CommandTable(chain(map(self.as_named, ours), commands_of(world)))
        self.seats: dict[SeatId, Seat] = {s.id: s for s in state.seats}
        self.roster_version = 0  # goes up whenever who sees what may have changed
        self._to_move: Sequence[SeatId] | None = None
        self._is_over: bool | None = None
        self._movers: list[str] | None = None
        self._views: dict[Eye, View] = {}
        self._ordered = world.spec.pace == "turns"
        self._fog = world.spec.fog
        self._remote = isinstance(world, RemoteWorld)
        # What a world leaves to its base class need not be asked for at every step.
        self._has_scope = overrides(world, "scope")
        self._has_goals = overrides(world, "goals")
        self._says_when_over = overrides(world, "is_over")
        self.has_moving_seats = overrides(world, "seats_now")
        self.clocks = turns.Clocks()
        self._checkpoint: Snapshot | None = None

    @property
    def id(self) -> str:
        return self.state.id

    def as_named(self, command: Command) -> Command:
        """A command that is not the world's own, under the name this world gives it on MCP."""
        spec = self.world.spec
        return renamed(command, spec.tool_prefix) if command.name in spec.prefixed else command

    # -- making one -------------------------------------------------------------------------------
    @classmethod
    def create(cls, state: RoomState, world: World, at: int) -> "Room":
        """A new room; its first entry says all that is needed to make it again."""
        room = cls(state, world)
        opening = msgspec.to_builtins(state)
        room._write(at, "open", None, {"state": opening}, _SYSTEM["open"], {"state": opening})
        room._checkpoint = room.snapshot()
        return room

    @classmethod
    def restore(cls, snapshot: Snapshot, lines: Iterable[Line], make_world: MakeWorld) -> "Room":
        """The room that was at ``snapshot``, brought forward by the lines that follow it."""
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
    def replay(cls, lines: Iterable[Line], make_world: MakeWorld) -> "Room":
        """The room that a whole record tells of, from its first entry."""
        rest = iter(lines)
        room = cls._opened_by(next(rest, None), make_world)
        room._run_again(rest)
        return room

    @classmethod
    def replaying(cls, lines: Iterable[Line], make_world: MakeWorld) -> "Iterator[tuple[Room, Line]]":
        """The same, entry by entry: the room as it stood after each line. It is one room that moves on."""
        rest = iter(lines)
        first = next(rest, None)
        room = cls._opened_by(first, make_world)
        assert first is not None
        yield room, first
        yield from room.following(rest)

    def following(self, lines: Iterable[Line]) -> "Iterator[tuple[Room, Line]]":
        """Bring this room forward by the lines that follow, one by one."""
        for line in lines:
            self._run_again([line])
            self.record.tail.clear()  # nobody goes back from here, and a long record is not kept in memory
            yield self, line

    @classmethod
    def _opened_by(cls, first: Line | None, make_world: MakeWorld) -> "Room":
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
            command = _SYSTEM[entry.do] if entry.by is None else self.commands.named(entry.do)
            try:
                result, told = self._perform(entry.by, entry.at, command, command.check(entry.args))
            except CohabitError as refused:
                raise RecordCorrupt(f"entry {entry.seq} does not replay: {refused.as_text()}", seq=entry.seq) from None
            except Exception as bug:
                what = type(bug).__name__
                raise RecordCorrupt(f"entry {entry.seq} does not replay: the world failed ({what})") from bug
            if tuple(told) != entry.told:
                raise RecordCorrupt(f"entry {entry.seq} replays to another outcome", seq=entry.seq)
            keep_reply(self.state, entry, result)
            self.record.tail.append(line)
            self.record.seq, self.record.digest, self.record.at = line.seq, line.digest, entry.at

    # -- the one path -----------------------------------------------------------------------------
    def call(
        self, who: str, name: str, args: Any = None, *, at: int, key: str | None = None, via: str | None = None,
        look: bool = True,
    ) -> Any:  # fmt: skip
        """Do what ``who`` asks, or raise the error that says why not. Identification has happened.

        ``look=False`` leaves the observation out of an action's reply, for callers who look anyway.
        A world that is elsewhere cannot be asked from here: then the answer is the ``Errand`` that is left to do.
        """
        at = self.settle(at)
        member = self.state.members.get(who)
        if member is None:
            raise Unauthorized(f"{who} is not a member of this room")
        self.budget.spend(who, at)
        try:
            why, wrapped = None, name == "act"
            if wrapped:
                name, args, why = common.unwrap(args)
            command = self.commands.get(name)
            if command is None:
                if self.budget.is_spent(who, at):  # looking for near names costs time
                    raise Busy(self.budget.words)
                command = self.commands.named(name)
            if key is not None and command.records:
                kept = kept_reply(self.state, member, command, args, key)
                if kept is not None:  # before the decision: having acted, it is somebody else's turn
                    return self.reply(member, command, kept.result, look, wrapped)
            decision = self.decide(member, command, at, via)
            if decision.code:
                raise refusal(decision)
            checked = command.check(args)
            if self._has_scope:
                self._scope(member, command, checked)
            if self._remote and command.where == "world":
                return errand(self, member, command, checked, key, why, wrapped)
            if not command.records:
                return self._ask(member, command, checked, at)
            before = self.record.seq
            result = self._write(at, name, member, checked, command, checked, why=why, key=key, via=via)
            if command.where != "world":
                return result
            try:
                return self.reply(member, command, result, look, wrapped)
            except Exception as bug:  # the world cannot be looked at after this: then it did not happen
                raise self._crashed(bug, self.record.seq - before) from bug
        except CohabitError as wrong:
            self.audit.refused(at, who, name if name in self.commands else "?", wrong.code, wrong.message)
            raise
        except Exception as bug:
            crash = self._crashed(bug)
            self.audit.refused(at, who, name if name in self.commands else "?", crash.code, crash.message)
            raise crash from bug

    def decide(self, member: Member, command: Command, at: int, via: str | None = None) -> Decision:
        """May this member do that now? Grant, then seat and turn, then budget."""
        decision = by_grant(member, command)
        if decision.code:
            return decision
        if command.records and self.state.archived:
            return Decision("DISABLED", "this room is archived; it can be read, not changed")
        if command.acts:
            if via is not None and not member.played_by_bot:
                return Decision("PERMISSION_DENIED", f"{member.id} plays its own seat again")
            decision = by_seat(member, command, self.seats)
            if not decision.code:
                to_move = self.to_move() if command.where == "world" else None
                over = not to_move and self.is_over()
                decision = by_turn(self.state, member, command, to_move, self._ordered, over)
            if decision.code:
                return decision
        return Decision("BUSY", self.budget.words) if self.budget.is_spent(member.id, at) else YES

    def _scope(self, member: Member, command: Command, args: Mapping[str, Any]) -> None:
        if command.where != "world" or not command.records or Capability.ACT_GLOBAL in member.held:
            return
        seat = self.seat_of(member)
        if seat is not None:
            reason = self.world.scope(seat, command.name, args)
            if reason:
                raise ScopeViolation(reason)

    def _ask(self, member: Member, command: Command, args: Mapping[str, Any], at: int) -> Any:
        if command.where == "room":
            return command.run(Context(self, member, at), **args)
        return command.run(self.looks(member), **args)

    def looks(self, member: Member) -> Eye:
        """The member's eye, where its grant shows it anything."""
        looks = self.eye(member)
        if looks is None:
            raise PermissionDenied(f"the grant of {member.id} shows it nothing of this world", needs=["watch"])
        return looks

    def _write(
        self, at: int, do: str, member: Member | None, args: Any, command: Command, checked: Mapping[str, Any],
        *, why: str | None = None, key: str | None = None, via: str | None = None,
    ) -> Any:  # fmt: skip
        """Run something and put it on record."""
        who = member.id if member else None
        result, told = self._perform(who, at, command, checked)
        entry = Entry(self.record.seq + 1, at, do, who, args or None, tuple(told), why, key, via)
        keep_reply(self.state, entry, result)
        # Whatever can fail comes before the entry is on record: a world that cannot be written down crashed.
        proof = self.digest() if entry.seq % self.digest_every == self.digest_every - 1 else None
        self.record.append(entry)
        if proof is not None:
            self.record.append(Entry(entry.seq + 1, at, "digest", args={"sha256": proof}))
        return result

    def _perform(
        self, by: str | None, at: int, command: Command, args: Mapping[str, Any]
    ) -> tuple[Any, Sequence[Told]]:
        """Let an entry take effect: the same code for a call and for a replay."""
        context = Context(self, self.state.members[by] if by is not None else None, at)
        if command.where == "world":
            result: Any = self._act(context, command, args)
        else:
            result = command.run(context, **args)
            if command.category != "bus":
                self.clocks.changed()
                self.roster_version += 1
        if command.category != "bus":
            self.moved()
            turns.after(self, context)
        return result, context.told

    def _act(self, context: Context, command: Command, args: Mapping[str, Any]) -> Outcome:
        member = context.me
        assert member is not None
        outcome = command.run(self.seat_of(member), **args)
        if not isinstance(outcome, Outcome):
            outcome = Outcome("" if outcome is None else str(outcome))
        context.told.extend(outcome.told)
        if outcome.public:
            context.tell(outcome.public)
        if not context.told:
            seats = (member.seat,) if member.seat is not None else ()
            context.tell(outcome.message or f"{command.name} done", seats=seats, members=(member.id,))
        return outcome

    def reply(self, member: Member, command: Command, result: Any, look: bool, wrapped: bool) -> Any:
        """An action's result carries what happened; the observation is added here, through the member's eye."""
        if command.where != "world":
            return result
        outcome = result if isinstance(result, Outcome) else msgspec.convert(result, Outcome)
        if command.gives is not None and not wrapped:
            return outcome.data
        looks = self.eye(member) if look else None
        seen = self._observe(looks) if looks is not None else None
        over, won = self.is_over(), list(outcome.achievements)
        return ActionResult(True, outcome.message, outcome.reward, won, over, seen, outcome.data)

    # -- what the room itself does ----------------------------------------------------------------
    def settle(self, at: int) -> int:
        """Let everything happen that was due by ``at``; the time it really is for this room."""
        if at < self.record.at:
            at = self.record.at
        if self.clocks.idle:
            return at
        while (due := self.clocks.due(self.state, at)) is not None:
            self.system(due[0], due[1], at)
        return at

    def system(self, do: str, args: Mapping[str, Any], at: int) -> Any:
        """An entry by the house: ticks, presence, a time-out."""
        command = _SYSTEM[do]
        return self.guarded(self._write, max(at, self.record.at), do, None, args, command, command.check(args))

    def next_deadline(self) -> int | None:
        """When ``settle`` next has something to do."""
        return self.clocks.next_deadline(self.state)

    def to_move(self) -> Sequence[SeatId]:
        """Whom the world waits for. Only an entry can change that, so it is asked once per entry."""
        if self._to_move is None:
            self._to_move = self.world.to_move()
        return self._to_move

    def is_over(self) -> bool:
        """Has the game come to its end? Asked once per entry, too."""
        if self._is_over is None:
            self._is_over = self.world.is_over() if self._says_when_over else not self.to_move()
        return self._is_over

    def movers(self) -> list[str]:
        """The members (or seats nobody holds) whose turn it is; nobody when it is over."""
        if self._movers is None:
            state = self.state
            if self.is_over():
                self._movers = []
            elif state.turn_based and state.turn_order:
                self._movers = [state.turn_order[state.turn_index]]
            else:
                self._movers = names(state, self.to_move())
        return self._movers

    def moved(self) -> None:
        """The world went on: what was asked of it before this no longer counts."""
        self._to_move = None
        self._is_over = None
        self._movers = None
        if self._views:
            self._views = {}

    # -- seeing -----------------------------------------------------------------------------------
    def eye(self, member: Member) -> Eye | None:
        return views.eye(self.state, member, self.seats, self._fog)

    def view(self, member: Member) -> View:
        """What this member sees. The only source of it."""
        return self.view_through(self.looks(member))

    def view_through(self, looks: Eye) -> View:
        """What an eye sees, as values and as text."""
        view = self._views.get(looks)
        if view is None:
            view = self._views[looks] = self.guarded(self._view_through, looks)
        return view

    def observe(self, looks: Eye) -> Observation:
        """What an eye sees, as values alone."""
        seen: Observation = self.guarded(self._observe, looks)
        return seen

    def _view_through(self, looks: Eye) -> View:
        choices = self._choices(looks.seat) if looks.seat is not None and looks.seat in self.to_move() else ()
        return make_view(self.state, self._observe(looks), self.movers(), choices, self.is_over())

    def _observe(self, looks: Eye) -> Observation:
        seen = self.world.observe(looks)
        if not self._has_goals:
            return seen
        seat = self.seats.get(looks.seat) if looks.seat is not None else None
        if seat is not None and not seen.current_goals:
            goals = self.world.goals(seat)
            if goals:
                seen = msgspec.structs.replace(seen, current_goals=list(goals))
        return seen

    def _choices(self, seat: SeatId) -> list[dict[str, Any]]:
        """What this seat can do now, each as it would be sent, where the world can list it."""
        legal = self.world.legal(self.seats[seat])
        return [{"action": a.name, "params": a.parameters} for a in legal or ()]

    def seat_of(self, member: Member) -> Seat | None:
        return self.seats.get(member.seat) if member.seat is not None else None

    def may(self, member: Member) -> list[Command]:
        """The commands this member's grant gives it: never a matter of whose turn it is."""
        return [c for c in self.commands if by_grant(member, c)]

    # -- going back -------------------------------------------------------------------------------
    def snapshot(self) -> Snapshot:
        return Snapshot.of(self.record, self.state, self.guarded(self.world.snapshot))

    def stored(self, snapshot: Snapshot) -> None:
        """Everything up to this snapshot is on disk: from now on going back goes back to it."""
        self._checkpoint = snapshot
        self.record.tail = [line for line in self.record.tail if line.seq > snapshot.seq]

    def digest(self) -> str:
        """One hash over the whole state: two rooms are alike exactly if their digests are.

        Of the mail only the counts go in: its contents are in the record already, under the chain.
        """
        mail = {who: (len(box.items), box.items[-1].seq, len(box.dropped)) for who, box in self.state.inboxes.items()}
        whole = sha256(msgspec.json.encode((msgspec.structs.replace(self.state, inboxes={}), mail)))
        whole.update(self.guarded(self.world.snapshot))
        return whole.hexdigest()

    def go_back(self, lines: int = 0) -> None:
        """Undo whatever is not on record, and the last ``lines`` entries of it, by running the rest again."""
        assert self._checkpoint is not None
        tail = self.record.tail[: len(self.record.tail) - lines]
        pending = self.record.pending[: max(0, len(self.record.pending) - lines)]
        back = self._checkpoint
        self.state = back.state
        self.seats = {s.id: s for s in self.state.seats}
        self.clocks.changed()
        self.roster_version += 1
        self.moved()
        self.world.restore(back.world)
        self.record = Record(back.seq, back.digest, back.at)
        checkpoint, self._checkpoint = self._checkpoint, None  # who fails on the way back does not go back again
        try:
            self._run_again(tail)
        finally:
            self._checkpoint = checkpoint
        self.record.pending = pending

    def guarded(self, run: Callable[..., Any], *args: Any) -> Any:
        """Run something with world code in it; whatever it raises that is not one of our errors is a crash.

        ``call`` guards itself; this is for what the house does without anybody's call.
        """
        try:
            return run(*args)
        except CohabitError:
            raise
        except Exception as bug:
            raise self._crashed(bug) from bug

    def obliged(self, run: Callable[..., Any], *args: Any) -> Any:
        """Call world code that may not refuse, because something has changed already: a refusal is a crash."""
        try:
            return run(*args)
        except Exception as bug:
            raise self._crashed(bug) from bug

    def _crashed(self, bug: Exception, lines: int = 0) -> GameCrash:
        """Go back to before the crash, and take back the last ``lines`` entries with it."""
        if self._checkpoint is not None:
            self.go_back(lines)
        # Only the type is told: the text of a world's exception may hold what the caller must not see.
        what = type(bug).__name__
        return GameCrash(
            f"the world {self.state.world!r} failed ({what}); the room is as it was before", exception={"type": what}
        )


def _same_version(state: RoomState, world: World) -> None:
    if world.spec.version != state.version:
        raise RecordCorrupt(
            f"room {state.id} was recorded with version {state.version} of {state.world!r}, and version "
            f"{world.spec.version} is installed; install the old one to go on with this room"
        )
