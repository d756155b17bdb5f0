"""Orders to a kingdom, given by the world's actions or by powers.

The reply to an order repeats what the player asked for. It never says what is at a place or where a city lies, because
the player may not see that.
"""

from collections.abc import Callable, Sequence

from cohabit.errors import GameRejected, UnknownAsset
from cohabit.model.action import Action
from cohabit.worlds.kingdoms import names
from cohabit.worlds.kingdoms.powers.power import Cast, Power, Run
from cohabit.worlds.kingdoms.powers.spawns import SPAWN_FAITH
from cohabit.worlds.kingdoms.rules import cities, diplomacy, settlers
from cohabit.worlds.kingdoms.rules.armies import MAX_MUSTER
from cohabit.worlds.kingdoms.sight import View, seen_by
from cohabit.worlds.kingdoms.sim import City, Kingdom, Orders, Sim
from cohabit.worlds.kingdoms.tiles import CAN_GROW, IS_DEADLY, IS_WATER

WEARY = 40
"""A kingdom without a player accepts peace if it is at least this weary,"""
OUTNUMBERED = 2
"""or if the other kingdom has at least this many times its soldiers."""
SETTLE_AT = 20
"""The distance from an own city at which settling is suggested."""
WAR_TARGETS = 3
"""The number of kingdoms suggested as targets of a war: players first, then the smallest."""
RALLY_PLACES = 2
"""The number of own cities suggested as targets."""
_DIRECTIONS = ((1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1))
FURLOUGH, MUSTER = 10, 35
"""Percent of the people under arms: few, and many."""


def rally(sim: Sim, kingdom: Kingdom, x: int, y: int) -> str:
    """Gather the soldiers at a place. Out of sight only the chart is checked."""
    _must_be_dry_land(sim, kingdom, x, y, "Send soldiers")
    kingdom.orders.rally, kingdom.orders.fortify = (x, y), False
    kingdom.orders.end_raid()
    return f"The soldiers of {kingdom.name} gather at {x},{y}."


def raid_city(sim: Sim, kingdom: Kingdom, city: int, enemy: int | None = None) -> str:
    """Attack a city in sight. A city out of sight and one that does not exist get the same answer."""
    target = names.city_with_id(sim, city)
    if target is None or not View(sim, kingdom.id, everything=False).sees_city(target):
        raise GameRejected(
            f"You see no city {city}. Take one of foreign_cities_in_sight in your view, or leave city_id out."
        )
    if target.kingdom == kingdom.id:
        raise GameRejected(f"{target.name} is your own city. Order a rally there, or aim at an enemy city.")
    owner = sim.kingdoms[target.kingdom]
    if enemy is not None and find_kingdom(sim, enemy) is not owner:
        raise GameRejected(f"{target.name} belongs to {owner.name}. Give its kingdom_id, or leave it out.")
    return _march(sim, kingdom, target, owner)


def _march(sim: Sim, kingdom: Kingdom, target: City, owner: Kingdom) -> str:
    _must_be_at_war(sim, kingdom, owner)
    _attack(kingdom, target, f"{target.name} ({owner.name})")
    return f"The army of {kingdom.name} marches against {target.name} of {owner.name}."


def raid_kingdom(sim: Sim, kingdom: Kingdom, enemy: int | None) -> str:
    """Attack the nearest city of this enemy, or of any enemy. The answer does not say which one that is."""
    enemies = [other for other in sim.alive if sim.are_at_war(kingdom.id, other.id)]
    if enemy is not None:
        enemies = [find_kingdom(sim, enemy)]
        _must_be_another(kingdom, enemies[0])
        _must_be_at_war(sim, kingdom, enemies[0])
    if not enemies:
        raise GameRejected(f"{kingdom.name} is not at war. Declare war first, then raid.")
    whom = enemies[0].name if len(enemies) == 1 else "its nearest enemy"
    targets = [city for other in enemies for city in sim.cities_of(other.id)]
    if not targets:
        raise GameRejected(f"{whom} has no cities left. Its kingdom ends when its last people are gone.")
    own = sim.cities_of(kingdom.id)
    nearest_city = min(targets, key=lambda t: (min((c.distance(t.x, t.y) for c in own), default=0), t.id))
    _attack(kingdom, nearest_city, enemies[0].name if len(enemies) == 1 else "the nearest enemy city")
    return f"The army of {kingdom.name} marches against {whom}."


