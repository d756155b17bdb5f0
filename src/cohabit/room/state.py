"""The state of a room without its world: plain values, so a snapshot is one encode."""

from typing import Any

from msgspec import Struct, field

from cohabit.errors import UnknownAsset
from cohabit.model.admission import BY_INVITATION, EntryPolicy, Knock
from cohabit.model.cached import cached_value
from cohabit.model.grant import PERCEIVE, ROLES, Capability, Layer, fold, role_or_default
from cohabit.model.identity import Kind
from cohabit.model.seat import Seat, SeatId
from cohabit.model.suggest import nearest

HANDLE_SEPARATOR = "#"
"""Separates handle and number in the id of a member with a reused handle (ada#2)."""
ALL_PERCEPTION = frozenset(PERCEIVE)
HIDDEN_BRAIN = "bot"
"""Shown instead of the name of a brain, if the scenario hides it."""


class Member(Struct, omit_defaults=True, dict=True):
    """An identity in a room. Kind, role and claim come with the membership, never from the client.

    ``id`` is never reused in this room; the record refers to it. The *handle*, unique among the current members, is its
    address. ``name`` is for display and need not be unique.
    """

    id: str
    kind: Kind = "agent"
    role: str | None = None
    claim: str | None = None
    seat: SeatId | None = None
    identity: str = ""
    name: str = ""
    layers: list[Layer] = []
    given: list[Layer] = []  # the layers that it joined with, from an invite or a key
    through: SeatId | None = None  # sees what this seat sees instead of its own
    through_player: str | None = None  # the notified player of that seat; it looks through only while that one plays
    team: str | None = None
    objectives: list[dict[str, Any]] = []
    backend: str | None = None  # the model that this agent says it uses
    egress: bool = False  # it sends what it sees outside the house, by its own account; a backend implies that
    withheld: str = ""  # why it perceives nothing, although its grant allows it
    features: list[str] = []  # features its client claims to support
    stand_in: str | None = None  # the brain that plays the seat while its player is away
    stand_in_since: int | None = None  # when it took over from the player
    gives_way: bool = False  # while a bot plays its seat, a member without one may take it
    here: bool = False
    away_since: int | None = None
    played_by_bot: bool = False
    moves_by_bot: int = 0  # moves that a stand-in made for it since its own last one
    timeouts: int = 0  # how often its time has run out since its own last move
    handed_over: bool = False  # the member lets the bot play although it is connected

    invite: str | None = None  # the id of the invite that it joined with
    slices: dict[str, Any] = {}  # what features keep of it, by their names

    @property
    def is_replaced(self) -> bool:
        """An agent plays because the member was away, until it is back."""
        return self.played_by_bot and not self.handed_over

    @property
    def is_watched(self) -> bool:
        """It is here, but only watches while the agent plays; see ``presence``."""
        return self.here and self.is_replaced

    def end_stand_in(self) -> None:
        """The member plays itself."""
        self.played_by_bot, self.handed_over, self.stand_in_since = False, False, None

    @property
    def handle(self) -> str:
        return handle_of(self.id)

    @cached_value
    def held(self) -> frozenset[Capability]:
        """The capabilities in force: (role ∪ additions) ∩ limits. Cached, because every call reads it."""
        held = fold(self.role_grant, self.layers)
        return held - ALL_PERCEPTION if self.withheld else held

    def set_layers(self, layers: list[Layer]) -> None:
        """Replace the layers and drop the cached capabilities."""
        self.layers = layers
        vars(self).pop("held", None)

    def withhold(self, why: str) -> None:
        """Withhold all perception for this reason, or without one give it back, and drop the cached capabilities."""
        self.withheld = why
        vars(self).pop("held", None)

    def has_moved(self) -> None:
        """Count a move of a stand-in; a move of the member itself, or of the bot that plays for it from the start, ends
        the count."""
        if self.played_by_bot and self.stand_in_since is not None:
            self.moves_by_bot += 1
        elif self.moves_by_bot or self.timeouts:
            self.moves_by_bot = self.timeouts = 0

    @property
    def role_grant(self) -> frozenset[Capability]:
        return ROLES[self.role_name]

    @property
    def role_name(self) -> str:
        return role_or_default(self.role, self.kind)


def handle_of(member_id: str) -> str:
    """The handle of a member, including one who has left."""
    return member_id.partition(HANDLE_SEPARATOR)[0]


class KeptLimits(Struct):
    """The limits of a member that has left. They apply again when the same identity joins."""

    member: str  # the id that it had
    role: str
    given: list[Layer]  # that it joined with
    limits: list[Layer]

    @property
    def lost(self) -> frozenset[Capability]:
        """The capabilities that it joined with and the limits do not allow."""
        had = fold(ROLES[self.role], self.given)
        return had - fold(had, self.limits)


