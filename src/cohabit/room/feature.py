"""The contract of a feature: what a room can do besides its world.

A feature is one concern of a room, such as consent or visits, in a file or folder of its own. It adds commands and
system entries, and takes part in the room through the hooks below. A room calls the hooks that a feature overrides, in
the order of its features, and only while the feature is active.

Changes also run in a replay, so they follow from the room and the entry alone. They cannot refuse: an exception in one
is a bug, and the room is rolled back. (Only ``take_seat`` may refuse, before it changes anything.) Prefer ``follow`` to
all others: it runs after each entry, except messages, and brings the feature in line with the members, the seats and
the world. Then it does not matter by which command a member joined, left or changed its seat. Questions change nothing,
and their answers follow from the room as it is on record: a view is kept until the next entry.
"""

import logging
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from inspect import isfunction
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from msgspec import Struct, structs

from cohabit.bodies import DepartMode
from cohabit.errors import BadArgs
from cohabit.model.grant import Capability
from cohabit.model.observation import LastAction
from cohabit.model.seat import Seat, SeatId
from cohabit.model.tool_names import ToolNames
from cohabit.model.words import Words
from cohabit.room.commands import Command, declared_in
from cohabit.room.decision import Decision
from cohabit.room.slices import Slice
from cohabit.room.state import Member, RoomState
from cohabit.room.timers import Due
from cohabit.scenario import Scenario
from cohabit.world import Arrival, World

if TYPE_CHECKING:
    from cohabit.room.base import BaseRoom, Context

__all__ = ["SPEEDS", "Feature", "Sending"]  # the contract; the rest is how a room calls it

log = logging.getLogger("cohabit")
T = TypeVar("T")
Private = Literal["view", "token"]
SPEEDS: Mapping[str, int] = MappingProxyType(
    {"x0.5": 500, "x1": 1000, "x2": 2000, "x5": 5000, "x10": 10_000, "x20": 20_000}
)
"""Speeds of real-time worlds, in thousandths."""


class Sending(Struct, frozen=True):
    """The destination of what a member sees, as far as features know, and the limit of what may leave the house."""

    backend: str = ""  # of a member that keeps what it sees inside; empty: they do not know
    limit: int | None = None  # bytes in all; None: as the house says


