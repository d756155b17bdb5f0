"""Players, creatures, and what else is a thing of its own on the map."""

from functools import cache

from PIL import Image

from cohabit.worlds.crafter.drawing.drawings import drawing
from cohabit.worlds.crafter.drawing.pen import figure
from cohabit.worlds.crafter.land import Thing
from cohabit.worlds.crafter.player import Player
from cohabit.worlds.crafter.rules import ARROW, NAMES, PLANT

COLOURS = (
    "#e4572e", "#3d7ff0", "#f2b632", "#9b5de5", "#17b890", "#f06fa8", "#7a4a2b", "#e9ecef",
    "#00a6d6", "#b5d33d", "#c2255c", "#5c6bc0", "#ff9f6b", "#2b9348", "#8d99ae", "#22304f",
)  # fmt: skip
"""Of players, by number; after the last it starts again."""
_TURNS = {(0, -1): 0, (-1, 0): 90, (0, 1): 180, (1, 0): 270}  # degrees counter-clockwise from "up"


def colour_of(player: Player) -> str:
    """The colour of a player in every picture, as #rrggbb."""
    return COLOURS[player.number % len(COLOURS)]


def figure_of(thing: Thing | Player, size: int) -> Image.Image:
    """A player, creature, plant, arrow or bundle, with transparent surroundings."""
    if isinstance(thing, Player):
        return player_figure(colour_of(thing), (0, 0) if thing.sleeping else (thing.dx, thing.dy), size)
    if thing.kind == ARROW:
        return _arrow(thing.dx, thing.dy, size)
    return _figure("ripe plant" if thing.kind == PLANT and thing.ripe else NAMES[thing.kind], size)


@cache
def _figure(name: str, size: int) -> Image.Image:
    return figure(drawing(name), size, shadow="plant" not in name)


@cache
def player_figure(colour: str, facing: tuple[int, int], size: int) -> Image.Image:
    """A player who faces this way; (0, 0): asleep."""
    dx, dy = facing
    name = "side" if dx else "front" if dy > 0 else "back" if dy < 0 else "asleep"
    image = figure(drawing(name, colour=colour, shade=_shaded(colour)), size, shadow=name != "asleep")
    return image.transpose(Image.Transpose.FLIP_LEFT_RIGHT) if dx < 0 else image


def _shaded(colour: str) -> str:
    parts = bytes.fromhex(colour[1:])
    return "#" + bytes(part * 4 // 5 for part in parts).hex()


@cache
def _arrow(dx: int, dy: int, size: int) -> Image.Image:
    return figure(drawing("arrow"), size).rotate(_TURNS[dx, dy])
