"""The properties that an agent carries from one world to another, and the declarations of a world about them.

Skills, bonuses and portable items are declared once per world, as a ``Travel``, next to its rules. The rules that
turn these declarations into gains and bonuses are in ``nexus/``.
"""

import math
from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import Meta, Struct

Domain = Literal[
    "exploration", "resource_management", "combat", "crafting", "survival",
    "social", "puzzle_solving", "planning", "adaptation",
]  # fmt: skip
"""The skill domains of an agent, in every world."""
ItemCategory = Literal["weapon", "tool", "armor", "material", "consumable", "key_item", "currency"]
Rarity = Literal["common", "uncommon", "rare", "legendary"]
DOMAINS: tuple[Domain, ...] = get_args(Domain)
MAX_TIER = 10
Spawn = Literal["safe", "challenging", "random"]
Difficulty = Literal["easy", "normal", "hard", "adaptive"]
MAX_AVATAR_NAME, MAX_APPEARANCE = 40, 1_000
"""Characters of the name of an avatar, and bytes of JSON of its appearance."""


class Lesson(Struct, frozen=True):
    """The lesson of a deed: ``points`` for the first time. Each repetition teaches less; see ``nexus.skills``."""

    domain: Domain
    points: float

    def __post_init__(self) -> None:
        if not 0 < self.points <= 1:
            raise ValueError(f"the points of a lesson are above 0 and at most 1, not {self.points}")


class Portable(Struct, frozen=True):
    """An item that can leave a world. Another world may have an equivalent: the same category, and no higher tier."""

    category: ItemCategory
    tier: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.tier <= MAX_TIER:
            raise ValueError(f"the tier of an item is from 1 to {MAX_TIER}, not {self.tier}")


class BonusRule(Struct, frozen=True):
    """A bonus for agents with a skill: ``base + factor * skill``, if the skill is above ``threshold``.

    A skill that equals the threshold gives nothing. ``whole``: ``factor * skill`` is rounded down. A rule with a factor
    of 0 says yes or no: its value is ``base``. The world gets the value by ``name`` in ``Arrival.bonuses``.
    """

    name: str
    domain: Domain
    threshold: float = 0.1
    base: float = 0.0
    factor: float = 1.0
    whole: bool = False
    description: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.threshold < 1:
            raise ValueError(f"the threshold of {self.name} is from 0 to below 1, not {self.threshold}")
        if not (math.isfinite(self.base) and math.isfinite(self.factor)):
            raise ValueError(f"base and factor of {self.name} must be finite")

    @property
    def is_flag(self) -> bool:
        """True for a bonus that is there or not: its value is 1 or 0."""
        return self.factor == 0 and self.base == 1


class Travel(Struct, frozen=True, kw_only=True):
    """The declaration of a world for agents that come from other worlds, and leave for others."""

    genre: tuple[str, ...] = ()
    dimensions: Literal[2, 3] = 2
    lessons: dict[str, Lesson] = {}  # by deed; see ``EmbodiedWorld.deeds``. The room counts the deed "steps"
    passive: tuple[str, ...] = ()  # deeds that come by waiting, such as nights; see ``nexus/skills``
    items: dict[str, Portable] = {}  # by the name of the item in this world
    bonuses: tuple[BonusRule, ...] = ()
    common_bonuses: tuple[str, ...] = ()  # others that this world applies, which completed meta-goals give: "health"
    rarities: dict[str, Rarity] = {}  # of achievements, by their names; others are common
    difficulty: bool = False  # whether this world applies ``Arrival.damage``

    def __post_init__(self) -> None:
        names = [rule.name for rule in self.bonuses]
        if len(set(names)) < len(names):
            raise ValueError(f"each bonus is declared once, not as in {', '.join(names)}")

    @property
    def domains(self) -> tuple[Domain, ...]:
        """The skills that this world teaches."""
        taught = {lesson.domain for lesson in self.lessons.values()}
        return tuple(domain for domain in DOMAINS if domain in taught)


def scaled(damage: int, factor: float) -> int:
    """The damage of a body that takes more or less than usual. It is rounded towards the usual damage, so a blow that
    hurts always hurts."""
    exact = round(damage * factor, 6)
    return math.ceil(exact) if factor < 1 else math.floor(exact)


class Entering(Struct, frozen=True):
    """Carried items that enter a world as items of that world."""

    origin: str  # of the carried item
    item: str  # its name in the world that it enters
    count: int


class NewAvatar(Struct, frozen=True, omit_defaults=True):
    """What an agent wants a new body to be like. Its bonuses are not a wish: they come from the agent's skills."""

    name: Annotated[str, Meta(max_length=MAX_AVATAR_NAME, description="default: yours")] = ""
    appearance: Annotated[dict[str, Any], Meta(description="such as {'hair': 'red'}; others do not see it")] = {}
    spawn_location: Spawn = "safe"

    def __post_init__(self) -> None:
        if len(msgspec.json.encode(self.appearance)) > MAX_APPEARANCE:
            raise ValueError(f"appearance is too long: at most {MAX_APPEARANCE:,} bytes of JSON")


class EntryPackage(Struct, frozen=True, omit_defaults=True):
    """The data that an agent brings into a game. The house makes it from what it knows of the agent; the agent chooses
    only its wishes: the avatar, where to appear, and what it wants to do there."""

    ticket: str  # of this transit: the same ticket brings nobody twice
    identity: str
    name: str
    bonuses: dict[str, float] = {}
    entering: tuple[Entering, ...] = ()
    avatar: str | None = None  # the avatar to wake; None: the newest that waits, or a new one
    spawn: Spawn = "safe"
    goals: tuple[str, ...] = ()  # what the agent wants to do there, in its own words
    memories: tuple[str, ...] = ()  # core memories and strategies that it brings along
    difficulty: Difficulty = "normal"  # that holds there
    damage: float = 1.0  # the factor of that difficulty
    max_steps: int | None = None
    exit_conditions: tuple[str, ...] = ()
    new_avatar: NewAvatar | None = None  # in a new body, although others may wait

    @property
    def items(self) -> dict[str, int]:
        """The items that enter, by the names of that world."""
        counts: dict[str, int] = {}
        for one in self.entering:
            counts[one.item] = counts.get(one.item, 0) + one.count
        return counts


class LeftBody(Struct, frozen=True):
    """A body that waits for its agent, as it was when the agent left. A dormant one may have died since."""

    avatar_id: str
    name: str
    state: str  # dormant or suspended


class ExitPackage(Struct, frozen=True):
    """The data that an agent brings back from a game. The room makes it from what happened there; nobody else can."""

    ticket: str  # of the transit that brought the agent there
    identity: str
    game: str
    world: str
    at: int
    reason: str = "voluntary"
    steps: int = 0
    playtime_ms: int = 0
    reward: float = 0.0
    deaths: int = 0
    deeds: dict[str, int] = {}  # during this visit
    items: dict[str, int] = {}  # what it carries out, by the names of that world; only portable ones
    memories: tuple[str, ...] = ()  # what the agent wants to remember
    avatar_id: str = ""
    avatar_state: str = ""
    destination: str = ""  # the game where it goes next; empty: it stays in the Nexus
    admitted: bool = False  # it is still a member of the room, and only because of this visit
    entering: tuple[Entering, ...] = ()  # what it had brought along
    entered: dict[str, int] = {}  # what its body could take of that
    bodies: tuple[LeftBody, ...] = ()  # all bodies of the agent that wait for it in this game
