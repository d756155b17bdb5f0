"""The picture that the original game draws, pixel by pixel: the view above, the inventory below.

Arithmetic is done in the same order and with the same types as there, because each result is cut to a whole number.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageEnhance

from cohabit.errors import BadArgs
from cohabit.worlds.crafter import rules
from cohabit.worlds.crafter.drawing.stock_textures import MOST_CACHED, Pixels, stock_texture
from cohabit.worlds.crafter.game import Game
from cohabit.worlds.crafter.land import Thing
from cohabit.worlds.crafter.player import Player

Floats = NDArray[np.float64]
ITEM_ROWS = 2
SMALLEST = 2  # pixels of a cell; in a smaller one the digits vanish
_BEYOND_THE_EDGE = 127  # grey
_DIRECTION = {(-1, 0): "left", (1, 0): "right", (0, -1): "up", (0, 1): "down"}
_INVENTORY = rules.VITALS + rules.ITEMS


def stock_picture(game: Game, player: Player, size: tuple[int, int] = (64, 64)) -> Pixels:
    """The picture of the original for this player: rows and columns of red, green and blue. ``size``: width, height."""
    width, height = size[0] // rules.VIEW_WIDTH, size[1] // (rules.VIEW_HEIGHT + ITEM_ROWS)
    if min(width, height) < SMALLEST:
        raise BadArgs(
            f"a picture has at least {rules.VIEW_WIDTH * SMALLEST} x {rules.VIEW_WIDTH * SMALLEST} pixels, not {size}"
        )
    view = _lit(_scene(game, player, width, height), game)
    if player.sleeping:
        view = _tinted(_with_colour(view, 0.0), (0, 0, 16))
    picture = np.zeros((size[1], size[0], 3), np.uint8)
    left = (size[0] - width * rules.VIEW_WIDTH) // 2
    top = (size[1] - height * (rules.VIEW_HEIGHT + ITEM_ROWS)) // 2
    below = top + height * rules.VIEW_HEIGHT
    picture[top:below, left : left + width * rules.VIEW_WIDTH] = view
    _draw_inventory(picture[below : below + height * ITEM_ROWS, left:], player, width, height)
    return picture


# -- the view -----------------------------------------------------------------------------------------
def _scene(game: Game, player: Player, width: int, height: int) -> Pixels:
    """The cells around a player, and what stands on them."""
    land = game.land
    first = player.cell - rules.VIEW_WIDTH // 2 * land.stride - rules.VIEW_HEIGHT // 2
    end = first + rules.VIEW_WIDTH * land.stride
    rows = [land.material[first + row : end : land.stride][: rules.VIEW_WIDTH] for row in range(rules.VIEW_HEIGHT)]
    cells = np.frombuffer(b"".join(rows), np.uint8).reshape(rules.VIEW_HEIGHT, rules.VIEW_WIDTH)
    tiles = _ground(width, height)[cells]
    scene: Pixels = tiles.transpose(0, 2, 1, 3, 4).reshape(rules.VIEW_HEIGHT * height, rules.VIEW_WIDTH * width, 3)
    for row in range(rules.VIEW_HEIGHT):
        standing = land.at[first + row : end : land.stride]
        if row == rules.VIEW_HEIGHT // 2 and standing[rules.VIEW_WIDTH // 2] is None:
            standing[rules.VIEW_WIDTH // 2] = player  # the last picture of a player who is gone still shows the player
        for column, thing in enumerate(standing):
            if thing is not None:
                tile = _tile(_texture(thing), int(cells[row, column]), width, height)
                scene[row * height : (row + 1) * height, column * width : (column + 1) * width] = tile
    return scene


@lru_cache(MOST_CACHED)
def _ground(width: int, height: int) -> Pixels:
    """A tile for each material."""
    tiles = np.full((len(rules.MATERIALS), height, width, 3), _BEYOND_THE_EDGE, np.uint8)
    for material, name in enumerate(rules.MATERIALS):
        if material != rules.OUTSIDE:
            tiles[material] = stock_texture(name, width, height)[..., :3]
    return tiles


@lru_cache(MOST_CACHED)
def _tile(texture: str, material: int, width: int, height: int) -> Pixels:
    """Something that stands on a material."""
    tile: Pixels = _ground(width, height)[material].copy()
    _blend(tile, stock_texture(texture, width, height))
    return tile


def _texture(thing: Thing | Player) -> str:
    if isinstance(thing, Player):
        return "player-sleep" if thing.sleeping else f"player-{_DIRECTION[thing.dx, thing.dy]}"
    if thing.kind == rules.ARROW:
        return f"arrow-{_DIRECTION[thing.dx, thing.dy]}"
    if thing.kind == rules.PLANT and thing.ripe:
        return "plant-ripe"
    if thing.kind == rules.BUNDLE:  # the original has none, and no texture for one
        return "log"
    return rules.NAMES[thing.kind]


def _blend(canvas: Pixels, texture: Pixels) -> None:
    """Draw a texture in the upper left corner; its transparent parts let the canvas through."""
    height, width = texture.shape[:2]
    if texture.shape[2] == 4:
        colours = texture.astype(np.float32) / 255
        alpha = colours[..., 3:]
        below = canvas[:height, :width].astype(np.float32) / 255
        texture = (255 * (alpha * colours[..., :3] + (1 - alpha) * below)).astype(np.uint8)
    canvas[:height, :width] = texture


# -- the light ----------------------------------------------------------------------------------------
def _lit(scene: Pixels, game: Game) -> Floats:
    """The scene in the light of this step: pale and blue in the dark, with noise away from the middle."""
    daylight = _daylight(game.step_number)
    night: Pixels | Floats = scene
    if daylight < rules.NIGHT:
        height, width = scene.shape[:2]
        dark = 2 * (0.5 - daylight) * _vignette(width, height)[..., None]
        noise = game.draws.night_noise(width, height).T[..., None]
        night = (1 - dark) * scene + dark * noise
    night = _tinted(_with_colour(night, 0.4), (0, 16, 64))
    return daylight * scene + (1 - daylight) * night


def _daylight(step: int) -> np.float64:
    """As the original computes it. ``rules.daylight`` may differ in the last bit, and a pixel with it."""
    return np.float64(1 - np.abs(np.cos(np.pi * ((step / rules.DAY) % 1 + 0.3))) ** 3)


@lru_cache(MOST_CACHED)
def _vignette(width: int, height: int) -> Floats:
    x, y = np.linspace(-1, 1, width)[None, :], np.linspace(-1, 1, height)[:, None]
    faded: Floats = 1 - np.exp(-0.5 * (x**2 + y**2) / 0.5**2)
    return faded


def _with_colour(scene: Pixels | Floats, amount: float) -> Pixels:
    """With this much of the colour: 0 is grey, 1 is unchanged."""
    return np.array(ImageEnhance.Color(Image.fromarray(scene.astype(np.uint8))).enhance(amount))


def _tinted(scene: Pixels, colour: tuple[int, int, int]) -> Floats:
    return 0.5 * scene + 0.5 * np.array(colour)


# -- the inventory --------------------------------------------------------------------------------------
def _draw_inventory(canvas: Pixels, player: Player, width: int, height: int) -> None:
    amounts = (player.health, player.food, player.drink, player.energy, *player.items)
    for place, (name, amount) in enumerate(zip(_INVENTORY, amounts, strict=True)):
        if amount > 0:
            row, column = divmod(place, rules.VIEW_WIDTH)
            x, y = column * width, row * height
            canvas[y : y + height, x : x + width] = _slot(name, amount, width, height)


@lru_cache(MOST_CACHED)
def _slot(name: str, amount: int, width: int, height: int) -> Pixels:
    slot = np.zeros((height, width, 3), np.uint8)
    for texture, offset, part in ((name, 0.1, 0.8), (str(amount), 0.4, 0.6)):
        corner = slot[int(offset * height) :, int(offset * width) :]
        _blend(corner, stock_texture(texture, int(part * width), int(part * height)))
    return slot
