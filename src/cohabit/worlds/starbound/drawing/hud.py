"""Below the view: vitals, items, and the quest."""

from functools import cache

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from cohabit.worlds.starbound.body import MAX_BREATH, MAX_VITAL, Body
from cohabit.worlds.starbound.drawing.textures import SIDE, Colour, texture
from cohabit.worlds.starbound.game import Game
from cohabit.worlds.starbound.items import ITEM
from cohabit.worlds.starbound.planets import PLANET, SHIP, time_of_day
from cohabit.worlds.starbound.quests import goals_of
from cohabit.worlds.starbound.tiles import ID

HUD_HEIGHT = 118
_INK, _FAINT = (232, 234, 242), (150, 156, 172)
_BARS = (("health", (226, 72, 66)), ("energy", (246, 206, 76)), ("food", (124, 190, 84)), ("breath", (90, 160, 240)))
_METALS: dict[str, Colour] = {
    "wood": (168, 120, 70),
    "stone": (140, 146, 156),
    "iron": (222, 190, 170),
    "titanium": (176, 220, 226),
}


@cache
def icon(item: str) -> Image.Image:
    return small_icon(item).resize((26, 26), Image.Resampling.NEAREST)


def small_icon(item: str) -> Image.Image:
    """A picture of an item, of the size of a tile."""
    image = Image.new("RGBA", (SIDE, SIDE), (0, 0, 0, 0))
    draw = ImageDraw.Draw(image)
    metal, _, shape = item.partition("_")
    colour = ITEM[item].colour
    if shape == "pickaxe":
        draw.line((3, 14, 11, 5), (120, 84, 50), 2)
        draw.line((5, 2, 10, 3, 13, 6, 14, 11), _METALS[metal], 2)
    elif shape == "sword":
        draw.line((6, 10, 14, 2), _METALS[metal], 3)
        draw.line((4, 8, 9, 13), (90, 70, 50), 2)
        draw.line((2, 14, 5, 11), (120, 84, 50), 2)
    elif ITEM[item].places:
        tile = ID[ITEM[item].places]
        image = Image.fromarray(np.ascontiguousarray(texture(tile)))
    elif shape in ("armor", "coat", "suit"):
        draw.polygon(((3, 2), (13, 2), (15, 6), (12, 7), (12, 14), (4, 14), (4, 7), (1, 6)), colour)
    elif item in ("coal", "iron", "titanium", "diamond", "crystal"):
        draw.polygon(((8, 1), (14, 6), (12, 14), (4, 14), (2, 6)), colour, (30, 26, 40))
    else:
        draw.ellipse((2, 3, 13, 13), colour or (200, 200, 200), (30, 26, 40))
    return image


def draw_hud(image: Image.Image, game: Game, body: Body, top: int) -> None:
    draw = ImageDraw.Draw(image)
    small, font = ImageFont.load_default(12), ImageFont.load_default(14)
    values = {"health": (body.health, body.max_health), "energy": (body.energy, MAX_VITAL),
              "food": (body.food, MAX_VITAL), "breath": (body.breath, MAX_BREATH)}  # fmt: skip
    for row, (name, colour) in enumerate(_BARS):
        value, most = values[name]
        y = top + 10 + row * 25
        draw.text((12, y + 8), name, _FAINT, small, "lm")
        draw.rounded_rectangle((62, y, 202, y + 16), 4, (44, 48, 62))
        if value:
            draw.rounded_rectangle((62, y, 62 + max(6, 140 * value // most), y + 16), 4, colour)
        draw.text(
            (132, y + 8), f"{value}/{most}", (255, 255, 255), small, "mm", stroke_width=1, stroke_fill=(30, 30, 40)
        )
    planet = PLANET[body.orbit if body.place == SHIP else body.place]
    place = f"Ship at {planet.title}, fuel {body.fuel}" if body.place == SHIP else f"{planet.title} ({planet.biome})"
    words = f"{body.name}: {place}, {time_of_day(planet, game.step_number)}, step {game.step_number}"
    draw.text((220, top + 16), words, _INK, font, "lm")
    _draw_items(image, draw, body, 220, top + 30)
    goals = goals_of(body)
    words = "All quests are done."
    if goals:
        words = f"Quest: {goals[0].description}" + (f" ({goals[0].progress})" if goals[0].progress else "")
    draw.text((220, top + 106), words, (250, 220, 120), font, "lm")


def _draw_items(image: Image.Image, draw: ImageDraw.ImageDraw, body: Body, left: int, top: int) -> None:
    small = ImageFont.load_default(11)
    per_row = (image.width - left - 8) // 36
    worn = list(body.equipment.values())
    for number, (item, count) in enumerate(list(body.items.items())[: 2 * per_row]):
        x, y = left + number % per_row * 36, top + number // per_row * 34
        draw.rounded_rectangle((x, y, x + 32, y + 30), 4, (40, 44, 58), (250, 220, 120) if item in worn else None)
        image.paste(icon(item), (x + 3, y + 1), icon(item))
        if count > 1:
            draw.text(
                (x + 31, y + 30), str(count), (255, 255, 255), small, "rs", stroke_width=1, stroke_fill=(20, 20, 30)
            )