class KeptReply(Struct, omit_defaults=True):
    """The reply to a call that carried an idempotency key."""

    do: str
    args: str  # digest of the arguments, to detect reuse of the key for another call
    result: Any = None
    unknown: bool = False  # it was sent to a remote world and its outcome is unknown
    earlier: bool = False  # it belongs to an earlier game of the room


FORMAT = 2
"""The format of records."""


class RoomState(Struct, omit_defaults=True):
    """The state of a room, without its world.

    Fields with default values are not stored and not part of the digest, so a new field must have a default that means
    what older rooms did. Then their records still replay. Any other change needs a new ``FORMAT``.
    """

    id: str
    source: str  # a world name or the path of a world file
    world: str
    version: int
    config: dict[str, Any]
    seed: str  # 128 bits, as 32 hexadecimal digits
    secret: str  # encrypts cursors and derives rematch seeds
    scenario: str = "sandbox"
    partial_intel: bool = False
    guests: bool = False  # whether identities of this house may join without an invite
    members: dict[str, Member] = {}
    handles_used: dict[str, int] = {}  # how many members have had each handle
    teams: dict[str, list[str]] = {}
    seats: list[Seat] = []
    seats_ever: list[SeatId] = []
    game: str = ""  # a digest of the seed that the current game began with: the same seed has the same secrets
    played: dict[str, SeatId] = {}  # identity to the seat it took in the current game
    played_before: dict[str, dict[str, SeatId]] = {}  # the same of earlier games, which a save can bring back
    returns: dict[SeatId, float] = {}  # the total reward of each seat, as last reported
    games: int = 1
    last_result: str = ""  # the standings at the end of the game before, if it was played to its end
    archived: bool = False
    archived_at: int = 0  # not part of digests
    # turns
    turn_based: bool = False
    turn_order: list[str] = []
    turn_index: int = 0
    turn_started: int = 0
    turn_ms: int | None = None
    ticks_per_turn: int = 0
    step_ticks: int = 0  # a stepped clock: ticks per step; 0: real time
    passed: list[str] = []  # ids of the members who have passed in this step
    waiting_for: list[SeatId] = []  # pace turns: the seats whose time is running
    # time
    paused: bool = False
    paused_by: str | None = None
    paused_at: int = 0
    stand_in_ms: int = 30_000
    hide_brains: bool = False
    rematch_ms: int | None = None
    over_since: int | None = None  # when the game ended
    speed: str = "x1"
    tick: int = 0
    audited: int = 0  # the newest refusal that is in the record
    refusals_from: int = 0  # when the oldest was made that the house has not deleted
    replies: dict[str, dict[str, KeptReply]] = field(default_factory=dict)
    # entry
    entry: EntryPolicy | None = None  # None: by invitation
    knocks: dict[str, Knock] = {}  # by id
    blocked: dict[str, str] = {}  # identities that may not join again, and the ids of the members that they were
    limited: dict[str, KeptLimits] = {}  # identities that left while a host had limited them
    former: list[str] = []  # identities that left by themselves and may join again without waiting
    format: int = 0
    # features
    features: list[str] = []  # their names, in order
    slices: dict[str, Any] = {}  # what they keep, by their names

    @property
    def entry_policy(self) -> EntryPolicy:
        return self.entry or BY_INVITATION

    def knock_of(self, identity: str) -> Knock | None:
        """The knock of this identity, if it waits or was denied."""
        return next((knock for knock in self.knocks.values() if knock.identity == identity), None)

    @property
    def turn_holder(self) -> str | None:
        """The id of the member whose turn it is, in a turn-based room."""
        return self.turn_order[self.turn_index] if self.turn_order else None

    @property
    def players(self) -> dict[SeatId, str]:
        """The handles of the members who hold seats."""
        return {m.seat: m.handle for m in self.members.values() if m.seat is not None}

    def with_handle(self, handle: str) -> Member | None:
        """The member with this handle, if any."""
        return self.members.get(handle) or self.members.get(
            f"{handle}{HANDLE_SEPARATOR}{self.handles_used.get(handle)}"
        )

    def require_member(self, handle: str, asker: Member | None = None) -> Member:
        """The member with this handle, or UNKNOWN_ASSET with similar handles, unless ``asker`` may not know them."""
        member = self.with_handle(handle)
        if member is None:
            may_know = asker is None or Capability.READ_ROSTER in asker.held
            known = [m.handle for m in self.members.values()] if may_know else []
            raise UnknownAsset(f"unknown member {handle[:80]!r}", did_you_mean=nearest(handle[:80], known, 3))
        return member

    def new_member_id(self, handle: str) -> str:
        """A new, never used id for a member with this handle."""
        used = self.handles_used.get(handle, 0) + 1
        self.handles_used[handle] = used
        return handle if used == 1 else f"{handle}{HANDLE_SEPARATOR}{used}"
