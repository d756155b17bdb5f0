"""The room as commands and features see it: its members, whose turn it is, and what each member sees. And the context
of an entry, which they are given.

``RecordedRoom`` adds the record, ``Room`` the calls.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct

from cohabit.errors import AskerError, CohabitError, GameCrash, PermissionDenied
from cohabit.model.action import Action
from cohabit.model.limits import check_view
from cohabit.model.observation import LastAction, Observation
from cohabit.model.record import Told
from cohabit.model.refusals import Audit
from cohabit.model.seat import Eye, Seat, SeatId
from cohabit.model.stream import Stream
from cohabit.model.words import Words, says
from cohabit.room.access.budget import Budget
from cohabit.room.commands import Command, CommandTable
from cohabit.room.decision import Decision, refusal
from cohabit.room.feature import Feature, FeatureSet, Private, answer, dues_of
from cohabit.room.play import turn_order
from cohabit.room.record import Record
from cohabit.room.seeing import visibility
from cohabit.room.seeing.shown import ShownViews
from cohabit.room.seeing.view import YOUR_TURN, TurnStatus, View, as_sent, make_view, turn_status
from cohabit.room.state import Member, RoomState
from cohabit.room.timers import Due, Timers
from cohabit.world import World, overridden, overrides

VIEWS_CACHED = 64
"""The number of views that are kept until the next entry. With more viewpoints, keeping them costs more than it
saves."""
TURNS_CACHED = 16
"""For how many sets of seats to move the room remembers what it says about the turn."""
CALLS_PER_SECOND = 1_000
"""The calls that one member may make to one room per second; more are refused with BUSY."""


class WorldInterrupted(BaseException):
    """Raised inside world code that took too long. Not an Exception, so worlds do not swallow it."""


class BaseRoom:
    """A room without its record and its calls."""

    # In Python the attributes of an object with more than 30 are slow, and so is making such an object.
    __slots__ = (
        "__weakref__", "_by_identity", "_eyes", "_has_goals", "_has_legal", "_has_returns", "_has_scope", "_is_over",
        "_legal_names", "_observe", "_observe_data", "_overrides_is_over", "_players", "_roster_is_known",
        "_shows_returns", "_takes_turns", "_to_move", "_turn", "_turns", "_turns_of", "_views", "about", "ahead_ms",
        "audit", "budget", "callable_here", "check_brain", "commands", "counts_calls", "elsewhere", "features",
        "has_arrivals", "has_moving_seats", "hooks", "house_offers", "members_limit", "pace", "record",
        "roster_version", "seats", "shown", "state", "storage_limit", "timers", "tools", "world",
    )  # fmt: skip

    def __init__(self, state: RoomState, world: World, features: FeatureSet, commands: CommandTable) -> None:
        self.state = state
        self.world = world
        self.record = Record()
        self.timers = Timers()
        self.pace = world.pace
        self.features = features
        features.restore(state)
        self.tools = features.tools
        self.audit = Audit()
        self.budget = Budget(CALLS_PER_SECOND)
        self.counts_calls = True  # False: in a match, which has no rate limit, because its time is virtual
        self.shown = ShownViews()
        self.about: tuple[str, str] | None = None  # the title and description of the world; set by the house
        self.ahead_ms = 0  # how far the record is ahead of the house clock; set by the house
        self.check_brain: Callable[[str | None], str | None] = lambda name: name  # raises if it is not allowed
        self.elsewhere: Callable[[Member], str] = lambda member: ""  # the room in which it plays instead, by the house
        self.members_limit: int | None = None  # set by the house, as the check of brains is
        self.storage_limit: Callable[[Member, str, int], Decision] | None = None  # while one is exceeded, by the house
        self.commands = commands
        self.callable_here = commands  # the house adds its own commands
        self.house_offers: Callable[[Command, Member], bool] = lambda command, member: True  # whether it lists one
        self.seats: dict[SeatId, Seat] = {s.id: s for s in state.seats}
        self.roster_version = 0  # incremented when permissions or visibility may have changed
        self._to_move: Sequence[SeatId] | None = None
        self._is_over: bool | None = None
        self._turn: TurnStatus | None = None
        self._turns: dict[tuple[bool, tuple[SeatId, ...], tuple[SeatId, ...]], TurnStatus] = {}
        self._turns_of: object = None  # the roster that they are about
        self._roster_is_known = False  # False: it may have changed since
        self._views: dict[Eye, View] = {}
        self._eyes: dict[str, Eye | None] = {}
        self._by_identity: dict[str, str] | None = None
        self._players: dict[SeatId, str] | None = None
        # Methods that a world does not override are not called.
        own = overridden(type(world))
        self._has_scope, self._has_legal, self._has_goals = "scope" in own, "legal" in own, "goals" in own
        adds = self._has_goals or self.pace == "rounds"  # goals, and the last action of a seat
        data = world.observe_data if "observe_data" in own else world.observe
        self._observe = partial(self._with_own, world.observe) if adds else world.observe
        self._observe_data = partial(self._with_own, data) if adds else data
        # How the text of a view names legal actions; None: it does not list them.
        names = self.tools.of if self.tools.prefixed else str
        self._legal_names: Callable[[str], str] | None = names if world.spec.show_legal else None
        self._takes_turns = self.pace in ("turns", "rounds")
        self._has_returns = "returns" in own
        self._shows_returns = self._has_returns and world.spec.tell_rewards
        self._overrides_is_over = "is_over" in own
        self.has_arrivals, self.has_moving_seats = "arrive" in own, "seats_now" in own
        self.features_changed()

    @property
    def has_turns(self) -> bool:
        """True if members take turns: in the world's order, in the room's, or in steps."""
        return self._takes_turns or turn_order.ends_turns(self.state)

    @property
    def is_played(self) -> bool:
        """False: the world has no seats, no actions and no queries. Members talk, or share an app."""
        return self.world.spec.seat_range[1] > 0 or any(command.where == "world" for command in self.commands)

    @property
    def id(self) -> str:
        return self.state.id

    @property
    def moment(self) -> tuple[int, int]:
        """Changes with every entry, and with a rollback."""
        return self.record.seq, self.roster_version

    # -- whose turn it is -------------------------------------------------------------------------
    def to_move(self) -> Sequence[SeatId]:
        """The seats that the world waits for. Only an entry can change that, so it is cached until the next entry."""
        if self._to_move is None:
            self._to_move = self.world.to_move()
        return self._to_move

    def is_over(self) -> bool:
        """True if the game is over. Cached until the next entry."""
        if self._is_over is None:
            self._is_over = self.world.is_over() if self._overrides_is_over else not self.to_move()
        return self._is_over

    def movers(self) -> list[str]:
        """The handles of the members (or the names of empty seats) whose turn it is; empty when the game is over."""
        return self.turn().movers

    def awaited(self) -> list[Member]:
        """The members that a step of the clock waits for."""
        return turn_order.awaited(self.state, self.to_move(), self.is_over())

    def is_turn_of(self, member: Member) -> bool:
        """True if this member holds the turn, or the world waits for its seat."""
        state, holder = self.state, self.state.turn_holder
        if holder is not None:
            return holder == member.id
        if state.step_ticks:
            return member.id not in state.passed and member in self.awaited()
        return member.seat in self.to_move()

    @property
    def runs_by_itself(self) -> bool:
        """True if time passes without anybody's turn."""
        return self.pace == "clock" and not turn_order.ends_turns(self.state)

    def turn(self) -> TurnStatus:
        """The turn status, the same for every viewer. Cached until the next entry; and by the seats to move until the
        roster changes, because most games come back to the same few."""
        turn = self._turn
        if turn is None:
            if not self._roster_is_known:
                self._compare_roster()
            over = self.is_over()
            to_move = tuple(self.to_move())
            key = over, to_move, self._present(to_move) if self.hooks["absent"] else to_move
            turn = self._turns.get(key)
            if turn is None:
                if len(self._turns) >= TURNS_CACHED:
                    self._turns = {}
                movers = turn_order.movers(self.state, key[2], over)
                no_turns = self.runs_by_itself or not self.is_played
                turn = self._turns[key] = turn_status(self.state, key[1], movers, over, no_turns)
            self._turn = turn
        return turn

    def _present(self, to_move: tuple[SeatId, ...]) -> tuple[SeatId, ...]:
        """The seats to move without those of absent players."""
        absent = {seat for feature in self.hooks["absent"] for seat in self.crash_on_error(feature.absent, self)}
        present = tuple(seat for seat in to_move if seat not in absent)
        return present or (() if self.pace == "rounds" else to_move)  # a round ends without them, a turn is played

    def _compare_roster(self) -> None:
        """Forget the turns if they are about other players or time limits. A rematch changes neither."""
        state = self.state
        roster = (
            [(member.id, member.seat) for member in state.members.values()],
            state.seats, state.turn_ms, state.rematch_ms, state.archived,
        )  # fmt: skip
        if state.turn_based or state.step_ticks or roster != self._turns_of:  # the room's own turns depend on more
            self._turns = {}
        self._turns_of, self._roster_is_known = roster, True

    # -- what changes -----------------------------------------------------------------------------
    def roster_changed(self) -> None:
        """Drop everything cached about members, permissions and the world."""
        self.roster_version += 1
        self._eyes = {}
        self._by_identity = None
        self._players = None
        self._roster_is_known = False
        self._to_move = self._is_over = self._turn = None
        if self._views:
            self._views = {}

    def set_seats(self, seats: Sequence[Seat]) -> None:
        """Replace the list of seats."""
        self.state.seats = list(seats)
        self.seats = {s.id: s for s in seats}
        self.roster_changed()

    def features_changed(self) -> None:
        """Ask the features whether they are active. After each entry of a member or of the system, except messages; and
        where a feature has just become active and is needed in the same entry."""
        self.hooks = self.features.hooks(self)

    def _dues(self) -> Iterable[Due]:
        """The system entries that features have due at a time."""
        nothing: list[Due] = []
        return [due for feature in self.hooks["due"] for due in answer(dues_of, nothing, feature, self)]

    # -- commands for now -------------------------------------------------------------------------
    def commands_now(self) -> list[Command]:
        """The commands that features add for now. Their names are none of the other commands'."""
        nothing: Sequence[Command] = ()
        found = [made for feature in self.hooks["commands"] for made in answer(feature.commands, nothing, self)]
        here = self.callable_here
        return [made for made in found if made.name not in here and here.with_tool_name(made.name) is None]

    def command_now(self, name: str) -> Command | None:
        return next((made for made in self.commands_now() if made.name == name), None)

    # -- members ----------------------------------------------------------------------------------
    def member_of(self, identity: str) -> Member | None:
        """The member with this identity."""
        known = self._by_identity
        if known is None:
            # A copy of the list: the house calls this while the room may be running on its own thread.
            known = self._by_identity = {m.identity: m.id for m in list(self.state.members.values()) if m.identity}
        found = known.get(identity)
        return self.state.members.get(found) if found is not None else None

    def seat_players(self) -> dict[SeatId, str]:
        """The id of the member on each seat. Cached until the roster changes."""
        if self._players is None:
            self._players = {m.seat: m.id for m in self.state.members.values() if m.seat is not None}
        return self._players

    def seat_of(self, member: Member) -> Seat | None:
        return self.seats.get(member.seat) if member.seat is not None else None

    def kept_private(self, member: Member | None, what: Private) -> str:
        """The reason why only the member itself may share what it sees, or have a new token of it
        (``Feature.keeps_private``)."""
        reasons = (feature.keeps_private(self, member, what) for feature in self.hooks["keeps_private"])
        return next(filter(None, reasons), "")

    @property
    def is_sealed(self) -> bool:
        """True if what a player sees is shown to others only if that player allows it."""
        return bool(self.kept_private(None, "token"))

    def check_words(self, member: Member | None, words: Words) -> None:
        """Raise why a feature refuses these words of a member, or of somebody who wants to join."""
        for feature in self.hooks["refuses_words"]:
            decision = feature.refuses_words(self, member, words)
            if decision is not None and decision.code:
                raise refusal(decision)

    @property
    def notice(self) -> str:
        """The text about the room for everybody who joins."""
        return " ".join(filter(None, (feature.notice(self) for feature in self.hooks["notice"])))

    # -- seeing -----------------------------------------------------------------------------------
    def eye(self, member: Member) -> Eye | None:
        """This member's viewpoint; None if its grant lets it see nothing."""
        eye = self._eyes.get(member.id)
        if eye is None and member.id not in self._eyes:
            eye = self._eyes[member.id] = visibility.eye_for(self.state, member, self.seats, self.world.spec.fog)
        return eye

    def is_blind(self, member: Member) -> bool:
        """True if a member acts for a seat but may not see what the seat sees."""
        eye = self.eye(member)
        return eye is None or (eye.sees == "public" and not self.world.spec.open_information)

    def eye_of(self, member: Member, query: Command | None = None) -> Eye:
        """The member's eye, for a query if one is given, or PERMISSION_DENIED."""
        eye = self.eye(member)
        if eye is None:
            raise PermissionDenied("you don't have permission to view this world; a host can grant it", needs=["watch"])
        if query is not None and query.sees_all and eye.sees != "all":
            raise PermissionDenied(f"{query.name} shows what fog hides; it requires read_all", needs=["read_all"])
        return eye

    def view(self, member: Member) -> View:
        """The view of a member. All views come from here."""
        return self.view_through(self._eyes.get(member.id) or self.eye_of(member))

    def view_through(self, eye: Eye) -> View:
        """The view of an eye, as values and as text. Cached until the next entry."""
        view = self._views.get(eye)
        if view is not None:
            return view
        observe = self._observe  # in Python 3.11, calling what is in an attribute is slow
        try:
            turn, seat = self._turn or self.turn(), eye.seat
            own, total = "", None
            choices: Sequence[Action] = ()
            if seat is not None:
                if seat in turn.seats:
                    if self._takes_turns:
                        own = f"\n{YOUR_TURN}"
                    if self._has_legal:
                        choices = self.world.legal(self.seats[seat]) or ()
                if self._shows_returns and (self.state.returns or self.world.returns()):
                    total = self.state.returns.get(seat, 0.0)
            names, examples = self._legal_names, self.world.spec.examples
            view = make_view(self.state, observe(eye), turn, own, choices, total, names, examples)
            check_view(eye, view.text, view.observation)
        except (CohabitError, WorldInterrupted):
            raise
        except BaseException as bug:
            raise self._crashed(bug) from bug
        if len(self._views) < VIEWS_CACHED:
            self._views[eye] = view
        return view

    def observe(self, eye: Eye) -> Observation:
        """The observation of an eye: values alone."""
        observe = self._observe  # in a variable, as in `view_through`
        try:
            seen = observe(eye)
            check_view(eye, seen.text, seen)
            return seen
        except (CohabitError, WorldInterrupted):
            raise
        except BaseException as bug:
            raise self._crashed(bug) from bug

    def observe_data(self, eye: Eye) -> Observation:
        """The observation of an eye, without the text where the world can leave it out."""
        seen: Observation = self.crash_on_bug(self._observe_data, eye)
        return seen

    def observe_with_choices(self, member: Member, text: bool = True) -> Observation:
        """The observation of a member's view: values alone, with its legal actions.

        ``text=False`` leaves out its text, where the world can.
        """
        eye = self._eyes.get(member.id) or self.eye_of(member)
        seen = self.observe(eye) if text else self.observe_data(eye)
        if self._has_legal and eye.seat is not None and eye.seat in self.to_move():
            choices: Sequence[Action] = self.crash_on_bug(self.world.legal, self.seats[eye.seat])
            if choices:
                return msgspec.structs.replace(seen, choices=[*map(as_sent, choices)])
        return seen

    def fallback(self, member: Member) -> Action | None:
        """The action of this member's seat if the agent that plays it gives no usable answer."""
        seat = self.seat_of(member)
        if seat is None or not (self._has_legal or overrides(self.world, "fallback")):
            return None
        fallback: Action | None = self.crash_on_bug(self.world.fallback, seat)
        return fallback

    def last_action(self, seat: SeatId) -> LastAction | None:
        """The outcome of the last action of a seat's player, in a world of rounds."""
        found = (self.crash_on_error(feature.last_action, self, seat) for feature in self.hooks["last_action"])
        return next((last for last in found if last is not None), None)

    def _with_own(self, observe: Callable[[Eye], Observation], eye: Eye) -> Observation:
        """The observation with what concerns its seat alone: its goals, and its last action."""
        seen = observe(eye)
        seat = self.seats.get(eye.seat) if eye.seat is not None else None
        if seat is None:
            return seen
        if self._has_goals and not seen.current_goals and (goals := self.world.goals(seat)):
            seen = msgspec.structs.replace(seen, current_goals=list(goals))
        if eye.sees != "public" and (last := self.last_action(seat.id)) is not None:
            seen = msgspec.structs.replace(seen, last_action=last)
        return seen

    # -- failures ---------------------------------------------------------------------------------
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
        """Call code of the world or of a feature that must not refuse, because state has already changed. Any exception
        becomes GAME_CRASH."""
        try:
            return run(*args)
        except (GameCrash, WorldInterrupted):
            raise
        except BaseException as bug:
            owner = getattr(run, "__self__", None)
            who = f"the feature {owner.name!r}" if isinstance(owner, Feature) else ""
            raise self._crashed(bug, who=who) from bug

    def _crashed(self, bug: BaseException, lines: int = 0, who: str = "") -> GameCrash:
        """Roll back to the last entry, minus the last ``lines`` entries. ``who`` failed; by default the world."""
        self.roll_back(lines)
        # Only the type is shown: the text of a world's exception may contain hidden information.
        what = type(bug).__name__
        return GameCrash(
            f"{who or f'the world {self.state.world!r}'} failed ({what}); the room was rolled back",
            exception={"type": what},
        )

    def digest(self) -> str:
        """A hash of the whole state: equal digests mean equal rooms.

        What is long and in the record anyway, as messages are, can be in it as a short value.
        """
        state = self.features.digested(self.state)
        if state.archived:
            state = msgspec.structs.replace(state, archived_at=0)  # older records do not have it in their digests
        whole = sha256(msgspec.json.encode(state))
        whole.update(self.crash_on_bug(self.world.snapshot))
        return whole.hexdigest()

    def roll_back(self, lines: int = 0) -> None:
        """Roll back to the last recorded entry, minus the last ``lines`` entries."""
        raise NotImplementedError

    def check_unchanged(self, what: str, refused: AskerError) -> None:
        """Verify that a refusal left the world unchanged."""
        raise NotImplementedError


class Context(Struct, eq=False):
    """The context of one entry. ``me`` is None for system entries; ``tell`` adds a notice for other members."""

    room: BaseRoom
    state: RoomState  # of the room
    me: Member | None
    at: int
    told: list[Told] = []

    @property
    def member(self) -> Member:
        """The calling member. Not for system entries."""
        assert self.me is not None
        return self.me

    def stream(self, purpose: str) -> Stream:
        """Random numbers of this entry: the same ones in a replay, and nothing that a member could compute before."""
        return Stream(int(self.state.secret, 16), f"{purpose} {self.room.record.seq + 1}")

    def spoke(self, command: Command, args: Mapping[str, Any]) -> None:
        """Tell the features what the caller has said by a command that does not ask who receives it."""
        if says(args, command.words or ()):
            for feature in self.room.hooks["sent"]:
                feature.sent(self, "")

    def tell(
        self,
        text: str,
        kind: str = "info",
        seats: tuple[SeatId, ...] | None = None,
        members: tuple[str, ...] | None = None,
        shows: str = "",
    ) -> None:
        """Add a notice, for everyone unless seats or members are given. ``shows``: the argument that goes with it."""
        self.told.append(Told(text, kind, seats, members, shows=shows))
