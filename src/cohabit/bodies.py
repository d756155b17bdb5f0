"""The contract of worlds whose seats are bodies: avatars that agents jack into and out of.

A seat of such a world is one body. A body outlives a visit: it can stay in the world asleep, be taken out of it until
its agent returns, be removed, die and respawn. The room keeps the avatars (``features/bodies/``): whose body it is, its
state, playtime and deaths. The world keeps the bodies, and answers for every seat that ``arrive`` has returned since
``reset``, also for those that are closed now.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

from msgspec import Struct

from cohabit.model.avatar import RespawnOption, Stance, check_share
from cohabit.model.seat import Seat, SeatId
from cohabit.model.travel import Travel
from cohabit.world import Arrival, Outcome, World

DepartMode = Literal["left", "removed", "dormant", "suspend", "despawn"]


class Death(Struct, frozen=True, omit_defaults=True):
    """The death of a body."""

    # combat, fall, drowning, starvation, dehydration, poison, fire, cold, radiation, explosion, environmental, script
    cause: str
    killer: str | None = None
    items_dropped: dict[str, int] = {}


class BodyState(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The state of a body. It is shown to the agent whose body it is, and to those who see everything."""

    position: tuple[float, ...] = ()
    health: float = 100.0
    max_health: float = 100.0
    inventory: dict[str, int] = {}
    equipment: dict[str, str] = {}
    facing: str = ""
    stance: str = "standing"  # one of ``model.avatar.STANCES``, or another one that only the world gives: falling
    grounded: bool = True
    velocity: tuple[float, ...] = ()
    vision_range: float | None = None
    vision_cone: float = 360.0
    hearing_range: float | None = None  # None: nothing can be heard
    injuries: tuple[str, ...] = ()  # what is wrong with it: poisoned, starving
    fatigue: float | None = None  # from 0, rested, to 1; None: the world has no fatigue
    encumbrance: float | None = None  # from 0 to 1, as much as it can carry; None: the world has no weights
    unsafe: str = ""  # why it cannot be left now: "you are falling"; empty: it can
    death: Death | None = None  # None: it lives
    respawn_options: tuple[RespawnOption, ...] = ()  # of a dead body
    respawn_point: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        check_share("fatigue", self.fatigue)
        check_share("encumbrance", self.encumbrance)


class EmbodiedWorld(World):
    """A world whose seats are bodies. Write ``arrive``, ``depart`` and ``seats_now`` too, as in any world that players
    join while it runs:

    * ``arrive`` with ``arrival.returns`` wakes the body of that seat, dormant or suspended; otherwise it makes a new
      one, with ``arrival.bonuses``.
    * ``depart`` has these modes. ``dormant``: the body stays in the world asleep, and can be hurt. ``suspend``,
      ``left``, ``removed``: it is out of the world until its agent returns. ``despawn``: it is gone, with what
      it carries. In any case its seat closes.
    * A dead body keeps its seat until its agent leaves or respawns.
    """

    travel: ClassVar[Travel] = Travel()
    avatars_per_agent: ClassVar[int] = 3
    respawns: bool = True
    """True if the dead can come back. With it, an agent whose body is dead and has ``respawn_options`` gets no new one
    until it has come back by one of them. Without it every agent has one body in a game, however it comes."""
    turning_takes_time: ClassVar[bool] = False
    """True if turning the body is up to the actions of the world. Then nobody turns it with the command `look`."""
    stances: ClassVar[tuple[Stance, ...]] = ()
    """The stances that a body can take at will. Without any, rooms do not have the command `stance`."""

    def body(self, seat: SeatId) -> BodyState:
        """The body of this seat. Changes nothing."""
        raise NotImplementedError

    def arrive(self, arrival: Arrival) -> Seat:
        raise NotImplementedError

    def why_not_arrive(self, arrival: Arrival, leaves: SeatId | None = None) -> str:
        """The reason why ``arrive`` would refuse this now; empty if it would not, or if the world cannot tell.
        ``leaves``: a body that the same agent leaves first. The room asks before a `transfer`, because undoing one
        is slow. Changes nothing."""
        return ""

    def depart(self, seat: Seat, mode: DepartMode) -> None:
        raise NotImplementedError

    def is_alive(self, seat: SeatId) -> bool:
        """True if the body of this seat lives. Asked after every entry, so it should be quick."""
        return self.body(seat).death is None

    def respawn(self, seat: Seat, option: str) -> Outcome:
        """Bring a dead body back to life by one of its ``respawn_options``. Raise ``GameRejected`` if that is not
        possible, for example because the cost cannot be paid."""
        raise NotImplementedError

    def put_items(self, seat: SeatId, item: str, count: int) -> int:
        """Put items into the inventory of a body. Returns how many of them it could take."""
        return 0

    def take_items(self, seat: SeatId, item: str, count: int) -> int:
        """Take items out of the inventory of a body. Returns how many of them it had."""
        return 0

    def deeds(self, seat: SeatId) -> Mapping[str, int]:
        """The number of times that this body has done each deed since it was made. Numbers never fall.
        ``travel.lessons`` says what deeds teach; others are only counted. The names of achievements begin with
        ``achievement:``."""
        return {}

    def turn_to(self, seat: Seat, target: str) -> Outcome:
        """Turn the body to a direction or to something near it. Raise ``GameRejected`` if there is no such thing."""
        raise NotImplementedError

    def express(self, seat: Seat, emote: str) -> None:
        """The body expresses this; the room tells those who can see it."""

    # -- optional: senses, stances and equipment -----------------------------------------------------
    def hears(self, seat: SeatId) -> Sequence[str]:
        """The things that the body hears and does not see, with a direction: ``crawler left``. It may tell no more
        of hidden things than the rules of the world let everybody know who is as near to them."""
        return ()

    def blocked_actions(self, seat: Seat) -> Mapping[str, str]:
        """The declared actions that this body cannot do now, whatever their parameters, each with a short reason. It
        depends only on what the body sees and has. Turns and permissions are up to the room."""
        return {}

    def take_stance(self, seat: Seat, stance: Stance) -> Outcome:
        """Take one of ``stances``. Raise ``GameRejected`` if that is not possible now. It takes no time."""
        raise NotImplementedError

    def wear(self, seat: Seat, item: str) -> Outcome:
        """Equip an item that the body carries: the command `equip`, which rooms do not have if this is not written. A
        world in which that takes a turn has an action of that name instead; the same for `unequip`."""
        raise NotImplementedError

    def take_off(self, seat: Seat, slot: str) -> Outcome:
        """Put away what is in a slot, or the item of that name: the command `unequip`."""
        raise NotImplementedError

    def witnesses(self, seat: SeatId) -> tuple[SeatId, ...]:
        """The seats whose bodies see this one: who is told of its emotes."""
        return ()


def writes(world: type[World], method: str) -> bool:
    """True if this is a world with bodies that has written an optional method itself."""
    return issubclass(world, EmbodiedWorld) and getattr(world, method) is not getattr(EmbodiedWorld, method)
