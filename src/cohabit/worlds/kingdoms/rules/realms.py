"""Kingdoms: founding, kings, rebellion, the end, and what a crown does by itself.

The crown is the automatic government of a kingdom. Where a player rules, it leaves war and peace to the player.
"""

import numpy as np

from cohabit.worlds.kingdoms import names
from cohabit.worlds.kingdoms.creatures import Job, Rows
from cohabit.worlds.kingdoms.rules import armies, cities, city_life, diplomacy, life, scouting, settlers
from cohabit.worlds.kingdoms.sim import MAX_FAITH, City, Kingdom, Sim
from cohabit.worlds.kingdoms.species import IS_CIVIL, RACES, SPECIES, SPECIES_ROW
from cohabit.worlds.kingdoms.tiles import CAN_GROW

CROWN_EVERY = 50
"""A crown acts once in this many ticks. The numbers below, and those of ``diplomacy``, count once in that time."""
COLOURS = 20
"""Rows of the palette. A new kingdom takes the first that no living kingdom has."""
FAITH_PEOPLE = 60
FAITH_TEMPLE = 1
"""Faith grows by one, by one more for this many people, and by this much for each temple."""
WAR_WEARINESS = 1
MAX_WAR_WEARINESS = 40
LOSS_WEARINESS = 60
"""A war adds one weariness up to this maximum; losses add this much in proportion to the people."""
PEACE_RESTS = 3
"""Weariness that peace takes away."""
REBEL_CHANCE = 1, 4
"""The chance that a city with loyalty 0 rebels."""
REBEL_LOYALTY = 90
"""The loyalty of a city that has just become independent."""
REBELS_JOIN_BELOW = 25
REBELS_REACH = 45
"""Cities of the same kingdom with less loyalty than this, within this distance, join the rebellion."""
MIN_EXILES = 6
"""A kingdom without a city ends when it has fewer people than this."""
NOMADS_FOUND_EVERY = 100
NOMAD_CHANCE = 1, 3
NOMAD_BAND = 6
NOMAD_REACH = 12
"""Once in this many ticks every wild adult calls the others with this chance; if this many of its race are within that
many tiles, they found a kingdom."""
NOMADS_COME_EVERY = 1000
MIN_KINGDOMS = 2
NOMADS = 14
"""Once in this many ticks new nomads arrive, if fewer kingdoms than this are left."""
NOMAD_PLACES = 60


# -- founding and the end -------------------------------------------------------------------------
def found_kingdom(sim: Sim, race: str, x: int, y: int, rows: Rows, name: str | None = None) -> Kingdom:
    """Found a kingdom with a first city here and these creatures as its people."""
    realm = _new_kingdom(sim, race, name)
    cities.found_city(sim, realm.id, x, y, rows)
    realm.people = len(rows)
    crown_king(sim, realm, announce=False)
    sim.tell(f"The kingdom of {realm.name} is founded by {names.plural(race)}.", None, "success")
    return realm


def _new_kingdom(sim: Sim, race: str, name: str | None) -> Kingdom:
    sim.tally.kingdoms += 1
    number = sim.tally.kingdoms
    realm = Kingdom(
        id=number, name=name or names.kingdom_name(sim, race, number), race=race,
        colour=_free_colour(sim), founded=sim.tick, no_war_before=sim.tick + diplomacy.PEACE_LASTS,
    )  # fmt: skip
    sim.kingdoms[number] = realm
    sim.stale = True
    return realm


def _free_colour(sim: Sim) -> int:
    taken = [kingdom.colour for kingdom in sim.alive]
    return next((row for row in range(COLOURS) if row not in taken), sim.tally.kingdoms % COLOURS)


def end_kingdom(sim: Sim, kingdom: Kingdom, why: str) -> None:
    """End a kingdom: its cities fall to ruin, its people become wild, its wars are over."""
    for city in sim.cities_of(kingdom.id):
        cities.raze(sim, city)
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


def crown_king(sim: Sim, kingdom: Kingdom, announce: bool = True) -> None:
    """If the king is gone, crown the adult with the most kills, the oldest of equals."""
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
    kingdom.king, public = int(c.id[heir]), int(c.public[heir])
    wide = 2 * city_life.KING_LOYALTY + 1
    kingdom.nature = sim.chance.one(wide, "king's nature", 0, public) - city_life.KING_LOYALTY
    if announce:
        sim.tell(f"{names.name_of(sim, heir)} is crowned in {kingdom.name}.", None)


def rebel(sim: Sim, city: City) -> Kingdom:
    """The city founds a kingdom of its own, disloyal cities nearby join it, and it is at war with the old kingdom."""
    c, old = sim.creatures, sim.kingdoms[city.kingdom]
    rows = life.people_of(sim, city.id)
    race = SPECIES[int(np.argmax(np.bincount(c.species[rows])))].id if len(rows) else old.race
    realm = _new_kingdom(sim, race if race in RACES else old.race, None)
    for other in sim.cities_of(old.id):
        near = other.distance(city.x, city.y) <= REBELS_REACH
        joins = other.loyalty < REBELS_JOIN_BELOW and near and other.id != old.capital
        if other is city or joins:
            cities.hand_over(sim, other, realm, REBEL_LOYALTY)
    realm.capital = city.id
    realm.people = int(np.count_nonzero(c.kingdom == realm.id))
    crown_king(sim, realm, announce=False)
    sim.tally.rebellions += 1
    sim.tell(f"{city.name} rebels against {old.name} and founds the kingdom of {realm.name}.", None, "danger")
    diplomacy.declare_war(sim, realm.id, old.id, "rebellion")
    return realm


