"""What a crown thinks of once in a while: its king, its neighbours, war and peace, restless cities, its end."""

from cohabit.worlds.kingdoms import armies, crowns, settlers
from cohabit.worlds.kingdoms.realms import FAITH_MOST, Kingdom
from cohabit.worlds.kingdoms.sim import Sim

THINKS = 50
"""A crown thinks once in so many ticks; numbers below count once in that time."""
BORDER, CONTACT = 26, 70
"""Kingdoms whose nearest cities are this near share a border, or know of each other."""
BORDER_QUARREL = 3
OTHER_RACE = 1
SAME_RACE = 1
RIVAL_CULTURE = 1
FORGETS = 1
"""How opinions move: down for a border, another race and a much smaller culture, up for the same race, and towards
nothing where nothing moves them. Trade moves them up, a war far down."""
WAR_BELOW = -35
"""A crown thinks of war when its opinion of a neighbour is lower than this,"""
WAR_CHANCE = 1, 5
WAR_STRENGTH = 70
"""it has so many percent of the other's people, and with this chance."""
WAR_FEWEST = 20
"""How many people a kingdom has at least that begins a war."""
WEARIES = 1
WEARIES_TO = 40
FALLEN_WEARY = 60
"""A war wearies by one, up to this; and the loss of all its people would by so much more."""
RESTS = 3
"""Peace takes this much away."""
PEACE_WEARINESS = 55
PEACE_OTHER = 20
"""A crown makes peace when it is this weary and the other one at least that;"""
LONGEST_WAR = 5000
"""and after so many ticks in any case."""
REBELS = 1, 4
"""The chance that a city without loyalty rebels."""
FAITH_PEOPLE = 60
FAITH_TEMPLE = 1
"""Faith grows by one, one more for so many people, and so much for a temple."""
EXILES = 6
"""A kingdom without a city and with fewer people than this is at its end."""


def think(sim: Sim, kingdom: Kingdom) -> None:
    """One thought of a crown."""
    if not kingdom.cities and kingdom.people < EXILES:
        crowns.end_kingdom(sim, kingdom, "its last people are scattered")
        return
    crowns.crown(sim, kingdom)
    settlers.resettle(sim, kingdom)
    _gather_faith(sim, kingdom)
    _tire(sim, kingdom)
    _judge(sim, kingdom)
    _face_rebels(sim, kingdom)
    if sim.laws.get("peace"):
        for other in _enemies(sim, kingdom):
            crowns.make_peace(sim, kingdom.id, other.id)
    elif not kingdom.claimed:
        _seek_peace(sim, kingdom)
        _seek_war(sim, kingdom)
    sim.refresh()
    armies.plan(sim, kingdom)
    armies.gather(sim, kingdom)


def _gather_faith(sim: Sim, kingdom: Kingdom) -> None:
    cities = sim.cities_of(kingdom.id)
    temples = sum(city.buildings.get("temple", 0) for city in cities)
    kingdom.faith = min(FAITH_MOST, kingdom.faith + 1 + kingdom.people // FAITH_PEOPLE + FAITH_TEMPLE * temples)
    kingdom.culture = sum(city.culture for city in cities)


def _tire(sim: Sim, kingdom: Kingdom) -> None:
    lost = kingdom.fallen * FALLEN_WEARY // max(1, kingdom.people)
    kingdom.fallen = 0
    change = lost + (WEARIES if kingdom.weariness < WEARIES_TO else -WEARIES) if _enemies(sim, kingdom) else -RESTS
    kingdom.weariness = min(100, max(0, kingdom.weariness + change))


def _enemies(sim: Sim, kingdom: Kingdom) -> list[Kingdom]:
    return [other for other in sim.alive if sim.fighting(kingdom.id, other.id)]


def distance(sim: Sim, one: int, other: int) -> int:
    """How far apart the nearest cities of two kingdoms are."""
    theirs = sim.cities_of(other)
    return min((max(abs(a.x - b.x), abs(a.y - b.y)) for a in sim.cities_of(one) for b in theirs), default=10_000)


def _judge(sim: Sim, kingdom: Kingdom) -> None:
    """Think better or worse of every other kingdom."""
    for other in sim.alive:
        if other is kingdom:
            continue
        now = sim.opinions.get((kingdom.id, other.id), 0)
        far = distance(sim, kingdom.id, other.id)
        change = -FORGETS if now > 0 else FORGETS if now < 0 else 0
        if far <= CONTACT:
            change = SAME_RACE if other.race == kingdom.race else -OTHER_RACE
            change -= BORDER_QUARREL if far <= BORDER else 0
            change -= RIVAL_CULTURE if other.culture * 2 < kingdom.culture else 0
        sim.opinions[kingdom.id, other.id] = min(100, max(-100, now + change))


def _face_rebels(sim: Sim, kingdom: Kingdom) -> None:
    if sim.laws.get("no_rebellion") or kingdom.cities < 2:
        return
    for city in sim.cities_of(kingdom.id):
        hits = sim.chance.one(REBELS[1], "rebels", sim.tick, city.id) < REBELS[0]
        if city.kingdom == kingdom.id and not city.loyalty and not city.besieger and hits:
            crowns.rebel(sim, city)


def _seek_peace(sim: Sim, kingdom: Kingdom) -> None:
    for war in list(sim.wars):
        if kingdom.id not in (war.attacker, war.defender):
            continue
        other = sim.kingdoms[war.defender if war.attacker == kingdom.id else war.attacker]
        weary = kingdom.weariness >= PEACE_WEARINESS and other.weariness >= PEACE_OTHER
        if not other.claimed and (weary or sim.tick - war.begun > LONGEST_WAR):
            crowns.make_peace(sim, kingdom.id, other.id)


def _seek_war(sim: Sim, kingdom: Kingdom) -> None:
    if sim.tick < kingdom.rested or kingdom.people < WAR_FEWEST or _enemies(sim, kingdom):
        return
    weak = [k for k in sim.alive if k is not kingdom and kingdom.people * 100 >= k.people * WAR_STRENGTH]
    hated = [
        (sim.opinions.get((kingdom.id, k.id), 0), k.id) for k in weak if distance(sim, kingdom.id, k.id) <= CONTACT
    ]
    if not hated or min(hated)[0] > WAR_BELOW:
        return
    if sim.chance.one(WAR_CHANCE[1], "war", sim.tick, kingdom.id) < WAR_CHANCE[0]:
        crowns.declare_war(sim, kingdom.id, min(hated)[1], _cause(sim, kingdom, sim.kingdoms[min(hated)[1]]))


def _cause(sim: Sim, kingdom: Kingdom, other: Kingdom) -> str:
    """What the heralds say the war is about."""
    if distance(sim, kingdom.id, other.id) <= BORDER:
        return "a quarrel over the border"
    return "old hatred" if kingdom.race != other.race else "a quarrel between kin"
