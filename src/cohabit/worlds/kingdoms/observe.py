"""The world as a player reads it: my land, my cities, threats, what happened, what I can do now."""

from collections.abc import Sequence

import numpy as np

from cohabit.model.observation import Effect, Entity, Event, EventType, Location, Observation
from cohabit.worlds.kingdoms.creatures import Job
from cohabit.worlds.kingdoms.land import Cells
from cohabit.worlds.kingdoms.names import many
from cohabit.worlds.kingdoms.overview import overview
from cohabit.worlds.kingdoms.realms import City, Kingdom, News
from cohabit.worlds.kingdoms.sight import View
from cohabit.worlds.kingdoms.sim import YEAR, Sim
from cohabit.worlds.kingdoms.species import SPECIES
from cohabit.worlds.kingdoms.tiles import TOP_ROW

EVENTS_SHOWN = 8
THREATS_SHOWN = 6
CITIES_SHOWN = 12
FEW_FOOD = 2
"""A city with less food than this for each of its people goes hungry soon."""
SHAKY = 40
"""A city less loyal than this may rebel."""
_KINDS: dict[str, EventType] = {"info": "info", "success": "success", "danger": "danger", "reward": "reward"}
_DANGEROUS = np.array([kind.temper in ("monster", "undead") for kind in SPECIES])


def observation(view: View, paused: bool, over: bool) -> Observation:
    """What this eye sees, as values and as text."""
    sim = view.sim
    mine = sim.kingdoms.get(view.kingdom or 0)
    status: dict[str, object] = {
        "tick": sim.tick,
        "map": [sim.land.width, sim.land.height],
        "kingdoms": {k.name: _standing(k) for k in sim.alive},
    }
    if mine is not None:
        status |= _my_status(sim, mine)
    if view.everything:
        status |= _whole_world(sim)
    return Observation(
        status=status,
        location=_capital(sim, mine) if mine is not None else None,
        nearby_entities=_threats(view, mine) if mine is not None else [],
        active_effects=_worries(sim, mine) if mine is not None else [],
        recent_events=[
            Event(f"year {n.tick // YEAR}: {n.text}", _KINDS.get(n.kind, "info")) for n in heard(view)[-EVENTS_SHOWN:]
        ],
        step=sim.tick,
        time_of_day=f"year {sim.tick // YEAR}" + (", time stands still" if paused else ""),
        text="\n\n".join(filter(None, [_head(view, mine, over), overview(view), _what_now(sim, mine)])),
    )


def heard(view: View) -> Sequence[News]:
    """The news that reached this eye."""
    return [
        n
        for n in view.sim.news
        if view.everything or n.kingdoms is None or (view.kingdom is not None and view.kingdom in n.kingdoms)
    ]


def _head(view: View, mine: Kingdom | None, over: bool) -> str:
    sim = view.sim
    ended = " The match is over." if over else ""
    if mine is not None:
        return f"You rule {mine.name} (kingdom {mine.id}, {many(mine.race)}).{ended}\n" + _my_cities(sim, mine)
    if view.everything:
        wars = "; ".join(f"{sim.kingdoms[w.attacker].name} against {sim.kingdoms[w.defender].name}" for w in sim.wars)
        return f"You see the whole world.{ended} Wars: {wars or 'none'}."
    return f"You see what is public: the chart, the kingdoms, and the news.{ended}"


def _my_cities(sim: Sim, mine: Kingdom) -> str:
    found = sim.cities_of(mine.id)
    lines = [f"- {_city_words(city)}" for city in found[:CITIES_SHOWN]]
    more = [f"- and {len(found) - CITIES_SHOWN} more"] if len(found) > CITIES_SHOWN else []
    return "\n".join(["MY CITIES:", *lines, *more]) if found else "You hold no city any more."


def _city_words(city: City) -> str:
    parts = [
        f"{city.name} (city {city.id}) at {city.x},{city.y}: {city.people} people, {city.soldiers} of them soldiers",
        f"food {city.food}",
        f"loyalty {city.loyalty}",
        f"{sum(city.buildings.values())} buildings",
    ]
    if city.besieger:
        parts.append(f"BESIEGED by kingdom {city.besieger} ({city.siege} of 100)")
    return ", ".join(parts)


def _standing(k: Kingdom) -> dict[str, object]:
    return {"id": k.id, "race": k.race, "people": k.people, "cities": k.cities, "player": k.claimed}


def _my_status(sim: Sim, mine: Kingdom) -> dict[str, object]:
    orders = mine.orders
    given = {
        "rally": f"{orders.rally[0]},{orders.rally[1]}" if orders.rally else None,
        "raid": _raided(sim, orders.raid),
        "fortify": "yes" if orders.fortify else None,
        "settle": f"{orders.settle[0]},{orders.settle[1]}" if orders.settle else None,
        "muster": f"{orders.muster}%" if orders.muster else None,
    }
    cities = sim.cities_of(mine.id)
    return {
        "you": mine.name,
        "kingdom_id": mine.id,
        "people": mine.people,
        "soldiers": mine.soldiers,
        "food": sum(city.food for city in cities),
        "faith": mine.faith,
        "weariness": mine.weariness,
        "at_war_with": [k.id for k in sim.alive if k.id != mine.id and sim.at_war[mine.id, k.id]],
        "peace_offered_to": list(orders.peace),
        "peace_offered_by": [k.id for k in sim.alive if mine.id in k.orders.peace],
        "cities": _places(cities),
        "orders": {name: value for name, value in given.items() if value},
    }


