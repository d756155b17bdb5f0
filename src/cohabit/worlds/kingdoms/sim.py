"""The whole state of a world: the map, its creatures, cities and kingdoms, and the news.

``rules`` changes it with time, ``powers`` changes it on request, ``save`` writes all of it down.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from cohabit.worlds.kingdoms.chance import Chance
from cohabit.worlds.kingdoms.creatures import Creatures
from cohabit.worlds.kingdoms.land import Land

YEAR = 60
"""Ticks in a year. A human is adult at fifteen and lives for up to ninety years."""
MAX_NEWS = 40
"""The number of news items that a world keeps for views, for each group of kingdoms that is told the same: news that
some are not told never displaces theirs."""
MAX_FAITH = 300
MAX_KINGDOM_ID = 1 << 13
"""A limit, because the rules keep tables by id."""


class City(Struct):
    """A city. Its land is where ``Land.city`` has its id.

    ``id`` counts the cities of the whole world, hidden ones too. Dice, days and the public id come from ``number``."""

    id: int
    number: int  # unique: the kingdom that founded it, and its number among the cities that this kingdom has founded
    name: str
    kingdom: int
    x: int
    y: int
    founded: int
    food: int = 0
    wood: int = 0
    stone: int = 0
    gold: int = 0
    culture: int = 0
    loyalty: int = 100  # 0 to 100; at 0 it rebels
    buildings: dict[str, int] = {}  # how many of each kind of Building it has
    leader: int = 0  # id of a creature; 0: none
    radius: int = 3  # how far its land reaches
    besieger: int = 0  # id of the kingdom that besieges it; 0: none
    siege: int = 0  # 0 to 100; at 100 it falls
    people: int = 0  # from the last census
    soldiers: int = 0
    times_taken: int = 0
    hungry: int = 0  # how many people got no meal on the last day
    famine_reported: int = 0  # the tick of the last news of a famine
    road_to: int = 0  # id of the city that its road leads to
    siege_reported: int = -1000  # the tick of the last news of a siege

    def distance(self, x: int, y: int) -> int:
        """Steps from the centre of the city, where a diagonal step counts as one."""
        return max(abs(self.x - x), abs(self.y - y))


class Orders(Struct):
    """The orders of a kingdom's player. Whatever is unset is decided by the crown."""

    rally: tuple[int, int] | None = None  # where soldiers gather
    raid: int = 0  # id of the city to attack
    raid_named: str = ""  # the target as the player named it; which city it is and who owns it now may be hidden
    fortify: bool = False  # soldiers stay at home, and towers are built first
    settle: tuple[int, int] | None = None  # where the next settlers go
    muster: int = 0  # percent of the people under arms; 0: unset
    peace: tuple[int, ...] = ()  # the kingdoms that it has offered peace

    def end_raid(self) -> None:
        self.raid, self.raid_named = 0, ""


class Kingdom(Struct):
    """A kingdom. The *crown* is its automatic government, which does what the player does not decide."""

    id: int
    name: str
    race: str  # id of a species
    colour: int  # row of the palette
    founded: int
    capital: int = 0  # id of a city
    king: int = 0  # id of a creature
    nature: int = 0  # of the king: how much loyalty it adds or takes away
    alive: bool = True
    claimed: bool = False  # a seat of the match: its player, not the crown, decides on war and peace
    culture: int = 0
    faith: int = 40  # what its player pays for powers, up to MAX_FAITH
    weariness: int = 0  # of war, 0 to 100; a weary kingdom seeks peace
    orders: Orders = field(default_factory=Orders)
    people: int = 0  # from the last census
    soldiers: int = 0
    cities: int = 0
    ended: int = 0  # the tick of its end
    goal: tuple[int, int] | None = None  # where the crown sends its soldiers; None: home
    goal_is_attack: bool = False  # is the goal an enemy city? Then the garrison stays at home
    camp: tuple[int, int] | None = None  # where the army gathers before an attack
    army_out: int = 0  # how many soldiers left the camp; 0: the army is gathering
    army_left_at: int = 0  # the tick at which they left
    fallen: int = 0  # losses in battle since the crown last acted
    no_war_before: int = 0  # until this tick the crown declares no war
    band: tuple[int, ...] = ()  # ids of the settlers who carry out the player's order
    band_to: tuple[int, int] | None = None  # and where it sends them
    births: int = 0  # how many people were born or spawned in it
    casts: int = 0  # pulses of powers that its player used
    founded_cities: int = 0
    known: dict[int, tuple[int, int, int]] = {}  # foreign cities that its people have seen, by id: x, y, kingdom


