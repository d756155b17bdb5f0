"""The world contract. Everything a game author needs to know is in this file.

A world is a class with a ``spec``, three required methods, and actions. It knows nothing about
members, tokens, networks, clocks or files; the room calls it, one call at a time:

* ``reset`` is called first, and again for each rematch. The same seed and the same calls give the same world,
  on any machine: draw from ``Stream(seed, "purpose")``, keep lists and dicts (never sets), read no clock.
* An action either returns an ``Outcome``, or raises ``GameRejected`` (or ``UnknownAsset``,
  ``OutOfBounds``, ``ScopeViolation``) *before it has changed anything*. Any other exception is a crash:
  the room rolls back to the state before the call.
* ``observe``, queries, ``picture`` and ``array`` change nothing, however often they are called, and show only
  what the ``Eye`` may see: ``eye.seat`` or none, and ``eye.sees`` one of own, public, all.
"""

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import cleandoc, getattr_static, signature
from types import MappingProxyType
from typing import Any, ClassVar, Literal, Never, TypeVar, get_type_hints

from msgspec import Meta, Struct

from cohabit.errors import GameCrash, GameRejected, OutOfBounds, ScopeViolation, UnknownAsset
from cohabit.model import plain
from cohabit.model.action import Action
from cohabit.model.cached import cached
from cohabit.model.observation import Goal, Observation
from cohabit.model.record import Told
from cohabit.model.seat import Eye, Seat, SeatId
from cohabit.model.stream import Stream

__all__ = [
    "ActionSpec", "ArraySpec", "Arrival", "Eye", "GameRejected", "Observation", "OutOfBounds", "Outcome",
    "Pace", "Range", "ScopeViolation", "Seat", "SeatId", "Standing", "Stream", "Told", "UnknownAsset", "World",
    "WorldSpec", "action", "query",
]  # fmt: skip

Pace = Literal["step", "turns", "rounds", "clock"]
Method = TypeVar("Method", bound=Callable[..., Any])
FRONT_END_NAME = re.compile(r"(?:[A-Za-z0-9_-]+/)*[A-Za-z0-9_-]+\.html")


