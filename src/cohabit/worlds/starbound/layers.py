"""The layers of the front end besides the view: pictures and rules, which never change, and the light, figures and
prices that a body knows."""

from collections.abc import Iterable
from functools import cache
from typing import Any

from msgspec.structs import asdict

from cohabit.model.action import Action
from cohabit.worlds.starbound import ship
from cohabit.worlds.starbound.body import MAX_BREATH, MAX_VITAL, Body
from cohabit.worlds.starbound.drawing.sheet import VARIANTS, sprite_sheet
from cohabit.worlds.starbound.drawing.sprites import seat_colour
from cohabit.worlds.starbound.game import Game
from cohabit.worlds.starbound.items import FOR_SALE, ITEMS, RECIPES
from cohabit.worlds.starbound.land import Land
from cohabit.worlds.starbound.legal import blocked, useful
from cohabit.worlds.starbound.planets import (
    CREATURES,
    HEIGHT,
    PLANET,
    PLANET_NAMES,
    PLANETS,
    SHIP,
    WIDTH,
    daylight,
    fuel_between,
)
from cohabit.worlds.starbound.quests import ACHIEVEMENTS, QUESTS
from cohabit.worlds.starbound.senses import seen_tiles, view_of
from cohabit.worlds.starbound.tiles import ID, TILES, TO_LETTERS

Layers = dict[str, Any]
BAND = 8
"""Rows of a planet in one layer: who sees all gets only those in which something has changed."""
_GRASS = (92, 176, 72)


def _keys() -> dict[str, Action]:
    def toward(name: str, way: str) -> Action:
        return Action(name, {"direction": way})

    digs = {"i": "up", "j": "left", "k": "down", "l": "right", "u": "up_left", "o": "up_right", "n": "down_left",
            "m": "down_right"}  # fmt: skip
    return {
        "ArrowLeft": toward("move", "left"), "ArrowRight": toward("move", "right"), "ArrowUp": toward("move", "up"),
        "ArrowDown": toward("move", "down"), "a": toward("move", "left"), "d": toward("move", "right"),
        "w": toward("move", "up"), "s": toward("move", "down"), " ": toward("jump", "up"), "q": toward("jump", "left"),
        "e": toward("jump", "right"), **{key: toward("use_tool", way) for key, way in digs.items()},
        "x": Action("drop"), "f": Action("attack"), "g": Action("alt_attack"), "r": Action("interact"),
        "t": Action("use_tech"), "b": Action("beam_up"), "v": Action("beam_down"), ".": Action("wait"),
        **{str(slot): Action("use_item", {"slot": str(slot)}) for slot in range(1, 10)},
    }  # fmt: skip


KEYS = _keys()


@cache
def _rules() -> Layers:
    return {
        "most": {"health": MAX_VITAL, "energy": MAX_VITAL, "food": MAX_VITAL, "breath": MAX_BREATH},
        "size": [WIDTH, HEIGHT],
        "variants": VARIANTS,
        "tiles": {
            tile.letter: {
                "name": tile.name,
                "solid": tile.solid,
                "light": tile.light,
                "grainy": tile.solid or tile.liquid,
                "colour": _GRASS if tile.name == "grass" else tile.marks if tile.solid and tile.marks else tile.colour,
            }
            for tile in TILES
        },
        "items": {
            item.name: {
                key: value
                for key in ("slot", "food", "heals", "fuel", "places", "price", "worth")
                if (value := getattr(item, key))
            }
            for item in ITEMS
        },
        "recipes": [asdict(recipe) for recipe in RECIPES],
        "planets": {
            planet.name: {
                "title": planet.title, "biome": planet.biome, "sky": planet.sky, "rock": TILES[ID[planet.rock]].colour,
                "gravity": planet.gravity, "hazard": planet.hazard,
            }
            for planet in PLANETS
        },
        "quests": {quest.id: {"text": quest.text, "hint": quest.hint, "side": quest.side} for quest in QUESTS},
        "achievements": list(ACHIEVEMENTS),
        "hostile": [kind.name for kind in CREATURES if kind.damage],
    }  # fmt: skip


def shared_layers() -> Layers:
    """The layers for everybody: pictures and rules."""
    return {"sprites": sprite_sheet(), "rules": _rules()}


def body_layers(game: Game, body: Body) -> Layers:
    """The layers for this body: the shared ones, the light and figures it sees, its actions and its ship."""
    names = {thing.name for thing in view_of(game, body).things}
    fares = {name: fuel_between(body.orbit, name) for name in PLANET_NAMES if name != body.orbit}
    return {
        **shared_layers(),
        "light": _light(game, game.land_of(body), body),
        "figures": _figures(other for other in game.bodies if other is body or f"player {other.name}" in names),
        "blocked": blocked(game, body) if body.alive else {},
        "can": [[action.name, action.parameters] for action in useful(game, body)],
        "ship": {
            "orbit": body.orbit, "fuel": body.fuel, "fares": fares, "tracked": body.tracked,
            "prices": {item: ship.price_of(body, item) for item in FOR_SALE},
        },
    }  # fmt: skip


def everything_layers(game: Game, bodies: Iterable[Body]) -> Layers:
    """The layers for those who see everything: all planets that somebody has visited, in bands."""
    layers = {**shared_layers(), "figures": _figures(bodies), "skies": {}}
    for name, land in game.lands.items():
        layers["skies"][name] = _sky(game, name)
        layers[f"surface {name}"] = list(land.surface)
        letters = bytes(land.tiles).translate(TO_LETTERS).decode()
        for top in range(0, HEIGHT, BAND):
            rows = range(top, min(top + BAND, HEIGHT))
            layers[f"land {name} {top}"] = [letters[row * WIDTH : (row + 1) * WIDTH] for row in rows]
    return layers


def _figures(bodies: Iterable[Body]) -> dict[str, Any]:
    """Players by name: colour, and the direction in which they look."""
    return {body.name: [seat_colour(body.number), body.facing] for body in bodies}


def _sky(game: Game, name: str) -> list[float]:
    """The daylight on a planet, and the part of its day that has passed."""
    planet, step = PLANET[name], game.step_number
    return [round(daylight(planet, step), 2), round(step % planet.day / planet.day, 3)]


def _light(game: Game, land: Land, body: Body) -> Layers:
    """Light on the tiles in view. ``open``: a row of digits for each, 1 where a tile that the body sees is not below
    the surface, so that there is sky behind it."""
    if body.place == SHIP:
        return {}
    tiles = seen_tiles(game, body)
    width, top = 2 * tiles.wide + 1, body.y - tiles.high
    surface = [land.surface[(body.x - tiles.wide + column) % WIDTH] - top for column in range(width)]
    under_sky = [
        "".join("1" if tiles.seen[row * width + x] and row <= surface[x] else "0" for x in range(width))
        for row in range(2 * tiles.high + 1)
    ]
    return {"sky": _sky(game, body.place), "open": under_sky}
