"""Cities and kingdoms: the few things of this world that are objects, not columns."""

from typing import Literal

from msgspec import Struct, field

FAITH_MOST = 300


class City(Struct):
    """A place where people live. Its land is where ``Land.city`` has its id."""

    id: int
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
    loyalty: int = 100  # 0 to 100; a city without any rebels
    buildings: dict[str, int] = {}  # how many of each kind of Building stand
    leader: int = 0  # id of a creature; 0: nobody leads
    radius: int = 3  # how far its land reaches
    besieger: int = 0  # the kingdom at its gates
    siege: int = 0  # 0 to 100; at 100 it falls
    people: int = 0  # counted again and again, for whoever asks
    soldiers: int = 0
    taken: int = 0  # how often it changed hands
    hungry: int = 0  # how many found no meal on the last day
    famine: int = 0  # the tick at which a famine was last told of
    road: int = 0  # the city that its road leads to
    alarm: int = -1000  # the tick at which a siege was last told of


class Orders(Struct):
    """What a kingdom's player asked for; whatever is empty is left to the crown."""

    rally: tuple[int, int] | None = None  # soldiers gather here
    raid: int = 0  # the city that the army marches on
    fortify: bool = False  # soldiers stay at home, and walls are built first
    settle: tuple[int, int] | None = None  # the next settlers go here
    muster: int = 0  # percent of the people under arms; 0: as the crown thinks fit
    peace: tuple[int, ...] = ()  # the kingdoms that it has offered peace


class Kingdom(Struct):
    """People under one crown."""

    id: int
    name: str
    race: str  # id of a species
    colour: int  # row of the palette
    founded: int
    capital: int = 0  # id of a city
    king: int = 0  # id of a creature
    alive: bool = True
    claimed: bool = False  # a seat of the match: war and peace are its player's, not the crown's
    culture: int = 0
    faith: int = 40  # what its player's powers cost; temples bring more, up to FAITH_MOST
    weariness: int = 0  # 0 to 100; a tired kingdom looks for peace
    orders: Orders = field(default_factory=Orders)
    people: int = 0  # counted again and again, for whoever asks
    soldiers: int = 0
    cities: int = 0
    ended: int = 0  # the tick of its end
    goal: tuple[int, int] | None = None  # where the crown wants its soldiers; None: at home
    marching: bool = False  # is the goal an enemy's place? Then a part of the soldiers stays at home
    camp: tuple[int, int] | None = None  # where the army gathers before it marches
    host: int = 0  # how many marched from there; 0: the army is gathering
    departed: int = 0  # the tick at which they did
    fallen: int = 0  # how many it lost in battle since it last thought
    rested: int = 0  # the tick until which it begins no war


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
    """A cloud, a whirlwind or a volcano that a power has left behind, and that goes on by itself."""

    kind: StormKind
    x: int
    y: int
    ends: int  # the tick


class Tally(Struct):
    """What ever happened, counted."""

    born: int = 0
    died: int = 0
    kingdoms: int = 0
    cities: int = 0
    wars_begun: int = 0
    wars_ended: int = 0
    cities_taken: int = 0
    rebellions: int = 0
    casts: int = 0  # of powers, each pulse of them


class News(Struct):
    """Something that happened. ``kingdoms`` says who hears of it (besides whoever sees all); None: everybody."""

    tick: int
    text: str
    kingdoms: tuple[int, ...] | None = None
    kind: str = "info"  # an EventType: info, success, danger or reward