class WorldSpec(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Static properties of a world."""

    name: str
    """Lower-case letters, digits, underscores, hyphens."""
    version: int = 1
    """Increase it when old records no longer replay to the same world: a room opens only with its own version."""
    title: str = ""
    """For people; by default the name."""
    seats: int | tuple[int, int] = 1
    """The number of seats, or (fewest, most): as many as the room's players need."""
    seat_names: tuple[str, ...] = ()
    """The ids of the seats; by default "1", "2", …"""
    pace: Pace = "step"
    """step: each action is a step · turns: ``to_move`` lists the seats that may act · rounds: every seat submits, then
    ``resolve`` · clock: real time, through ``advance``. Override ``World.pace`` if the config decides."""
    fog: bool = False
    """True: the scenario (``partial_intel``), not the rules, decides what is hidden."""
    open_information: bool = False
    """True: every seat sees everything. Members may change seats during a game, and the seed is no secret."""
    deals_once: bool = False
    """True: what a seed deals becomes known. So `reset` without a seed takes a new one, and in a sealed room a save is
    loaded only if the game was not played on after it."""
    show_legal: bool = True
    """True if the text of a view lists what ``legal`` gives."""
    tell_rewards: bool = True
    """True if players are told what ``returns`` gives. False: other numbers tell them more."""
    quick: bool = False
    """True: every call except ``picture`` takes well under a millisecond. A world that is part of Cohabit or in the
    setting ``trusted_worlds`` then runs on the event loop; if it is slow several times, it runs on a thread for a
    minute."""
    tick_ms: int = 100
    """Pace clock: how long a tick takes at speed x1."""
    examples: bool = False
    """True: ``legal`` lists examples only, and other actions are legal as well. Models are not restricted to them."""
    features: tuple[str, ...] = ()
    """Features of its rooms besides those of every room, such as another game's protocol."""
    front_end: str | None = ""
    """An HTML document beside the module of the world, such as "table.html", in which people see it. Empty: the generic
    one, which shows every world that is played. None: no document."""

    def __post_init__(self) -> None:
        fewest, most = self.seat_range
        if not self.name.replace("-", "_").isidentifier() or self.name != self.name.lower():
            raise ValueError(f"a world's name is lower-case letters, digits and underscores, not {self.name!r}")
        if not 0 <= fewest <= most:
            raise ValueError(f"seats must be a number, or (minimum, maximum), not {self.seats!r}")
        if self.front_end and not FRONT_END_NAME.fullmatch(self.front_end):
            raise ValueError(f"front_end is the name of an .html file beside the world, not {self.front_end!r}")

    def hides(self, partial_intel: bool) -> bool:
        """True if seats see different things, in a room with this setting of fog."""
        return not self.open_information and (partial_intel or not self.fog)

    @property
    def has_front_end(self) -> bool:
        """True if a document shows it to people: its own, or the generic one, for every world that is played."""
        return bool(self.front_end) or (self.front_end is not None and self.seat_range[1] > 0)

    @property
    def seat_range(self) -> tuple[int, int]:
        return self.seats if isinstance(self.seats, tuple) else (self.seats, self.seats)


class Outcome(Struct, frozen=True, omit_defaults=True, gc=False):
    """The result of an action. ``message`` is for the actor, ``public`` for everyone, ``told`` for named recipients."""

    message: str = ""
    public: str = ""
    told: tuple[Told, ...] = ()
    reward: float = 0.0
    achievements: tuple[str, ...] = ()
    data: Any = None  # an instance of the action's `gives` type, if declared
    success: bool = (
        True  # False: the action was done and failed, and may have changed the world; else raise GameRejected
    )
    with_view: bool = True  # False: the message says all that has changed, so the reply has no observation
    pending: bool = False  # pace rounds: this was chosen, and happens in ``resolve``; then ``outcome`` says how it went


class Arrival(Struct, frozen=True, omit_defaults=True):
    """A player who joins a running world."""

    name: str
    seat: SeatId | None = None  # the requested seat, if any
    returns: bool = False  # the player has had this seat in this game
    bonuses: dict[str, float] = {}  # what its skills from other worlds give it here; see ``model.travel.BonusRule``
    spawn: str = "safe"  # where a new body should appear: safe, random, challenging
    damage: float = 1.0  # how much of the usual damage from creatures and hazards its body takes; ``Travel.difficulty``


MAX_SCORE = sys.float_info.max
"""An integer beyond it is no number to most readers of JSON, and Python writes none of more than 4,300 digits."""


class Standing(Struct, frozen=True, omit_defaults=True):
    """One line of the live scoreboard. Public."""

    seat: SeatId
    name: str
    score: int | float
    alive: bool = True
    data: dict[str, Any] = {}
    colour: str = ""  # of the seat in pictures, as #rrggbb; the page shows it next to the player's name

    def __post_init__(self) -> None:
        is_number = isinstance(self.score, int | float)  # a world may give anything, which is named where it is used
        if is_number and not abs(self.score) <= MAX_SCORE:
            raise GameCrash(
                f"standings() gives values that no file can hold: the score of {self.name} is a finite number of at "
                "most 308 digits"
            )


class ArraySpec(Struct, frozen=True, kw_only=True):
    """The form of an array: every number in it is from ``low`` to ``high``."""

    shape: tuple[int, ...]
    dtype: str = "uint8"  # as NumPy names it
    low: float = 0
    high: float = 255


class World:
    """A world. Subclass it, set ``spec``, and write ``reset``, ``to_move``, ``observe`` and actions."""

    spec: ClassVar[WorldSpec]
    view_schema: ClassVar[dict[str, Any] | None] = None  # JSON Schema of what ``observe`` puts into ``status``
    keys: ClassVar[Mapping[str, Action]] = MappingProxyType({})
    """The keys with which people play it: the action of each key, named as in ``KeyboardEvent.key``."""

    # -- required --------------------------------------------------------------------------------
    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        """Set up a new game for these seats."""
        raise NotImplementedError

    def to_move(self) -> Sequence[SeatId]:
        """The seats that may act now; empty when the game is over."""
        raise NotImplementedError

    def observe(self, eye: Eye) -> Observation:
        """The view of this eye."""
        raise NotImplementedError

    # -- optional --------------------------------------------------------------------------------
    def observe_data(self, eye: Eye) -> Observation:
        """The same without ``text``, for scripts that read only the values. Override it if the text takes long."""
        return self.observe(eye)

    def describe(self) -> str:
        """The description of this world for players and models: by default the docstring of its class."""
        return cleandoc(type(self).__doc__ or "")

    @property
    def pace(self) -> Pace:
        """The way time passes, if that depends on the config. Fixed once the world has been created."""
        return self.spec.pace

    def actions(self) -> "Sequence[ActionSpec]":
        """The actions and queries of this world: by default the methods marked ``@action`` and ``@query``.

        A world may compute them from its config. They stay the same as long as the world exists."""
        return list(declared_actions(self))

    def returns(self) -> Mapping[SeatId, float]:
        """The total reward of each seat since ``reset``, in any pace. The room reports the differences as rewards,
        to each seat its own. Empty as long as there are none. Called after every entry, so it should be quick."""
        return {}

    def arrive(self, arrival: Arrival) -> Seat:
        """Seat a player in a running world, opening a seat if needed. Returns the seat, which ``seats_now`` must then
        include. Raise ``GameRejected`` if no player can join."""
        raise NotImplementedError

    def depart(self, seat: Seat, mode: Any) -> None:
        """A player leaves its seat: ``left`` or ``removed``; worlds with bodies have more modes (``bodies.py``)."""

    def seats_now(self) -> Sequence[Seat] | None:
        """The current seats, if they open and close during a game; None if they are those of ``reset``."""
        return None

    def is_over(self) -> bool:
        """True if the game is over. Override it if ``to_move`` can be empty during a game."""
        return not self.to_move()

    def hand_number(self) -> int:
        """The number of the hand that is played, where hands of one game share no secrets. When the number has grown,
        others may read why players acted in the hands before; by default they wait for the end of the game."""
        return 0

    def scope(self, by: Seat, action: str, args: Mapping[str, Any]) -> str | None:
        """The reason why ``by`` may not use this action on that target, or None if it may.

        Not called for members with act_global."""
        return None

    def advance(self, ticks: int) -> Sequence[Told]:
        """Pace clock: let time pass."""
        return ()

    def clock(self, paused: bool, speed: str) -> None:
        """Pace clock: the game was paused or resumed, or its speed changed. Also called after ``reset``."""

    def resolve(self) -> Sequence[Told]:
        """Pace rounds: every seat has submitted, or time is up."""
        return ()

    def outcome(self, seat: Seat) -> Outcome | None:
        """Pace rounds: the outcome of the choice of this seat, in words for its player alone. Called right after
        ``resolve``, for each seat that chose something (``Outcome.pending``)."""
        return None

    def skip(self, seat: Seat) -> Outcome:
        """Pace turns: this seat ran out of time; apply the rules for a missed turn."""
        raise NotImplementedError

    def goals(self, seat: Seat) -> Sequence[Goal]:
        """The goals of this seat."""
        return ()

    def legal(self, seat: Seat) -> Sequence[Action] | None:
        """The legal actions of this seat; None if they cannot be listed. ``WorldSpec.examples``: some of them."""
        return None

    def fallback(self, seat: Seat) -> Action | None:
        """The action of this seat if the agent that plays it gives no usable answer: something harmless. By default the
        first legal action; None: nothing."""
        legal = self.legal(seat)
        return legal[0] if legal else None

    def standings(self) -> Sequence[Standing]:
        """The scoreboard, best first."""
        return ()

    @classmethod
    def summary(cls, means: Mapping[str, float]) -> Mapping[str, float]:
        """Figures of a player over many games, from the means of its measures: the numbers in ``Standing.data``."""
        return {}

    def changes(self, before: Observation, now: Observation) -> str | None:
        """The changes for an eye between two observations, in words. By default it is found line by line."""
        return None

    def picture(self, eye: Eye) -> bytes | None:
        """A PNG of what this eye sees."""
        return None

    def scene(self, eye: Eye) -> Mapping[str, Any]:
        """The layers that a front end draws besides the view, by name, each a JSON value. Clients get only those that
        have changed, so put what changes often and what changes seldom into different ones."""
        raise NotImplementedError

    def numbered(self) -> Sequence[Action] | None:
        """For training: all actions of a seat; their places in this list are their numbers. By default the declared
        parameters number them, if they are few. Fixed once the world has been created."""
        return None

    def useful(self, seat: Seat) -> Sequence[Action] | None:
        """For training: the numbered actions that are accepted now and have an effect, never none. They are the action
        mask. By default the mask has the actions of ``legal``, unless those are examples."""
        return None

    def arrays(self) -> Mapping[str, ArraySpec]:
        """For training: the forms that ``array`` offers, by name. Fixed once the world has been created."""
        return {}

    def array(self, eye: Eye, form: str) -> Any:
        """The view of this eye as a new NumPy array of one of these forms."""
        raise NotImplementedError

    def resample(self, eye: Eye, stream: Stream) -> None:
        """Redraw, in place, all that this eye may not see, as it could be given everything the eye has been shown:
        the hands of others, unexplored land, secret plans, and the random streams that decide what comes next and is
        hidden. What the eye may see stays byte for byte the same. Draw from ``stream`` only. ``cohabit check`` compares
        what the eye gets in both worlds, and players that search ahead use it to imagine what they cannot see. Called
        on a copy of the world, never on the world of a room."""
        raise NotImplementedError

    def save(self) -> bytes:
        """The content of a named save. Raise ``GameRejected`` if the world cannot be saved now."""
        return self.snapshot()

    def load(self, data: bytes) -> None:
        """Load a save. If the data is invalid, raise before changing anything."""
        self.restore(data)

    def snapshot(self) -> bytes:
        """The whole state. Worlds whose attributes are plain values need not write this."""
        return plain.dump(vars(self))

    def restore(self, data: bytes) -> None:
        """Restore the state from a snapshot."""
        state = plain.load(data, vars(sys.modules[type(self).__module__]))
        self.__dict__.clear()
        self.__dict__.update(state)


def overrides(world: World, method: str) -> bool:
    """True if this world defines the method itself."""
    return method in overridden(type(world))


@cached
def overridden(world: type[World]) -> frozenset[str]:
    """The methods that worlds of this class define themselves."""
    return frozenset([name for name, ours in vars(World).items() if getattr_static(world, name) is not ours])


# -- actions and queries ----------------------------------------------------------------------------
SPOKEN = ("message", "messages", "text")
"""Arguments of an action with these names are what its player says to others, unless the action names others."""


class ActionSpec(Struct, frozen=True, kw_only=True):
    """An action or a query of a world: what ``World.actions`` lists.

    ``run`` takes the acting seat (an action) or the eye (a query), then the arguments by name. Arguments and
    description come from its signature and docstring unless ``args`` and ``description`` give them.
    """

    name: str
    run: Callable[..., Any]
    changes: bool = True  # an action; False: a query
    description: str | None = None
    args: type[Struct] | None = None
    category: Literal["action", "control", "read", "discovery"] = "action"
    group: str = "action"
    needs: tuple[str, ...] = ("act", "act_global")  # any one of these capabilities is sufficient
    preconditions: tuple[str, ...] = ()
    needs_seat: bool = True  # False: members without a seat may call it too; ``run`` then gets None
    raw: bool = False
    result: Any = None  # the type of ``Outcome.data``, if a call returns that instead of an observation
    listed: bool = True  # in the short list of tools for models; others can be called too
    for_model: bool = True  # False: only a front end needs it, so models are not told of it
    sees_all: bool = False  # a query that shows the whole world: for members from whom fog hides nothing
    words: tuple[str, ...] = SPOKEN  # arguments in the player's own words, which others read


def action(
    *bare: Never,
    preconditions: Sequence[str] = (),
    group: str = "action",
    category: Literal["action", "control"] = "action",
    needs: str | Sequence[str] = ("act", "act_global"),
    raw: bool = False,
    gives: Any = None,
    name: str = "",
    listed: bool = True,
    for_model: bool = True,
    words: Sequence[str] = SPOKEN,
) -> Callable[[Method], Method]:
    """Make a method an action: ``def take(self, by: Seat, n: Annotated[int, Range(1, 3)]) -> Outcome``.

    ``by`` is the acting seat, or None for a member without a seat (annotate ``Seat | None`` to allow that). ``needs``:
    any one of these capabilities is sufficient. A ``raw`` action takes any arguments: its schema is informational, and
    it validates them itself; if it takes ``**unknown``, it gets those that are not declared. ``group`` is its heading
    in the list of actions. If ``gives`` is set, a direct call returns ``Outcome.data`` of that type instead of an
    observation. ``name``: the action's name, if it differs from the method's. ``listed``: whether the short list of
    tools for models has it. ``for_model=False``: only a front end needs it. Models are not told of it; every member may
    call it all the same. ``words``: arguments in the player's own words, which others read; a muted member cannot use
    them.
    """
    _need_brackets("action", bare)
    return _mark(
        changes=True, preconditions=tuple(preconditions), group=group, category=category, needs=_tuple(needs), raw=raw,
        result=gives, name=name, listed=listed, for_model=for_model, words=tuple(words),
    )  # fmt: skip


def query(
    *bare: Never,
    needs: str | Sequence[str] = "watch",
    category: Literal["read", "discovery", "control"] = "read",
    name: str = "",
    listed: bool = True,
    for_model: bool = True,
    sees_all: bool = False,
) -> Callable[[Method], Method]:
    """Make a method a query: ``def heaps(self, eye: Eye) -> list[int]``. It changes nothing.

    ``sees_all``: it shows the whole world, so members from whom fog hides something are refused. The other options
    are those of ``action``.
    """
    _need_brackets("query", bare)
    return _mark(
        changes=False, group="query", category=category, needs=_tuple(needs), name=name, listed=listed,
        for_model=for_model, sees_all=sees_all,
    )  # fmt: skip


def Range(lo: int | None = None, hi: int | None = None, doc: str | None = None) -> Meta:  # noqa: N802 - reads as a type
    """Bounds of a number, both included: ``Annotated[int, Range(1, 3, "stones to take")]``."""
    return Meta(ge=lo, le=hi, description=doc)


def declared_actions(world: World) -> Iterator[ActionSpec]:
    """The methods of a world that are marked as actions and queries, in the order they are written."""
    for attribute, options in marked_methods(type(world)):
        yield ActionSpec(**options, run=getattr(world, attribute))


@cached
def marked_methods(world: type[World]) -> list[tuple[str, dict[str, Any]]]:
    """The marked methods of a class, with the options of their ActionSpec."""
    found: dict[str, dict[str, Any]] = {}
    for cls in world.__mro__:
        for attribute, method in vars(cls).items():
            mark = getattr(method, "__cohabit__", None)
            if mark is None or attribute in found:
                continue
            hints = get_type_hints(method)
            actor = next(iter(list(signature(method).parameters)[1:]), "")
            needs_seat = mark["changes"] and hints.get(actor) is Seat
            found[attribute] = {**mark, "name": mark["name"] or attribute, "needs_seat": needs_seat}
    return list(found.items())


def _need_brackets(decorator: str, bare: tuple[object, ...]) -> None:
    """Without them, Python passes the method."""
    if bare:
        raise TypeError(f"write @{decorator}() with brackets, not @{decorator}; options are given by name")


def _mark(**options: Any) -> Callable[[Method], Method]:
    def put(method: Method) -> Method:
        method.__cohabit__ = options  # type: ignore[attr-defined]  # functions take attributes
        return method

    return put


def _tuple(needs: str | Sequence[str]) -> tuple[str, ...]:
    return (needs,) if isinstance(needs, str) else tuple(needs)
