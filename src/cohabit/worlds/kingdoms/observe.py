"""Observations: the world as values and text. A value stands in one place only, because models pay for each word."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
from msgspec import Struct
from msgspec.structs import asdict

from cohabit.model.observation import Effect, Entity, Event, EventType, Observation
from cohabit.worlds.kingdoms.creatures import Job, Rows
from cohabit.worlds.kingdoms.history import History
from cohabit.worlds.kingdoms.names import city_id, labelled, word_for
from cohabit.worlds.kingdoms.powers.power import Power
from cohabit.worlds.kingdoms.powers.table import POWERS
from cohabit.worlds.kingdoms.rules import armies, cities, city_life, life, settlers
from cohabit.worlds.kingdoms.sight import View
from cohabit.worlds.kingdoms.sim import YEAR, City, Kingdom, News, Sim, War
from cohabit.worlds.kingdoms.species import IS_MONSTER, SPECIES
from cohabit.worlds.kingdoms.text_map import text_map
from cohabit.worlds.kingdoms.tiles import BUILDING_ROW, BUILDINGS, TOP_ROW
from cohabit.worlds.words import counted

MAX_EVENTS = 5
NORMAL = "x1"
SHORT_STEP = 25
"""Ticks. A step of a room whose players end their turns is longer."""
MAX_WARS = 4
MAX_THREATS = 4
MAX_CITIES = 5
MAX_CITIES_OF_WORLD = 20
"""The number of cities in the view of an eye that sees everything. `list_cities` has all of them."""
MAX_WARS_OF_WORLD = 8
PLAIN_POWERS = ("rain", "thaw", "heal", "cure", "feast", "youth", "coming_of_age")
"""Powers whose names say what they do."""
LOW_FOOD = 2
"""A city with less food than this per person is reported as hungry."""
LOW_LOYALTY = 40
"""A city with less loyalty than this is reported as restless."""
_KINDS: dict[str, EventType] = {"info": "info", "success": "success", "danger": "danger", "reward": "reward"}


class Mark(Struct, frozen=True):
    """The numbers of a kingdom at some time, to tell how they have changed."""

    tick: int
    people: int
    soldiers: int
    cities: int
    faith: int
    food: int
    weariness: int


def mark(sim: Sim, k: Kingdom) -> Mark:
    food = sum(city.food for city in sim.cities_of(k.id))
    return Mark(sim.tick, k.people, len(_soldiers(sim, k)), k.cities, k.faith, food, k.weariness)


def _soldiers(sim: Sim, k: Kingdom) -> Rows:
    """The soldiers of a kingdom. They are counted for each view: the last census may be a day old."""
    c = sim.creatures
    return np.flatnonzero((c.kingdom == k.id) & (c.job == Job.SOLDIER) & (c.hp > 0))


def observation(
    view: View,
    paused: bool,
    over: bool,
    speed: str = NORMAL,
    marks: Mapping[int, Mark] = MappingProxyType({}),
    history: History | None = None,
) -> Observation:
    """The observation of this eye, as values and text."""
    sim = view.sim
    mine = sim.kingdoms.get(view.kingdom or 0)
    status: dict[str, object] = {
        "map": [sim.land.width, sim.land.height],
        "kingdoms": {k.name: _standing(k) for k in sim.alive},
    }
    if mine is not None:
        status |= _my_status(view, mine)
    if view.everything:
        status |= _whole_world(sim)
    changes = _digest(sim, mine, speed, marks, history)
    said = [_head(view, mine, over), changes, text_map(view), _powers(mine, over)]
    return Observation(
        status=status,
        nearby_entities=_threats(view, mine) if mine is not None else [],
        active_effects=_problems(sim, mine) if mine is not None else [],
        recent_events=[
            Event(f"year {n.tick // YEAR}: {n.text}{_audience(view, n)}", _KINDS.get(n.kind, "info"))
            for n in heard(view)[-MAX_EVENTS:]
        ],
        step=sim.tick,
        time_of_day=f"year {sim.tick // YEAR}" + (", paused" if paused else _hurry(speed)),
        text="\n\n".join(filter(None, said)),
    )


def _hurry(speed: str) -> str:
    """How fast time runs, unless at the usual speed."""
    return "" if speed == NORMAL else f", {speed}: {10 * float(speed[1:]):g} ticks a second"


def _digest(sim: Sim, mine: Kingdom | None, speed: str, marks: Mapping[int, Mark], history: History | None) -> str:
    """The changes of a kingdom's numbers in the last step, as text. Where time runs by itself, a step is shorter than a
    player thinks: there, the changes of ten years."""
    before = marks.get(mine.id) if mine is not None else None
    if mine is None or before is None or before.tick >= sim.tick:
        return ""
    if history is not None and (speed != NORMAL or sim.tick - before.tick < SHORT_STEP):
        return _of_ten_years(sim, mine, history)
    old, new = asdict(before), asdict(mark(sim, mine))
    shown = {"faith": "faith (after spending)"}
    changes = [
        f"{shown.get(name, name)} {old[name]} → {new[name]}"
        for name in old
        if name != "tick" and old[name] != new[name]
    ]
    return f"In the last {sim.tick - before.tick} ticks: {', '.join(changes)}." if changes else ""


def _of_ten_years(sim: Sim, mine: Kingdom, history: History) -> str:
    known = [sample for sample in history.samples if mine.id in sample[1] and sample[0] < sim.tick]
    if not known:
        return ""
    tick, counts = next((one for one in reversed(known) if one[0] <= sim.tick - 10 * YEAR), known[0])
    numbers = zip(("people", "soldiers"), counts[mine.id], (mine.people, len(_soldiers(sim, mine))), strict=True)
    changes = [f"{name} {old} → {new}" for name, old, new in numbers if old != new]
    years = counted((sim.tick - tick) // YEAR, "year")
    return f"In the last {sim.tick - tick} ticks ({years}): {', '.join(changes)}." if changes else ""


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
    ended = f" {result(sim, mine)}" if over else ""
    if mine is not None and not mine.alive:
        return f"Your kingdom {mine.name} is no more.{ended}"
    if mine is not None:
        homeless = "" if sim.cities_of(mine.id) else " You have no cities left."
        return f"You rule {mine.name}.{homeless}{ended}"
    if view.everything:
        return f"You see the whole world.{ended}"
    return f"You see what is public: the chart, the kingdoms and the news.{ended}"


def result(sim: Sim, mine: Kingdom | None = None) -> str:
    """The result of the match as text, for one kingdom or for everybody."""
    winner = next((k for k in sim.alive if k.claimed), None)
    won = f"{winner.name} has won" if winner is not None else "nobody has won"
    if mine is None or not mine.claimed:
        lost = " and ".join(k.name for k in sim.kingdoms.values() if k.claimed and k is not winner)
        return f"The match is over: {won}{f', {lost} lost' if lost else ''}."
    return "The match is over: you have won." if mine is winner else f"The match is over: you have lost, {won}."


def _war(sim: Sim, war: War) -> str:
    return f"{sim.kingdoms[war.attacker].name} against {sim.kingdoms[war.defender].name}"


def _other_wars(sim: Sim, mine: Kingdom) -> list[str]:
    """The wars that a kingdom has no part in."""
    found = [_war(sim, war) for war in sim.wars if mine.id not in (war.attacker, war.defender)]
    return found if len(found) <= MAX_WARS else [*found[:MAX_WARS], f"{len(found) - MAX_WARS} more"]


def _standing(k: Kingdom) -> dict[str, object]:
    known: dict[str, object] = {"id": k.id, "race": k.race, "people": k.people, "cities": k.cities}
    return known | ({"player": True} if k.claimed else {})


def _my_status(view: View, mine: Kingdom) -> dict[str, object]:
    sim, orders, soldiers = view.sim, mine.orders, _soldiers(view.sim, mine)
    by_city = np.bincount(sim.creatures.city[soldiers], minlength=max(sim.cities, default=0) + 1).tolist()
    waits = settlers.waits_for(sim, mine) if orders.settle else ""
    given = {
        "rally": f"{orders.rally[0]},{orders.rally[1]}" if orders.rally else None,
        "raid": orders.raid_named if orders.raid else None,
        "fortify": "yes" if orders.fortify else None,
        "settle": f"{orders.settle[0]},{orders.settle[1]}{waits and f' ({waits})'}" if orders.settle else None,
        "muster": f"{orders.muster}%{_still_enlisting(mine, len(soldiers))}" if orders.muster else None,
    }
    own = sorted(sim.cities_of(mine.id), key=lambda city: _urgency(mine, city))
    others = [city for city in sim.cities.values() if city.kingdom != mine.id and view.sees_city(city)]
    found: dict[str, object] = {
        "kingdom_id": mine.id,
        "soldiers": len(soldiers),
        "faith": mine.faith,
        "weariness": mine.weariness,
        "at_war_with": [k.id for k in sim.alive if k.id != mine.id and sim.at_war[mine.id, k.id]],
        "other_wars": _other_wars(sim, mine),
        "peace_offered_to": list(orders.peace),
        "peace_offered_by": [k.id for k in sim.alive if mine.id in k.orders.peace],
        "army": _army(sim, mine, own, soldiers),
        "settlers": f"on the way to {mine.band_to[0]},{mine.band_to[1]}" if mine.band_to else None,
        "cities": {name: _own_city(city, by_city[city.id]) for name, city in labelled(own[:MAX_CITIES]).items()},
        "more_cities": len(own) - MAX_CITIES if len(own) > MAX_CITIES else None,
        "foreign_cities_in_sight": {
            name: {"id": city_id(sim, c), "kingdom": c.kingdom, "x": c.x, "y": c.y} | _siege(c)
            for name, c in labelled(others[:MAX_CITIES]).items()
        },
        "orders": {name: value for name, value in given.items() if value},
    }
    return {name: value for name, value in found.items() if value not in (None, "", [], {})}


def _still_enlisting(mine: Kingdom, soldiers: int) -> str:
    """The progress of a muster, as text; empty if it is complete. Only a few people enlist each day."""
    wanted = mine.people * mine.orders.muster // 100
    return f" ({soldiers} of {wanted} soldiers)" if soldiers < wanted else ""


def _urgency(mine: Kingdom, city: City) -> tuple[bool, bool, bool, int, int]:
    """Cities in trouble come first, then the capital, then the largest."""
    return not city.besieger, city.loyalty >= LOW_LOYALTY, city.id != mine.capital, -city.people, city.id


def _own_city(city: City, soldiers: int) -> dict[str, object]:
    return {
        "x": city.x, "y": city.y, "people": city.people, "housing": cities.housing(city),
        "soldiers": soldiers, "loyalty": city.loyalty, "food": city.food, "wood": city.wood,
        "stone": city.stone, "gold": city.gold,
    } | _siege(city)  # fmt: skip


def _siege(city: City) -> dict[str, object]:
    return {"besieged_by": city.besieger, "siege": city.siege} if city.besieger else {}


def _army(sim: Sim, mine: Kingdom, own: Sequence[City], soldiers: Rows) -> str:
    """The positions of soldiers who are not at home, and the army's activity, as text."""
    c, away = sim.creatures, soldiers
    for city in own:
        away = away[np.maximum(abs(c.x[away] - city.x), abs(c.y[away] - city.y)) > armies.CAMP_RADIUS]
    parts = [f"{len(soldiers) - len(away)} at home"]
    if len(away):
        parts.append(f"{len(away)} near {int(np.median(c.x[away]))},{int(np.median(c.y[away]))}")
    if mine.army_out:
        attacks = mine.orders.raid or mine.goal_is_attack
        leaving = f" ({mine.army_out} are setting out)" if armies.is_leaving(sim, mine) else ""
        parts.append(f"attacking{leaving}" if attacks else "coming home")
    elif mine.orders.raid and (army := armies.attacking_army(sim, mine)) is not None:
        recruits = ", more with each recruit" if _still_enlisting(mine, len(soldiers)) else ""
        there = f"{army.at_camp} fit soldiers there, leaves with {army.needed}{recruits}"
        parts.append(f"gathering at {army.start.x},{army.start.y} ({there})")
    return ", ".join(parts) if len(soldiers) else ""


