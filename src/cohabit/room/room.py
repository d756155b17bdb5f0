"""A room: one world, its members, and the single path for all calls.

Synchronous and deterministic: no I/O, no clock (``at`` comes with each call) and no randomness. ``call`` authorizes,
validates, runs and records an entry; ``replay`` runs the recorded entries and produces the same room.
"""

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any

import msgspec
from msgspec import Struct

from cohabit.errors import (
    AskerError,
    CohabitError,
    GameRejected,
    OutOfBounds,
    PermissionDenied,
    ScopeViolation,
    TooLarge,
    Unauthorized,
    UnknownAsset,
)
from cohabit.model.action import Action, ActionResult
from cohabit.model.grant import Capability
from cohabit.model.identity import Credential
from cohabit.model.limits import too_large
from cohabit.model.observation import Observation
from cohabit.model.record import Entry, Told
from cohabit.model.seat import Eye, Seat, SeatId
from cohabit.registry import standard_features
from cohabit.room import rewards, seats, turns, visibility
from cohabit.room.audit import Audit
from cohabit.room.command_modules import command_table
from cohabit.room.commands import Command
from cohabit.room.context import Context
from cohabit.room.decide import Budget, StorageQuota, by_credential, by_features, by_grant, decide, refusal
from cohabit.room.extension import extension_named
from cohabit.room.feature import Hooks, hooks_of
from cohabit.room.recorded import RecordedRoom, WorldInterrupted, system_entries
from cohabit.room.replies import keep_reply, kept_reply
from cohabit.room.shown import LONG_VIEW, MAX_AFTER_ACTION, ShownViews
from cohabit.room.state import HIDDEN_BRAIN, KeptReply, Member, RoomState
from cohabit.room.view import Turn, View, as_sent, make_turn, make_view
from cohabit.world import Outcome, World, overridden, overrides

OF_THE_WORLD = (GameRejected, UnknownAsset, OutOfBounds, ScopeViolation)
"""Refusals whose reasons come from the world."""
BLIND = "The game refused this. You don't have permission to see why."
DIGEST_EVERY = 256
"""After this many entries the room records a digest of its state, so a replay can be verified."""
VIEWS_CACHED = 64
"""How many views are kept until the next entry. With more viewpoints, keeping them costs more than it saves."""
TURNS_CACHED = 16
"""For how many sets of seats to move the room remembers what it says about the turn."""
CALLS_PER_SECOND = 1_000
"""How many calls one member may make to one room; more are refused with BUSY."""


class Admitted(Struct, frozen=True, gc=False):
    """A call that passed every check, or one already answered under the same idempotency key (``kept``)."""

    member: Member
    command: Command
    args: dict[str, Any]
    why: str | None = None
    wrapped: bool = False  # called through `act`
    kept: KeptReply | None = None


