"""Players, creatures, and what else is a thing of its own on the map."""

from functools import cache

from PIL import Image

from cohabit.worlds.crafter.drawing.fixtures import ripe_plant, young_plant
from cohabit.worlds.crafter.drawing.pen import Pen, figure
from cohabit.worlds.crafter.land import Thing
from cohabit.worlds.crafter.player import Player
from cohabit.worlds.crafter.rules import ARROW, NAMES, PLANT

COLOURS = (
    "#e4572e", "#3d7ff0", "#f2b632", "#9b5de5", "#17b890", "#f06fa8", "#7a4a2b", "#e9ecef",
    "#00a6d6", "#b5d33d", "#c2255c", "#5c6bc0", "#ff9f6b", "#2b9348", "#8d99ae", "#22304f",
)  # fmt: skip
"""Of players, by number; after the last it starts again."""
_SKIN, _HAIR, _SHOES = "#f3c9a0", "#5a3825", "#3a2c28"
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
    return figure(SKETCHES[name], size, shadow="plant" not in name)


# -- players -------------------------------------------------------------------------------------------
@cache
def player_figure(colour: str, facing: tuple[int, int], size: int) -> Image.Image:
    """A player who faces this way; (0, 0): asleep."""
    dx, dy = facing
    if facing == (0, 0):
        return figure(lambda pen: _asleep(pen, colour), size)
    sketch = {0: _front if dy > 0 else _back}.get(dx, _side)
    image = figure(lambda pen: sketch(pen, colour), size, shadow=True)
    return image.transpose(Image.Transpose.FLIP_LEFT_RIGHT) if dx < 0 else image


def _legs(pen: Pen, left: float, right: float) -> None:
    for x in (left, right):
        pen.box(x - 4, 46, x + 4, 58, "#3f4a6b", 2)
        pen.box(x - 4.6, 54, x + 4.6, 59.5, _SHOES, 2.4)


def _front(pen: Pen, colour: str) -> None:
    _legs(pen, 26.5, 37.5)
    for x in (16.5, 47.5):
        pen.line(colour, 6.5, (x + (32 - x) * 0.25, 33), (x, 44))
        pen.oval(x, 46, 3.6, 3.6, _SKIN)
    pen.box(20, 28, 44, 50, colour, 6)
    pen.box(20, 43.5, 44, 47, "#4a3326", 1)
    pen.oval(32, 18.5, 12.5, 12.5, _HAIR)
    pen.oval(32, 21.5, 10.6, 10, _SKIN)
    pen.shape(_HAIR, (21, 19), (24, 10), (40, 10), (43, 19), (36, 15.5), (28, 15.5))
    for x in (27.6, 36.4):
        pen.oval(x, 22, 1.8, 2.4, "#2a2130")
    pen.arc("#a8603c", 1.6, 32, 24.5, 3.6, 35, 145)


def _back(pen: Pen, colour: str) -> None:
    _legs(pen, 26.5, 37.5)
    for x in (16.5, 47.5):
        pen.line(colour, 6.5, (x + (32 - x) * 0.25, 33), (x, 44))
        pen.oval(x, 46, 3.6, 3.6, _SKIN)
    pen.box(20, 28, 44, 50, colour, 6)
    pen.box(20, 43.5, 44, 47, "#4a3326", 1)
    pen.box(25, 30, 39, 43, "#8a6a45", 4)
    pen.line("#6d5133", 2, (25.5, 35), (38.5, 35))
    pen.oval(32, 19, 12.5, 12.5, _HAIR)
    pen.arc("#74492f", 2, 32, 20, 8, 200, 290)


