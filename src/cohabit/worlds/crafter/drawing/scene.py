"""The picture of a player's view for people: the scene with names, vitals, inventory and achievements."""

from functools import cache

import numpy as np
from PIL import Image, ImageDraw

from cohabit.worlds.crafter.drawing import panel
from cohabit.worlds.crafter.drawing.figures import colour_of, figure_of
from cohabit.worlds.crafter.drawing.ground import Cells, draw_ground
from cohabit.worlds.crafter.drawing.icons import achievement_icon, faint_icon, icon
from cohabit.worlds.crafter.drawing.light import DARKEST, darkness, with_lights
from cohabit.worlds.crafter.game import Game
from cohabit.worlds.crafter.player import Player
from cohabit.worlds.crafter.rules import ACHIEVEMENTS, FURNACE, ITEMS, LAVA, MOST, VIEW_HEIGHT, VIEW_WIDTH, VITALS

CELL = 48
GAP = 16
VIEW = (VIEW_WIDTH * CELL, VIEW_HEIGHT * CELL)
SIDE = 290  # the width of the panel beside the view
SIZE = (VIEW[0] + SIDE + 3 * GAP, VIEW[1] + 142)
_NAME_WIDTH = 3 * CELL
_MIDDLE = (VIEW_WIDTH // 2, VIEW_HEIGHT // 2)


def player_scene(game: Game, player: Player) -> bytes:
    """The view of this player and its inventory, as a PNG."""
    image = Image.new("RGB", SIZE, panel.PAPER)
    image.paste(_view(game, player), (GAP, GAP), _rounded(VIEW, 10))
    below = GAP + VIEW[1]
    _draw_vitals(image, player, below + 12)
    _draw_inventory(image, player, below + 52)
    _draw_panel(image, game, player, GAP + VIEW[0] + GAP)
    return panel.as_png(image)


# -- the view -----------------------------------------------------------------------------------------
def _view(game: Game, player: Player) -> Image.Image:
    """The cells around a player in the light of the time of day, with names."""
    land = game.land
    columns, rows = VIEW_WIDTH + 2, VIEW_HEIGHT + 2
    first = player.cell - columns // 2 * land.stride - rows // 2
    # One row and column more on each side than in the view. Beyond one border is the opposite one, as empty as this.
    places = first + np.arange(rows)[:, None] + np.arange(columns)[None, :] * land.stride
    cells: Cells = np.frombuffer(land.material, np.uint8).take(places, mode="wrap")
    left, top = player.x - _MIDDLE[0], player.y - _MIDDLE[1]
    image = draw_ground(cells, left, top, CELL)
    inside = cells[1:-1, 1:-1].tolist()
    others: list[tuple[Player, int, int]] = []
    for row in range(VIEW_HEIGHT):
        start = first + row + 1 + land.stride
        for column, thing in enumerate(land.at[start : start + VIEW_WIDTH * land.stride : land.stride]):
            if thing is not None:
                _put(image, figure_of(thing, CELL), column, row)
                if isinstance(thing, Player) and thing is not player:
                    others.append((thing, column, row))
    glowing = [
        (x, y) for y, line in enumerate(inside) for x, material in enumerate(line) if material in (LAVA, FURNACE)
    ]
    if not player.sleeping:
        glowing.append(_MIDDLE)
    dark = DARKEST if player.sleeping else darkness(game.daylight)
    image = with_lights(image, dark, [(x * CELL + CELL // 2, y * CELL + CELL // 2) for x, y in glowing], 2 * CELL)
    if player.alive and not player.sleeping:
        _put(image, _aim(), _MIDDLE[0] + player.dx, _MIDDLE[1] + player.dy)
    labels = panel.Labels(image)
    for other, column, row in others:
        middle = column * CELL + CELL // 2, row * CELL + CELL // 2
        labels.put(other, 13, _NAME_WIDTH, middle, CELL // 2, must=True)
    return image


def _put(image: Image.Image, figure: Image.Image, column: int, row: int) -> None:
    image.paste(figure, (column * CELL, row * CELL), figure)


@cache
def _aim() -> Image.Image:
    """The corners of a frame around the cell that the player faces."""
    image = Image.new("RGBA", (CELL, CELL))
    pen = ImageDraw.Draw(image)
    low, high, arm = 2, CELL - 3, 10
    for colour, width in (("#10141b90", 5), ("#ffffffe0", 2)):
        for x, toward_x in ((low, arm), (high, -arm)):
            for y, toward_y in ((low, arm), (high, -arm)):
                pen.line((x, y + toward_y, x, y, x + toward_x, y), colour, width, "curve")
    return image


@cache
def _rounded(size: panel.Place, radius: int) -> Image.Image:
    mask = Image.new("L", (size[0] * 4, size[1] * 4))
    ImageDraw.Draw(mask).rounded_rectangle((0, 0, size[0] * 4 - 1, size[1] * 4 - 1), radius * 4, 255)
    return mask.resize(size, Image.Resampling.BOX)


# -- what the player has -----------------------------------------------------------------------------------
def _draw_vitals(image: Image.Image, player: Player, top: int) -> None:
    wide = VIEW[0] // len(VITALS)
    for place, vital in enumerate(VITALS):
        amount, left = getattr(player, vital), GAP + place * wide
        symbol = icon(vital, 24)
        image.paste(symbol, (left, top + 1), symbol)
        image.paste(panel.bar(vital, amount, wide - 58, 12), (left + 29, top + 7))
        panel.write(image, (left + wide - 23, top + 3), str(amount), 16, panel.INK if amount > MOST // 3 else panel.BAD)


def _draw_inventory(image: Image.Image, player: Player, top: int) -> None:
    wide = VIEW[0] // len(ITEMS)
    for place, (item, amount) in enumerate(zip(ITEMS, player.items, strict=True)):
        left = GAP + place * wide + 1
        slot = _slot((wide - 2, 58))
        image.paste(slot, (left, top), slot)
        symbol = icon(item, 28) if amount else faint_icon(item, 28)
        image.paste(symbol, (left + (wide - 30) // 2, top + 5), symbol)
        line = panel.written(str(amount), 15, panel.INK if amount else panel.RULE)
        image.paste(line, (left + (wide - 2 - line.width) // 2, top + 36), line)


@cache
def _slot(size: panel.Place) -> Image.Image:
    image = Image.new("RGBA", size, panel.SLOT)
    image.putalpha(_rounded(size, 6))
    return image


def _draw_panel(image: Image.Image, game: Game, player: Player, left: int) -> None:
    """Draw the player's name, the time, and the achievements."""
    right, state = left + SIDE, panel.condition(player)
    image.paste(colour_of(player), (left, GAP + 2, left + 5, GAP + 40))
    panel.write(image, (left + 14, GAP - 2), panel.fitted(panel.name_of(player), 20, SIDE - 80), 20)
    if state:
        panel.write_right(image, (right, GAP + 3), state, 14, panel.BAD if state == "dead" else panel.FAINT)
    panel.write(image, (left + 14, GAP + 25), panel.time_of(game), 13, panel.FAINT)
    top = GAP + 54
    done = sum(1 for times in player.achievements if times)
    panel.write(image, (left, top), "Achievements", 14)
    panel.write_right(image, (right, top), f"{done} of {len(ACHIEVEMENTS)}", 14, panel.GOOD if done else panel.FAINT)
    image.paste(panel.RULE, (left, top + 22, right, top + 23))
    rows = (len(ACHIEVEMENTS) + 1) // 2
    for place, (name, times) in enumerate(zip(ACHIEVEMENTS, player.achievements, strict=True)):
        x, y = left + place // rows * (SIDE // 2 + 2), top + 31 + place % rows * 32
        symbol = achievement_icon(name, 24, bool(times))
        image.paste(symbol, (x, y), symbol)
        panel.write(image, (x + 29, y + 4), name.replace("_", " "), 12, panel.INK if times else panel.FAINT)
