"""The contract of a world. Everything a game author needs to know is in this file.

A world is a class with a ``spec``, three methods it must have, and actions. It knows nothing of
members, tokens, networks, clocks or files; the room calls it, one call at a time:

* ``reset`` comes first, and again for a rematch. The same seed and the same calls give the same world,
  on any machine: draw from ``Stream(seed, "purpose")``, keep lists and dicts (never sets), read no clock.
* An action either returns an ``Outcome``, or raises ``GameRejected`` (or ``UnknownAsset``,
  ``OutOfBounds``, ``ScopeViolation``) *before it has changed anything*. Any other exception is a crash:
  the room goes back to where it was.
* ``observe``, queries and ``picture`` change nothing, however often they are called, and show only
  what the ``Eye`` may see: ``eye.seat`` or none, and ``eye.sees`` one of own, public, all.
"""

import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar

from msgspec import Meta, Struct

from cohabit.errors import GameRejected, OutOfBounds, ScopeViolation, UnknownAsset
from cohabit.model import plain
from cohabit.model.action import Action
from cohabit.model.observation import Goal, Observation
from cohabit.model.record import Told
from cohabit.model.seat import Eye, Seat, SeatId
from cohabit.model.stream import Stream

__all__ = [
    "Ask", "Eye", "GameRejected", "Observation", "OutOfBounds", "Outcome", "Plan", "Range", "RemoteWorld",
    "ScopeViolation", "Seat", "SeatId", "Sent", "Sight", "Standing", "Stream", "Told", "UnknownAsset", "World",
    "WorldSpec", "action", "query",
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
    """step: each action is a step · turns: ``to_move`` says who may act · rounds: all hand in, then
    ``resolve`` · clock: it runs by itself through ``advance``."""
    fog: bool = False  # True where hiding is the scenario's choice (partial_intel), not the rules'
    quick: bool = False  # True promises that every call takes well under a millisecond
    tick_ms: int = 100  # pace clock: how long a tick takes at speed x1
    tool_prefix: str = ""  # put before the names of actions and queries on MCP
    prefixed: tuple[str, ...] = ()  # commands of every room that get the prefix too
    bridge: bool = False  # its rooms answer the clients of the WorldBox bridge

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
        """Set the world up anew for these seats."""
        raise NotImplementedError

    def to_move(self) -> Sequence[SeatId]:
        """Who may act now: all seats where everyone may, nobody when it is over."""
        raise NotImplementedError

    def observe(self, eye: Eye) -> Observation:
        """What this eye sees."""
        raise NotImplementedError

    # -- and may have these ---------------------------------------------------------------------
    def seats_now(self) -> Sequence[Seat] | None:
        """The seats there are, where they come and go; None: those of ``reset``, for good."""
        return None

    def is_over(self) -> bool:
        """Has it come to its end? Where seats come and go, nobody to move need not mean that."""
        return not self.to_move()

    def scope(self, by: Seat, action: str, args: Mapping[str, Any]) -> str | None:
        """Why ``by`` may not aim this action there, or None where it may. Gods are not asked about."""
        return None

    def advance(self, ticks: int) -> Sequence[Told]:
        """Pace clock: let time pass."""
        return ()

    def clock(self, paused: bool, speed: str) -> None:
        """Pace clock: time was stopped, let go, or given another speed; also told after ``reset``."""

    def resolve(self) -> Sequence[Told]:
        """Pace rounds: everybody has handed in, or time is up."""
        return ()

    def skip(self, seat: Seat) -> Outcome:
        """Pace turns: this seat let its time run out; do for it what the rules say."""
        raise NotImplementedError

    def goals(self, seat: Seat) -> Sequence[Goal]:
        """What this seat is after."""
        return ()

    def legal(self, seat: Seat) -> Sequence[Action] | None:
        """The actions open to this seat now; None where they cannot be listed."""
        return None

    def standings(self) -> Sequence[Standing]:
        """How everybody stands, best first."""
        return ()

    def picture(self, eye: Eye) -> bytes | None:
        """A PNG of what this eye sees."""
        return None

    def save(self) -> bytes:
        """What a named save holds. GameRejected where there is nothing to save now."""
        return self.snapshot()

    def load(self, data: bytes) -> None:
        """Take up a save; where it is none, raise before anything has changed."""
        self.restore(data)

    def snapshot(self) -> bytes:
        """The whole state. Worlds whose attributes are plain values need not write this."""
        return plain.dump(vars(self))

    def restore(self, data: bytes) -> None:
        """Become the world that ``snapshot`` described."""
        state = plain.load(data, vars(sys.modules[type(self).__module__]))
        self.__dict__.clear()
        self.__dict__.update(state)


class Ask(Struct, frozen=True):
    """One question to a world that is elsewhere."""

    name: str
    args: dict[str, Any] = {}


Plan = Generator[Ask, dict[str, Any], Any]
"""Yields questions, is sent their answers (or has what went wrong raised in it), and returns what came of it."""


class Sent(Struct, frozen=True):
    """An action that has left for a world elsewhere, until its answer is on record."""

    by: str
    action: str
    seat: SeatId | None = None
    key: str | None = None
    digest: str = ""


class Sight(NamedTuple):
    """What a look at a world elsewhere brought; ``anew``: it is another world than before, so claims bind again."""

    told: Sequence[Told] = ()
    anew: bool = False


class RemoteWorld(World):
    """A world that is elsewhere: somebody else's game behind a wire, which answers late and as it likes.

    This is the part of it that a room can hold: what the record told of it, and nothing else. Its commands do
    not answer, they return a ``Plan``, and the house follows it. The plan of a query ends with the answer, as
    its eye may have it. The plan of an action asks what must be known first and raises where it may not be
    done; then the house sends the action on. Its answer comes back through the record, to ``answered``.
    """

    apart: ClassVar[bool] = False
    """Does each member have a place of its own there? Then actions of several members may be under way at once."""
    moving: ClassVar[tuple[str, ...]] = ()
    """Actions after which it is worth looking at once."""
    way: ClassVar[str] = "start it with the way there"
    """How a house is told where this world is, for whoever finds it without."""

    about: dict[str, str]  # versions, as the other side tells them
    reachable: bool
    under_way: Sent | None  # kept by the room, here, so that it survives with the rest of the state

    def left(self, sent: Sent) -> None:
        """An action is on its way."""
        self.under_way = sent

    def came_back(self, by: str | None) -> Sent:
        """It is answered: the one that was on its way (``by`` says whose, where there may be several)."""
        sent, self.under_way = self.under_way, None
        assert sent is not None
        return sent

    def out(self) -> Sequence[Sent]:
        """What is on its way now."""
        return [self.under_way] if self.under_way is not None else []

    def kept(self, sent: Ask, answer: Mapping[str, Any]) -> dict[str, Any]:
        """What of an answer goes on record: it is what ``answered`` gets, now and in every replay."""
        return dict(answer)

    def look(self) -> Plan:
        """Asked for every few seconds: what ``seen`` is to be told, or None where nothing has changed."""
        raise NotImplementedError

    def seen(self, what: Mapping[str, Any]) -> Sight:
        """Something has changed over there."""
        raise NotImplementedError

    def answered(self, sent: Sent, answer: Mapping[str, Any]) -> Outcome:
        """An action was done over there, and this is the answer."""
        raise NotImplementedError


def overrides(world: World, method: str) -> bool:
    """Does this world say something of its own here?"""
    return getattr(type(world), method) is not getattr(World, method)


def action(
    *,
    preconditions: Sequence[str] = (),
    group: str = "action",
    category: Literal["action", "control"] = "action",
    needs: str | Sequence[str] = ("act", "act_global"),
    raw: bool = False,
    gives: type | None = None,
    name: str = "",
) -> Callable[[Method], Method]:
    """Make a method an action: ``def take(self, by: Seat, n: Annotated[int, Range(1, 3)]) -> Outcome``.

    ``by`` is the acting seat, or None for a god (say ``Seat | None`` to allow that). ``needs`` names the
    capabilities of which one is enough. A ``raw`` action takes whatever it is handed: its schema is
    advice, and it answers for itself. ``group`` is the heading it stands under in the action space. An action
    that ``gives`` a type answers whoever calls it by its name with that (``Outcome.data``), not with a view.
    ``name``: where the method itself cannot be called that.
    """
    return _mark("action", preconditions, group, category, needs, raw, gives, name)


def query(
    *,
    needs: str | Sequence[str] = "watch",
    category: Literal["read", "discovery", "control"] = "read",
    name: str = "",
) -> Callable[[Method], Method]:
    """Make a method a question: ``def heaps(self, eye: Eye) -> list[int]``. It changes nothing."""
    return _mark("query", (), "query", category, needs, False, None, name)


def Range(lo: int | None = None, hi: int | None = None, doc: str | None = None) -> Meta:  # noqa: N802 - reads as a type
    """Bounds of a number, both included: ``Annotated[int, Range(1, 3, "stones to take")]``."""
    return Meta(ge=lo, le=hi, description=doc)


class Mark(Struct, frozen=True):
    """What ``@action`` and ``@query`` leave on a method; the room's command table reads it."""

    what: Literal["action", "query"]
    preconditions: tuple[str, ...]
    group: str
    category: str
    needs: tuple[str, ...]
    raw: bool
    gives: type | None
    name: str


def _mark(
    what: Literal["action", "query"],
    preconditions: Sequence[str],
    group: str,
    category: str,
    needs: str | Sequence[str],
    raw: bool,
    gives: type | None,
    name: str,
) -> Callable[[Method], Method]:
    held = (needs,) if isinstance(needs, str) else tuple(needs)
    mark = Mark(what, tuple(preconditions), group, category, held, raw, gives, name)

    def put(method: Method) -> Method:
        method.__cohabit__ = mark  # type: ignore[attr-defined]  # functions take attributes
        return method

    return put
