"""Which actions make sense now, and the numbers of actions for training."""

from typing import get_args

from cohabit.model.action import Action
from cohabit.worlds.starbound import building, combat, crafting, ship
from cohabit.worlds.starbound.body import Body
from cohabit.worlds.starbound.choices import Aim, JumpWay
from cohabit.worlds.starbound.game import Game
from cohabit.worlds.starbound.items import EDIBLE, FOR_SALE, ITEM, PLACEABLE, RECIPES
from cohabit.worlds.starbound.planets import PLANET_NAMES, SHIP, WIDTH, fuel_between
from cohabit.worlds.starbound.vision import view_of

WAIT = Action("wait")
_MOVES = (
    Action("move", {"direction": "left"}),
    Action("move", {"direction": "right"}),
    Action("move", {"direction": "left", "tiles": 4}),
    Action("move", {"direction": "right", "tiles": 4}),
    Action("move", {"direction": "up"}),
    Action("move", {"direction": "down"}),
)
_JUMPS = tuple(Action("jump", {"direction": way}) for way in get_args(JumpWay))
_DIGS = tuple(Action("use_tool", {"direction": way}) for way in get_args(Aim))
_CRAFTS = {recipe.item: Action("craft", {"item": recipe.item}) for recipe in RECIPES}
_CONSUMES = {item: Action("consume", {"item": item}) for item in (*EDIBLE, "coal", "crystal")}
_PLACES = {
    item: tuple(Action("place", {"item": item, "direction": way}) for way in ("left", "right", "down"))
    for item in PLACEABLE
}
_WARPS = {planet: Action("warp", {"destination": planet}) for planet in PLANET_NAMES}
_BUYS = tuple(Action("buy", {"item": item}) for item in FOR_SALE)
_SIMPLE = tuple(
    Action(name) for name in ("interact", "attack", "alt_attack", "use_tech", "drop", "beam_up", "beam_down")
)
NUMBERED = (
    WAIT, *_MOVES, *_JUMPS, *_DIGS, *_SIMPLE, *_CRAFTS.values(), *_CONSUMES.values(),
    *(action for actions in _PLACES.values() for action in actions), *_WARPS.values(), *_BUYS,
)  # fmt: skip
"""All actions for training, by number."""


def sensible(game: Game, body: Body) -> list[Action]:
    """Actions that can be done now. Others are possible as well, such as giving items away."""
    if not body.alive:
        return [WAIT]
    land = game.land_of(body)
    found = [WAIT, *_MOVES[:4]]
    if land.is_supported(body.x, body.y):
        found += _JUMPS
    if body.place == SHIP:
        found.append(Action("beam_down"))
        found += [
            warp for name, warp in _WARPS.items() if name != body.orbit and fuel_between(body.orbit, name) <= body.fuel
        ]
    else:
        for action in _DIGS:
            dx, dy = building.DIRECTIONS[action.parameters["direction"]]
            if building.why_not_dig(land, body, (body.x + dx) % WIDTH, body.y + dy) is None:
                found.append(action)
        if ship.why_not_beam_up(land, body) is None:
            found.append(Action("beam_up"))
    bundles = [bundle for bundle in land.bundles if combat.within(body.x, body.y, bundle)]
    if bundles or combat.creatures_near(land, body):  # it may not see them
        near = [thing for thing in view_of(game, body).things if max(abs(thing.x), abs(thing.y)) <= combat.REACH]
        found += [Action("attack"), Action("alt_attack")] if any(thing.health for thing in near) else []
        found += [Action("interact")] if any(thing.name == "bundle" for thing in near) else []
    if land.kind is None:
        found.append(Action("interact"))
    found += [_CRAFTS[recipe.item] for recipe in crafting.craftable(game, body)]
    found += [
        action for item, action in _CONSUMES.items() if item in body.items and (not ITEM[item].fuel or not land.kind)
    ]
    if land.kind is not None:
        found += [_PLACES[item][body.facing > 0] for item in body.items if item in _PLACES]
    return found
