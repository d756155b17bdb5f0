"""Orders to a kingdom: how a player fights. Powers and the world's own actions both come through here.

What is said about an order repeats what the player asked for, never what stands there or where a city lies: whoever
gives it may not see so far.
"""

from collections.abc import Callable, Sequence

from cohabit.errors import GameRejected, UnknownAsset
from cohabit.model.action import Action
from cohabit.worlds.kingdoms import civics, crowns
from cohabit.worlds.kingdoms.powers.power import Cast, Power, Run
from cohabit.worlds.kingdoms.realms import City, Kingdom, Orders
from cohabit.worlds.kingdoms.sight import seen_by
from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.tiles import IS_DEADLY, IS_WATER

TIRED = 40
"""A kingdom without a player makes peace from this much weariness on,"""
OUTNUMBERED = 2
"""or when the other has so many times its soldiers."""
FURLOUGH, MUSTER, MUSTER_MOST = 10, 35, 60
"""Percent of the people under arms: little, much, and the most there can be."""


def rally(sim: Sim, kingdom: Kingdom, x: int, y: int) -> str:
    """Gather the soldiers at a place."""
    kingdom.orders.rally, kingdom.orders.raid, kingdom.orders.fortify = (x, y), 0, False
    return f"The soldiers of {kingdom.name} gather at {x},{y}."


def raid(sim: Sim, kingdom: Kingdom, target: City) -> str:
    """March on an enemy's city."""
    if target.kingdom == kingdom.id:
        raise GameRejected(f"{target.name} is your own city: order a rally there, or aim at an enemy's city.")
    owner = sim.kingdoms[target.kingdom]
    _must_be_at_war(sim, kingdom, owner)
    kingdom.orders.raid, kingdom.orders.rally, kingdom.orders.fortify = target.id, None, False
    return f"The army of {kingdom.name} marches against {owner.name}."


def raid_on(sim: Sim, kingdom: Kingdom, enemy: int | None, city: int | None) -> str:
    """March on this city, or on the nearest of this enemy, or on the nearest of any enemy."""
    enemies = [other for other in sim.alive if sim.fighting(kingdom.id, other.id)]
    if enemy is not None:
        enemies = [named(sim, enemy)]
        _must_be_at_war(sim, kingdom, enemies[0])
    if not enemies:
        raise GameRejected(f"{kingdom.name} is at war with nobody: declare war first, then raid.")
    theirs = [c for other in enemies for c in sim.cities_of(other.id)]
    meant = [c for c in theirs if c.id == city] or theirs  # whether there is such a city may be hidden
    if meant:
        raid(sim, kingdom, min(meant, key=lambda c: (_far(sim, kingdom, c), c.id)))
    return f"The army of {kingdom.name} marches."


def march(sim: Sim, kingdom: Kingdom, x: int, y: int, in_sight: bool) -> str:
    """March on a place. An enemy's city in sight there is raided; anywhere else the army gathers, and besieges what it
    finds. Answer and orders are the same for every place out of sight, so that nobody finds hidden cities this way.
    """
    target = civics.city_at(sim, x, y) if in_sight else None
    if target is not None and sim.fighting(kingdom.id, target.kingdom):
        raid(sim, kingdom, target)
    else:
        rally(sim, kingdom, x, y)
    return f"The army of {kingdom.name} marches on {x},{y}."


def fortify(sim: Sim, kingdom: Kingdom, on: bool) -> str:
    """Keep the soldiers at home, or let them go again."""
    kingdom.orders.fortify = on
    if not on:
        return f"The soldiers of {kingdom.name} may leave their cities again."
    kingdom.orders.rally, kingdom.orders.raid = None, 0
    return f"The soldiers of {kingdom.name} stay at home and man the walls."


def settle(sim: Sim, kingdom: Kingdom, x: int, y: int) -> str:
    """Send the next settlers to a place. What the chart shows of it is all that is asked about it."""
    charted = sim.land.chart[sim.land.cell(x, y)]
    if IS_WATER[charted] or IS_DEADLY[charted]:
        raise GameRejected(f"Nobody can live at {x},{y}, the chart says: send settlers to dry land.")
    kingdom.orders.settle = (x, y)
    return f"The next settlers of {kingdom.name} will go to {x},{y}."


