"""The state of a room, apart from its world: plain values, so that a snapshot is one encode."""

from functools import cached_property
from typing import Any

from msgspec import Struct, field

from cohabit.model.grant import ROLES, Capability, Layer, fold
from cohabit.model.identity import Kind
from cohabit.model.message import Message
from cohabit.model.seat import Seat, SeatId

KIND_ROLE: dict[str, str] = {"human": "human", "agent": "agent"}
"""A member without a role gets the role of its kind: a person plays its seat, an agent watches."""
AGAIN = "#"
"""Follows the handle in the id of a member whose handle somebody else had before."""


class Member(Struct, omit_defaults=True, dict=True):
    """An identity in a room. Kind, role and claim come with the membership, never from the client.

    ``id`` is unique in this room for all time; it is what the record holds. The *handle*, unique among those who
    are members now, is how others address it. ``name`` is only shown, and may repeat.
    """

    id: str
    kind: Kind = "agent"
    role: str | None = None
    claim: str | None = None
    seat: SeatId | None = None
    identity: str = ""
    name: str = ""
    layers: list[Layer] = []
    through: SeatId | None = None  # looks through this seat instead of its own …
    through_player: str | None = None  # … as long as this member, who was told of it, plays there
    team: str | None = None
    objectives: list[dict[str, Any]] = []
    backend: str | None = None  # the model that this agent says it uses: shown, never enforced
    stand_in: str | None = None  # the brain that plays the seat while its player is away
    here: bool = False
    away_since: int | None = None
    played_by_bot: bool = False

    @property
    def handle(self) -> str:
        return handle_of(self.id)

    @cached_property
    def held(self) -> frozenset[Capability]:
        """The capabilities in force: (role ∪ additions) ∩ limits. Every call asks for them, so they are kept."""
        return fold(self.role_grant, self.layers)

    def set_layers(self, layers: list[Layer]) -> None:
        """Hold what these layers give."""
        self.layers = layers
        vars(self).pop("held", None)

    @property
    def role_grant(self) -> frozenset[Capability]:
        return ROLES[self.role or KIND_ROLE[self.kind]]

    @property
    def role_name(self) -> str:
        return self.role or KIND_ROLE[self.kind]


def handle_of(member_id: str) -> str:
    """How a member is addressed, also one who has left."""
    return member_id.partition(AGAIN)[0]


class Inbox(Struct):
    """What was delivered to one member: the newest, and the numbers of those that were dropped."""

    items: list[Message] = []
    dropped: list[int] = []


class KeptReply(Struct, omit_defaults=True):
    """The reply to a call that carried an idempotency key."""

    do: str
    args: str  # a digest: the same key with other arguments is a mistake
    result: Any = None
    unknown: bool = False  # it was sent to a remote world, and its outcome is not known


class RoomState(Struct):
    """Everything about a room that is not its world."""

    id: str
    source: str  # where the world comes from: a name or a file
    world: str
    version: int
    config: dict[str, Any]
    seed: str  # 128 bits, as 32 hexadecimal digits
    secret: str  # seals cursors
    scenario: str = "sandbox"
    partial_intel: bool = False
    guests: bool = False  # may identities of this house join without an invite?
    members: dict[str, Member] = {}
    handles_used: dict[str, int] = {}  # how many members have had each handle
    teams: dict[str, list[str]] = {}
    seats: list[Seat] = []
    seats_ever: list[SeatId] = []
    game: str = ""  # which secrets the current game has: a digest of the seed it began with
    played: dict[str, SeatId] = {}  # by identity: the seat it took in the current game
    played_before: dict[str, dict[str, SeatId]] = {}  # the same of earlier games, which a save can bring back
    returns: dict[SeatId, float] = {}  # the total reward of each seat, as last reported
    games: int = 1
    archived: bool = False
    # turns
    turn_based: bool = False
    turn_order: list[str] = []
    turn_index: int = 0
    turn_started: int = 0
    turn_ms: int | None = None
    ticks_per_turn: int = 0
    waiting_for: list[SeatId] = []  # pace turns: the seats whose time is running
    # time
    paused: bool = False
    paused_by: str | None = None
    paused_at: int = 0
    pause_until: int | None = None
    pause_grace_ms: int = 30_000
    stand_in_ms: int = 30_000
    rematch_ms: int | None = None
    over_since: int | None = None  # when the game ended
    speed: str = "x1"
    tick: int = 0
    # the bus
    bus_seq: int = 0
    inboxes: dict[str, Inbox] = field(default_factory=dict)
    replies: dict[str, dict[str, KeptReply]] = field(default_factory=dict)

    def with_handle(self, handle: str) -> Member | None:
        """The member who is addressed like this."""
        member = self.members.get(handle)
        if member is not None:
            return member
        used = self.handles_used.get(handle, 0)
        return self.members.get(f"{handle}{AGAIN}{used}") if used > 1 else None

    def new_member_id(self, handle: str) -> str:
        """The id for a new member with this handle: nobody in this room has had it before."""
        used = self.handles_used.get(handle, 0) + 1
        self.handles_used[handle] = used
        return handle if used == 1 else f"{handle}{AGAIN}{used}"

    def free_handle(self, wanted: str) -> str:
        """The handle nearest to the wanted one that no present member has."""
        handle, number = wanted, 1
        while self.with_handle(handle) is not None:
            number += 1
            handle = f"{wanted[:56]}-{number}"
        return handle


def seed_hex(seed: int) -> str:
    """A seed as it is written: 32 hexadecimal digits."""
    return f"{seed:032x}"
