"""The contract of a world. Everything a game author needs to know is in this file.

A world is a class with a ``spec``, three methods it must have, and actions. It knows nothing of
members, tokens, networks, clocks or files; the room calls it, one call at a time:

* ``reset`` comes first, and again for a rematch. The same seed and the same calls give the same world,
  on any machine: draw from ``Stream(seed, "purpose")``, keep lists and dicts (never sets), read no clock.
* An action either returns an ``Outcome``, or raises ``GameRejected`` (or ``UnknownAsset``,
  ``OutOfBounds``, ``ScopeViolation``) *before it has changed anything*. Any other exception is a crash:
  the room rolls back to the state before the call.
* ``observe``, queries and ``picture`` change nothing, however often they are called, and show only
  what the ``Eye`` may see: ``eye.seat`` or none, and ``eye.sees`` one of own, public, all.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import signature
from typing import Any, ClassVar, Literal, TypeVar, get_type_hints

from msgspec import Meta, Struct

from cohabit.errors import GameRejected, OutOfBounds, ScopeViolation, UnknownAsset
from cohabit.model import plain
from cohabit.model.action import Action
from cohabit.model.observation import Goal, Observation
from cohabit.model.record import Told
from cohabit.model.seat import Eye, Seat, SeatId
from cohabit.model.stream import Stream

__all__ = [
    "ActionSpec", "Arrival", "Body", "Eye", "GameRejected", "Observation", "OutOfBounds", "Outcome", "Pace", "Range",
    "ScopeViolation", "Seat", "SeatId", "Standing", "Stream", "Told", "UnknownAsset", "World", "WorldSpec", "action",
    "query",
]  # fmt: skip

Pace = Literal["step", "turns", "rounds", "clock"]
Method = TypeVar("Method", bound=Callable[..., Any])


class WorldSpec(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a room must know of a world before it opens one."""

    name: str
    version: int = 1  # raise it when old records no longer replay to the same world
    title: str = ""
    seats: int | tuple[int, int] = 1  # how many, or the fewest and the most
    seat_names: tuple[str, ...] = ()
    pace: Pace = "step"
    """step: each action is a step · turns: ``to_move`` says who may act · rounds: everybody submits, then
    ``resolve`` · clock: it runs by itself through ``advance``. See ``World.pace`` where the config decides."""
    fog: bool = False  # True where hiding is the scenario's choice (partial_intel), not the rules'
    open_information: bool = False  # True where every seat sees everything, so members may change seats in a game
    quick: bool = False  # True promises that every call takes well under a millisecond
    tick_ms: int = 100  # pace clock: how long a tick takes at speed x1
    extension: str = ""  # a protocol that brings further commands and names to its rooms, as registered

    def __post_init__(self) -> None:
        fewest, most = self.seat_range
        if not self.name.replace("-", "_").isidentifier() or self.name != self.name.lower():
            raise ValueError(f"a world's name is lower-case letters, digits and underscores, not {self.name!r}")
        if not 0 <= fewest <= most:
            raise ValueError(f"seats must be a number, or (fewest, most), not {self.seats!r}")

    @property
    def seat_range(self) -> tuple[int, int]:
        return self.seats if isinstance(self.seats, tuple) else (self.seats, self.seats)


class Outcome(Struct, frozen=True, omit_defaults=True, gc=False):
    """What an action did. ``message`` is for the actor, ``public`` for everybody, ``told`` for whom it names."""

    message: str = ""
    public: str = ""
    told: tuple[Told, ...] = ()
    reward: float = 0.0
    achievements: tuple[str, ...] = ()
    data: Any = None  # of the type that the action `gives`, where it gives one


Body = Any
"""What somebody takes along from one world to another. Opaque to the room; plain values, so that it can be recorded."""


class Arrival(Struct, frozen=True, omit_defaults=True):
    """Somebody who takes a seat while the world runs."""

    name: str
    seat: SeatId | None = None  # the seat it asked for, if any
    body: Body = None  # what it brings along


class Standing(Struct, frozen=True, omit_defaults=True):
    """One line of the live score board. Public."""

    seat: SeatId
    name: str
    score: int
    alive: bool = True
    data: dict[str, Any] = {}