def _notable_cities(sim: Sim) -> list[City]:
    """The cities in trouble, the capitals and the largest ones, in the order in which they were founded."""
    ranked = sorted(sim.cities.values(), key=lambda city: _urgency(sim.kingdoms[city.kingdom], city))
    return sorted(ranked[:MAX_CITIES_OF_WORLD], key=lambda city: city.id)


def _place(sim: Sim, city: City) -> dict[str, object]:
    return {
        "id": city_id(sim, city), "kingdom": city.kingdom, "x": city.x, "y": city.y, "people": city.people,
        "soldiers": city.soldiers, "loyalty": city.loyalty,
    } | _siege(city)  # fmt: skip


def _whole_world(sim: Sim) -> dict[str, object]:
    """The part of the status for eyes that see everything."""
    fires = np.flatnonzero(sim.land.top == TOP_ROW["fire"])
    wars, notable = sim.wars[-MAX_WARS_OF_WORLD:], _notable_cities(sim)
    more = {"more_wars": len(sim.wars) - len(wars), "more_cities": len(sim.cities) - len(notable)}
    return {
        "wars": {_war(sim, war): {"attacker": war.attacker, "defender": war.defender} for war in wars},
        "laws": [name for name, holds in sim.laws.items() if holds],
        "cities": {name: _place(sim, city) for name, city in labelled(notable).items()},
        "fires": {"tiles": len(fires), "at": list(sim.land.xy(int(fires[len(fires) // 2])))} if len(fires) else None,
        "creatures": _census(sim),
    } | {name: number for name, number in more.items() if number}


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
        direction=f"{'measured from' if best[0] else 'in'} {best[1]}" if best else "",
        description=f"{counted(len(members), kind)} ({species}, {owner}) near {x[near]},{y[near]}",
    )


def _problems(sim: Sim, mine: Kingdom) -> list[Effect]:
    """Problems in my own cities. Built-in players read the names of these effects."""
    found: list[Effect] = []
    for city in sorted(sim.cities_of(mine.id), key=lambda city: _urgency(mine, city)):
        if city.besieger:
            found.append(Effect(f"siege of {city.name}", "rally soldiers there; at 100 it falls"))
        if city.food < LOW_FOOD * city.people:
            found.append(Effect(f"hunger in {city.name}", "use the power bounty, or settle elsewhere"))
        elif cities.housing(city) <= city.people:
            found.append(Effect(f"no growth in {city.name}", _no_housing(city)))
        reasons = _disloyal(sim, city)
        if city.loyalty < LOW_LOYALTY and reasons:
            found.append(Effect(f"unrest in {city.name}", f"{reasons}; at 0 it rebels"))
    return found[:MAX_CITIES]


def _no_housing(city: City) -> str:
    if city.buildings.get("house", 0) >= cities.MAX_HOUSES:
        return "it has as many houses as a city can have; settle elsewhere"
    wood = BUILDINGS[BUILDING_ROW["house"]].wood
    return "all houses are full" + (f"; the next needs {wood} wood" if city.wood < wood else "")


def _disloyal(sim: Sim, city: City) -> str:
    """The reasons that lower the loyalty of a city, with numbers."""
    parts = city_life.loyalty_parts(sim, city, life.people_of(sim, city.id))
    return ", ".join(f"{why} {change}" for why, change in parts.items() if change < 0)


def _powers(mine: Kingdom | None, over: bool) -> str:
    """The powers that the player can pay, with their cost, and how many are too dear. The rules say what they do."""
    if mine is None or not mine.alive or over:
        return ""
    own = kings_powers()
    usable = [p for p in own if p.faith <= mine.faith]
    dear = sorted(p.faith for p in own if p.faith > mine.faith)
    price = " to ".join(str(faith) for faith in dict.fromkeys((*dear[:1], *dear[-1:])))
    more = f"{len(dear)} more cost {price}" if dear else ""
    if not usable:
        return f"You cannot pay any power yet; {len(dear)} cost {price} faith."
    known, ground = (
        ", ".join(f"{p.id} {p.faith}" for p in usable if (p.family == "terraform") is is_ground)
        for is_ground in (False, True)
    )
    lines = ". ".join(filter(None, [known, f"On the ground: {ground}" if ground else "", more]))
    title = "POWERS that you can invoke on your land (power_id), and their faith"
    return f"{title} (`rules` describes those whose names do not):\n{lines}"


def kings_powers() -> list[Power]:
    """The powers that the players of kingdoms may use."""
    return [p for p in POWERS.values() if p.aim == "own" and p.family != "spawn"]


def powers_text() -> str:
    """The effects of the powers whose names do not explain them."""
    plain = [p for p in kings_powers() if p.id not in PLAIN_POWERS and p.family != "terraform"]
    return "Powers: " + "; ".join(f"{p.id} {p.description.rstrip('.').lower()}" for p in plain) + "."
