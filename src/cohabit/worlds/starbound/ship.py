"""A body's own ship: beaming up and down, flying to other planets, the locker, and the shop."""

from cohabit.worlds.starbound.body import Body, Failed
from cohabit.worlds.starbound.game import Game
from cohabit.worlds.starbound.items import ITEM, PIXELS, limit
from cohabit.worlds.starbound.land import SHIP_FIXTURES, SHIP_FLOOR, Land, landing_site
from cohabit.worlds.starbound.planets import HOME, PLANET, PLANET_NAMES, SHIP, fuel_between
from cohabit.worlds.starbound.senses import sees_roof
from cohabit.worlds.starbound.tiles import SOLID
from cohabit.worlds.words import counted

UNDER_A_ROOF = "you can beam up only under open sky"


def why_not_beam_up(land: Land, body: Body) -> str | None:
    """Why a body cannot beam up, as far as it can see: a roof may be higher."""
    if body.place == SHIP:
        return "you are aboard already"
    if not land.is_supported(body.x, body.y):
        return "you are falling"
    return UNDER_A_ROOF if sees_roof(land, body) else None


def beam_up(game: Game, body: Body) -> None:
    land = game.land_of(body)
    if why := why_not_beam_up(land, body):
        raise Failed(why)
    if any(SOLID[land.at(body.x, y)] for y in range(body.y)):
        raise Failed(UNDER_A_ROOF)
    body.landed[body.place] = (body.x, body.y)
    body.place, body.x, body.y = SHIP, SHIP_FIXTURES["teleporter"], SHIP_FLOOR
    body.fallen = 0
    body.count("beam_up")
    body.tell(f"You are aboard your ship, above {PLANET[body.orbit].title}. Fuel {body.fuel}.", "success")


def beam_down(game: Game, body: Body) -> None:
    if body.place != SHIP:
        raise Failed("you are not aboard your ship")
    land = game.land(body.orbit)
    where = body.landed.get(body.orbit)
    if where is None or not (land.is_open(*where) and land.is_supported(*where)):
        where = landing_site(land, body.number)
    body.place, body.x, body.y = body.orbit, *where
    if f"visit:{body.orbit}" not in body.tally:
        body.count("planets")
    body.count(f"visit:{body.orbit}")
    body.count("beam_down")
    body.tell(f"You are on {PLANET[body.orbit].title}.", "success")


def warp(game: Game, body: Body, destination: str) -> None:
    """To the ship, to the planet below, or with the ship to another planet."""
    if destination == SHIP:
        beam_up(game, body)
    elif destination == "surface":
        beam_down(game, body)
    else:
        _fly(body, destination)


def _fly(body: Body, destination: str) -> None:
    if body.place != SHIP:
        raise Failed("planets are reached by ship; beam_up first")
    if destination == body.orbit:
        raise Failed(f"your ship is at {PLANET[destination].title}; beam_down to land")
    cost = fuel_between(body.orbit, destination)
    if destination == HOME and body.fuel < cost:
        cost = body.fuel  # nobody is stranded: the way home takes what is left
    if body.fuel < cost:
        raise Failed(f"{PLANET[destination].title} needs {cost} fuel and you have {body.fuel}; "
                     "consume coal or crystal aboard")  # fmt: skip
    body.fuel -= cost
    body.orbit = destination
    body.count("flight")
    body.tell(f"Your ship is at {PLANET[destination].title}. Fuel {body.fuel}. beam_down to land.", "success")


def destinations(body: Body) -> str:
    return ", ".join(f"{name} {fuel_between(body.orbit, name)}" for name in PLANET_NAMES if name != body.orbit)


# -- the locker and the shop ---------------------------------------------------------------------------------
def store(body: Body, item: str, count: int) -> None:
    _need_aboard(body)
    _need(body, item, count)
    body.remove(item, count)
    body.locker[item] = body.locker.get(item, 0) + count
    body.tell(f"You put {count} {item} into the locker.")


def fetch(body: Body, item: str, count: int) -> None:
    _need_aboard(body)
    there = body.locker.get(item, 0)
    if not there:
        raise Failed(f"there is no {item} in the locker")
    taken = body.add(item, min(count, there))
    if not taken:
        raise Failed(f"you cannot carry more {item}")
    if taken == there:
        del body.locker[item]
    else:
        body.locker[item] = there - taken
    body.tell(f"You take {taken} {item} from the locker.")


def price_of(body: Body, item: str) -> int:
    return max(1, round(ITEM[item].price * body.price))


def buy(body: Body, item: str, count: int) -> None:
    _need_aboard(body)
    if not ITEM[item].price:
        raise Failed(f"{item} is not for sale")
    cost = price_of(body, item) * count
    if body.items.get(PIXELS, 0) < cost:
        raise Failed(f"{count} {item} cost {counted(cost, 'pixel')}; you have {body.items.get(PIXELS, 0)}")
    if body.items.get(item, 0) + count > limit(item):
        raise Failed(f"you cannot carry more {item}")
    body.remove(PIXELS, cost)
    body.add(item, count)
    _count_trade(body, item)
    body.tell(f"You buy {count} {item} for {counted(cost, 'pixel')}.", "success")


def sell(body: Body, item: str, count: int) -> None:
    _need_aboard(body)
    _need(body, item, count)
    if not ITEM[item].worth:
        raise Failed(f"the shop does not buy {item}")
    gain = max(1, round(ITEM[item].worth * count * (2 - body.price)))
    body.remove(item, count)
    body.add(PIXELS, gain)
    _count_trade(body, item)
    body.tell(f"You sell {count} {item} for {counted(gain, 'pixel')}.", "success")


def _count_trade(body: Body, item: str) -> None:
    """Each kind of item counts once: buying and selling the same thing leads nowhere."""
    if f"trade:{item}" not in body.tally:
        body.count("trade")
    body.count(f"trade:{item}")


def _need_aboard(body: Body) -> None:
    if body.place != SHIP:
        raise Failed("you can do that only aboard your ship")


def _need(body: Body, item: str, count: int) -> None:
    if body.items.get(item, 0) < count:
        raise Failed(f"you have {body.items.get(item, 0)} {item}")