def _raided(sim: Sim, city: int) -> str | None:
    """Against whom the army marches; which city it is may be hidden."""
    found = sim.cities.get(city)
    return sim.kingdoms[found.kingdom].name if found is not None else None


def _capital(sim: Sim, mine: Kingdom) -> Location | None:
    city = sim.cities.get(mine.capital)
    return Location((city.x, city.y), city.name, f"your capital {city.name} at {city.x},{city.y}") if city else None


def _places(cities: Sequence[City]) -> dict[str, dict[str, int]]:
    """Cities by name, for whoever wants to aim at one."""
    return {
        c.name: {
            "id": c.id, "kingdom": c.kingdom, "x": c.x, "y": c.y, "people": c.people, "soldiers": c.soldiers,
            "loyalty": c.loyalty, "siege": c.siege,
        }
        for c in cities
    }  # fmt: skip


def _whole_world(sim: Sim) -> dict[str, object]:
    """What only those who see everything are told."""
    fires = np.flatnonzero(sim.land.top == TOP_ROW["fire"])
    return {
        "wars": [[war.attacker, war.defender] for war in sim.wars],
        "laws": [name for name, holds in sim.laws.items() if holds],
        "cities": _places(list(sim.cities.values())),
        "fires": {"tiles": len(fires), "at": list(sim.land.xy(int(fires[len(fires) // 2])))} if len(fires) else None,
        "creatures": _census(sim),
    }


def _census(sim: Sim) -> dict[str, int]:
    counts = np.bincount(sim.creatures.species, minlength=len(SPECIES))
    return {SPECIES[row].id: int(n) for row, n in enumerate(counts) if n}


def _threats(view: View, mine: Kingdom) -> list[Entity]:
    """Enemy soldiers and monsters in sight, in groups: how many, and how far from the nearest of my cities."""
    sim, c = view.sim, view.sim.creatures
    rows = view.rows()
    enemy = sim.at_war[mine.id][c.kingdom[rows]] & (c.job[rows] == Job.SOLDIER)
    wild = (c.kingdom[rows] == 0) & _DANGEROUS[c.species[rows]]
    homes = sim.cities_of(mine.id)
    found: list[Entity] = []
    for group, kind in [(rows[enemy], "enemy soldiers"), (rows[wild], "monsters")]:
        keys = c.kingdom[group].astype(np.int64) * 1000 + c.species[group]
        for key in np.unique(keys):
            members = group[keys == key]
            found.append(_group(sim, members, kind, homes))
    return sorted(found, key=lambda e: (e.distance or 0, e.description))[:THREATS_SHOWN]


def _group(sim: Sim, members: Cells, kind: str, homes: Sequence[City]) -> Entity:
    c = sim.creatures
    x, y = c.x[members].astype(np.int64), c.y[members].astype(np.int64)
    best, near = None, 0
    for city in homes:
        far = np.maximum(abs(x - city.x), abs(y - city.y))
        if best is None or far.min() < best[0]:
            best, near = (int(far.min()), city.name), int(far.argmin())
    who = sim.kingdoms[int(c.kingdom[members[0]])].name if c.kingdom[members[0]] else "wild"
    species = SPECIES[int(c.species[members[0]])].id
    words = f"{len(members)} {kind} ({species}, {who}) about {x[near]},{y[near]}"
    return Entity(
        kind, distance=best[0] if best else None, direction=f"from {best[1]}" if best else "", description=words
    )


def _worries(sim: Sim, mine: Kingdom) -> list[Effect]:
    """What goes wrong in my own cities."""
    found: list[Effect] = []
    for city in sim.cities_of(mine.id):
        if city.food < FEW_FOOD * city.people:
            found.append(Effect(f"hunger in {city.name}", "food runs low; settle elsewhere, or a bounty would help"))
        if city.loyalty < SHAKY:
            found.append(Effect(f"unrest in {city.name}", f"loyalty {city.loyalty}; at 0 it rebels"))
        if city.besieger:
            found.append(Effect(f"siege of {city.name}", "rally your soldiers there"))
    return found[:CITIES_SHOWN]


def _what_now(sim: Sim, mine: Kingdom | None) -> str:
    if mine is None or not mine.alive:
        return ""
    at_war = [k for k in sim.alive if k.id != mine.id and sim.at_war[mine.id, k.id]]
    lines = [
        "declare_war {kingdom_id} · offer_peace {kingdom_id} · raid {kingdom_id} or {city_id} · rally {x, y}",
        "muster {percent} · fortify {on} · settle {x, y} · stand_down",
        "spawn or invoke_power on your own land, for faith",
    ]
    hints = []
    if not at_war:
        hints.append("You are at war with nobody: conquest begins with declare_war.")
    elif not mine.orders.raid and not mine.orders.fortify:
        hints.append(f"You are at war with {at_war[0].name}: raid {{kingdom_id: {at_war[0].id}}} sends your army.")
    return "\n".join(["WHAT YOU CAN DO:", *lines, *hints])