def muster(sim: Sim, kingdom: Kingdom, percent: int) -> str:
    """Say how much of the people is to be under arms; 0 leaves it to the crown."""
    if not 0 <= percent <= MUSTER_MOST:
        raise GameRejected(f"Muster 0 to {MUSTER_MOST} percent of the people, not {percent}: somebody has to farm.")
    kingdom.orders.muster = percent
    if not percent:
        return f"The crown of {kingdom.name} decides again who is under arms."
    return f"{percent} percent of the people of {kingdom.name} are to be under arms."


def make_war(sim: Sim, kingdom: Kingdom, other: Kingdom) -> str:
    """Declare war."""
    _must_be_another(kingdom, other)
    if sim.laws.get("peace"):
        raise GameRejected("The gods have forbidden war, for now: the law peace holds.")
    if sim.fighting(kingdom.id, other.id):
        raise GameRejected(f"{kingdom.name} is at war with {other.name} already.")
    _forget_offers(kingdom, other)
    crowns.declare_war(sim, kingdom.id, other.id, "its king wills it")
    sim.refresh()  # views look wars up at once, not at the next tick
    return f"{kingdom.name} is at war with {other.name}."


def make_peace(sim: Sim, kingdom: Kingdom, other: Kingdom) -> str:
    """Offer peace, or take the peace that was offered."""
    _must_be_another(kingdom, other)
    if not sim.fighting(kingdom.id, other.id):
        raise GameRejected(f"{kingdom.name} is not at war with {other.name}.")
    if kingdom.id in other.orders.peace or _gives_in(kingdom, other):
        _forget_offers(kingdom, other)
        crowns.make_peace(sim, kingdom.id, other.id)
        sim.refresh()
        return f"{kingdom.name} and {other.name} are at peace."
    if not other.claimed:
        raise GameRejected(f"{other.name} will not hear of peace yet: win a battle, or ask again later.")
    if other.id in kingdom.orders.peace:
        raise GameRejected(f"Your offer of peace stands; {other.name} has not answered it yet.")
    kingdom.orders.peace = (*kingdom.orders.peace, other.id)
    sim.tell(f"{kingdom.name} offers you peace. Offer peace as well, and it holds.", (other.id,))
    return f"{kingdom.name} has offered peace to {other.name}; it holds once {other.name} offers it as well."


def stand_down(sim: Sim, kingdom: Kingdom) -> str:
    """Take back every order, and offers of peace with them."""
    kingdom.orders = Orders()
    return f"{kingdom.name} has no orders; its crown decides."


def open_to(sim: Sim, kingdom: Kingdom) -> Sequence[Action]:
    """The orders that would be taken now, for whoever wants a list. It tells nothing that is not public."""
    found = [Action("fortify", {"on": not kingdom.orders.fortify}), Action("stand_down")]
    found += [Action("muster", {"percent": percent}) for percent in (0, FURLOUGH, MUSTER, MUSTER_MOST)]
    found += [Action("rally", {"x": city.x, "y": city.y}) for city in sim.cities_of(kingdom.id)]
    for other in sim.alive:
        named = {"kingdom_id": other.id}
        if other.id == kingdom.id:
            continue
        if not sim.fighting(kingdom.id, other.id):
            found += [] if sim.laws.get("peace") else [Action("declare_war", named)]
            continue
        if sim.cities_of(other.id):
            found.append(Action("raid", named))
        if kingdom.id in other.orders.peace or (other.claimed and other.id not in kingdom.orders.peace):
            found.append(Action("offer_peace", named))
    return found


def named(sim: Sim, number: int) -> Kingdom:
    """The living kingdom with this id; which there are is public."""
    found = sim.kingdoms.get(number)
    if found is None or not found.alive:
        known = [str(kingdom.id) for kingdom in sim.alive]
        raise UnknownAsset(f"There is no kingdom {number}; there are {', '.join(known)}.", did_you_mean=known[:5])
    return found


def _far(sim: Sim, kingdom: Kingdom, target: City) -> int:
    """How far a city lies from the nearest city of a kingdom."""
    return min((max(abs(c.x - target.x), abs(c.y - target.y)) for c in sim.cities_of(kingdom.id)), default=0)


def _must_be_at_war(sim: Sim, kingdom: Kingdom, other: Kingdom) -> None:
    if not sim.fighting(kingdom.id, other.id):
        raise GameRejected(f"{kingdom.name} is at peace with {other.name}: declare war first, then raid.")


def _must_be_another(kingdom: Kingdom, other: Kingdom) -> None:
    if other.id == kingdom.id:
        raise GameRejected("That is your own kingdom: name another one.")
    if not other.alive:
        raise GameRejected(f"{other.name} is no more.")