def _side(pen: Pen, colour: str) -> None:
    _legs(pen, 27.5, 36.5)
    pen.box(15.5, 30, 24, 44, "#8a6a45", 4)
    pen.box(22, 28, 42, 50, colour, 6)
    pen.box(22, 43.5, 42, 47, "#4a3326", 1)
    pen.oval(31.5, 18.5, 12.5, 12.5, _HAIR)
    pen.oval(35.5, 21.5, 8.8, 9.4, _SKIN)
    pen.shape(_HAIR, (27, 21), (27, 9), (42.5, 11.5), (43.5, 17), (34, 15.5), (31.5, 22))
    pen.oval(44.2, 23.4, 2, 1.8, _SKIN)
    pen.oval(39.4, 21.6, 1.8, 2.4, "#2a2130")
    pen.line(_shaded(colour), 6.5, (32, 34), (41, 42))
    pen.oval(43.5, 43.5, 3.6, 3.6, _SKIN)


def _asleep(pen: Pen, colour: str) -> None:
    pen.box(6, 26, 58, 52, "#7d5a3c", 6)
    pen.box(9, 29, 24, 49, "#f4f1e8", 5)
    pen.oval(20, 38.5, 9, 9, _HAIR)
    pen.oval(22, 39.5, 7.4, 7.4, _SKIN)
    pen.arc("#2a2130", 1.6, 21.5, 38, 2, 20, 160)
    pen.arc("#2a2130", 1.6, 26.5, 38, 2, 20, 160)
    pen.box(28, 28, 56, 50, colour, 5)
    pen.box(28, 28, 35, 50, _shaded(colour), 4)
    for x, y, reach in ((36, 20.5, 2.4), (44, 14, 3.2), (54, 6, 4)):
        pen.line(
            "#ffffff", 2, (x - reach, y - reach), (x + reach, y - reach), (x - reach, y + reach), (x + reach, y + reach)
        )


