"""Icons of vitals, items and achievements."""

from functools import cache, partial

from PIL import Image

from cohabit.worlds.crafter.drawing import fixtures
from cohabit.worlds.crafter.drawing.drawings import DRAWINGS, drawing
from cohabit.worlds.crafter.drawing.pen import Sketch, figure

VITAL_COLOURS = {"health": "#e5484d", "food": "#e79a3f", "drink": "#4aa8ea", "energy": "#f2cf3b"}
METALS = {"wood": ("#b98652", "#8a5a33"), "stone": ("#a3a8b3", "#757a86"), "iron": ("#f0d2bc", "#c98f6b")}
_COAL_ON_DARK = ("#3a3c47", "#5b5f6d", "#9499a8")
ICONS: dict[str, Sketch] = {
    **{name: drawing(name) for name in DRAWINGS},
    "sapling": drawing("plant"),
    "coal": partial(fixtures.nugget, x=32, y=32, reach=26, shades=_COAL_ON_DARK),
    "iron": partial(fixtures.nugget, x=32, y=32, reach=26, shades=fixtures.IRON_SHADES),
    "diamond": partial(fixtures.gem, x=32, y=32, reach=26),
    **{
        f"{metal}_{tool}": drawing(tool, light=light, dark=dark)
        for metal, (light, dark) in METALS.items()
        for tool in ("pickaxe", "sword")
    },
}
ICON_OF_ACHIEVEMENT = {"eat_plant": "ripe plant", "place_plant": "plant", "wake_up": "moon"}


@cache
def icon(name: str, size: int) -> Image.Image:
    """The icon of a vital, of an item, or of a creature."""
    return figure(ICONS[name], size)


@cache
def faint_icon(name: str, size: int) -> Image.Image:
    """The same in grey, and half transparent: there is none of it."""
    grey = icon(name, size).convert("LA").convert("RGBA")
    grey.putalpha(grey.getchannel("A").point([value // 3 for value in range(256)]))
    return grey


def achievement_icon(achievement: str, size: int, done: bool) -> Image.Image:
    name = ICON_OF_ACHIEVEMENT.get(achievement) or achievement.partition("_")[2]
    return icon(name, size) if done else faint_icon(name, size)