# -- what a crown does ----------------------------------------------------------------------------
def act(sim: Sim, kingdom: Kingdom) -> None:
    """One action of a crown."""
    if not kingdom.cities and kingdom.people < MIN_EXILES:
        end_kingdom(sim, kingdom, "its last people have scattered")
        return
    crown_king(sim, kingdom)
    scouting.notice_cities(sim, kingdom)
    settlers.resettle(sim, kingdom)
    _gain_faith(sim, kingdom)
    _update_weariness(sim, kingdom)
    diplomacy.update_opinions(sim, kingdom)
    _rebellions(sim, kingdom)
    if sim.laws.get("peace"):
        for other in diplomacy.enemies(sim, kingdom):
            diplomacy.make_peace(sim, kingdom.id, other.id)
    elif not kingdom.claimed:
        diplomacy.seek_peace(sim, kingdom)
        diplomacy.seek_war(sim, kingdom)
    sim.refresh()
    armies.end_raid(sim, kingdom)
    armies.plan(sim, kingdom)
    armies.gather(sim, kingdom)


def _gain_faith(sim: Sim, kingdom: Kingdom) -> None:
    own = sim.cities_of(kingdom.id)
    temples = sum(city.buildings.get("temple", 0) for city in own)
    kingdom.faith = min(MAX_FAITH, kingdom.faith + 1 + kingdom.people // FAITH_PEOPLE + FAITH_TEMPLE * temples)
    kingdom.culture = sum(city.culture for city in own)


def _update_weariness(sim: Sim, kingdom: Kingdom) -> None:
    change = -PEACE_RESTS
    if diplomacy.enemies(sim, kingdom):
        change = kingdom.fallen * LOSS_WEARINESS // max(1, kingdom.people)
        change += WAR_WEARINESS if kingdom.weariness < MAX_WAR_WEARINESS else -WAR_WEARINESS
    kingdom.fallen = 0
    kingdom.weariness = min(100, max(0, kingdom.weariness + change))


def _rebellions(sim: Sim, kingdom: Kingdom) -> None:
    if sim.laws.get("no_rebellion") or kingdom.cities < 2:
        return
    for city in sim.cities_of(kingdom.id):
        hits = sim.chance.one(REBEL_CHANCE[1], "rebels", sim.tick, city.number) < REBEL_CHANCE[0]
        if city.kingdom == kingdom.id and not city.loyalty and not city.besieger and hits:
            rebel(sim, city)


# -- nomads ---------------------------------------------------------------------------------------
def nomads(sim: Sim) -> None:
    """People without a kingdom found one, and in a world that is nearly empty new ones arrive."""
    if sim.tick % NOMADS_FOUND_EVERY == 0:
        _nomads_found_kingdom(sim)
    if sim.tick % NOMADS_COME_EVERY == 0 and len(sim.alive) < MIN_KINGDOMS:
        _nomads_arrive(sim)


def _nomads_found_kingdom(sim: Sim) -> None:
    """Wild people who call, and those of their race nearby, found a kingdom if there are enough of them."""
    c = sim.creatures
    wild = np.flatnonzero(IS_CIVIL[c.species] & (c.kingdom == 0) & (c.hp > 0))
    wild = wild[life.grown_up(sim, wild)]
    callers = wild[sim.chance.hits(*NOMAD_CHANCE, "gather", sim.tick, c.public[wild])]
    for first in callers.tolist():
        if c.kingdom[first]:
            continue  # joined a kingdom that another caller has founded
        x, y = int(c.x[first]), int(c.y[first])
        alike = wild[(c.species[wild] == c.species[first]) & (c.kingdom[wild] == 0)]
        band = alike[(abs(c.x[alike] - x) <= NOMAD_REACH) & (abs(c.y[alike] - y) <= NOMAD_REACH)]
        if len(band) >= NOMAD_BAND and _suits_a_city(sim, x, y):
            found_kingdom(sim, SPECIES[int(c.species[first])].id, x, y, band)


def _suits_a_city(sim: Sim, x: int, y: int) -> bool:
    return settlers.is_free(sim, x, y) and settlers.soil(sim, x, y) >= settlers.MIN_SOIL


def _nomads_arrive(sim: Sim) -> None:
    """They choose a place by the chart. If it is taken now, nobody comes: another place would tell of it."""
    land = sim.land
    for cell in sim.chance.below(land.size, "nomads", sim.tick, np.arange(NOMAD_PLACES)).tolist():
        x, y = land.xy(cell)
        soil = np.count_nonzero(CAN_GROW[land.chart[land.disc(x, y, settlers.SOIL_RADIUS)]])
        if not CAN_GROW[land.chart[cell]] or soil < settlers.MIN_SOIL:
            continue
        if _suits_a_city(sim, x, y):
            race = RACES[sim.chance.one(len(RACES), "nomads' race", sim.tick)]
            ids = life.spawn(sim, SPECIES_ROW[race], x, y, NOMADS)
            found_kingdom(sim, race, x, y, np.searchsorted(sim.creatures.id, ids))
        return
