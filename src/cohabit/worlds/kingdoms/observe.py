"""Observations: the world as values and text, with a small map in characters."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cohabit.model.observation import Effect, Entity, Event, EventType, Location, Observation
from cohabit.worlds.kingdoms.creatures import Job, Rows
from cohabit.worlds.kingdoms.names import city_id, plural, word_for
from cohabit.worlds.kingdoms.sight import View
from cohabit.worlds.kingdoms.sim import YEAR, City, Kingdom, News, Sim
from cohabit.worlds.kingdoms.species import IS_MONSTER, SPECIES
from cohabit.worlds.kingdoms.tiles import GROUND, IS_STONY, IS_WATER, TOP_ROW

MAX_EVENTS = 8
MAX_THREATS = 6
MAX_CITIES = 12
LOW_FOOD = 2
"""A city with less food than this per person is reported as hungry."""
LOW_LOYALTY = 40
"""A city with less loyalty than this is reported as restless."""
MAP_COLUMNS, MAP_ROWS = 48, 24
KINGDOM_CHARACTERS = "123456789abcdefghijklmnopqrstuvwxyz"
"""How the land of a kingdom is drawn, by its id; after the last it starts again."""
_KINDS: dict[str, EventType] = {"info": "info", "success": "success", "danger": "danger", "reward": "reward"}


def observation(view: View, paused: bool, over: bool) -> Observation:
    """What this eye sees, as values and text."""
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
        active_effects=_problems(sim, mine) if mine is not None else [],
        recent_events=[
            Event(f"year {n.tick // YEAR}: {n.text}{_audience(view, n)}", _KINDS.get(n.kind, "info"))
            for n in heard(view)[-MAX_EVENTS:]
        ],
        step=sim.tick,
        time_of_day=f"year {sim.tick // YEAR}" + (", paused" if paused else ""),
        text="\n\n".join(filter(None, [_head(view, mine, over), text_map(view), _what_now(sim, mine)])),
    )


def heard(view: View) -> Sequence[News]:
    """The news that this eye may read."""
    return [
        n
        for n in view.sim.news
        if view.everything or n.kingdoms is None or (view.kingdom is not None and view.kingdom in n.kingdoms)
    ]


def _audience(view: View, news: News) -> str:
    """For an eye that sees everything: who else knows it."""
    if not view.everything or news.kingdoms is None:
        return ""
    return f" (known to {' and '.join(view.sim.kingdoms[k].name for k in news.kingdoms if k in view.sim.kingdoms)})"


def _head(view: View, mine: Kingdom | None, over: bool) -> str:
    sim = view.sim
    ended = " The match is over." if over else ""
    if mine is not None:
        return f"You rule {mine.name} (kingdom {mine.id}, {plural(mine.race)}).{ended}\n" + _my_cities(sim, mine)
    if view.everything:
        wars = "; ".join(f"{sim.kingdoms[w.attacker].name} against {sim.kingdoms[w.defender].name}" for w in sim.wars)
        return f"You see the whole world.{ended} Wars: {wars or 'none'}."
    return f"You see what is public: the chart, the kingdoms and the news.{ended}"


def _my_cities(sim: Sim, mine: Kingdom) -> str:
    found = sim.cities_of(mine.id)
    lines = [f"- {_city_line(city)}" for city in found[:MAX_CITIES]]
    more = [f"- and {len(found) - MAX_CITIES} more"] if len(found) > MAX_CITIES else []
    return "\n".join(["MY CITIES:", *lines, *more]) if found else "You have no cities left."


def _city_line(city: City) -> str:
    people = f"{_count(city.people, 'person', 'people')} ({_count(city.soldiers, 'soldier', 'soldiers')})"
    parts = [
        f"{city.name} at {city.x},{city.y}: {people}",
        f"food {city.food}",
        f"loyalty {city.loyalty}",
        _count(sum(city.buildings.values()), "building", "buildings"),
    ]
    if city.besieger:
        parts.append(f"BESIEGED by kingdom {city.besieger} (siege {city.siege} of 100)")
    return ", ".join(parts)


def _count(number: int, one: str, several: str) -> str:
    return f"{number} {one if number == 1 else several}"


def _standing(k: Kingdom) -> dict[str, object]:
    return {"id": k.id, "race": k.race, "people": k.people, "cities": k.cities, "player": k.claimed}


def _my_status(sim: Sim, mine: Kingdom) -> dict[str, object]:
    orders = mine.orders
    given = {
        "rally": f"{orders.rally[0]},{orders.rally[1]}" if orders.rally else None,
        "raid": orders.raid_named if orders.raid else None,
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
        "cities": _places(sim, cities),
        "orders": {name: value for name, value in given.items() if value},
    }


def _capital(sim: Sim, mine: Kingdom) -> Location | None:
    city = sim.cities.get(mine.capital)
    return Location((city.x, city.y), city.name, f"your capital {city.name} at {city.x},{city.y}") if city else None


def _places(sim: Sim, cities: Sequence[City]) -> dict[str, dict[str, int]]:
    """Cities by name."""
    return {
        c.name: {
            "id": city_id(sim, c.id), "kingdom": c.kingdom, "x": c.x, "y": c.y, "people": c.people,
            "soldiers": c.soldiers, "loyalty": c.loyalty, "siege": c.siege,
        }
        for c in cities
    }  # fmt: skip


def _whole_world(sim: Sim) -> dict[str, object]:
    """The part of the status for eyes that see everything."""
    fires = np.flatnonzero(sim.land.top == TOP_ROW["fire"])
    return {
        "wars": [[war.attacker, war.defender] for war in sim.wars],
        "laws": [name for name, holds in sim.laws.items() if holds],
        "cities": _places(sim, list(sim.cities.values())),
        "fires": {"tiles": len(fires), "at": list(sim.land.xy(int(fires[len(fires) // 2])))} if len(fires) else None,
        "creatures": _census(sim),
    }


def _census(sim: Sim) -> dict[str, int]:
    counts = np.bincount(sim.creatures.species, minlength=len(SPECIES))
    return {SPECIES[row].id: int(n) for row, n in enumerate(counts) if n}


def _threats(view: View, mine: Kingdom) -> list[Entity]:
    """Enemy soldiers and monsters in sight, grouped, with their distance from the nearest of my cities."""
    sim, c = view.sim, view.sim.creatures
    rows = view.rows()
    enemy = sim.at_war[mine.id][c.kingdom[rows]] & (c.job[rows] == Job.SOLDIER)
    wild = (c.kingdom[rows] == 0) & IS_MONSTER[c.species[rows]]
    homes = sim.cities_of(mine.id)
    found: list[Entity] = []
    for group, kind in [(rows[enemy], "enemy soldier"), (rows[wild], "monster")]:
        keys = c.kingdom[group].astype(np.int64) * 1000 + c.species[group]
        for key in np.unique(keys):
            members = group[keys == key]
            found.append(_group(sim, members, kind, homes))
    return sorted(found, key=lambda e: (e.distance or 0, e.description))[:MAX_THREATS]


def _group(sim: Sim, members: Rows, kind: str, homes: Sequence[City]) -> Entity:
    c = sim.creatures
    x, y = c.x[members].astype(np.int64), c.y[members].astype(np.int64)
    best, near = None, 0
    for city in homes:
        distance = np.maximum(abs(x - city.x), abs(y - city.y))
        if best is None or distance.min() < best[0]:
            best, near = (int(distance.min()), city.name), int(distance.argmin())
    owner = sim.kingdoms[int(c.kingdom[members[0]])].name if c.kingdom[members[0]] else "wild"
    species = word_for(SPECIES[int(c.species[members[0]])].id)
    return Entity(
        f"{kind}s",
        distance=best[0] if best else None,
        direction=f"from {best[1]}" if best else "",
        description=f"{_count(len(members), kind, f'{kind}s')} ({species}, {owner}) near {x[near]},{y[near]}",
    )


def _problems(sim: Sim, mine: Kingdom) -> list[Effect]:
    """Problems in my own cities. Built-in players read the names of these effects."""
    found: list[Effect] = []
    for city in sim.cities_of(mine.id):
        if city.food < LOW_FOOD * city.people:
            found.append(
                Effect(f"hunger in {city.name}", "food is running low; use the power bounty, or settle elsewhere")
            )
        if city.loyalty < LOW_LOYALTY:
            found.append(Effect(f"unrest in {city.name}", f"loyalty {city.loyalty}; at 0 it rebels"))
        if city.besieger:
            found.append(Effect(f"siege of {city.name}", "rally your soldiers there"))
    return found[:MAX_CITIES]


def _what_now(sim: Sim, mine: Kingdom | None) -> str:
    if mine is None or not mine.alive:
        return ""
    at_war = [k for k in sim.alive if k.id != mine.id and sim.at_war[mine.id, k.id]]
    lines = [
        "declare_war {kingdom_id} · offer_peace {kingdom_id} · raid {kingdom_id} or {city_id} · rally {x, y}",
        "muster {percent} · fortify {on} · settle {x, y} · stand_down",
        "On your own land you can also spawn people and use powers, which cost faith.",
    ]
    hints = []
    if not at_war:
        hints.append("You are not at war. To take cities, declare war first.")
    elif not mine.orders.raid and not mine.orders.fortify:
        hints.append(f"You are at war with {at_war[0].name}: raid {{kingdom_id: {at_war[0].id}}} sends your army.")
    return "\n".join(["WHAT YOU CAN DO:", *lines, *hints])


# -- the map in characters ------------------------------------------------------------------------
def _ground_characters() -> NDArray[np.str_]:
    characters = np.full(len(GROUND), ".")
    characters[IS_STONY] = "^"
    characters[IS_WATER] = "~"
    characters[[kind.deadly for kind in GROUND]] = "!"
    return characters


GROUND_CHARACTERS = _ground_characters()


def text_map(view: View) -> str:
    """The map, several tiles to a character. What is not seen is drawn from the chart."""
    land = view.sim.land
    across, down = -(-land.width // MAP_COLUMNS), -(-land.height // MAP_ROWS)
    xs, ys = np.arange(across // 2, land.width, across), np.arange(down // 2, land.height, down)
    cells = (ys[:, None] * land.width + xs[None, :]).ravel()
    seen = np.ones(len(cells), np.bool_) if view.seen is None else view.seen[cells]
    characters = GROUND_CHARACTERS[np.where(seen, land.ground[cells], land.chart[cells])]
    owner = _owners(view)[land.city[cells]]
    owned = seen & (owner > 0) & ~IS_WATER[land.ground[cells]]
    characters[owned] = np.array(list(KINGDOM_CHARACTERS))[(owner[owned] - 1) % len(KINGDOM_CHARACTERS)]
    picture = characters.reshape(len(ys), len(xs))
    _mark_cities_and_enemies(view, picture, across, down)
    legend = f"one character is {across} x {down} tiles: ~ water, . land, ^ hills, ! deadly, 1-9 land of that kingdom"
    if view.kingdom is not None:
        legend += ", C my city, X enemy soldiers"
    return "\n".join(["MAP (0,0 is the upper left corner):", *("".join(row) for row in picture), legend])


def _owners(view: View) -> NDArray[np.int64]:
    """The kingdom of each city, by city id."""
    cities = view.sim.cities
    table = np.zeros(max(cities, default=0) + 1, np.int64)
    for city in cities.values():
        table[city.id] = city.kingdom
    return table


def _mark_cities_and_enemies(view: View, picture: NDArray[np.str_], across: int, down: int) -> None:
    sim = view.sim
    if view.kingdom is None:
        return
    height, width = picture.shape
    c, rows = sim.creatures, view.rows()
    foes = rows[sim.at_war[view.kingdom][c.kingdom[rows]] & (c.job[rows] == Job.SOLDIER)]
    picture[np.minimum(c.y[foes] // down, height - 1), np.minimum(c.x[foes] // across, width - 1)] = "X"
    for city in sim.cities_of(view.kingdom):
        picture[min(city.y // down, height - 1), min(city.x // across, width - 1)] = "C"
