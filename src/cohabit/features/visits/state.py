"""The state of visits in a room: visitors through the Nexus, those on the way back, and the entry for new ones."""

from msgspec import Struct, field

from cohabit.features.bodies.state import Career, career_of
from cohabit.model.travel import Difficulty, Entering, ExitPackage
from cohabit.room.slices import Slice
from cohabit.room.state import RoomState


class NexusEntry(Struct, frozen=True):
    """The rules by which this room receives agents from the Nexus."""

    role: str = "player"
    capacity: int = 64  # visitors at the same time
    description: str = ""
    maintenance: bool = False  # no new visitors for now


class Visit(Struct, omit_defaults=True):
    """A member that came through the Nexus."""

    ticket: str
    since: int
    goals: tuple[str, ...] = ()
    memories: tuple[str, ...] = ()
    bonuses: dict[str, float] = {}
    entering: tuple[Entering, ...] = ()  # the items that it brought along
    items: dict[str, int] = {}  # what its body could take of those
    admitted: bool = False  # it became a member by this visit, and is none after it
    steps: int = 0  # its actions; in rounds, the rounds in which it chose one
    has_chosen: bool = False  # in this round, with this body or another
    before: Career = field(default_factory=Career)  # what the agent had done with its bodies when it came
    difficulty: Difficulty = "normal"
    damage: float = 1.0  # how much of the usual damage its bodies take
    # The conditions that end it; see ``ends``:
    max_steps: int | None = None
    conditions: tuple[str, ...] = ()  # those that the room evaluates
    until: int | None = None  # ms
    goals_reached: int = 0  # meta-goals, during this visit
    ends: str = ""  # the reason, as soon as there is one


class Visits(Struct, omit_defaults=True):
    visits: dict[str, Visit] = {}  # by identity: who came through the Nexus
    due: list[str] = []  # identities whose visits end now
    tickets: dict[str, str] = {}  # identity to the last ticket that brought it here
    leaving: dict[str, ExitPackage] = {}  # by ticket: packages that the Nexus has not confirmed yet
    nexus: NexusEntry | None = None  # None: agents cannot come here through the Nexus


VISITS = Slice("visits", Visits)


def visit_of(state: RoomState, identity: str) -> Visit | None:
    return VISITS.read(state).visits.get(identity)


def done_in(state: RoomState, identity: str, visit: Visit) -> Career:
    """The totals of an agent in its visit, in sessions that have ended."""
    return career_of(state, identity).since(visit.before)


def is_leaving(state: RoomState, identity: str) -> bool:
    """True if the visit of this identity is over, and the Nexus does not know that yet."""
    return bool(identity) and any(one.identity == identity for one in VISITS.read(state).leaving.values())


def has_only_to_leave(state: RoomState, identity: str) -> bool:
    """True if this identity came for a visit that is over. It is a member until the Nexus has confirmed that."""
    kept = VISITS.read(state)
    if identity in kept.visits:
        return False
    return any(package.admitted and package.identity == identity for package in kept.leaving.values())