class War(Struct):
    """Two kingdoms at war."""

    attacker: int
    defender: int
    begun: int
    cause: str


StormKind = Literal[
    "cloud_rain", "cloud_snow", "cloud_storm", "cloud_acid", "cloud_fire", "tornado", "volcano"
]  # fmt: skip


class Storm(Struct):
    """A cloud, tornado or volcano that a power started and that continues by itself."""

    kind: StormKind
    x: int
    y: int
    ends: int  # the tick
    luck: int = 0  # the key of its dice


class Tally(Struct):
    """Counts since the world began."""

    born: int = 0
    died: int = 0
    kingdoms: int = 0
    cities: int = 0
    wars_begun: int = 0
    wars_ended: int = 0
    cities_taken: int = 0
    rebellions: int = 0


class News(Struct):
    """Something that happened. ``kingdoms`` are those that are told (gods are told everything); None: all."""

    tick: int
    text: str
    kingdoms: tuple[int, ...] | None = None
    kind: str = "info"  # an EventType: info, success, danger or reward


class Sim:
    """The state of one world."""

    def __init__(self, seed: int, land: Land) -> None:
        self.seed = seed
        self.tick = 0
        self.land = land
        self.chance = Chance(seed)
        self.creatures = Creatures()
        self.cities: dict[int, City] = {}  # existing cities by id, in order of founding
        self.kingdoms: dict[int, Kingdom] = {}  # by id, including those that have ended; see ``alive``
        self.wars: list[War] = []  # current wars
        self.opinions: dict[tuple[int, int], int] = {}  # of one kingdom about another, -100 to 100
        self.at_war: NDArray[np.bool_] = np.zeros((16, 16), np.bool_)  # by kingdom ids; derived from ``wars``
        self.storms: list[Storm] = []  # see powers.storms
        self.laws: dict[str, bool] = {}  # world-wide switches set by gods: peace, no_fire …
        self.casts: dict[int, int] = {}  # pulses of powers that gods used since the last tick, by cell
        self.tally = Tally()
        self.news: list[News] = []  # the latest, oldest first
        self.pending_news: list[News] = []  # since the last ``take_news``
        self.stale = True  # must ``at_war`` and ``city_place`` be derived again?
        self.city_place: NDArray[np.int64] = np.zeros((1, 3), np.int64)  # by city id: x, y, radius; derived

    @property
    def alive(self) -> list[Kingdom]:
        """The kingdoms that exist now."""
        return [k for k in self.kingdoms.values() if k.alive]

    def owners(self) -> NDArray[np.int32]:
        """The kingdom of each city, by city id."""
        table: NDArray[np.int32] = np.zeros(max(self.cities, default=0) + 1, np.int32)
        for city in self.cities.values():
            table[city.id] = city.kingdom
        return table

    def cities_of(self, kingdom: int) -> list[City]:
        return [c for c in self.cities.values() if c.kingdom == kingdom]

    def tell(self, text: str, kingdoms: Sequence[int] | None = None, kind: str = "info") -> None:
        """Add a news item for these kingdoms, or for everybody."""
        item = News(self.tick, text, None if kingdoms is None else tuple(kingdoms), kind)
        self.pending_news.append(item)
        same = [i for i, old in enumerate(self.news) if old.kingdoms == item.kingdoms]
        dropped = same[0] if len(same) >= MAX_NEWS else len(self.news)
        self.news = [*self.news[:dropped], *self.news[dropped + 1 :], item]

    def take_news(self) -> list[News]:
        """The news since the last call."""
        pending, self.pending_news = self.pending_news, []
        return pending

    def refresh(self) -> None:
        """Derive the lookup tables again after cities or wars have changed."""
        if not self.stale:
            return
        self.stale = False
        self.at_war = np.zeros((max(self.kingdoms, default=0) + 1,) * 2, np.bool_)
        for war in self.wars:
            self.at_war[war.attacker, war.defender] = self.at_war[war.defender, war.attacker] = True
        self.city_place = np.zeros((max(self.cities, default=0) + 1, 3), np.int64)
        for city in self.cities.values():
            self.city_place[city.id] = city.x, city.y, city.radius

    def are_at_war(self, a: int, b: int) -> bool:
        """Are these two kingdoms at war? Reads ``wars``, so it is right also before ``refresh``."""
        return any((w.attacker, w.defender) in ((a, b), (b, a)) for w in self.wars)
