"""The values of the Nexus: games, agents, packages and goals, as plain data.

What the Nexus knows of an agent is its ``Profile``, stored per identity of the house. Everything else is derived from
profiles, from the rooms that are registered as games, and from what their worlds declare (``model.travel``).
"""

from typing import Literal

from msgspec import Struct, field

from cohabit.model.travel import DOMAINS, Difficulty, Domain, ItemCategory, LeftBody, NewAvatar, Rarity, Spawn

Status = Literal["available", "busy", "offline", "maintenance"]


class GameInfo(Struct, frozen=True, omit_defaults=False):
    """A registered game. A room of this house is its own game id."""

    id: str
    name: str
    description: str = ""
    status: Status = "available"
    genre: tuple[str, ...] = ()
    dimensions: int = 2
    multiplayer: bool = True
    persistent_world: bool = True
    skill_domains: tuple[Domain, ...] = ()
    wsap_version: str = "0.1"
    transit_compatible: bool = True
    active_agents: int = 0
    max_agents: int | None = None
    bridge_url: str | None = None
    world: str = ""  # the kind of game: several games can be of one world; empty: a kind of its own

    @property
    def kind(self) -> str:
        return self.world or self.id

    @property
    def has_room(self) -> bool:
        return self.max_agents is None or self.active_agents < self.max_agents


class Achievement(Struct, frozen=True):
    """Something an agent achieved in a game. ``id`` is "world:name": the same in every game of a world."""

    id: str
    name: str
    description: str = ""
    game_origin: str = ""  # the game in which it was achieved first
    timestamp: int = 0  # ms, of the house's clock
    rarity: Rarity = "common"


class PortableItem(Struct, frozen=True, omit_defaults=True):
    """Items of one kind that an agent carries between games."""

    origin: str  # "world:item"
    category: ItemCategory
    tier: int = 1
    count: int = 1


class Evidence(Struct, frozen=True):
    """Why a skill rose."""

    game: str
    domain: Domain
    deed: str
    count: int
    delta: float
    timestamp: int


class Visit(Struct, frozen=True, omit_defaults=True):
    """A visit to a game that has ended."""

    game: str
    world: str
    ended_at: int
    playtime_ms: int = 0
    steps: int = 0
    reason: str = "voluntary"
    achievements: tuple[str, ...] = ()
    skill_gains: dict[Domain, float] = {}
    ticket: str = ""
    deaths: int = 0


class GoalProgress(Struct, omit_defaults=True):
    """A meta-goal that an agent pursues."""

    goal: str  # its id in ``nexus.goals``, or an own one
    description: str = ""  # of an own goal
    progress: float = 0.0  # 0 to 1
    detail: str = ""  # "2 of 3 games"
    completed_at: int | None = None


class Session(Struct, frozen=True, omit_defaults=True):
    """The game that an agent is in. ``ticket`` is the id of the transit that brought it there."""

    ticket: str
    game: str  # the id of the room
    world: str
    since: int
    bonuses: dict[str, float] = {}


class Onward(Struct, frozen=True, omit_defaults=True):
    """The game that an agent goes to next, without a stay in the Nexus."""

    game: str
    ticket: str  # of the transit that brings it there
    refused: str = ""  # why it is in the Nexus instead; empty: it is on its way


class WorldTotals(Struct, omit_defaults=True):
    """The totals of an agent in one world, over all its visits."""

    visits: int = 0  # in which it did something that the world teaches
    steps: int = 0  # that count; see ``skills``
    playtime_ms: int = 0
    deaths: int = 0
    deeds: dict[str, int] = field(default_factory=dict)
    idle_visits: int = 0
    idle_steps: int = 0  # that do not count yet


