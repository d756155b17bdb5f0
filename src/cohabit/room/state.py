"""The state of a room, apart from its world: plain values, so that a snapshot is one encode."""

from typing import Any, Literal

from msgspec import Struct, field

from cohabit.model.grant import ROLES, Capability, Grant
from cohabit.model.message import Message
from cohabit.model.seat import Seat, SeatId

Kind = Literal["human", "agent"]
KIND_ROLE: dict[str, str] = {"human": "human", "agent": "agent"}
"""Who comes without a role gets the one of its kind: a person is full in its seat, an agent watches."""


class Member(Struct, omit_defaults=True):
    """Someone in a room. Kind, role and claim come from the credential, never from the member."""

    id: str
    kind: Kind = "agent"
    role: str | None = None
    claim: str | None = None
    seat: SeatId | None = None
    override: Grant | None = None
    lent: bool = False  # when the override ends, what was before it comes back
    before: Grant | None = None
    team: str | None = None
    objectives: list[dict[str, Any]] = []
    backend: str | None = None  # the model this agent says it thinks with: shown, never enforced
    stand_in: str | None = None  # the brain that plays the seat while its player is away
    here: bool = False
    away_since: int | None = None
    played_by_bot: bool = False
    house: bool = False  # an identity that the house knows; others have a token that is bound to this room

    @property
    def held(self) -> frozenset[Capability]:
        """The capabilities in force: the host's override, else the role, else the default of the kind."""
        if self.override is not None:
            return frozenset(self.override.may)
        return ROLES[self.role or KIND_ROLE[self.kind]]

    @property
    def role_name(self) -> str:
        return self.role or KIND_ROLE[self.kind]


class Inbox(Struct):
    """What was delivered to one member: the newest, and the numbers of those that fell out."""

    items: list[Message] = []
    dropped: list[int] = []


class KeptReply(Struct, omit_defaults=True):
    """The answer to a call that carried an idempotency key."""

    do: str
    args: str  # a digest: the same key with other arguments is a mistake
    result: Any = None
    unknown: bool = False  # it was sent to a world elsewhere, and what came of it is not known


class RoomState(Struct):
    """Everything about a room that is not its world."""

    id: str
    source: str  # where the world comes from: a name or a file
    world: str
    version: int
    config: dict[str, Any]
    seed: int
    secret: str  # seals cursors
    scenario: str = "sandbox"
    partial_intel: bool = False
    guests: bool = False  # may identities of this house come in to watch?
    members: dict[str, Member] = {}
    teams: dict[str, list[str]] = {}
    seats: list[Seat] = []
    seats_ever: list[SeatId] = []
    games: int = 1
    archived: bool = False
    legacy: bool = False
    # turns
    turn_based: bool = False
    turn_order: list[str] = []
    turn_index: int = 0
    turn_started: int = 0
    turn_ms: int | None = None
    ticks_per_turn: int = 0
    waiting_for: list[SeatId] = []  # pace turns: whom the clock below runs against
    # time
    paused: bool = False
    paused_by: str | None = None
    paused_at: int = 0
    pause_until: int | None = None
    pause_grace_ms: int = 30_000
    stand_in_ms: int = 30_000
    rematch_ms: int | None = None
    over_since: int | None = None  # when the game came to its end
    speed: str = "x1"
    tick: int = 0
    # the bus
    bus_seq: int = 0
    inboxes: dict[str, Inbox] = field(default_factory=dict)
    replies: dict[str, dict[str, KeptReply]] = field(default_factory=dict)