class Feature:
    """One concern of a room. Override what it needs."""

    name: ClassVar[str]
    """Its name in records. It can never change."""
    modules: ClassVar[tuple[ModuleType, ...]] = ()
    """Modules that declare commands and system entries of this feature, besides the module of its class."""

    room_slice: ClassVar[Slice[Any] | None] = None
    """The slice that it keeps of a room."""
    member_slice: ClassVar[Slice[Any] | None] = None
    """The slice that it keeps of each member. It is gone with the member."""
    replaces: ClassVar[frozenset[str]] = frozenset()
    """Commands that it declares in another form, which a protocol has for them."""
    tools: ClassVar[ToolNames] = ToolNames()
    """The names of commands over MCP in rooms with this feature."""
    speeds: ClassVar[Mapping[str, int]] = SPEEDS
    """The speeds of a real-time world with this feature."""
    observed: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    """Fields of a reply of `observe`, with their types. Of built-in features alone: every room has the same schema."""

    @cached_property
    def declared(self) -> tuple[Command, ...]:
        """Its commands and system entries."""
        return tuple(
            made for module in (*self.modules, sys.modules[type(self).__module__]) for made in declared_in(module)
        )

    def overrides(self, hook: str) -> bool:
        return getattr(type(self), hook) is not getattr(Feature, hook)

    def active(self, room: "BaseRoom") -> bool:
        """True if the room is to call the hooks: by default, if it keeps something of the room. Asked after each entry
        that is neither an action nor a message."""
        return self.room_slice is None or self.room_slice.is_kept(room.state)

    def opening(self, scenario: Scenario, world: World) -> Struct | None:
        """The slice of a new room; None if the feature begins without one."""
        return None

    # -- changes ----------------------------------------------------------------------------------
    def follow(self, ctx: "Context") -> None:
        """An entry was applied that was no message: bring the feature in line with the room. If that changes grants or
        seats, call ``room.roster_changed()``; if it changes what is due, ``room.timers.changed()``."""

    def follow_roster(self, ctx: "Context") -> None:
        """The same, after entries that may have changed members, their grants or seats: not after every action. It
        runs before ``follow``, and again after the next entry if it has changed the roster itself."""

    def sent(self, ctx: "Context", to: str) -> None:
        """A member sends something to others, and no feature has refused it. ``to`` is empty for what it says by a
        command that is not for messages, such as an action of the world."""

    def after_downtime(self, room: "BaseRoom", gap: int) -> None:
        """The house was closed for this many milliseconds: no time has passed in the room."""

    # -- questions --------------------------------------------------------------------------------
    def due(self, room: "BaseRoom") -> Iterable[Due]:
        """System entries, and when each is due. The entry must end that: what stays due is applied again."""
        return ()

    def view_lines(self, room: "BaseRoom", member: Member) -> str:
        """Lines of a member's view. ``room.tools.in_text`` puts in the names of tools, where a protocol has its own."""
        return ""

    def view_data(self, room: "BaseRoom", member: Member) -> Mapping[str, Any]:
        """Values of a member's view, besides those of the world."""
        return {}

    def refuses(self, room: "BaseRoom", member: Member, command: Command) -> Decision | None:
        """The reason why a member may not run a command, although its grant allows it."""
        return None

    def refuses_words(self, room: "BaseRoom", member: Member | None, words: Words) -> Decision | None:
        """The reason why a call with these words is refused; an error may be raised instead. ``member`` is None for
        somebody who wants to join. Asked of calls that are recorded, and no part of a replay."""
        return None

    def recipients(self, ctx: "Context", to: str, receivers: list[str]) -> list[str]:
        """The members who receive a message. Return ``receivers`` itself if nothing changes, or a new list without some
        of them; nobody can be added. Raise an error to refuse the message."""
        return receivers

    # -- changes that few features take part in ---------------------------------------------------
    def acted(self, room: "BaseRoom", member: Member) -> None:
        """A member has acted in the world."""

    def chose(self, room: "BaseRoom", member: Member, action: str) -> None:
        """A member has chosen an action, which happens when the round ends."""

    def round_ended(self, room: "BaseRoom") -> None:
        """The choices of a round were carried out."""

    def game_ends(self, ctx: "Context", is_loaded: bool) -> None:
        """Another game begins. The world still has the old one, unless the new one was loaded from a save."""

    def game_loaded(self, ctx: "Context", played: Mapping[str, SeatId]) -> None:
        """The game of a save was loaded, and seats are assigned. ``played``: who played which seat in it."""

    def take_seat(self, ctx: "Context", member: Member, seat: SeatId | None) -> bool:
        """A member takes a seat, or any. Returns True if the feature has seated it."""
        return False

    def departure_mode(self, room: "BaseRoom", member: Member, seat: Seat, mode: DepartMode) -> DepartMode:
        """A member leaves its seat. Returns how the world is told about it."""
        return mode

    # -- questions that few features answer -------------------------------------------------------
    def without_seat(self, member: Member, command: Command) -> str:
        """The reason why a member without a seat may not run an action; empty: in the usual words."""
        return ""

    def keeps_seated(self, room: "BaseRoom", seat: SeatId) -> str:
        """The reason why the player of a seat may not leave it now; empty: it may."""
        return ""

    def keeps_from(self, room: "BaseRoom", member: Member | None, given: frozenset[Capability]) -> str:
        """The reason why nobody may give these capabilities to a member, or to a newcomer (None); empty: who has them
        may."""
        return ""

    def keeps_private(self, room: "BaseRoom", member: Member | None, what: Private) -> str:
        """The reason why only the member itself may share what it sees (``view``), or have a new token of its own
        (``token``), or a newcomer (None) needs one; empty: hosts may."""
        return ""

    def closes_seat(self, room: "BaseRoom", member: Member, seat: SeatId) -> str:
        """The reason why a member may not take a seat that is free or gives way; empty: it may."""
        return ""

    def closes_save(self, room: "BaseRoom", game: str, seq: int) -> str:
        """The reason why the save of a game may not be loaded, made after the entry ``seq`` of the record; empty: it
        may."""
        return ""

    def games_over(self, room: "BaseRoom") -> Collection[str] | None:
        """The earlier games that were played to their end: what they hid may be shown. None: all of them."""
        return None

    def full_view_until(self, room: "BaseRoom", member: Member) -> int | None:
        """The last entry at which a member may see everything that the world hid then, without ``read_all``; -1: there
        is none yet; None: it may not. It never goes back."""
        return None

    def steps_until(self, room: "BaseRoom", seq: int) -> int | None:
        """How many steps the room has had until an entry, for features that show things some steps later; None: this
        feature counts none."""
        return None

    def notice(self, room: "BaseRoom") -> str:
        """The text that everybody who joins is told about the room, as one text; empty: nothing."""
        return ""

    def commands(self, room: "BaseRoom") -> Sequence[Command]:
        """Commands that a room has for now, such as the actions of an app. Each has ``unwrap``: a call is recorded as
        the declared command that it returns, because a replay knows only those."""
        return ()

    def arrival(self, room: "BaseRoom", member: Member, arrival: Arrival) -> Arrival:
        """The arrival of a member in the world."""
        return arrival

    def observes(self, room: "BaseRoom", member: Member) -> Mapping[str, Any]:
        """The fields of ``observed``, as a member sees them; those that are left out are null. Also asked while the
        feature is not active."""
        return {}

    def last_action(self, room: "BaseRoom", seat: SeatId) -> LastAction | None:
        """The outcome of the last action of a seat's player, in a world of rounds. It is part of what the seat sees."""
        return None

    def absent(self, room: "BaseRoom") -> Collection[SeatId]:
        """Seats that the game does not wait for, although they are to move. They are not named as those to move."""
        return ()

    def hears(self, room: "BaseRoom", speaker: Member, member: Member) -> bool:
        """True if a member receives the sound and the screen of another, if its grant allows it."""
        return True

    def pauses(self, room: "BaseRoom", member: Member) -> int | None:
        """The milliseconds that the script that plays for a member waits before it acts; None: as usual."""
        return None

    def absence(self, state: RoomState, identity: str) -> str:
        """The refusal for a former member; empty: the usual message. Also asked while the feature is not active."""
        return ""

    def sending(self, room: "BaseRoom", member: Member) -> Sending | None:
        """The destination of what a member sees, and the limit of what may leave. The first answer counts. Also asked
        while the feature is not active, and kept until the roster changes."""
        return None

    def announces(self, room: "BaseRoom") -> bool:
        """True if the house should read this feature's slice now. Asked when entries are durable; then the feature's
        listener (``RoomEvents.listeners``) is called."""
        return False

    def missed(self, room: "BaseRoom", member: Member) -> str:
        """A text about the turns that a member did not take itself since its last action; empty: none. The reply to its
        next action begins with it. Asked if the member's time ran out, or a stand-in acted for it."""
        return ""

    def reply_note(self, room: "BaseRoom", member: Member) -> str:
        """A note in the reply to a member's last action here; empty: it was not the last."""
        return ""