class Profile(Struct, omit_defaults=True):
    """The profile of one identity."""

    agent_id: str
    name: str
    created_at: int = 0
    skills: dict[Domain, float] = field(default_factory=dict)  # 0 to 1; missing: 0
    evidence: list[Evidence] = field(default_factory=list)  # the newest EVIDENCE_KEPT
    achievements: list[Achievement] = field(default_factory=list)
    carried: list[PortableItem] = field(default_factory=list)
    core_memories: list[str] = field(default_factory=list)
    strategies: list[str] = field(default_factory=list)
    goals: list[GoalProgress] = field(default_factory=list)
    titles: list[str] = field(default_factory=list)
    worlds: dict[str, WorldTotals] = field(default_factory=dict)
    games_visited: list[str] = field(default_factory=list)  # rooms, in the order of the first visit
    visits: list[Visit] = field(default_factory=list)  # the newest VISITS_KEPT
    bodies: dict[str, tuple[LeftBody, ...]] = field(default_factory=dict)  # by game, as they were when it left
    session: Session | None = None  # None: it is in the Nexus
    onward: Onward | None = None  # until it is in the next game
    version: int = 0  # raised with each change that is stored
    # Sessions that have ended, by ticket, until their games know it: so a package is applied once, whenever it comes.
    closed: dict[str, str] = field(default_factory=dict)  # with the game
    given_up: dict[str, Session] = field(default_factory=dict)  # their packages still apply

    @property
    def total_steps(self) -> int:
        return sum(world.steps + world.idle_steps for world in self.worlds.values())

    @property
    def total_playtime_ms(self) -> int:
        return sum(world.playtime_ms for world in self.worlds.values())

    @property
    def is_on_its_way(self) -> bool:
        """True if it has left a game for another one, and is not there yet."""
        return self.onward is not None and not self.onward.refused

    def skill(self, domain: Domain) -> float:
        return self.skills.get(domain, 0.0)


class Wishes(Struct, frozen=True, omit_defaults=True):
    """The choices of an agent when it enters a game."""

    avatar: str | None = None  # the avatar to wake; None: the newest that waits, or a new one
    spawn: Spawn = "safe"
    difficulty: Difficulty = "normal"
    goals: tuple[str, ...] = ()  # what it wants to do there, in its own words
    items: dict[str, int] | None = None  # what to take along of the carried items, by origin; None: all that fit
    max_steps: int | None = None
    exit_conditions: tuple[str, ...] = ()
    new_avatar: NewAvatar | None = None  # a new one, like this


class Ongoing(Struct, frozen=True, omit_defaults=True):
    """The results so far of an agent in the game that it is in."""

    world: str
    steps: int = 0  # that count
    deeds: dict[str, int] = {}  # during this visit
    achievements: tuple[str, ...] = ()  # names of those that ``deeds`` does not have
    gains: dict[Domain, float] = {}
    visits: int = 1  # 0: it does not count yet


class Suggestion(Struct, frozen=True):
    game_id: str
    game_name: str
    score: float
    reasons: tuple[str, ...] = ()


class NexusView(Struct, frozen=True):
    """The view of an agent in the Nexus."""

    agent: Profile
    available_games: tuple[GameInfo, ...] = ()
    suggested_games: tuple[Suggestion, ...] = ()


class Requirement(Struct, frozen=True, omit_defaults=True):
    """A requirement of a meta-goal. ``count`` of the worlds must reach ``target``; None: all that are known.

    For ``reach_skill_level`` it is ``count`` of the skills.
    """

    type: Literal[
        "survive_steps", "visit_game", "earn_achievement", "reach_skill_level", "complete_action", "collect_items"
    ]
    target: float = 1
    what: str = ""  # a deed, an achievement, a domain or a category, depending on the type; empty: any
    games: tuple[str, ...] = ()  # the worlds that count; empty: any
    count: int | None = 1

    def __post_init__(self) -> None:
        if self.target <= 0 or (self.count is not None and self.count < 1):
            raise ValueError(f"target and count of a requirement are above 0, not {self.target} and {self.count}")
        if self.type == "reach_skill_level" and self.what not in ("", *DOMAINS):
            raise ValueError(f"there is no skill {self.what!r}")


class Reward(Struct, frozen=True, omit_defaults=True):
    """The permanent reward of a completed meta-goal."""

    title: str = ""
    bonuses: dict[str, float] = {}  # added on entry to the worlds that have such a bonus; see ``nexus.packages``
    skills: dict[Domain, float] = {}


class MetaGoal(Struct, frozen=True, omit_defaults=True):
    id: str
    name: str
    description: str
    type: Literal["skill", "exploration", "achievement", "mastery"]
    requirements: tuple[Requirement, ...]
    reward: Reward

    def __post_init__(self) -> None:
        if not self.requirements:
            raise ValueError(f"the meta-goal {self.id} has no requirement")
