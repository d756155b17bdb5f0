"""The actions of bodies in a step: one function for each. An action that cannot be done changes nothing."""

from collections.abc import Callable, Mapping
from typing import Any

from cohabit.worlds.starbound import building, combat, crafting, motion, ship
from cohabit.worlds.starbound.body import MAX_VITAL, Body, Failed
from cohabit.worlds.starbound.creatures import add_creature
from cohabit.worlds.starbound.game import Game
from cohabit.worlds.starbound.items import ITEM
from cohabit.worlds.starbound.land import Land, across
from cohabit.worlds.starbound.planets import SHIP, WIDTH

REST_ENERGY = 6
BED_HEALTH = 3
TECH_ENERGY = 15
DASH_TILES = 6
JUMP_ENERGY = 2
CROUCHES = "you are crouching; stand up first (`stance`)"
FIXTURES = (
    "altar", "bed", "workbench", "furnace", "anvil", "campfire", "bush", "locker", "console", "teleporter"
)  # fmt: skip
"""The fixtures that a body can interact with. The first of them that is near is used."""
_SIDES = {"left": -1, "right": 1, "up": 0, "": 0}


def act(game: Game, body: Body, name: str, args: Mapping[str, Any]) -> str:
    """Do what was chosen; if that is impossible, the body is told why. Returns the reason; empty: it was done."""
    try:
        _ACTIONS[name](game, body, **args)
    except Failed as why:
        body.count("failed")
        body.tell(f"{name} failed: {why}.")
        return str(why)
    return ""


def _move(game: Game, body: Body, direction: str, tiles: int = 1) -> None:
    land = game.land_of(body)
    if direction in ("left", "right"):
        way = _SIDES[direction]
        done, why = motion.walk(land, body, way, tiles)
        if not done:
            raise Failed(why)
        body.count("walk", done)
    else:
        done, why = 0, "there is nothing to climb; jump instead" if direction == "up" else "there is no way down"
        while done < tiles and motion.climb(land, body, -1 if direction == "up" else 1):
            done += 1
        if not done:
            raise Failed(why)
        why = "" if done == tiles else f"there is no way further {direction}"
    if why:
        body.tell(f"You moved {done} of {tiles} tiles: {why}.")


def why_not_jump(land: Land, body: Body) -> str | None:
    """Why a body cannot jump now, or None."""
    if body.crouching:
        return CROUCHES
    if not land.is_supported(body.x, body.y):
        return "you are in the air"
    if body.energy < JUMP_ENERGY:
        return "you have no energy; wait to recover"
    return None if land.is_open(body.x, body.y - 1) else "there is no space above you"


def _jump(game: Game, body: Body, direction: str = "up") -> None:
    land = game.land_of(body)
    if why := why_not_jump(land, body):
        raise Failed(why)
    x, way = body.x, _SIDES[direction]
    motion.jump(land, body, way)
    body.energy -= JUMP_ENERGY
    body.count("jump")
    if way and body.x == x:
        body.tell(f"You jumped straight up: {motion.beside(land, body, way)} is in the way.")


def _drop(game: Game, body: Body) -> None:
    if not motion.climb(game.land_of(body), body, 1):
        raise Failed("there is no platform or ladder below you")


def _wait(game: Game, body: Body) -> None:
    """Rest: energy comes back, and beside a bed health too."""
    body.energy = min(MAX_VITAL, body.energy + REST_ENERGY)
    if body.place == SHIP or game.land_of(body).near(body.x, body.y, ("bed",), 1) is not None:
        body.health = min(body.max_health, body.health + BED_HEALTH)


def _use_item(game: Game, body: Body, slot: str) -> None:
    """Whatever an item is for."""
    kind = ITEM[slot]
    if slot not in body.items:
        raise Failed(f"you have no {slot}")
    if kind.slot:
        crafting.equip(body, slot)
    elif kind.food or kind.heals or kind.fuel:
        crafting.consume(game, body, slot, 1)
    elif kind.places:
        building.place(game, body, slot, "")
    else:
        raise Failed(f"{slot} has no use by itself")


def _drop_item(game: Game, body: Body, slot: str, count: int) -> None:
    if body.items.get(slot, 0) < count:
        raise Failed(f"you have {body.items.get(slot, 0)} {slot}")
    if body.place == SHIP:
        ship.store(body, slot, count)
        return
    body.remove(slot, count)
    bundle = game.land_of(body).bundle_at(body.x, body.y)
    bundle.items[slot] = bundle.items.get(slot, 0) + count
    body.tell(f"You drop {count} {slot}.")