def _attack(kingdom: Kingdom, target: City, named: str) -> None:
    orders = kingdom.orders
    orders.raid, orders.raid_named, orders.rally, orders.fortify = target.id, named, None, False


def raid_place(sim: Sim, kingdom: Kingdom, x: int, y: int, in_sight: bool) -> str:
    """Attack the enemy city at a place. Every place out of sight gets the same answer, whatever is there."""
    target = cities.city_at(sim, x, y) if in_sight else None
    if target is None or target.kingdom == kingdom.id:
        seen = f"There is no enemy city at {x},{y}" if in_sight else f"You cannot see {x},{y}"
        raise GameRejected(f"{seen}. Aim at an enemy city in sight, raid a kingdom, or rally soldiers there.")
    return _march(sim, kingdom, target, sim.kingdoms[target.kingdom])


def fortify(sim: Sim, kingdom: Kingdom, on: bool) -> str:
    """Keep the soldiers at home, or let them leave again."""
    kingdom.orders.fortify = on
    if not on:
        return f"The soldiers of {kingdom.name} may leave their cities again."
    kingdom.orders.rally = None
    kingdom.orders.end_raid()
    return f"The soldiers of {kingdom.name} stay at home and man the walls."


def settle(sim: Sim, kingdom: Kingdom, x: int, y: int) -> str:
    """Send the next settlers to a place. Out of sight only the chart is checked."""
    _must_be_dry_land(sim, kingdom, x, y, "Send settlers")
    view = View(sim, kingdom.id, everything=False)
    near = [city for city in sim.cities.values() if city.distance(x, y) < settlers.APART and view.sees_city(city)]
    if near:
        raise GameRejected(f"{x},{y} is too near {near[0].name}. Cities must be {settlers.APART} tiles apart.")
    kingdom.orders.settle = (x, y)
    largest, waits = max((city.people for city in sim.cities_of(kingdom.id)), default=0), ""
    if largest < settlers.CROWDED:
        waits = f" They leave when a city has {settlers.CROWDED} people; the largest has {largest}."
    elif reason := settlers.waits_for(sim, kingdom):
        waits = f" The order {reason}."
    return f"The next settlers of {kingdom.name} will go to {x},{y}.{waits}"


def muster(sim: Sim, kingdom: Kingdom, percent: int) -> str:
    """Set how many percent of the people should be under arms; 0 leaves it to the crown."""
    if not 0 <= percent <= MAX_MUSTER:
        raise GameRejected(f"Muster 0 to {MAX_MUSTER} percent of the people, not {percent}.")
    kingdom.orders.muster = percent
    if not percent:
        return f"The crown of {kingdom.name} decides again how many people are under arms."
    return f"{percent} percent of the people of {kingdom.name} will be under arms."


def make_war(sim: Sim, kingdom: Kingdom, other: Kingdom) -> str:
    """Declare war."""
    _must_be_another(kingdom, other)
    if sim.laws.get("peace"):
        raise GameRejected("War is forbidden: the law of peace is in force.")
    if sim.are_at_war(kingdom.id, other.id):
        raise GameRejected(f"{kingdom.name} is already at war with {other.name}.")
    _drop_offers(kingdom, other)
    diplomacy.declare_war(sim, kingdom.id, other.id, "by order of its king")
    sim.refresh()  # views read wars at once, not at the next tick
    return f"{kingdom.name} is at war with {other.name}."


def make_peace(sim: Sim, kingdom: Kingdom, other: Kingdom) -> str:
    """Offer peace, or accept an offer."""
    _must_be_another(kingdom, other)
    if not sim.are_at_war(kingdom.id, other.id):
        raise GameRejected(f"{kingdom.name} is not at war with {other.name}.")
    tired = other.weariness >= WEARY or kingdom.soldiers >= OUTNUMBERED * max(1, other.soldiers)
    if kingdom.id in other.orders.peace or (tired and not other.claimed):
        _drop_offers(kingdom, other)
        diplomacy.make_peace(sim, kingdom.id, other.id)
        sim.refresh()
        return f"{kingdom.name} and {other.name} are at peace."
    if not other.claimed:
        raise GameRejected(f"{other.name} refuses peace for now. Win a battle, or ask again later.")
    if other.id in kingdom.orders.peace:
        raise GameRejected(f"You have already offered peace; {other.name} has not answered yet.")
    kingdom.orders.peace = (*kingdom.orders.peace, other.id)
    sim.tell(f"{kingdom.name} offers you peace. To accept, offer peace to {kingdom.name}.", (other.id,))
    return f"{kingdom.name} has offered peace to {other.name}. The war ends when {other.name} offers peace too."