class Room(RecordedRoom):
    """A room. Create one with ``create``, ``restore`` or ``replay``."""

    # In Python the attributes of an object with more than 30 are slow, and so is making such an object.
    __slots__ = (
        "_by_identity", "_eyes", "_has_goals", "_has_legal", "_has_returns", "_has_scope", "_is_over", "_legal_names",
        "_observe", "_observe_data", "_overrides_is_over", "_players", "_roster_is_known", "_shows_returns",
        "_takes_turns", "_to_move", "_turn", "_turns", "_turns_of", "_views", "about", "ahead_ms", "audit", "budget",
        "callable_here", "check_brain", "commands", "counts_calls", "digest_every", "extension", "features",
        "has_arrivals", "has_moving_seats", "hooks", "house_offers", "members_limit", "pace", "quota",
        "roster_version", "seats", "shown", "system_entries",
    )  # fmt: skip

    def __init__(self, state: RoomState, world: World) -> None:
        super().__init__(state, world)
        self.pace = world.pace
        self.extension = extension_named(world.spec.extension)
        self.features = standard_features()
        self.system_entries = system_entries(self.features)
        self.audit = Audit()
        self.budget = Budget(CALLS_PER_SECOND)
        self.counts_calls = True  # False: in a match, which has no rate limit, because its time is virtual
        self.quota = StorageQuota()
        self.shown = ShownViews()
        self.about: tuple[str, str] | None = None  # the title and description of the world; set by the house
        self.ahead_ms = 0  # how far the record is ahead of the house clock; set by the house
        self.check_brain: Callable[[str | None], str | None] = lambda name: name  # raises if it is not allowed; ditto
        self.members_limit: int | None = None  # ditto
        self.digest_every = DIGEST_EVERY
        self.commands = command_table(world)
        self.callable_here = self.commands  # the house adds its own …
        self.house_offers: Callable[[Command, Member], bool] = lambda command, member: True  # … and when it offers them
        self.seats: dict[SeatId, Seat] = {s.id: s for s in state.seats}
        self.roster_version = 0  # incremented when permissions or visibility may have changed
        self._to_move: Sequence[SeatId] | None = None
        self._is_over: bool | None = None
        self._turn: Turn | None = None
        self._turns: dict[tuple[bool, tuple[SeatId, ...]], Turn] = {}
        self._turns_of: object = None  # the roster that they are about
        self._roster_is_known = False  # False: it may have changed since
        self._views: dict[Eye, View] = {}
        self._eyes: dict[str, Eye | None] = {}
        self._by_identity: dict[str, str] | None = None
        self._players: dict[SeatId, str] | None = None
        # Methods that a world does not override are not called.
        own = overridden(type(world))
        self._has_scope, self._has_legal, self._has_goals = "scope" in own, "legal" in own, "goals" in own
        self._observe = self._observe_with_goals if self._has_goals else world.observe
        self._observe_data = self._observe
        if "observe_data" in own:
            self._observe_data = self._observe_data_with_goals if self._has_goals else world.observe_data
        # How the text of a view names legal actions; None: the world lists only examples.
        names = self.extension.tool_name if self.extension.prefixed else str
        self._legal_names: Callable[[str], str] | None = names if world.spec.show_legal else None
        self._takes_turns = self.pace in ("turns", "rounds")
        self._has_returns = "returns" in own
        self._shows_returns = self._has_returns and world.spec.tell_rewards
        self._overrides_is_over = "is_over" in own
        self.has_arrivals, self.has_moving_seats = "arrive" in own, "seats_now" in own
        self.hooks = self._active_hooks()

    @property
    def has_turns(self) -> bool:
        """Whether members take turns: in the world's order, in the room's, or in steps."""
        return self._takes_turns or turns.takes_turns(self.state)

    @property
    def opens_alike(self) -> bool:
        """Whether rooms with this world are in the same state when they open, whatever the seed, except whose turn it
        is: the world never changes its seats, and it keeps no returns."""
        return not (self.has_arrivals or self.has_moving_seats or self._has_returns)

    @property
    def id(self) -> str:
        return self.state.id

    # -- calls ------------------------------------------------------------------------------------
    def call(
        self, who: str, name: str, args: Any = None, *, at: int, key: str | None = None, via: str | None = None,
        look: bool = True, credential: Credential | None = None,
    ) -> Any:  # fmt: skip
        """Run a command for member ``who``, or raise the reason for refusing it.

        Credentials and rate limits depend on ``at``, the time of the house; entries and timers on ``settle(at)``.
        ``look=False`` omits the observation from an action's result, for callers that fetch it separately.
        """
        now = self.settle(at) if at < self.record.at or self.ahead_ms or not self.timers.idle else at
        try:
            member, command, checked, why, wrapped, kept = self._admit(who, name, args, at, key, via, credential)
            if kept is not None:
                return self.reply(member, command, kept.result, look, wrapped)
            if not command.records:
                return self._ask(member, command, checked, now)
            before = self.record.seq
            named = command.on_wire(checked) if command.wire_names else checked
            result = self._write(now, command, who, named, checked, why, key, via)
            try:
                return self.reply(member, command, result, look, wrapped)
            except WorldInterrupted:
                raise
            except BaseException as bug:  # if the world cannot be observed, the action is rolled back
                raise self._crashed(bug, self.record.seq - before) from bug
        except CohabitError as wrong:
            self._refused(who, name, at, wrong)
            if isinstance(wrong, OF_THE_WORLD) and self._acts_blindly(who, name, args):
                raise GameRejected(BLIND) from None
            raise
        except WorldInterrupted:
            raise
        except BaseException as bug:  # also SystemExit and KeyboardInterrupt: a world must not stop the server
            crash = self._crashed(bug)
            self._refused(who, name, at, crash)
            raise crash from bug

    def admit(
        self, who: str, name: str, args: Any, at: int, key: str | None = None, via: str | None = None,
        credential: Credential | None = None,
    ) -> Admitted:  # fmt: skip
        """Resolve and authorize a call, then validate its arguments and scope."""
        return Admitted(*self._admit(who, name, args, at, key, via, credential))

    def _admit(
        self, who: str, name: str, args: Any, at: int, key: str | None, via: str | None, credential: Credential | None
    ) -> tuple[Member, Command, dict[str, Any], str | None, bool, KeptReply | None]:
        """The fields of ``Admitted`` as a tuple, so that ``call`` need not create the object."""
        member = self.state.members.get(who)
        if member is None:
            raise Unauthorized("you are not a member of this room")
        if credential is not None:  # checked first: a revoked credential gets nothing, not even a stored reply
            decision = by_credential(credential, at)
            if decision.code:
                raise refusal(decision)
        if self.counts_calls:
            self.budget.spend(who, at)
        why, wrapped = None, False
        command = self.commands.by_name.get(name)
        if command is None or command.unwrap is not None:
            wrapped = command is not None
            command, args, why = self._resolve(member, name, args, at)
        if key is not None and command.records:
            if self.budget.exceeded and self.budget.is_spent(who, at):  # a kept reply is no way around the limit
                raise refusal(self.budget.refusal)
            kept = kept_reply(self.state, member, command, args, key)
            if kept is not None:  # before the decision: after the first call it may be another member's turn
                return member, command, {}, why, wrapped, kept
        decision = decide(command, member, self, at, via)
        if decision.code:
            raise refusal(decision)
        if args and command.where == "world" and (problem := too_large(args)):
            raise TooLarge(f"{command.name}: the arguments are too large: {problem}", command=command.name)
        checked = command.check(args)
        if command.admits is not None:
            command.admits(self, checked, via)
        if self._has_scope and command.is_action:
            self._check_scope(member, command, checked)
        return member, command, checked, why, wrapped, None

    def _resolve(self, member: Member, name: str, args: Any, at: int) -> tuple[Command, Any, str | None]:
        """The command, arguments and reasoning of a call that wraps another command (``act``), or whose command is not
        known by this name. If there is none, it is refused with suggestions."""
        command, why = self.commands.get(name), None
        if command is not None and command.unwrap is not None:
            name, args, why = command.unwrap(args)
            command = self.commands.get(name) or self.commands.with_tool_name(name)
        if command is None:
            if self.budget.is_spent(member.id, at):  # suggesting similar names is expensive
                raise refusal(self.budget.refusal)
            command = self.commands.named(name, self.commands_for(member))
        return command, args, why

    def _check_scope(self, member: Member, command: Command, args: Mapping[str, Any]) -> None:
        seat = self.seat_of(member)
        if seat is not None and Capability.ACT_GLOBAL not in member.held:
            reason = self.world.scope(seat, command.name, args)
            if reason:
                raise ScopeViolation(reason)

    def _acts_blindly(self, who: str, name: str, args: Any) -> bool:
        """True for an action of a member who may not see what its seat sees. The reply would show it."""
        command, member = self.commands.get(name), self.state.members.get(who)
        if command is not None and command.unwrap is not None:
            command = self.commands.get(command.unwrap(args)[0])
        return command is not None and member is not None and command.is_action and self.is_blind(member)

    def is_blind(self, member: Member) -> bool:
        """True if a member acts for a seat but may not see what the seat sees."""
        eye = self.eye(member)
        return eye is None or (eye.sees == "public" and not self.world.spec.open_information)

    def _refused(self, who: str, name: str, at: int, error: CohabitError) -> None:
        self.audit.refused(at, who, name if name in self.commands else "?", error.code, error.message)

    def _ask(self, member: Member, command: Command, args: Mapping[str, Any], at: int) -> Any:
        if command.where == "room":
            return command.run(Context(self, self.state, member, at), **args)
        return command.run_in(self.world)(self.eye_of(member, command), **args)

    def _write(
        self, at: int, command: Command, by: str | None, args: Any, checked: Mapping[str, Any],
        why: str | None = None, key: str | None = None, via: str | None = None,
    ) -> Any:  # fmt: skip
        """Apply an entry with the ``checked`` arguments, and record it with ``args``."""
        result, told = self._perform(by, at, command, checked)
        record = self.record
        if via is not None and self.state.hide_brains:
            via, why = HIDDEN_BRAIN, None  # its reasons show which one it is
        players = self._players_of(told)
        entry = Entry(record.seq + 1, at, command.name, by, args or None, tuple(told), why, key, via, players)
        if key is not None:
            keep_reply(self.state, entry, result)
        # Everything that can fail comes first: a world that cannot be serialized counts as crashed.
        proof = None if (entry.seq + 1) % self.digest_every else self.digest()
        record.append(entry)
        if proof is not None:
            record.append(Entry(entry.seq + 1, at, "digest", args={"sha256": proof}))
        return result

    def _players_of(self, told: Sequence[Told]) -> dict[SeatId, str] | None:
        """The members on the seats that are notified."""
        found: dict[SeatId, str] | None = None
        for notice in told:
            if notice.seats:
                players = self._seat_players()
                for seat in notice.seats:
                    if seat in players:
                        if found is None:
                            found = {}
                        found[seat] = players[seat]
        return found

    def _seat_players(self) -> dict[SeatId, str]:
        """The id of the member on each seat. Cached until the roster changes."""
        if self._players is None:
            self._players = {m.seat: m.id for m in self.state.members.values() if m.seat is not None}
        return self._players

    def _perform(
        self, by: str | None, at: int, command: Command, args: Mapping[str, Any]
    ) -> tuple[Any, Sequence[Told]]:
        """Apply an entry. Shared by call and replay."""
        state = self.state
        if command.where == "world":
            assert by is not None
            told: list[Told] = []
            member = state.members[by]
            result: Any = self._act(member, command, args, told)
            for acted in self.hooks.acted:
                acted(self, member)
            if member.stand_in_since is not None or member.moves_by_bot or member.timeouts:
                member.has_moved()
            if self.pace == "turns" and member.seat in state.waiting_for:
                state.turn_started = at  # also if the same seat moves again
            self._follow_up(at, told)
            if self._has_returns:
                result = rewards.rewarded(self, by, result, told)
            return result, told
        context = Context(self, state, state.members[by] if by is not None else None, at)
        result = command.run(context, **args)
        if command.category != "bus":
            self.timers.changed()
            self.roster_changed()
            self._follow_up(at, context.told)
            if self._has_returns:
                rewards.report_returns(self, context.told)
        return result, context.told

    def _follow_up(self, at: int, told: list[Told]) -> None:
        """Run after each entry: resolve a complete round, bind claims, restart the turn timer."""
        state = self.state
        self._turn = None
        if self._views:
            self._views = {}
        to_move = self._to_move = self.world.to_move()
        if not to_move and self.pace == "rounds" and state.waiting_for:
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
        for follow in self.hooks.follow:
            follow(self, at, told)

    def _act(self, member: Member, command: Command, args: Mapping[str, Any], told: list[Told]) -> Outcome:
        try:
            run = getattr(self.world, command.method) if command.method else command.run  # inlined `run_in`
            outcome = run(self.seats.get(member.seat) if member.seat is not None else None, **args)
        except AskerError as refused:
            self.check_unchanged(command.name, refused)
            raise
        if not isinstance(outcome, Outcome):
            outcome = Outcome("" if outcome is None else str(outcome))
        if outcome.reward and not isfinite(outcome.reward):
            raise ValueError(f"a reward must be a finite number, not {outcome.reward!r}")
        if outcome.told:
            told.extend(outcome.told)
        if outcome.public:
            told.append(Told(outcome.public))
        if not told:
            seats = (member.seat,) if member.seat is not None else ()
            told.append(Told(outcome.message or f"{command.name} done", "info", seats, (member.id,)))
        return outcome

    def reply(self, member: Member, command: Command, result: Any, look: bool, wrapped: bool) -> Any:
        """The reply to a call. For an action, adds the observation that the member may see."""
        if command.where != "world":
            return result
        outcome = result if isinstance(result, Outcome) else msgspec.convert(result, Outcome)
        eye = self._eyes.get(member.id) or self.eye(member)
        if (eye is None or eye.sees == "public") and self.is_blind(member):
            return ActionResult(outcome.success, "Done." if outcome.success else BLIND)
        if command.result is not None and not wrapped:
            return outcome.data
        if not (look and outcome.with_view):
            done, achieved = self._is_over, [*outcome.achievements]
            if done is None:
                done = self.is_over()
            return ActionResult(outcome.success, outcome.message, outcome.reward, achieved, done, None, outcome.data)
        seen = None if eye is None else self._observe(eye)
        if seen is not None and seen.step < 0:
            raise ValueError(f"the step of an observation must be at least 0, not {seen.step}")
        shown = ""  # a long observation has an id, so that the next view can say only what has changed
        if seen is not None and LONG_VIEW <= len(seen.text) <= MAX_AFTER_ACTION and not member.played_by_bot:
            shown = self.shown.add(member.id, seen.to_text(), seen, self.record.seq)
        to_move = self.turn().shown if self._takes_turns or self.state.turn_based else []
        message = outcome.message
        for last_words in self.hooks.last_words:
            if ended := last_words(self, member):
                message, to_move = f"{message} {ended}".lstrip(), []
        return ActionResult(
            outcome.success, message, outcome.reward, list(outcome.achievements), self.is_over(), seen,
            outcome.data, to_move, shown,
        )  # fmt: skip

    # -- system entries and turns ------------------------------------------------------------------
    def settle(self, at: int) -> int:
        """Apply everything due by ``at``. Returns the time of the record, which never goes backwards: if the clock of
        the house was set back, the record continues from its last entry."""
        now = max(at + self.ahead_ms, self.record.at)
        if not self.timers.idle:
            while (due := self.timers.due(self, now)) is not None:
                self.system(due[0], due[1], at)
        return now

    def system(self, do: str, args: Mapping[str, Any], at: int) -> Any:
        """Record a system entry: ticks, presence, a timeout."""
        command, now = self.system_entries[do], max(at + self.ahead_ms, self.record.at)
        return self.crash_on_bug(self._write, now, command, None, args, command.check(args))

    def next_deadline(self) -> int | None:
        """When ``settle`` next has something to do, on the clock of the house."""
        deadline = None if self.timers.idle else self.timers.next_deadline(self)
        return None if deadline is None else deadline - self.ahead_ms

    def to_move(self) -> Sequence[SeatId]:
        """The seats that the world waits for. Only an entry can change that, so it is cached until the next entry."""
        if self._to_move is None:
            self._to_move = self.world.to_move()
        return self._to_move

    def is_over(self) -> bool:
        """Whether the game is over. Cached until the next entry."""
        if self._is_over is None:
            self._is_over = self.world.is_over() if self._overrides_is_over else not self.to_move()
        return self._is_over

    def movers(self) -> list[str]:
        """The handles of the members (or the names of empty seats) whose turn it is; empty when the game is over."""
        return self.turn().movers

    def turn(self) -> Turn:
        """Whose turn it is, for every viewer. Cached until the next entry; and by the seats to move until the roster
        changes, because most games come back to the same few."""
        turn = self._turn
        if turn is None:
            if not self._roster_is_known:
                self._compare_roster()
            over = self.is_over()
            key = over, tuple(self.to_move())
            turn = self._turns.get(key)
            if turn is None:
                if len(self._turns) >= TURNS_CACHED:
                    self._turns = {}
                movers, runs = turns.movers(self), turns.runs_by_itself(self)
                turn = self._turns[key] = make_turn(self.state, key[1], movers, over, runs)
            self._turn = turn
        return turn

    def _compare_roster(self) -> None:
        """Forget the turns if they are about other players or time limits. A rematch changes neither."""
        state = self.state
        roster = (
            [(member.id, member.seat) for member in state.members.values()],
            state.seats, state.turn_ms, state.rematch_ms,
        )  # fmt: skip
        if state.turn_based or state.step_ticks or roster != self._turns_of:  # the room's own turns depend on more
            self._turns = {}
        self._turns_of, self._roster_is_known = roster, True

    def _drop_world_cache(self) -> None:
        """Drop cached answers from the world."""
        self._to_move = None
        self._is_over = None
        self._turn = None
        if self._views:
            self._views = {}

    def roster_changed(self) -> None:
        """Drop everything cached about members, permissions and the world."""
        self.roster_version += 1
        self._eyes = {}
        self._by_identity = None
        self._players = None
        self._roster_is_known = False
        self._drop_world_cache()
        self.hooks = self._active_hooks()

    def _active_hooks(self) -> Hooks:
        return hooks_of(tuple([feature for feature in self.features if feature.active(self)]))

    def set_seats(self, seats: Sequence[Seat]) -> None:
        """Replace the list of seats."""
        self.state.seats = list(seats)
        self.seats = {s.id: s for s in seats}
        self.roster_changed()

    # -- members ----------------------------------------------------------------------------------
    def member_of(self, identity: str) -> Member | None:
        """The member with this identity."""
        if self._by_identity is None:
            # A copy of the list: the house calls this while the room may be running on its own thread.
            self._by_identity = {m.identity: m.id for m in list(self.state.members.values()) if m.identity}
        found = self._by_identity.get(identity)
        return self.state.members.get(found) if found is not None else None

    def seat_of(self, member: Member) -> Seat | None:
        return self.seats.get(member.seat) if member.seat is not None else None

    def commands_for(self, member: Member) -> list[Command]:
        """The commands that this member's grant allows, regardless of whose turn it is."""
        return [c for c in self.commands if by_grant(member, c)]

    def offers(self, member: Member, command: Command) -> bool:
        """Whether lists of commands have this one: it is left out where it would only be refused."""
        if command.needs_seat and member.seat is None and not seats.can_sit(self, member):
            return False
        if self.hooks.refuses and by_features(self, member, command).code:
            return False
        return (command.offered_if is None or command.offered_if(self, member)) and self.house_offers(command, member)

    # -- seeing -----------------------------------------------------------------------------------
    def eye(self, member: Member) -> Eye | None:
        """This member's viewpoint; None if its grant lets it see nothing."""
        eye = self._eyes.get(member.id)
        if eye is None and member.id not in self._eyes:
            eye = self._eyes[member.id] = visibility.eye_for(self.state, member, self.seats, self.world.spec.fog)
        return eye

    def eye_of(self, member: Member, query: Command | None = None) -> Eye:
        """The member's eye, for a query if one is given, or PERMISSION_DENIED."""
        eye = self.eye(member)
        if eye is None:
            raise PermissionDenied("you don't have permission to view this world; a host can grant it", needs=["watch"])
        if query is not None and query.sees_all and eye.sees != "all":
            raise PermissionDenied(f"{query.name} shows what fog hides; it requires read_all", needs=["read_all"])
        return eye

    def view(self, member: Member) -> View:
        """What this member sees. All views come from here."""
        return self.view_through(self._eyes.get(member.id) or self.eye_of(member))

    def view_through(self, eye: Eye) -> View:
        """What an eye sees, as values and as text. Cached until the next entry."""
        view = self._views.get(eye)
        if view is not None:
            return view
        try:
            turn, seat = self._turn or self.turn(), eye.seat
            own, total = "", None
            choices: Sequence[Action] = ()
            if seat is not None:
                if seat in turn.seats:
                    if self._takes_turns:
                        own = "\nIt is your turn."
                    if self._has_legal:
                        choices = self.world.legal(self.seats[seat]) or ()
                if self._shows_returns and (self.state.returns or self.world.returns()):
                    total = self.state.returns.get(seat, 0.0)
            view = make_view(self.state, self._observe(eye), turn, own, choices, total, self._legal_names)
        except (CohabitError, WorldInterrupted):
            raise
        except BaseException as bug:
            raise self._crashed(bug) from bug
        if len(self._views) < VIEWS_CACHED:
            self._views[eye] = view
        return view

    def observe(self, eye: Eye) -> Observation:
        """What an eye sees, as values alone."""
        observe = self._observe  # in Python 3.11, calling what is in an attribute is slow
        try:
            return observe(eye)
        except (CohabitError, WorldInterrupted):
            raise
        except BaseException as bug:
            raise self._crashed(bug) from bug

    def observe_data(self, eye: Eye) -> Observation:
        """What an eye sees, without the text where the world can leave it out."""
        try:
            return self._observe_data(eye)
        except (CohabitError, WorldInterrupted):
            raise
        except BaseException as bug:
            raise self._crashed(bug) from bug

    def observe_with_choices(self, member: Member, text: bool = True) -> Observation:
        """What this member sees, as values alone, with its legal actions: the observation of its view.

        ``text=False`` leaves out its text, where the world can.
        """
        eye = self._eyes.get(member.id) or self.eye_of(member)
        try:
            seen = self._observe(eye) if text else self._observe_data(eye)
            if self._has_legal and eye.seat is not None and eye.seat in (self._to_move or self.to_move()):
                choices = self.world.legal(self.seats[eye.seat])
                if choices:
                    return msgspec.structs.replace(seen, choices=[*map(as_sent, choices)])
            return seen
        except (CohabitError, WorldInterrupted):
            raise
        except BaseException as bug:
            raise self._crashed(bug) from bug

    def fallback(self, member: Member) -> Action | None:
        """What this member's seat does if the agent that plays it gives no usable answer."""
        seat = self.seat_of(member)
        if seat is None or not (self._has_legal or overrides(self.world, "fallback")):
            return None
        fallback: Action | None = self.crash_on_bug(self.world.fallback, seat)
        return fallback

    def _observe_with_goals(self, eye: Eye) -> Observation:
        return self._with_goals(self.world.observe(eye), eye)

    def _observe_data_with_goals(self, eye: Eye) -> Observation:
        return self._with_goals(self.world.observe_data(eye), eye)

    def _with_goals(self, seen: Observation, eye: Eye) -> Observation:
        seat = self.seats.get(eye.seat) if eye.seat is not None else None
        if seat is not None and not seen.current_goals:
            goals = self.world.goals(seat)
            if goals:
                seen = msgspec.structs.replace(seen, current_goals=list(goals))
        return seen