def _gives_in(kingdom: Kingdom, other: Kingdom) -> bool:
    """Does a kingdom without a player agree to peace? It does when it is tired, or much the weaker."""
    return not other.claimed and (other.weariness >= TIRED or kingdom.soldiers >= OUTNUMBERED * max(1, other.soldiers))


def _forget_offers(kingdom: Kingdom, other: Kingdom) -> None:
    for one, two in ((kingdom, other), (other, kingdom)):
        one.orders.peace = tuple(number for number in one.orders.peace if number != two.id)


# -- the same, as powers ------------------------------------------------------------------------
def _commanded(sim: Sim, cast: Cast) -> Kingdom:
    """Who gets the order: the player's kingdom, or for a god the one on whose land the cast begins."""
    return sim.kingdoms[cast.by] if cast.by else _owner(sim, cast.x, cast.y)


def _target(cast: Cast) -> tuple[int, int]:
    """Where the order is aimed: a player aims directly, a god drags there from the kingdom it commands."""
    if cast.by:
        return cast.x, cast.y
    if cast.x2 is None or cast.y2 is None:
        raise GameRejected("Drag from the land of the kingdom to the target: x2 and y2 say where the order is aimed.")
    return cast.x2, cast.y2


def _owner(sim: Sim, x: int, y: int) -> Kingdom:
    city = sim.cities.get(int(sim.land.city[sim.land.cell(x, y)]))
    if city is None:
        raise GameRejected(f"The place {x},{y} is no kingdom's land: aim at the land of a kingdom.")
    return sim.kingdoms[city.kingdom]


def _in_sight(sim: Sim, cast: Cast, x: int, y: int) -> bool:
    """Does whoever casts this see the place?"""
    return not cast.by or bool(seen_by(sim, cast.by)[sim.land.cell(x, y)])


def _raid_there(sim: Sim, cast: Cast) -> bool:
    kingdom, (x, y) = _commanded(sim, cast), _target(cast)
    return bool(march(sim, kingdom, x, y, _in_sight(sim, cast, x, y)))


def _at_place(order: Callable[[Sim, Kingdom, int, int], str]) -> Run:
    """A power that aims an order at a place."""
    return lambda sim, cast: bool(order(sim, _commanded(sim, cast), *_target(cast)))


def _at_kingdom(order: Callable[[Sim, Kingdom, Kingdom], str]) -> Run:
    """A power that aims an order at whoever owns a place."""

    def run(sim: Sim, cast: Cast) -> bool:
        kingdom, (x, y) = _commanded(sim, cast), _target(cast)
        if not _in_sight(sim, cast, x, y):
            raise GameRejected(f"You do not see whose land {x},{y} is: name the kingdom, or aim at land in sight.")
        return bool(order(sim, kingdom, _owner(sim, x, y)))

    return run


def _at_home(order: Callable[[Sim, Kingdom], str]) -> Run:
    """A power that needs no target."""
    return lambda sim, cast: bool(order(sim, _commanded(sim, cast)))


def _mustering(percent: int) -> Run:
    return _at_home(lambda sim, kingdom: muster(sim, kingdom, percent))


def _entrench(sim: Sim, kingdom: Kingdom) -> str:
    return fortify(sim, kingdom, True)


def _sally(sim: Sim, kingdom: Kingdom) -> str:
    return fortify(sim, kingdom, False)


def _order(name: str, words: str, run: Run) -> Power:
    return Power(f"order_{name}", "order", words, run, "any")


POWERS = (
    _order("rally", "The soldiers gather at the place.", _at_place(rally)),
    _order("raid", "The army marches on the place, to take an enemy's city there.", _raid_there),
    _order("settle", "The next settlers go to the place.", _at_place(settle)),
    _order("war", "Declares war on the kingdom whose land it is.", _at_kingdom(make_war)),
    _order("peace", "Offers peace to the kingdom whose land it is, or takes its offer.", _at_kingdom(make_peace)),
    _order("fortify", "The soldiers stay at home and man the walls.", _at_home(_entrench)),
    _order("sally", "The soldiers may leave their cities again.", _at_home(_sally)),
    _order("muster", f"{MUSTER} percent of the people are to be under arms.", _mustering(MUSTER)),
    _order("levy", f"{MUSTER_MOST} percent of the people are to be under arms.", _mustering(MUSTER_MOST)),
    _order("furlough", f"Only {FURLOUGH} percent of the people stay under arms.", _mustering(FURLOUGH)),
    _order("stand_down", "Takes back every order; the crown decides.", _at_home(stand_down)),
)