def stand_down(sim: Sim, kingdom: Kingdom) -> str:
    """Withdraw every order and every offer of peace."""
    kingdom.orders = Orders()
    return f"{kingdom.name} has no orders. Its crown decides."


def open_orders(sim: Sim, kingdom: Kingdom) -> Sequence[Action]:
    """The orders that would be accepted now. The list reveals nothing that is not public."""
    own = sorted(sim.cities_of(kingdom.id), key=lambda city: (not city.besieger, -city.people, city.id))
    found = [Action("fortify", {"on": not kingdom.orders.fortify})]
    found += [Action("stand_down")] if kingdom.orders != Orders() else []
    found += [
        Action("muster", {"percent": percent})
        for percent in (FURLOUGH, MUSTER, MAX_MUSTER)
        if percent != kingdom.orders.muster
    ]
    found += [Action("rally", {"x": city.x, "y": city.y}) for city in own[:RALLY_PLACES]]
    found += _open_works(sim, kingdom, own)
    wars: list[Action] = []
    for other in sorted(sim.alive, key=lambda other: (not other.claimed, other.people, other.id)):
        target = {"kingdom_id": other.id}
        if other.id == kingdom.id:
            continue
        if not sim.are_at_war(kingdom.id, other.id):
            wars += [] if sim.laws.get("peace") else [Action("declare_war", target)]
            continue
        if sim.cities_of(other.id):
            found.append(Action("raid", target))
        if kingdom.id in other.orders.peace or (other.claimed and other.id not in kingdom.orders.peace):
            found.append(Action("offer_peace", target))
    return found + wars[:WAR_TARGETS]


