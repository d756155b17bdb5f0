"""Settlers: a crowded city sends some of its people to found another."""

import numpy as np

from cohabit.worlds.kingdoms.creatures import Job, Rows
from cohabit.worlds.kingdoms.rules import cities, life, scouting, walk
from cohabit.worlds.kingdoms.sim import City, Kingdom, Sim
from cohabit.worlds.kingdoms.tiles import CAN_GROW

CROWDED = 28
"""A city with at least this many people may send settlers"""
SEND_CHANCE = 1, 30
"""with this chance per day, or at once if the king has ordered it."""
BAND = 8
"""How many settlers go."""
NEAREST, FURTHEST = 15, 44
"""The distance of the new city from the old one,"""
APART = 15
"""and its smallest distance from any other city. Settlers choose a place by what their kingdom knows."""
PLACES = 24
"""How many random places are considered."""
SOIL_RADIUS = 5
MIN_SOIL = 30
"""A place needs this many cells of unowned soil within that radius."""
JOIN_RADIUS = 6
"""Settlers within this distance of the first arrival found the city together."""


def send(sim: Sim, city: City, rows: Rows) -> None:
    """Send a band of settlers if the city is crowded and there is a place for a new city."""
    realm = sim.kingdoms[city.kingdom]
    orders = realm.orders
    if city.people < CROWDED or city.besieger:
        return
    if orders.settle is not None and city is not _settling_city(sim, realm):
        return
    if orders.settle is None and sim.chance.one(SEND_CHANCE[1], "settlers", sim.tick, city.number) >= SEND_CHANCE[0]:
        return
    place = orders.settle or find_place(sim, city)
    c = sim.creatures
    able = _able(sim, rows)
    if place is None or len(able) < 2 * BAND:
        return
    band = able[np.argsort(sim.chance.bits("band", sim.tick, c.public[able]), kind="stable")[:BAND]]
    if orders.settle is not None:
        orders.settle = None
        realm.band, realm.band_to = tuple(c.id[band].tolist()), place
        sim.tell(f"{BAND} settlers leave {city.name} for {place[0]},{place[1]}.", [realm.id])
    c.job[band] = Job.SETTLER
    walk.send(sim, band, np.full(BAND, place[0]), np.full(BAND, place[1]))


def _able(sim: Sim, rows: Rows) -> Rows:
    """The people who can settle: grown-up workers. Twice as many as go must be there."""
    able: Rows = rows[(sim.creatures.job[rows] == Job.WORKER) & life.grown_up(sim, rows)]
    return able


def _settling_city(sim: Sim, kingdom: Kingdom) -> City | None:
    """The city that carries out the order to settle: the nearest crowded one."""
    place = kingdom.orders.settle
    able = [city for city in sim.cities_of(kingdom.id) if city.people >= CROWDED and not city.besieger]
    return min(able, key=lambda city: city.distance(*place)) if place is not None and able else None


def waits_for(sim: Sim, kingdom: Kingdom) -> str:
    """Why the settlers that the king has ordered have not left; empty if they leave within a day."""
    crowded = [city for city in sim.cities_of(kingdom.id) if city.people >= CROWDED]
    if not crowded:
        return f"waits for a city with {CROWDED} people"
    city = _settling_city(sim, kingdom)
    if city is None:
        return f"waits for the end of the siege of {crowded[0].name}"
    able = len(_able(sim, life.people_of(sim, city.id)))
    if able >= 2 * BAND:
        return ""
    return f"waits for {2 * BAND} grown-up workers in {city.name}, which has {able}; soldiers do not settle"


def is_free(sim: Sim, x: int, y: int) -> bool:
    """Can a city be founded here?"""
    cell = sim.land.cell(x, y)
    if sim.land.city[cell] or not CAN_GROW[sim.land.ground[cell]]:
        return False
    return all(c.distance(x, y) >= APART for c in sim.cities.values())


def soil(sim: Sim, x: int, y: int) -> int:
    """The number of unowned cells around a place that could become fields."""
    around = sim.land.disc(x, y, SOIL_RADIUS)
    return int(np.count_nonzero(CAN_GROW[sim.land.ground[around]] & (sim.land.city[around] == 0)))


def find_place(sim: Sim, city: City) -> tuple[int, int] | None:
    """The best of some random places around, or None if none of them is free, as far as its kingdom knows."""
    x, y, wide = city.x, city.y, 2 * FURTHEST + 1
    dice = sim.chance.below(wide * wide, "place", sim.tick, np.arange(PLACES) + PLACES * sim.land.cell(x, y))
    survey = scouting.Survey(sim, sim.kingdoms[city.kingdom])
    best, found = MIN_SOIL - 1, None
    for roll in dice.tolist():
        at = x + roll % wide - FURTHEST, y + roll // wide - FURTHEST
        if not sim.land.holds(*at) or max(abs(at[0] - x), abs(at[1] - y)) < NEAREST:
            continue
        centre = np.array([sim.land.cell(*at)])
        if survey.distance_to_city(*at) < APART or not survey.is_free_soil(centre)[0]:
            continue
        worth = int(np.count_nonzero(survey.is_free_soil(sim.land.disc(*at, SOIL_RADIUS))))
        if worth > best:
            best, found = worth, at
    return found


def resettle(sim: Sim, kingdom: Kingdom) -> None:
    """The workers of a kingdom that has lost all its cities become settlers."""
    c = sim.creatures
    homeless = np.flatnonzero((c.kingdom == kingdom.id) & (c.job == Job.WORKER))
    if not kingdom.cities and len(homeless) >= BAND:
        c.job[homeless] = Job.SETTLER


def arrive(sim: Sim) -> None:
    """Settlers who have arrived found a city, or join the nearest city of their kingdom if the place is taken."""
    c = sim.creatures
    there = np.flatnonzero((c.job == Job.SETTLER) & (c.tx < 0))
    for row in there.tolist():
        if c.job[row] != Job.SETTLER or not c.kingdom[row]:
            continue  # settled already, together with an earlier row
        x, y, kingdom = int(c.x[row]), int(c.y[row]), int(c.kingdom[row])
        band = np.flatnonzero((c.job == Job.SETTLER) & (c.kingdom == kingdom))
        band = band[(abs(c.x[band] - x) <= JOIN_RADIUS) & (abs(c.y[band] - y) <= JOIN_RADIUS)]
        realm, own = sim.kingdoms[kingdom], sim.cities_of(kingdom)
        ordered = realm.band_to if int(c.id[row]) in realm.band else None
        lost = ordered is not None and max(abs(ordered[0] - x), abs(ordered[1] - y)) > JOIN_RADIUS
        if is_free(sim, x, y) and not (lost and own):
            cities.found_city(sim, kingdom, x, y, band)
        elif own:
            home = min(own, key=lambda city: city.distance(x, y))
            cities.move_in(sim, home, band)
            if ordered is not None:
                why = "could not reach it" if lost else "found it taken, or without soil"
                text = f"No city at {ordered[0]},{ordered[1]}: the settlers {why}. They now live in {home.name}."
                sim.tell(text, [kingdom], "danger")
        if ordered is not None:
            realm.band, realm.band_to = (), None
    _report_lost_bands(sim)


def _report_lost_bands(sim: Sim) -> None:
    for realm in sim.alive:
        if realm.band_to is not None and all(sim.creatures.row(settler) is None for settler in realm.band):
            sim.tell(f"The settlers for {realm.band_to[0]},{realm.band_to[1]} died on the way.", [realm.id], "danger")
            realm.band, realm.band_to = (), None
