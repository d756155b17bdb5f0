"""State of bodies: the avatars of the current game, and the careers of the agents that controlled them."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from cohabit.model.avatar import AvatarState
from cohabit.model.seat import SeatId
from cohabit.room.slices import Slice
from cohabit.room.state import RoomState


class OwnedAvatar(Struct):
    """A body in the world, and whose it is. The world keeps what the body is like."""

    id: str
    owner: str  # an identity; a member's id if it has none
    name: str
    state: AvatarState = AvatarState.UNBOUND
    seat: SeatId = ""  # of its body; empty: it has none yet
    by: str | None = None  # the member that controls it
    appearance: dict[str, Any] = {}
    spawn: str = "safe"
    bonuses: dict[str, float] = {}  # that it was made with
    created_at: int = 0
    last_active: int = 0
    playtime_ms: int = 0
    deaths: int = 0
    despawned: bool = False
    left_as: str = ""  # how its agent left it: a mode of ``depart``
    # Since its agent jacked in:
    bound_at: int = 0
    actions: int = 0
    deeds_before: dict[str, int] = {}
    reward_before: float = 0.0
    deaths_before: int = 0


class Career(Struct, omit_defaults=True):
    """The totals of an agent's bodies in this room, in sessions that have ended."""

    playtime_ms: int = 0
    reward: float = 0.0
    deaths: int = 0
    deeds: dict[str, int] = {}
    avatar: str = ""  # the one that it controlled last

    def add(self, playtime_ms: int, reward: float, deaths: int, deeds: Mapping[str, int]) -> None:
        """A session has ended."""
        self.playtime_ms += playtime_ms
        self.reward += reward
        self.deaths += deaths
        for name, count in deeds.items():
            self.deeds[name] = self.deeds.get(name, 0) + count

    def since(self, before: "Career") -> "Career":
        """The difference between this career and an earlier state of it."""
        deeds = {name: count - before.deeds.get(name, 0) for name, count in self.deeds.items()}
        return Career(
            self.playtime_ms - before.playtime_ms,
            self.reward - before.reward,
            self.deaths - before.deaths,
            {name: count for name, count in deeds.items() if count},
            self.avatar,
        )


class Bodies(Struct, omit_defaults=True):
    avatars: dict[str, OwnedAvatar] = {}  # by id
    made: int = 0  # avatars, ever
    careers: dict[str, Career] = {}  # by owner
    # Absent players; see ``sleep``:
    sleep_ms: int = 0  # of rounds missed, or away, before a body sleeps; 0: never
    asleep: list[str] = []  # ids of the members whose bodies sleep
    has_choice: bool = False  # somebody has chosen in this round
    missed: dict[str, int] = {}  # by member: its timeouts that do not count any more


BODIES = Slice("bodies", Bodies)


def avatars_in(state: RoomState) -> dict[str, OwnedAvatar]:
    """The avatars of the current game, by id."""
    return BODIES.read(state).avatars


def career_of(state: RoomState, owner: str) -> Career:
    return BODIES.read(state).careers.get(owner) or Career()
