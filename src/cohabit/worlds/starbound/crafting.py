"""Making items at stations, wearing them, and using them up."""

from cohabit.worlds.starbound.body import MAX_VITAL, Body, Failed
from cohabit.worlds.starbound.game import Game
from cohabit.worlds.starbound.items import ITEM, RECIPE, RECIPES, SLOTS, Item, Recipe, limit, stations_of
from cohabit.worlds.starbound.planets import SHIP
from cohabit.worlds.words import with_article

STATION_REACH = 3


def needs_text(recipe: Recipe) -> str:
    return ", ".join(f"{count} {item}" for item, count in recipe.needs.items())


def shortage(body: Body, recipe: Recipe) -> str:
    """The amounts that a body has of ingredients that are too few; empty if it has enough of all."""
    too_few = [item for item, count in recipe.needs.items() if body.items.get(item, 0) < count]
    return f"you have {', '.join(f'{body.items.get(item, 0)} {item}' for item in too_few)}" if too_few else ""


def why_not_craft(game: Game, body: Body, recipe: Recipe) -> str | None:
    """Why a body cannot make this now, or None."""
    if lacks := shortage(body, recipe):
        return f"{recipe.item} needs {needs_text(recipe)}; {lacks}"
    if body.items.get(recipe.item, 0) + recipe.gives > limit(recipe.item):
        return f"you cannot carry more {recipe.item}"
    if recipe.station and game.land_of(body).near(body.x, body.y, stations_of(recipe), STATION_REACH) is None:
        return f"{recipe.item} is made within {STATION_REACH} tiles of {with_article(recipe.station)}"
    return None


def craftable(game: Game, body: Body) -> list[Recipe]:
    """The recipes that a body can make here and now."""
    has = body.items
    affordable = [r for r in RECIPES if all(has.get(item, 0) >= count for item, count in r.needs.items())]
    return [recipe for recipe in affordable if why_not_craft(game, body, recipe) is None]


def craft(game: Game, body: Body, item: str) -> None:
    recipe = RECIPE[item]
    if why := why_not_craft(game, body, recipe):
        raise Failed(why)
    for needed, count in recipe.needs.items():
        body.remove(needed, count)
    body.add(item, recipe.gives)
    body.count("craft")
    body.count(f"craft:{item}")
    equipped = " and equip it" if _is_better(body, ITEM[item]) and _wear(body, item) else ""
    amount = f"{recipe.gives} {item}" if recipe.gives > 1 else item
    body.tell(f"You craft {amount}{equipped}.", "success")


def _is_better(body: Body, item: Item) -> bool:
    """True if it should be worn at once: the slot is empty, or it is better than the item in it."""
    if item.slot is None:
        return False
    worn = ITEM[body.equipment[item.slot]] if item.slot in body.equipment else None
    return worn is None or (item.tier, item.damage, item.defence) > (worn.tier, worn.damage, worn.defence)


def _wear(body: Body, item: str) -> bool:
    slot = ITEM[item].slot
    if slot is None:
        return False
    body.equipment[slot] = item
    return True


def equip(body: Body, item: str) -> None:
    if item not in body.items:
        raise Failed(f"you have no {item}")
    if not _wear(body, item):
        raise Failed(f"{item} cannot be equipped; weapons, tools, armor and techs can")
    body.tell(f"You equip {item}.")


def unequip(body: Body, slot: str) -> None:
    slots = [name for name in SLOTS if slot in (name, body.equipment.get(name))]
    if not slots or slots[0] not in body.equipment:
        raise Failed(f"there is nothing in the slot {slot}")
    body.tell(f"You put away {body.equipment.pop(slots[0])}.")


def consume(game: Game, body: Body, item: str, count: int) -> None:
    """Eat, heal, or aboard load fuel."""
    kind = ITEM[item]
    if body.items.get(item, 0) < count:
        raise Failed(f"you have {body.items.get(item, 0)} {item}")
    if kind.fuel:
        if body.place != SHIP:
            raise Failed(f"{item} is fuel; consume it aboard your ship")
        body.remove(item, count)
        body.fuel += kind.fuel * count
        body.tell(f"Fuel is now {body.fuel}.", "success")
    elif kind.food:
        if body.food >= MAX_VITAL:
            raise Failed("you are not hungry")
        body.remove(item, count)
        body.food = min(MAX_VITAL, body.food + kind.food * count)
        body.count("eat", count)
        body.tell(f"You eat {item}: food {body.food}.", "success")
    elif kind.heals:
        if body.health >= body.max_health and not body.poison:
            raise Failed("you are not hurt")
        body.remove(item, count)
        body.health = min(body.max_health, body.health + kind.heals * count)
        body.poison = 0
        body.count("heal", count)
        body.tell(f"You use {item}: health {body.health}.", "success")
    else:
        raise Failed(f"{item} cannot be consumed")