class World:
    """A world. Derive from it, set ``spec``, write ``reset``, ``to_move``, ``observe`` and actions."""

    spec: ClassVar[WorldSpec]
    view_schema: ClassVar[dict[str, Any] | None] = None  # JSON Schema of what ``observe`` puts into ``status``

    # -- every world has these ------------------------------------------------------------------
    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        """Set up a new game for these seats."""
        raise NotImplementedError

    def to_move(self) -> Sequence[SeatId]:
        """Who may act now: all seats where everyone may, nobody when it is over."""
        raise NotImplementedError

    def observe(self, eye: Eye) -> Observation:
        """What this eye sees."""
        raise NotImplementedError

    # -- and may have these ---------------------------------------------------------------------
    @property
    def pace(self) -> Pace:
        """How time passes, where that depends on the config. Fixed once the world has been made."""
        return self.spec.pace

    def actions(self) -> "Sequence[ActionSpec]":
        """The actions and queries of this world: by default the methods marked ``@action`` and ``@query``.

        A world may compute them from its config. They stay the same as long as the world exists."""
        return list(declared_actions(self))

    def returns(self) -> Mapping[SeatId, float]:
        """The total reward of each seat since ``reset``, in any pace. The room reports the differences as rewards,
        to each seat its own."""
        return {}

    def arrive(self, arrival: Arrival) -> Seat:
        """Somebody takes a seat while the world runs, perhaps one that opens for them: the seat, which ``seats_now``
        then lists. Raise ``GameRejected`` where nobody can."""
        raise NotImplementedError

    def depart(self, seat: Seat, mode: Literal["left", "removed"]) -> Body:
        """Somebody leaves its seat: what it takes along."""
        return None

    def seats_now(self) -> Sequence[Seat] | None:
        """The seats there are, where they open and close during a game; None: those of ``reset``."""
        return None

    def is_over(self) -> bool:
        """Is the game over? Where seats open and close, an empty ``to_move`` need not mean that."""
        return not self.to_move()

    def scope(self, by: Seat, action: str, args: Mapping[str, Any]) -> str | None:
        """Why ``by`` may not aim this action there, or None where it may. Gods are not asked about."""
        return None

    def advance(self, ticks: int) -> Sequence[Told]:
        """Pace clock: let time pass."""
        return ()

    def clock(self, paused: bool, speed: str) -> None:
        """Pace clock: the game was paused, resumed or given another speed; also called after ``reset``."""

    def resolve(self) -> Sequence[Told]:
        """Pace rounds: everybody has submitted, or time is up."""
        return ()

    def skip(self, seat: Seat) -> Outcome:
        """Pace turns: this seat ran out of time; do for it what the rules say."""
        raise NotImplementedError

    def goals(self, seat: Seat) -> Sequence[Goal]:
        """What this seat is trying to achieve."""
        return ()

    def legal(self, seat: Seat) -> Sequence[Action] | None:
        """The actions open to this seat now; None where they cannot be listed."""
        return None

    def standings(self) -> Sequence[Standing]:
        """The score board, best first."""
        return ()

    def picture(self, eye: Eye) -> bytes | None:
        """A PNG of what this eye sees."""
        return None

    def save(self) -> bytes:
        """What a named save holds. GameRejected where there is nothing to save now."""
        return self.snapshot()

    def load(self, data: bytes) -> None:
        """Load a save; raise before anything has changed where the data is not one."""
        self.restore(data)

    def snapshot(self) -> bytes:
        """The whole state. Worlds whose attributes are plain values need not write this."""
        return plain.dump(vars(self))

    def restore(self, data: bytes) -> None:
        """Become the world that ``snapshot`` described."""
        state = plain.load(data, vars(sys.modules[type(self).__module__]))
        self.__dict__.clear()
        self.__dict__.update(state)


def overrides(world: World, method: str) -> bool:
    """Does this world define the method itself?"""
    return getattr(type(world), method) is not getattr(World, method)


# -- actions and queries ----------------------------------------------------------------------------
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
    needs: tuple[str, ...] = ("act", "act_global")  # capabilities of which one is enough
    preconditions: tuple[str, ...] = ()
    needs_seat: bool = True  # False: also somebody without a seat (a god) may do it; ``run`` then gets None
    raw: bool = False
    result: Any = None  # the type of ``Outcome.data``, where the action answers with that rather than with a view


def action(
    *,
    preconditions: Sequence[str] = (),
    group: str = "action",
    category: Literal["action", "control"] = "action",
    needs: str | Sequence[str] = ("act", "act_global"),
    raw: bool = False,
    gives: Any = None,
    name: str = "",
) -> Callable[[Method], Method]:
    """Make a method an action: ``def take(self, by: Seat, n: Annotated[int, Range(1, 3)]) -> Outcome``.

    ``by`` is the acting seat, or None for a god (annotate ``Seat | None`` to allow that). ``needs`` names the
    capabilities of which one is enough. A ``raw`` action takes any arguments: its schema is only advice, and it
    validates them itself. ``group`` is its heading in the list of actions. An action that ``gives`` a type answers
    a call by its own name with that (``Outcome.data``) instead of an observation. ``name``: where the
    method itself cannot have the name.
    """
    return _mark(
        changes=True, preconditions=tuple(preconditions), group=group, category=category, needs=_tuple(needs), raw=raw,
        result=gives, name=name,
    )  # fmt: skip


def query(
    *,
    needs: str | Sequence[str] = "watch",
    category: Literal["read", "discovery", "control"] = "read",
    name: str = "",
) -> Callable[[Method], Method]:
    """Make a method a query: ``def heaps(self, eye: Eye) -> list[int]``. It changes nothing."""
    return _mark(changes=False, group="query", category=category, needs=_tuple(needs), name=name)


def Range(lo: int | None = None, hi: int | None = None, doc: str | None = None) -> Meta:  # noqa: N802 - reads as a type
    """Bounds of a number, both included: ``Annotated[int, Range(1, 3, "stones to take")]``."""
    return Meta(ge=lo, le=hi, description=doc)


def declared_actions(world: World) -> Iterator[ActionSpec]:
    """The methods of a world that are marked as actions and queries, in the order they are written."""
    seen: set[str] = set()
    for cls in type(world).__mro__:
        for attribute, method in vars(cls).items():
            mark = getattr(method, "__cohabit__", None)
            if mark is None or attribute in seen:
                continue
            seen.add(attribute)
            hints = get_type_hints(method)
            actor = next(iter(list(signature(method).parameters)[1:]), "")
            yield ActionSpec(
                **{**mark, "name": mark["name"] or attribute},
                run=getattr(world, attribute),
                needs_seat=mark["changes"] and hints.get(actor) is Seat,
            )


def _mark(**options: Any) -> Callable[[Method], Method]:
    def put(method: Method) -> Method:
        method.__cohabit__ = options  # type: ignore[attr-defined]  # functions take attributes
        return method

    return put


def _tuple(needs: str | Sequence[str]) -> tuple[str, ...]:
    return (needs,) if isinstance(needs, str) else tuple(needs)
