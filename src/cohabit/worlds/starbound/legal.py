"""The actions that are possible now, the reasons why others are not, and the numbers of actions for training.

The reasons tell only what the body sees and has.
"""

from collections.abc import Callable
from typing import get_args

from msgspec import Struct

from cohabit.model.action import Action
from cohabit.worlds.starbound import building, combat, crafting, motion, ship
from cohabit.worlds.starbound.acting import FIXTURES, why_not_jump, why_not_use_tech
from cohabit.worlds.starbound.body import Body
from cohabit.worlds.starbound.choices import Aim, JumpWay
from cohabit.worlds.starbound.game import Game
from cohabit.worlds.starbound.items import EDIBLE, FOR_SALE, ITEM, PIXELS, PLACEABLE, RECIPES
from cohabit.worlds.starbound.land import Land
from cohabit.worlds.starbound.planets import HOME, PLANET_NAMES, SHIP, WIDTH, fuel_between
from cohabit.worlds.starbound.senses import View, view_of
from cohabit.worlds.starbound.tiles import NAME_OF_LETTER

INTERACT_REACH = 2
NOTHING = "you carry nothing"
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


# -- what is impossible ----------------------------------------------------------------------------------
class Situation(Struct, frozen=True):
    """The facts that the reasons depend on."""

    game: Game
    body: Body
    land: Land
    view: View

    @property
    def aboard(self) -> bool:
        return self.body.place == SHIP

    def is_near(self, *names: str, reach: int) -> bool:
        """True if the body sees a thing or a tile of one of these names within reach."""
        high, wide = len(self.view.rows) // 2, len(self.view.rows[0]) // 2
        rows = self.view.rows[high - reach : high + reach + 1]
        letters = "".join(row[wide - reach : wide + reach + 1] for row in rows)
        things = {t.name for t in self.view.things if abs(t.x) <= reach and abs(t.y) <= reach}
        return any(NAME_OF_LETTER.get(letter) in names for letter in letters) or not things.isdisjoint(names)


def _dig(now: Situation) -> str | None:
    body = now.body
    if now.aboard:
        return "you cannot dig aboard"
    if body.energy < building.DIG_ENERGY:
        return "you have no energy; wait to recover"
    spots = [(0, 0), *building.DIRECTIONS.values()]
    reasons = [building.why_not_dig(now.land, body, (body.x + dx) % WIDTH, body.y + dy) for dx, dy in spots]
    return None if None in reasons else "nothing beside you can be dug with what you have"


def _place(now: Situation) -> str | None:
    if now.aboard:
        return "you cannot build aboard"
    return _carries(lambda item: ITEM[item].places, "you carry nothing to build with")(now)


def _interact(now: Situation) -> str | None:
    near = now.is_near("bundle", *FIXTURES, reach=INTERACT_REACH)
    return None if near else f"you see nothing to use within {INTERACT_REACH} tiles"


def _fight(energy: int, also_players: bool) -> Callable[[Situation], str | None]:
    def why_not(now: Situation) -> str | None:
        near = [t for t in now.view.things if abs(t.x) <= combat.REACH and abs(t.y) <= combat.REACH]
        players = [t for t in near if t.name.startswith("player ") and t.state != "dead"]
        creatures = [t for t in near if t.health]
        if not creatures and not (players and also_players and now.game.fighting):
            return f"you see nothing to hit within {combat.REACH} tiles"
        return f"you need {energy} energy; wait to recover" if now.body.energy < energy else None

    return why_not


def _carries(fits: Callable[[str], object], otherwise: str) -> Callable[[Situation], str | None]:
    """A check that the body carries an item that fits."""

    def why_not(now: Situation) -> str | None:
        if not now.body.items:
            return NOTHING
        return None if any(fits(item) for item in now.body.items) else otherwise

    return why_not


def _consume(now: Situation) -> str | None:
    def is_useful(item: str) -> bool:
        kind = ITEM[item]
        return bool(kind.food or kind.heals or (kind.fuel and now.aboard))

    return _carries(is_useful, "you carry nothing to eat or use up here")(now)


def _use_item(now: Situation) -> str | None:
    if _consume(now) is None:
        return None
    return _carries(lambda item: ITEM[item].slot or ITEM[item].places, "you carry nothing to use here")(now)


def _craft(now: Situation) -> str | None:
    if crafting.craftable(now.game, now.body):
        return None
    return "you lack the items or a station" if now.body.items else NOTHING


def _aboard(has: Callable[[Body], object], otherwise: str) -> Callable[[Situation], str | None]:
    """A check that the body is aboard and has something."""

    def why_not(now: Situation) -> str | None:
        if not now.aboard:
            return "you are not aboard your ship"
        return None if has(now.body) else otherwise

    return why_not


def _can_buy(body: Body) -> bool:
    return body.items.get(PIXELS, 0) >= min(ship.price_of(body, item) for item in FOR_SALE)


_REASONS: dict[str, Callable[[Situation], str | None]] = {
    "jump": lambda now: why_not_jump(now.land, now.body),
    "drop": lambda now: None if motion.can_climb(now.land, now.body, 1) else "there is no platform or ladder below you",
    "use_tool": _dig,
    "place": _place,
    "interact": _interact,
    "attack": _fight(combat.BLOW_ENERGY, also_players=True),
    "alt_attack": _fight(combat.SWEEP_ENERGY, also_players=False),
    "craft": _craft,
    "equip": _carries(lambda item: ITEM[item].slot, "you carry nothing to equip"),
    "unequip": lambda now: None if now.body.equipment else "you have nothing equipped",
    "consume": _consume,
    "use_item": _use_item,
    "drop_item": lambda now: None if now.body.items else NOTHING,
    "use_tech": lambda now: why_not_use_tech(now.body),
    "beam_up": lambda now: ship.why_not_beam_up(now.land, now.body),
    "beam_down": _aboard(lambda body: True, ""),
    "warp": lambda now: None if now.aboard else ship.why_not_beam_up(now.land, now.body),
    "store": _aboard(lambda body: body.items, NOTHING),
    "fetch": _aboard(lambda body: body.locker, "your locker is empty"),
    "buy": _aboard(_can_buy, "you have too few pixels"),
    "sell": _aboard(lambda body: any(ITEM[item].worth for item in body.items), "you carry nothing that the shop buys"),
}


def blocked(game: Game, body: Body) -> dict[str, str]:
    """The actions that are impossible now, with the reason."""
    now = Situation(game, body, game.land_of(body), view_of(game, body))
    reasons = {name: why_not(now) for name, why_not in _REASONS.items()}
    return {name: why for name, why in reasons.items() if why is not None}


def useful(game: Game, body: Body) -> list[Action]:
    """The numbered actions that can be done now, as far as the body knows. It may still find its way blocked."""
    found = sensible(game, body)
    if not body.alive:
        return found
    land, impossible = game.land_of(body), blocked(game, body)
    climbs = [move for move, way in zip(_MOVES[4:], (-1, 1), strict=True) if motion.can_climb(land, body, way)]
    more = [*_SIMPLE, *climbs]
    if land.kind is not None:
        more += [place for item in body.items for place in _PLACES.get(item, ())]
    else:
        pixels = body.items.get(PIXELS, 0)
        more += [_WARPS[HOME]] if body.orbit != HOME else []  # the way home takes what fuel there is
        more += [buy for buy in _BUYS if ship.price_of(body, buy.parameters["item"]) <= pixels]
    found += [action for action in more if action not in found]
    return [action for action in found if action.name not in impossible]