def why_not_use_tech(body: Body) -> str | None:
    """Why a body cannot use its tech now, or None; there must also be space for it."""
    tech = body.equipment.get("tech")
    if tech is None:
        return "you have no tech equipped"
    if body.crouching:
        return CROUCHES
    return f"{tech} needs {TECH_ENERGY} energy" if body.energy < TECH_ENERGY else None


def _use_tech(game: Game, body: Body, slot: str = "tech") -> None:
    if why := why_not_use_tech(body):
        raise Failed(why)
    land = game.land_of(body)
    if body.equipment["tech"] == "double_jump":
        if not motion.jump(land, body, 0):
            raise Failed("there is no space above you")
    else:
        done = 0
        while done < DASH_TILES and land.is_open(body.x + body.facing, body.y):
            body.x = (body.x + body.facing) % WIDTH
            done += 1
        if not done:
            raise Failed("there is no space before you")
        body.fallen = 0
    body.energy -= TECH_ENERGY
    body.count("tech")


# -- interacting --------------------------------------------------------------------------------------------
def _interact(game: Game, body: Body, target: str = "") -> None:
    """Take up a bundle, or use the nearest fixture."""
    land = game.land_of(body)
    if target in ("", "bundle") and _take_bundle(land, body):
        return
    names = (target,) if target else FIXTURES
    found = None if target == "bundle" else land.near(body.x, body.y, names, 2)
    if found is None:
        raise Failed(f"there is {f'no {target}' if target else 'nothing to interact with'} within 2 tiles")
    name = next(name for name in names if land.near(body.x, body.y, (name,), 2) is not None)
    _use_fixture(game, land, body, name)


def _take_bundle(land: Land, body: Body) -> bool:
    for bundle in land.bundles:
        if abs(across(body.x, bundle.x)) > 1 or abs(bundle.y - body.y) > 2:
            continue
        gains = []
        for item, count in list(bundle.items.items()):
            taken = body.add(item, count)
            if taken == count:
                del bundle.items[item]
            else:
                bundle.items[item] = count - taken
            if taken:
                gains.append(f"{taken} {item}")
        if not bundle.items:
            land.bundles.remove(bundle)
        body.tell(f"You take {', '.join(gains) or 'nothing: you cannot carry more'}.", "success")
        return True
    return False


def _use_fixture(game: Game, land: Land, body: Body, name: str) -> None:
    match name:
        case "altar":
            if any(creature.kind == "guardian" for creature in land.creatures):
                raise Failed("the guardian is here already")
            spot = land.near(body.x, body.y, ("altar",), 2) or (body.x, body.y)
            add_creature(game, land, "guardian", spot[0] + 3, spot[1])
            body.tell("The altar glows. The guardian rises!", "danger")
        case "bed":
            spot = land.near(body.x, body.y, ("bed",), 2) or (body.x, body.y)
            body.bed = (body.place, *spot)
            _wait(game, body)
            body.tell("You rest. You can respawn at this bed.")
        case "bush":
            raise Failed("use_tool picks the berries")
        case "locker":
            held = ", ".join(f"{count} {item}" for item, count in body.locker.items())
            body.tell(f"The locker holds {held or 'nothing'}. store and fetch move items.")
        case "console":
            body.tell(f"Fuel {body.fuel}. Fuel to: {ship.destinations(body)}. Use warp.")
        case "teleporter":
            ship.beam_down(game, body)
        case _:
            can = [recipe.item for recipe in crafting.craftable(game, body)]
            body.tell(f"The {name} is ready. You can craft {', '.join(can) or 'nothing with what you carry'}.")


_ACTIONS: dict[str, Callable[..., None]] = {
    "move": _move,
    "jump": _jump,
    "drop": _drop,
    "wait": _wait,
    "interact": _interact,
    "use_tool": building.dig,
    "place": building.place,
    "attack": combat.attack,
    "alt_attack": combat.sweep,
    "equip": lambda game, body, slot: crafting.equip(body, slot),
    "unequip": lambda game, body, slot: crafting.unequip(body, slot),
    "consume": crafting.consume,
    "use_item": _use_item,
    "drop_item": _drop_item,
    "craft": crafting.craft,
    "use_tech": _use_tech,
    "warp": ship.warp,
    "beam_up": ship.beam_up,
    "beam_down": ship.beam_down,
    "store": lambda game, body, item, count: ship.store(body, item, count),
    "fetch": lambda game, body, item, count: ship.fetch(body, item, count),
    "buy": lambda game, body, item, count: ship.buy(body, item, count),
    "sell": lambda game, body, item, count: ship.sell(body, item, count),
}