def _shaded(colour: str) -> str:
    parts = bytes.fromhex(colour[1:])
    return "#" + bytes(part * 4 // 5 for part in parts).hex()


# -- creatures -------------------------------------------------------------------------------------------
def _cow(pen: Pen) -> None:
    for leg in (17, 25, 41, 48):
        pen.box(leg - 3, 42, leg + 3, 57, "#efe9e1", 2)
        pen.box(leg - 3, 53, leg + 3, 58, "#4b3b38", 1.5)
    pen.line("#efe9e1", 2.6, (52, 28), (58, 34), (57, 41))
    pen.box(12, 23, 54, 47, "#f7f2ea", 11)
    pen.oval(40, 29, 8, 5.6, "#4b3b38")
    pen.oval(28, 42, 7, 4.6, "#4b3b38")
    pen.oval(50, 40, 3.6, 5, "#4b3b38")
    pen.oval(38, 47.5, 5, 3, "#f0a3a8")
    for x, to in ((7.5, 4.5), (24.5, 27.5)):
        pen.line("#e9dcc2", 3, (x, 16), (to, 10.5))
    pen.oval(4.5, 22, 4, 2.6, "#4b3b38")
    pen.oval(27.5, 22, 4, 2.6, "#f7f2ea")
    pen.box(6, 14, 26, 37, "#f7f2ea", 8)
    pen.shape("#4b3b38", (7, 21), (7.4, 17), (10, 14.6), (14, 14.2), (12.6, 23), (8.4, 26))
    pen.oval(16, 33.5, 9.4, 5.8, "#f0a3a8")
    for x in (12.6, 19.4):
        pen.oval(x, 33.5, 1.5, 1.9, "#a65560")
        pen.oval(x, 23, 1.9, 2.4, "#2a2130")


def _zombie(pen: Pen) -> None:
    skin, dark = "#78a860", "#55804a"
    for x in (26.5, 37.5):
        pen.box(x - 4, 46, x + 4, 59, "#43506e", 2)
    pen.shape("#43506e", (22.5, 57), (25, 61), (30.5, 57))
    pen.box(20, 28, 44, 50, "#3d8a8a", 4)
    pen.shape("#2f6c6c", (20, 46), (24, 51), (28, 47), (33, 52), (38, 47), (44, 51), (44, 43), (20, 43))
    for x in (17, 47):
        pen.line("#3d8a8a", 7, (x + (32 - x) * 0.2, 32), (x, 36))
        pen.line(skin, 6, (x, 37), (x - (32 - x) * 0.12, 46))
        pen.oval(x - (32 - x) * 0.14, 48, 4, 4, skin)
    pen.box(20, 6, 44, 30, skin, 7)
    pen.shape(dark, (20.5, 14), (22, 8), (27, 6.2), (43, 8), (43.6, 13), (38, 10.6), (33, 13), (27, 10.4))
    for x in (26.6, 37.4):
        pen.oval(x, 18, 3.5, 3.8, "#fbe9e0")
        pen.oval(x, 18.6, 1.7, 2, "#b3202c")
    pen.box(26, 24.4, 38, 27.6, "#31402f", 1.4)
    for x in (28.6, 33):
        pen.box(x, 24.4, x + 2.2, 26.4, "#f3f0dc")
    pen.line(dark, 1.6, (40, 22), (43, 26))


def _skeleton(pen: Pen) -> None:
    bone, dark = "#eeeade", "#3c3a44"
    for leg, foot in ((27, 24), (37, 40)):
        pen.line(bone, 3.6, (leg, 46), (leg, 57))
        pen.line(bone, 3.6, (leg, 58), (foot, 58))
    pen.line(bone, 3.6, (32, 28), (32, 46))
    pen.line(bone, 3.4, (25, 46), (39, 46))
    for y, reach in ((32, 8.5), (36.5, 8), (41, 6)):
        pen.line(bone, 3, (32 - reach, y), (32 + reach, y))
    pen.line(bone, 3.2, (24, 31), (16, 38), (13, 35))
    pen.line(bone, 3.2, (40, 31), (47, 39), (52, 36))
    pen.arc("#8a5a33", 3.2, 3, 34, 14, -70, 70)
    pen.line("#d8d2c4", 1.2, (7.8, 21), (7.8, 47))
    pen.box(22, 4, 42, 21, bone, 8)
    pen.box(26, 17, 38, 26, bone, 2.5)
    for x in (27.4, 36.6):
        pen.oval(x, 14, 3.5, 3.9, dark)
    pen.shape(dark, (32, 17), (30.2, 20), (33.8, 20))
    for x in (29, 32, 35):
        pen.line(dark, 1.1, (x, 22.4), (x, 25.4))


def _bundle(pen: Pen) -> None:
    pen.oval(32, 43, 19, 15, "#b58a55")
    pen.shape("#b58a55", (22, 34), (27, 24), (37, 24), (42, 34))
    pen.shape("#c99f69", (25, 23), (20, 13), (28, 15), (32, 11), (36, 15), (44, 13), (39, 23))
    pen.line("#7a4a2b", 3.4, (25, 24.5), (39, 24.5))
    pen.arc("#96703f", 2.4, 34, 40, 13, 10, 80)
    pen.oval(25, 40, 4.4, 6, "#ecd0a0")


def _arrow_up(pen: Pen) -> None:
    pen.line("#a9794b", 3.6, (32, 16), (32, 52))
    pen.shape("#e6e9ee", (32, 4), (39.5, 18), (32, 15), (24.5, 18))
    for y in (45, 50):
        pen.line("#e45b4f", 3, (32, y), (26.5, y + 6))
        pen.line("#e45b4f", 3, (32, y), (37.5, y + 6))


@cache
def _arrow(dx: int, dy: int, size: int) -> Image.Image:
    return figure(_arrow_up, size).rotate(_TURNS[dx, dy])


SKETCHES = {
    "cow": _cow,
    "zombie": _zombie,
    "skeleton": _skeleton,
    "bundle": _bundle,
    "plant": young_plant,
    "ripe plant": ripe_plant,
}