ASKED_BY_HOUSE = ("observes", "absence", "sending", "announces")
"""Asked by the house of every feature of a room. Where it matters, it asks ``active`` itself."""
NO_HOOKS = {"overrides", "active", "opening", *ASKED_BY_HOUSE}
HOOKS = tuple(name for name, made in vars(Feature).items() if isfunction(made) and name not in NO_HOOKS)
"""The methods that are called of a room's active features alone."""
Hooks = Mapping[str, tuple[Feature, ...]]
"""For each hook the active features of a room that override it. A hook that nobody overrides costs almost nothing."""


class FeatureSet:
    """The features of a room, in order. Rooms of the same kind share one."""

    def __init__(self, features: tuple[Feature, ...]) -> None:
        self.all = features
        self.declared = [command for feature in features for command in feature.declared]
        _check_names(features)
        self.tools = next((feature.tools for feature in features if feature.tools.prefixed), ToolNames())
        self.speeds = next((feature.speeds for feature in features if feature.speeds is not SPEEDS), SPEEDS)
        self._with_hooks = [feature for feature in features if any(map(feature.overrides, HOOKS))]
        # Most are active while the room has their slice; only those that decide otherwise are asked.
        asked = [f for f in self._with_hooks if f.overrides("active")]
        sliced = {f: f.room_slice.feature for f in self._with_hooks if f.room_slice is not None and f not in asked}
        self._sometimes = [*sliced, *asked]
        self._slices, self._asked = [*sliced.values()], [f.active for f in asked]
        self.that_answer = {ask: [f for f in features if f.overrides(ask)] for ask in ASKED_BY_HOUSE}
        self._hooks: dict[tuple[bool, ...], Hooks] = {}

    def restore(self, state: RoomState) -> None:
        """Give what features keep its types, after it was read from a record."""
        for feature in self.all if state.slices else ():
            if feature.room_slice is not None:
                feature.room_slice.restore(state)
        for member in state.members.values():
            for feature in self.all if member.slices else ():
                if feature.member_slice is not None:
                    feature.member_slice.restore(member)

    def digested(self, state: RoomState) -> RoomState:
        """The state with short values in place of long slices of its members."""
        short = {s.feature: s.digested for f in self.all if (s := f.member_slice) is not None and s.digested}
        members = {
            name: structs.replace(
                member, slices={of: short[of](kept) if of in short else kept for of, kept in member.slices.items()}
            )
            for name, member in state.members.items()
            if not short.keys().isdisjoint(member.slices)
        }
        return structs.replace(state, members={**state.members, **members}) if members else state

    def hooks(self, room: "BaseRoom") -> Hooks:
        """The hooks of the features that are active in a room."""
        active = (*map(room.state.slices.__contains__, self._slices), *[ask(room) for ask in self._asked])
        known = self._hooks.get(active)
        if known is None:
            inactive = [feature for feature, is_active in zip(self._sometimes, active, strict=True) if not is_active]
            now = [feature for feature in self._with_hooks if feature not in inactive]
            known = self._hooks[active] = {hook: tuple(f for f in now if f.overrides(hook)) for hook in HOOKS}
        return known


def dues_of(feature: Feature, room: "BaseRoom") -> list[Due]:
    """The entries that a feature has due. Raises if its answer is unusable."""
    found = [(int(at), name, {**args}) for at, name, args in feature.due(room)]
    if unknown := [name for _, name, _ in found if name not in room.commands.system]:
        raise ValueError(f"there is no system entry {unknown[0]!r}")
    return found


def answer(ask: Callable[..., T], otherwise: T, *args: Any) -> T:
    """The answer to a question that is asked outside of a call, where an exception would hurt more than its room."""
    try:
        return ask(*args)
    except Exception:
        log.exception("a feature failed: %s%s", ask.__qualname__, args[:1] if ask is dues_of else "")
        return otherwise


def _check_names(features: Sequence[Feature]) -> None:
    known: dict[str, str] = {}
    for feature in features:
        for command in feature.declared:
            other = known.setdefault(command.name, feature.name)
            if other != feature.name and command.name not in feature.replaces:
                raise BadArgs(f"the features {other} and {feature.name} both declare {command.name!r}")
