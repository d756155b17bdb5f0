"""Kingdoms: how they are founded and end, who is king, war and peace between them, and rebellion."""

import numpy as np

from cohabit.worlds.kingdoms import civics, life, names
from cohabit.worlds.kingdoms.creatures import Job
from cohabit.worlds.kingdoms.near import Rows
from cohabit.worlds.kingdoms.realms import City, Kingdom, War
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.species import SPECIES

COLOURS = 20
"""Rows of the palette. A new kingdom takes the first that no living one has."""
WAR_OPINION = -60
"""At the beginning of a war both think this of each other, or worse;"""
PEACE_OPINION = -15
"""and this at its end."""
PEACE_LASTS = 1200
"""For so many ticks after a peace neither begins a war."""
REBEL_LOYALTY = 90
"""How a city feels that has just become its own master."""
REBELS_JOIN = 25
REBELS_REACH = 45
"""Cities of the same crown with less loyalty than this, and not further away, rise with it."""


def found_kingdom(sim: Sim, race: str, x: int, y: int, rows: Rows, name: str | None = None) -> Kingdom:
    """Found a kingdom with a first city here; these creatures are its people."""
    realm = _new_kingdom(sim, race, name)
    civics.found_city(sim, realm.id, x, y, rows)
    realm.people = len(rows)
    crown(sim, realm, loud=False)
    sim.tell(f"{realm.name} is founded, a kingdom of {names.many(race)}.", None, "success")
    return realm


def _new_kingdom(sim: Sim, race: str, name: str | None) -> Kingdom:
    sim.tally.kingdoms += 1
    number = sim.tally.kingdoms
    realm = Kingdom(
        id=number, name=name or names.kingdom_name(sim, race, number), race=race,
        colour=_free_colour(sim), founded=sim.tick, rested=sim.tick + PEACE_LASTS,
    )  # fmt: skip
    sim.kingdoms[number] = realm
    sim.stale = True
    return realm


def _free_colour(sim: Sim) -> int:
    taken = [kingdom.colour for kingdom in sim.alive]
    return next((row for row in range(COLOURS) if row not in taken), sim.tally.kingdoms % COLOURS)


def end_kingdom(sim: Sim, kingdom: Kingdom, why: str) -> None:
    """The kingdom is no more: its cities fall to ruin, its people live wild, its wars are over."""
    for city in sim.cities_of(kingdom.id):
        civics.raze(sim, city)
    c = sim.creatures
    left = np.flatnonzero(c.kingdom == kingdom.id)
    c.kingdom[left], c.city[left], c.job[left] = 0, 0, Job.NONE
    over = [war for war in sim.wars if kingdom.id in (war.attacker, war.defender)]
    sim.wars = [war for war in sim.wars if war not in over]
    sim.tally.wars_ended += len(over)
    for city in sim.cities.values():
        if city.besieger == kingdom.id:
            city.besieger = city.siege = 0
    kingdom.alive, kingdom.ended, kingdom.king, kingdom.capital = False, sim.tick, 0, 0
    kingdom.people = kingdom.soldiers = kingdom.cities = 0
    sim.stale = True
    sim.tell(f"{kingdom.name} is no more: {why}.", None, "danger")


def crown(sim: Sim, kingdom: Kingdom, loud: bool = True) -> None:
    """When the king is gone, the one of its people with the most kills is crowned, the eldest of equals."""
    c = sim.creatures
    row = c.row(kingdom.king) if kingdom.king else None
    if row is not None and c.kingdom[row] == kingdom.id and c.hp[row] > 0:
        return
    people = np.flatnonzero((c.kingdom == kingdom.id) & (c.hp > 0))
    able = people[life.grown_up(sim, people) & life.is_person(sim, people)]
    if not len(able):
        kingdom.king = 0
        return
    heir = int(able[np.argmax(c.kills[able])])
    kingdom.king = int(c.id[heir])
    if loud:
        sim.tell(f"{names.name_of(kingdom.king, int(c.species[heir]))} is crowned in {kingdom.name}.", None)


def declare_war(sim: Sim, attacker: int, defender: int, cause: str) -> None:
    """Begin a war. Nothing happens where there is one already, or the law is peace."""
    one, other = sim.kingdoms[attacker], sim.kingdoms[defender]
    alike = attacker == defender or not (one.alive and other.alive)
    if alike or sim.laws.get("peace") or sim.fighting(attacker, defender):
        return
    sim.wars.append(War(attacker=attacker, defender=defender, begun=sim.tick, cause=cause))
    sim.tally.wars_begun += 1
    sim.stale = True
    for pair in ((attacker, defender), (defender, attacker)):
        sim.opinions[pair] = min(WAR_OPINION, sim.opinions.get(pair, 0))
    sim.tell(f"{one.name} declares war on {other.name}: {cause}.", None, "danger")


def make_peace(sim: Sim, a: int, b: int) -> None:
    """End the war between these two, if there is one."""
    if not sim.fighting(a, b):
        return
    sim.wars = [war for war in sim.wars if (war.attacker, war.defender) not in ((a, b), (b, a))]
    sim.tally.wars_ended += 1
    sim.stale = True
    for one, other in ((a, b), (b, a)):
        sim.opinions[one, other] = PEACE_OPINION
        realm = sim.kingdoms[one]
        realm.weariness //= 2
        realm.rested = sim.tick + PEACE_LASTS
        realm.goal, realm.marching = None, False
        for city in sim.cities_of(one):
            if city.besieger == other:
                city.besieger = city.siege = 0
    sim.tell(f"{sim.kingdoms[a].name} and {sim.kingdoms[b].name} make peace.", None, "success")


def rebel(sim: Sim, city: City) -> Kingdom:
    """The city becomes a kingdom of its own, others that feel alike join it, and there is war with the old crown."""
    c, old = sim.creatures, sim.kingdoms[city.kingdom]
    rows = life.people_of(sim, city.id)
    race = SPECIES[int(np.argmax(np.bincount(c.species[rows])))].id if len(rows) else old.race
    realm = _new_kingdom(sim, race if race in names.STARTS else old.race, None)
    for other in sim.cities_of(old.id):
        far = max(abs(other.x - city.x), abs(other.y - city.y))
        alike = other.loyalty < REBELS_JOIN and far <= REBELS_REACH and other.id != old.capital
        if other is city or alike:
            hand_over(sim, other, realm, REBEL_LOYALTY)
    realm.capital = city.id
    realm.people = int(np.count_nonzero(c.kingdom == realm.id))
    crown(sim, realm, loud=False)
    sim.tally.rebellions += 1
    sim.tell(f"{city.name} rises against {old.name} and founds {realm.name}.", None, "danger")
    declare_war(sim, realm.id, old.id, "rebellion")
    return realm


def hand_over(sim: Sim, city: City, to: Kingdom, loyalty: int) -> None:
    """The city and its people belong to another crown; its soldiers too where they rebel with it."""
    c, old = sim.creatures, sim.kingdoms[city.kingdom]
    rows = life.people_of(sim, city.id)
    c.kingdom[rows] = to.id
    city.kingdom, city.loyalty, city.besieger, city.siege, city.road = to.id, loyalty, 0, 0, 0
    old.cities, to.cities = old.cities - 1, to.cities + 1
    if old.capital == city.id:
        left = sim.cities_of(old.id)
        old.capital = max(left, key=lambda one: one.people).id if left else 0
    if not to.capital:
        to.capital = city.id
