"""Icons of vitals, items and achievements."""

from functools import cache, partial

from PIL import Image

from cohabit.worlds.crafter.drawing import fixtures
from cohabit.worlds.crafter.drawing.figures import SKETCHES
from cohabit.worlds.crafter.drawing.pen import Pen, Sketch, figure

VITAL_COLOURS = {"health": "#e5484d", "food": "#e79a3f", "drink": "#4aa8ea", "energy": "#f2cf3b"}


# -- vitals ---------------------------------------------------------------------------------------------
def _heart(pen: Pen) -> None:
    for x in (21, 43):
        pen.oval(x, 23, 14, 14, "#e5484d")
    pen.shape("#e5484d", (8.6, 29.5), (55.4, 29.5), (32, 57))
    pen.oval(19, 20, 4.6, 4.2, "#ff9a9c")


def _drumstick(pen: Pen) -> None:
    pen.line("#f4ead6", 6, (36, 37), (51, 52))
    pen.oval(54, 49, 4.6, 4.6, "#f4ead6")
    pen.oval(49, 54, 4.6, 4.6, "#f4ead6")
    pen.oval(25, 25, 18, 17, "#b8692d")
    pen.shape("#b8692d", (24, 42), (42, 24), (41, 41))
    pen.oval(20, 19, 6, 5, "#dd9657")


def _drop(pen: Pen) -> None:
    pen.oval(32, 39, 18, 18, "#4aa8ea")
    pen.shape("#4aa8ea", (32, 4), (16.4, 31), (47.6, 31))
    pen.arc("#c4e6ff", 4, 32, 39, 12, 110, 190)


def _bolt(pen: Pen) -> None:
    pen.shape("#f2cf3b", (37, 3), (12, 36), (28, 37), (23, 61), (52, 25), (35, 25))
    pen.shape("#fff0a3", (35, 8), (19, 31), (27, 31))


# -- items ------------------------------------------------------------------------------------------------
def _log(pen: Pen) -> None:
    pen.shape("#8a5a33", (12, 40), (40, 12), (56, 26), (26, 56))
    pen.line("#6f4526", 2, (30, 34), (46, 19))
    pen.line("#6f4526", 2, (36, 41), (48, 30))
    pen.oval(19.5, 47, 11, 11, "#dcb07a")
    for reach in (7, 3):
        pen.arc("#a97a48", 2, 19.5, 47, reach, 0, 360)


def _rock(pen: Pen) -> None:
    pen.shape("#7d828e", (8, 44), (12, 24), (28, 11), (46, 16), (57, 34), (51, 52), (22, 55))
    pen.shape("#9da2ad", (12, 24), (28, 11), (46, 16), (36, 28), (18, 33))
    pen.shape("#6a6f7b", (36, 28), (46, 16), (57, 34), (51, 52), (40, 44))


METALS = {"wood": ("#b98652", "#8a5a33"), "stone": ("#a3a8b3", "#757a86"), "iron": ("#f0d2bc", "#c98f6b")}


def _pickaxe(pen: Pen, metal: str) -> None:
    light, dark = METALS[metal]
    pen.line("#7b5233", 7, (13, 53), (41, 22))
    pen.line("#9a6b42", 2.4, (12, 51), (39, 21))
    pen.shape(dark, (16, 10), (32, 8), (46, 17), (56, 32), (54, 49), (47, 33), (32, 17))
    pen.shape(light, (16, 10), (32, 8), (46, 17), (56, 32), (54, 41), (46, 28), (34, 15))


def _sword(pen: Pen, metal: str) -> None:
    light, dark = METALS[metal]
    pen.line("#7b5233", 7, (9, 55), (19, 45))
    pen.shape(dark, (18, 38), (48, 8), (58, 6), (56, 16), (26, 46))
    pen.shape(light, (18, 38), (48, 8), (58, 6), (22, 42))
    pen.line("#5b3b26", 6, (13, 35), (29, 51))
    pen.oval(8.5, 55.5, 4.6, 4.6, "#d9a441")


def _moon(pen: Pen) -> None:
    pen.oval(30, 33, 24, 24, "#f2cf3b")
    pen.oval(41, 26, 20, 20, "#00000000")
    for x, y in ((40, 14), (50, 30)):
        pen.oval(x, y, 3.4, 3.4, "#fff0a3")


_COAL_ON_DARK = ("#3a3c47", "#5b5f6d", "#9499a8")
_ICONS: dict[str, Sketch] = {
    **SKETCHES,
    "health": _heart,
    "food": _drumstick,
    "drink": _drop,
    "energy": _bolt,
    "sapling": fixtures.young_plant,
    "wood": _log,
    "stone": _rock,
    "coal": partial(fixtures.nugget, x=32, y=32, reach=26, shades=_COAL_ON_DARK),
    "iron": partial(fixtures.nugget, x=32, y=32, reach=26, shades=fixtures.IRON_SHADES),
    "diamond": partial(fixtures.gem, x=32, y=32, reach=26),
    "table": fixtures.table,
    "furnace": fixtures.furnace,
    "moon": _moon,
    **{f"{metal}_pickaxe": partial(_pickaxe, metal=metal) for metal in METALS},
    **{f"{metal}_sword": partial(_sword, metal=metal) for metal in METALS},
}
_OF_ACHIEVEMENT = {"eat_plant": "ripe plant", "place_plant": "plant", "wake_up": "moon"}


@cache
def icon(name: str, size: int) -> Image.Image:
    """The icon of a vital, of an item, or of a creature."""
    return figure(_ICONS[name], size)


@cache
def faint_icon(name: str, size: int) -> Image.Image:
    """The same in grey, and half transparent: there is none of it."""
    grey = icon(name, size).convert("LA").convert("RGBA")
    grey.putalpha(grey.getchannel("A").point([value // 3 for value in range(256)]))
    return grey


def achievement_icon(achievement: str, size: int, done: bool) -> Image.Image:
    name = _OF_ACHIEVEMENT.get(achievement) or achievement.partition("_")[2]
    return icon(name, size) if done else faint_icon(name, size)
