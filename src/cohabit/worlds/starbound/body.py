"""A player's body: where it is, how it is, and what it has."""

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from cohabit.model.observation import EventType
from cohabit.worlds.starbound.items import FISTS, ITEM, limit
from cohabit.worlds.starbound.planets import HOME

Presence = Literal["awake", "dormant", "suspended", "gone"]
MAX_VITAL = 100
MAX_BREATH = 12
MAX_EVENTS = 8
Count = Annotated[int, Meta(ge=0, le=1 << 40)]
Vital = Annotated[int, Meta(ge=0, le=1000)]


class Failed(Exception):
    """Why an action of a body does nothing now. It is raised before anything has changed, and the body is told."""


class Fate(Struct, forbid_unknown_fields=True):
    """The circumstances of a body's death."""

    cause: str
    killer: str | None
    dropped: dict[str, Count]
    step: Count
    place: str
    x: int
    y: int


class Body(Struct, forbid_unknown_fields=True):
    """One body. Its number is its seat, counted from 1."""

    number: Annotated[int, Meta(ge=1)]
    name: str
    x: int
    y: int
    place: str = HOME  # a planet, or "ship"
    orbit: str = HOME  # where its ship is
    presence: Presence = "awake"
    facing: Literal[-1, 1] = 1
    health: Vital = MAX_VITAL
    max_health: Annotated[int, Meta(ge=1, le=1000)] = MAX_VITAL
    energy: Vital = MAX_VITAL
    food: Vital = MAX_VITAL
    breath: Vital = MAX_BREATH
    poison: Count = 0  # steps that it stays poisoned
    fallen: Count = 0  # tiles since it left the ground
    held_up: bool = False  # it has just jumped, so it does not fall in this step
    crouching: bool = False  # slow, hard to notice, and silent
    items: dict[str, Count] = {}
    equipment: dict[str, str] = {}
    locker: dict[str, Count] = {}
    fuel: Count = 0
    bed: tuple[str, int, int] | None = None
    landed: dict[str, tuple[int, int]] = {}  # where it left each planet
    explored: dict[str, Count] = {}  # sections of each planet that it has seen, as bits
    tally: dict[str, Count] = {}
    achievements: list[str] = []
    quests: list[str] = []  # done
    tracked: str = ""
    scanner: Annotated[int, Meta(ge=0, le=8)] = 0  # additional tiles of sight
    price: Annotated[float, Meta(ge=0.1, le=1.0)] = 1.0  # factor of what the shop asks
    harm: Annotated[float, Meta(ge=0.1, le=10.0)] = 1.0  # how much of the usual damage it takes, but from players
    emote: str = ""
    struck_at: Count | None = None  # the step of the last blow
    fate: Fate | None = None
    events: list[tuple[EventType, str]] = field(default_factory=list)

    @property
    def alive(self) -> bool:
        return self.fate is None

    @property
    def here(self) -> bool:
        """True if it is in the world, awake or asleep, and alive."""
        return self.fate is None and self.presence in ("awake", "dormant")

    @property
    def seat(self) -> str:
        return str(self.number)

    # -- what it has -------------------------------------------------------------------------------
    def add(self, item: str, count: int = 1) -> int:
        """Take up items. Returns how many of them fit."""
        has = self.items.get(item, 0)
        taken = max(0, min(count, limit(item) - has))
        if taken:
            self.items[item] = has + taken
        return taken

    def remove(self, item: str, count: int = 1) -> int:
        """Give items away. Returns how many there were. What is gone is no longer worn."""
        has = self.items.get(item, 0)
        given = min(count, has)
        if given == has:
            self.items.pop(item, None)
            for slot in [slot for slot, worn in self.equipment.items() if worn == item]:
                del self.equipment[slot]
        else:
            self.items[item] = has - given
        return given

    def count(self, deed: str, times: int = 1) -> None:
        self.tally[deed] = self.tally.get(deed, 0) + times

    def collect(self, item: str, count: int = 1) -> int:
        """Take up items that were found, and count them."""
        taken = self.add(item, count)
        if taken:
            self.count("gather", taken)
            self.count(f"collect:{item}", taken)
        return taken

    # -- what it can do ----------------------------------------------------------------------------
    @property
    def tool_tier(self) -> int:
        return ITEM[self.equipment["tool"]].tier if "tool" in self.equipment else 0

    @property
    def damage(self) -> int:
        return ITEM[self.equipment["weapon"]].damage if "weapon" in self.equipment else FISTS

    @property
    def defence(self) -> int:
        return ITEM[self.equipment["armor"]].defence if "armor" in self.equipment else 0

    def is_protected(self, hazard: str) -> bool:
        return "armor" in self.equipment and hazard in ITEM[self.equipment["armor"]].protects

    def tell(self, text: str, kind: EventType = "info") -> None:
        """Add an event to the body's list. Only the last few are kept."""
        self.events.append((kind, text))
        del self.events[:-MAX_EVENTS]