def _open_works(sim: Sim, kingdom: Kingdom, own: Sequence[City]) -> list[Action]:
    """Settling, spawning and powers that would be accepted now, with a sensible target each."""
    found: list[Action] = []
    place = _free_place(sim, kingdom, own)
    if place is not None and kingdom.orders.settle is None:
        found.append(Action("settle", {"x": place[0], "y": place[1]}))
    if own and kingdom.faith >= SPAWN_FAITH:
        where = {"x": own[0].x, "y": own[0].y, "count": kingdom.faith // SPAWN_FAITH, "adult": True}
        found.append(Action("spawn", {"entity_id": kingdom.race, **where}))
    return found


def _free_place(sim: Sim, kingdom: Kingdom, own: Sequence[City]) -> tuple[int, int] | None:
    """A place for a city near one's own, as far as the player can tell."""
    view = View(sim, kingdom.id, everything=False)
    known = [city for city in sim.cities.values() if view.sees_city(city)]
    for city in own[:RALLY_PLACES]:
        for x, y in ((city.x + dx * SETTLE_AT, city.y + dy * SETTLE_AT) for dx, dy in _DIRECTIONS):
            if not sim.land.holds(x, y) or any(other.distance(x, y) < settlers.APART for other in known):
                continue
            cell = sim.land.cell(x, y)
            if CAN_GROW[sim.land.ground[cell] if view.sees(cell) else sim.land.chart[cell]]:
                return x, y
    return None


def find_kingdom(sim: Sim, number: int) -> Kingdom:
    """The living kingdom with this id. The list of kingdoms is public."""
    found = sim.kingdoms.get(number)
    if found is None or not found.alive:
        known = ", ".join(f"{kingdom.id} ({kingdom.name})" for kingdom in sim.alive)
        raise UnknownAsset(f"There is no kingdom {number}. Kingdoms: {known}.")
    return found


def _must_be_dry_land(sim: Sim, kingdom: Kingdom, x: int, y: int, who: str) -> None:
    cell = sim.land.cell(x, y)
    seen = bool(seen_by(sim, kingdom.id)[cell])
    ground = sim.land.ground[cell] if seen else sim.land.chart[cell]
    if IS_WATER[ground] or IS_DEADLY[ground]:
        raise GameRejected(f"{'There is' if seen else 'The chart shows'} no dry land at {x},{y}. {who} to dry land.")


def _must_be_at_war(sim: Sim, kingdom: Kingdom, other: Kingdom) -> None:
    if not sim.are_at_war(kingdom.id, other.id):
        raise GameRejected(f"{kingdom.name} is at peace with {other.name}. Declare war first, then raid.")


def _must_be_another(kingdom: Kingdom, other: Kingdom) -> None:
    if other.id == kingdom.id:
        raise GameRejected("That is your own kingdom. Name another one.")
    if not other.alive:
        raise GameRejected(f"{other.name} no longer exists.")


def _drop_offers(kingdom: Kingdom, other: Kingdom) -> None:
    for one, two in ((kingdom, other), (other, kingdom)):
        one.orders.peace = tuple(number for number in one.orders.peace if number != two.id)


# -- the same as powers --------------------------------------------------------------------------
def _commanded(sim: Sim, cast: Cast) -> Kingdom:
    """The kingdom that gets the order: the player's own, or for a god the owner of the start of the drag."""
    return sim.kingdoms[cast.by] if cast.by else _owner(sim, cast.x, cast.y)


def _target(cast: Cast) -> tuple[int, int]:
    """The target of the order: a player aims at it, a god drags to it from the land of the kingdom."""
    if cast.by:
        return cast.x, cast.y
    if cast.x2 is None or cast.y2 is None:
        raise GameRejected("Drag from the land of the kingdom to the target: x2 and y2 are the target.")
    return cast.x2, cast.y2


def _owner(sim: Sim, x: int, y: int) -> Kingdom:
    city = sim.cities.get(int(sim.land.city[sim.land.cell(x, y)]))
    if city is None:
        raise GameRejected(f"{x},{y} belongs to no kingdom. Aim at the land of a kingdom.")
    return sim.kingdoms[city.kingdom]


def _in_sight(sim: Sim, cast: Cast, x: int, y: int) -> bool:
    """Can the caster see the place?"""
    return not cast.by or bool(seen_by(sim, cast.by)[sim.land.cell(x, y)])


def _raid_there(sim: Sim, cast: Cast) -> bool:
    kingdom, (x, y) = _commanded(sim, cast), _target(cast)
    return bool(raid_place(sim, kingdom, x, y, _in_sight(sim, cast, x, y)))


def _at_place(order: Callable[[Sim, Kingdom, int, int], str]) -> Run:
    """A power that gives an order about a place."""
    return lambda sim, cast: bool(order(sim, _commanded(sim, cast), *_target(cast)))


def _at_kingdom(order: Callable[[Sim, Kingdom, Kingdom], str]) -> Run:
    """A power that gives an order about the owner of a place."""

    def run(sim: Sim, cast: Cast) -> bool:
        kingdom, (x, y) = _commanded(sim, cast), _target(cast)
        if not _in_sight(sim, cast, x, y):
            raise GameRejected(f"You cannot see who owns {x},{y}. Name the kingdom, or aim at land in sight.")
        return bool(order(sim, kingdom, _owner(sim, x, y)))

    return run


def _at_home(order: Callable[..., str], *args: int) -> Run:
    """A power that gives an order without a target."""
    return lambda sim, cast: bool(order(sim, _commanded(sim, cast), *args))


def _order(name: str, description: str, run: Run) -> Power:
    return Power(f"order_{name}", "order", description, run, "any")


POWERS = (
    _order("rally", "The soldiers gather at the place.", _at_place(rally)),
    _order("raid", "The army attacks the enemy city at the place.", _raid_there),
    _order("settle", "The next settlers go to the place.", _at_place(settle)),
    _order("war", "Declares war on the owner of the place.", _at_kingdom(make_war)),
    _order("peace", "Offers peace to the owner of the place, or accepts its offer.", _at_kingdom(make_peace)),
    _order("fortify", "The soldiers stay at home and man the walls.", _at_home(fortify, True)),
    _order("sally", "The soldiers may leave their cities again.", _at_home(fortify, False)),
    _order("muster", f"{MUSTER} percent of the people will be under arms.", _at_home(muster, MUSTER)),
    _order("levy", f"{MAX_MUSTER} percent of the people will be under arms.", _at_home(muster, MAX_MUSTER)),
    _order("furlough", f"Only {FURLOUGH} percent of the people will be under arms.", _at_home(muster, FURLOUGH)),
    _order("stand_down", "Withdraws every order; the crown decides.", _at_home(stand_down)),
)
