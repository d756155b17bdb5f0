"""The picture of the whole map, with all players and creatures, and a table of the players."""

from collections.abc import Sequence

import numpy as np
from PIL import Image

from cohabit.worlds.crafter.drawing import panel
from cohabit.worlds.crafter.drawing.figures import colour_of, figure_of
from cohabit.worlds.crafter.drawing.ground import draw_ground
from cohabit.worlds.crafter.drawing.light import at_night, darkness
from cohabit.worlds.crafter.game import Game
from cohabit.worlds.crafter.player import Player
from cohabit.worlds.crafter.rules import ACHIEVEMENTS, VITALS

GAP = 16
MAP = 640  # pixels of the longer side of the map
COLUMN = 232  # the width of the table, or of each of its columns
TALL_ROW, LOW_ROW = 44, 17


def map_scene(game: Game, players: Sequence[Player]) -> bytes:
    """The whole map and a table of these players, as a PNG."""
    land = _map(game, players)
    height = max(land.height, 320)
    top, room = 66, height - 66
    tall = len(players) * TALL_ROW <= room
    rows = max(1, room // (TALL_ROW if tall else LOW_ROW))
    columns = max(1, -(-len(players) // rows))
    image = Image.new("RGB", (land.width + columns * (COLUMN + GAP) + 2 * GAP, height + 2 * GAP), panel.PAPER)
    image.paste(land, (GAP, GAP))
    left = land.width + 2 * GAP
    panel.write(image, (left, GAP - 2), panel.time_of(game), 17)
    here = sum(1 for player in players if player.alive and not player.removed)
    panel.write(image, (left, GAP + 24), f"{here} player{'' if here == 1 else 's'} on the map", 13, panel.FAINT)
    image.paste(panel.RULE, (left, GAP + 50, image.width - GAP, GAP + 51))
    for place, player in enumerate(players):
        x, y = left + place // rows * (COLUMN + GAP), GAP + top + place % rows * (TALL_ROW if tall else LOW_ROW)
        (_tall_row if tall else _low_row)(image, player, x, y)
    return panel.as_png(image)


# -- the map ------------------------------------------------------------------------------------------------
def _map(game: Game, players: Sequence[Player]) -> Image.Image:
    land = game.land
    size = max(4, MAP // max(land.width, land.height))
    image = draw_ground(np.pad(land.materials(), 1).T, 0, 0, size)
    larger = size + size // 2  # than a cell, to be seen
    for thing in land.things:
        picture = figure_of(thing, larger)
        image.paste(picture, (thing.x * size - size // 4, thing.y * size - size // 2), picture)
    image = at_night(image, darkness(game.daylight) // 2)
    present = [player for player in players if player.alive and not player.removed]
    side = size + 8
    for player in present:
        disc = panel.badge(player.number + 1, colour_of(player), side)
        image.paste(disc, (player.x * size - 4, player.y * size - 4), disc)
    labels = panel.Labels(image)
    for player in present:
        middle = player.x * size + size // 2, player.y * size + size // 2
        labels.put(player, 12, 100, middle, side // 2 + 2, must=False)
    return image


# -- the table ----------------------------------------------------------------------------------------------
def _score(player: Player) -> str:
    return f"{sum(1 for times in player.achievements if times)}/{len(ACHIEVEMENTS)}"


def _tall_row(image: Image.Image, player: Player, x: int, y: int) -> None:
    disc, state = panel.badge(player.number + 1, colour_of(player), 20), panel.condition(player)
    image.paste(disc, (x, y), disc)
    panel.write(
        image,
        (x + 28, y),
        panel.fitted(panel.name_of(player), 15, COLUMN - 120),
        15,
        panel.FAINT if state in ("dead", "left") else panel.INK,
    )
    if state:
        panel.write_right(image, (x + COLUMN - 46, y + 2), state, 12, panel.BAD if state == "dead" else panel.FAINT)
    panel.write_right(image, (x + COLUMN, y + 1), _score(player), 14, panel.GOOD)
    wide = (COLUMN - 28) // len(VITALS)
    for place, vital in enumerate(VITALS):
        image.paste(panel.bar(vital, getattr(player, vital), wide - 8, 8), (x + 28 + place * wide, y + 23))


def _low_row(image: Image.Image, player: Player, x: int, y: int) -> None:
    disc, state = panel.badge(player.number + 1, colour_of(player), 15), panel.condition(player)
    image.paste(disc, (x, y), disc)
    panel.write(
        image,
        (x + 20, y),
        panel.fitted(panel.name_of(player), 12, 88),
        12,
        panel.FAINT if state in ("dead", "left") else panel.INK,
    )
    panel.write_right(image, (x + COLUMN, y), _score(player), 12, panel.GOOD)
    if state in ("dead", "left"):
        panel.write(image, (x + 114, y), state, 12, panel.BAD if state == "dead" else panel.FAINT)
        return
    for place, vital in enumerate(VITALS):
        image.paste(panel.bar(vital, getattr(player, vital), 17, 7), (x + 112 + place * 20, y + 4))
