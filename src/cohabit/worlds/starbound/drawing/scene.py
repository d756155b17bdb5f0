"""The picture of a body's view: sky or cave, tiles, figures, light; and what the body has."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from cohabit.worlds.png import encode_rgb
from cohabit.worlds.starbound.body import Body
from cohabit.worlds.starbound.drawing.hud import HUD_HEIGHT, draw_hud
from cohabit.worlds.starbound.drawing.sprites import figure, rgb, seat_colour
from cohabit.worlds.starbound.drawing.textures import SIDE, Pixels, noise, texture
from cohabit.worlds.starbound.game import Game
from cohabit.worlds.starbound.land import Land
from cohabit.worlds.starbound.planets import CREATURE, HEIGHT, SHIP, WIDTH, PlanetKind, daylight, time_of_day
from cohabit.worlds.starbound.senses import UNSEEN, sight, view_of
from cohabit.worlds.starbound.tiles import AIR, ID, NAME_OF_LETTER, OPEN, TILES

SCALE = 3  # pixels of the picture for one pixel of a tile
_NIGHT = np.array([30, 34, 72])
_DARK = np.array([16, 14, 22])
_MAP_SCALE = 4
Canvas = NDArray[np.int64]


def body_scene(game: Game, body: Body) -> bytes:
    """The view of this body and its state, as a PNG."""
    view = view_of(game, body)
    land = game.land_of(body)
    wide, high = sight(body)
    rows = [[-1 if letter == UNSEEN else ID[NAME_OF_LETTER[letter]] for letter in row] for row in view.rows]
    canvas = _background(game, land, body, wide, high)
    _draw_tiles(canvas, land, rows, body, wide, high)
    for thing in reversed(view.things):
        name, facing, colour = _figure_of(game, body, thing.name, thing.state)
        _stamp(canvas, figure(name, facing, colour), thing.x + wide, thing.y + high)
    me = figure("body" if body.alive else "grave", body.facing, seat_colour(body.number))
    _stamp(canvas, me, wide, high)
    _shade(canvas, game, land, body, rows, wide, high)
    image = np.clip(canvas, 0, 255).astype(np.uint8).repeat(SCALE, 0).repeat(SCALE, 1)
    whole = Image.new("RGB", (image.shape[1], image.shape[0] + HUD_HEIGHT), (22, 24, 34))
    whole.paste(Image.fromarray(image), (0, 0))
    _draw_names(whole, view.things, wide, high)
    draw_hud(whole, game, body, image.shape[0])
    return encode_rgb(whole.width, whole.tobytes())


def _figure_of(game: Game, body: Body, name: str, state: str) -> tuple[str, int, str]:
    """The figure of a thing in sight, its direction and its colour."""
    if not name.startswith("player "):
        return name, 1, "#808080"
    other = next(known for known in game.bodies if f"player {known.name}" == name)
    shape = {"dead": "grave", "asleep": "sleeper"}.get(state, "body")
    return shape, other.facing, seat_colour(other.number)


def _sky(planet: PlanetKind, step: int) -> NDArray[np.float64]:
    light = daylight(planet, step)
    colour: NDArray[np.float64] = np.array(planet.sky) * light + _NIGHT * (1 - light)
    if time_of_day(planet, step) in ("dusk", "dawn"):
        colour = colour * 0.7 + np.array([240, 130, 80]) * 0.3
    return colour


def _background(game: Game, land: Land, body: Body, wide: int, high: int) -> Canvas:
    """Sky with far hills above the surface, a wall of rock below it."""
    width, height = (2 * wide + 1) * SIDE, (2 * high + 1) * SIDE
    y, x = np.mgrid[0:height, 0:width]
    if land.kind is None:
        room: Canvas = np.zeros((height, width, 3), np.int64)
        room[:] = (36, 42, 56)
        room[(x + (body.x % 2) * SIDE) % 32 < 2] = (48, 56, 74)
        return room
    sky = _sky(land.kind, game.step_number)
    fade = (y / height)[..., None]
    canvas: Canvas = (sky * (0.82 + 0.3 * fade)).astype(np.int64)
    far = x + body.x * 4
    rise = (noise(far // 64, far * 0, 5) * (64 - far % 64) + noise(far // 64 + 1, far * 0, 5) * (far % 64)) // 64
    _draw_sun(canvas, land.kind, game.step_number)
    hills = y > height * 6 // 10 - rise // 4 - (body.y - 36) * 2
    canvas[hills] = (sky * 0.72).astype(np.int64)
    if daylight(land.kind, game.step_number) < 0.5:
        canvas[(noise(x, y, 77) > 254) & (noise(x, y, 78) > 200) & ~hills] = (230, 230, 250)
    wall = np.array(TILES[ID[land.kind.rock]].colour) // 3
    grain = (noise(x // 4, y // 4 + body.y * 4, 9) - 128)[..., None] // 16
    columns = [land.surface[(body.x - wide + i) % WIDTH] - (body.y - high) for i in range(2 * wide + 1)]
    below = y >= (np.array(columns).repeat(SIDE)[None, :] + 1) * SIDE
    canvas[below] = (wall + grain)[below]
    return canvas


def _draw_sun(canvas: Canvas, planet: PlanetKind, step: int) -> None:
    """The sun, or at night the moon, on its way from left to right."""
    height, width = canvas.shape[:2]
    part = step % planet.day / planet.day
    night = part >= 0.6
    way = (part - 0.6) / 0.4 if night else part / 0.6
    y, x = np.mgrid[0:height, 0:width]
    away = (x - way * width) ** 2 + (y - height * (0.14 + 0.5 * (way - 0.5) ** 2)) ** 2
    canvas[away < 90] = (226, 230, 240) if night else (255, 236, 150)


def _draw_tiles(canvas: Canvas, land: Land, rows: list[list[int]], body: Body, wide: int, high: int) -> None:
    for row, tiles in enumerate(rows):
        for column, tile in enumerate(tiles):
            if tile in (AIR, -1):
                continue
            variant = ((body.x - wide + column) * 31 + (body.y - high + row) * 17) % 5
            _stamp(canvas, texture(tile, variant), column, row)
            if not OPEN[tile]:
                _outline(canvas, rows, column, row)


def _outline(canvas: Canvas, rows: list[list[int]], column: int, row: int) -> None:
    """A dark rim where a solid tile meets the open."""
    last = SIDE - 1
    for dx, dy, part in (
        (0, -1, np.s_[0:1, :]), (0, 1, np.s_[last:, :]), (-1, 0, np.s_[:, 0:1]), (1, 0, np.s_[:, last:]),
    ):  # fmt: skip
        x, y = column + dx, row + dy
        if 0 <= y < len(rows) and 0 <= x < len(rows[0]) and rows[y][x] >= 0 and OPEN[rows[y][x]]:
            cell = canvas[row * SIDE : (row + 1) * SIDE, column * SIDE : (column + 1) * SIDE]
            cell[part] = cell[part] * 6 // 10


def _stamp(canvas: Canvas, image: Pixels, column: int, row: int) -> None:
    """Put a small picture on a tile."""
    place = canvas[row * SIDE : (row + 1) * SIDE, column * SIDE : (column + 1) * SIDE]
    alpha = image[..., 3:].astype(np.int64)
    place[:] = (image[..., :3] * alpha + place * (255 - alpha)) // 255


def _shade(canvas: Canvas, game: Game, land: Land, body: Body, rows: list[list[int]], wide: int, high: int) -> None:
    """Darkness that grows with the distance from light; what is not seen is black."""
    width, height = 2 * wide + 1, 2 * high + 1
    y, x = np.mgrid[0:height, 0:width]
    light = np.zeros((height, width))
    if land.kind is None:
        light += 1
    else:
        sun = daylight(land.kind, game.step_number)
        surface = np.array([land.surface[(body.x - wide + i) % WIDTH] - (body.y - high) for i in range(width)])
        depth = np.maximum(0, y - surface[None, :])
        light = np.maximum(light, sun * np.maximum(0.0, 1 - depth / 5))
        light = np.maximum(light, 0.85 - np.hypot(x - wide, y - high) / 9)
    for row, tiles in enumerate(rows):
        for column, tile in enumerate(tiles):
            if tile >= 0 and TILES[tile].light:
                light = np.maximum(light, 1.1 - np.hypot(x - column, y - row) / (TILES[tile].light + 2))
    light = np.clip(light, 0.12, 1)
    seen = np.array([[tile >= 0 for tile in tiles] for tiles in rows])
    light[~seen] = 0
    smooth = np.asarray(
        Image.fromarray((light * 255).astype(np.uint8)).resize((width * SIDE, height * SIDE), Image.Resampling.BILINEAR)
    ).astype(np.int64)
    hidden = (~seen).repeat(SIDE, 0).repeat(SIDE, 1)
    smooth = np.where(hidden, np.minimum(smooth, 60), smooth)
    canvas[:] = (canvas * smooth[..., None] + _DARK * (255 - smooth[..., None])) // 255


def _draw_names(image: Image.Image, things: list, wide: int, high: int) -> None:  # type: ignore[type-arg]
    draw, font = ImageDraw.Draw(image), ImageFont.load_default(12)
    for thing in things:
        if not thing.name.startswith("player "):
            continue
        x, y = (thing.x + wide) * SIDE * SCALE + SIDE * SCALE // 2, (thing.y + high) * SIDE * SCALE
        draw.text((x, y - 8), thing.name[7:], (255, 255, 255), font, "mm", stroke_width=2, stroke_fill=(20, 20, 30))


# -- the whole system -----------------------------------------------------------------------------------------
def system_scene(game: Game, bodies: list[Body]) -> bytes:
    """All planets that somebody has visited, with everybody on them."""
    lands = list(game.lands.values())
    band = HEIGHT * _MAP_SCALE + 26
    image = Image.new("RGB", (WIDTH * _MAP_SCALE, max(1, len(lands)) * band), (22, 24, 34))
    draw, font = ImageDraw.Draw(image), ImageFont.load_default(14)
    for number, land in enumerate(lands):
        assert land.kind is not None
        top = number * band
        title = f"{land.kind.title} ({land.kind.biome}), {time_of_day(land.kind, game.step_number)}"
        draw.text((8, top + 13), title, (230, 232, 240), font, "lm")
        image.paste(Image.fromarray(_planet_map(game, land)), (0, top + 26))
        for creature in land.creatures:
            colour = (230, 70, 60) if CREATURE[creature.kind].damage else (250, 250, 250)
            _dot(draw, creature.x, creature.y, top + 26, 2, colour)
        for body in bodies:
            place = body.orbit if body.place == SHIP else body.place
            if place == land.name:
                y = 3 if body.place == SHIP else body.y
                _dot(draw, body.x, y, top + 26, 4, rgb(seat_colour(body.number)))
                words = f"{body.name} (ship)" if body.place == SHIP else body.name
                at = (body.x * _MAP_SCALE + 2, top + 26 + y * _MAP_SCALE - 10 + 20 * (y < 6))
                draw.text(at, words, (255, 255, 255), font, "mm", stroke_width=2, stroke_fill=(20, 20, 30))
    return encode_rgb(image.width, image.tobytes())


_MAP_COLOURS = np.array([(tile.solid and tile.marks) or tile.colour for tile in TILES], np.int64)
_MAP_COLOURS[ID["grass"]] = (92, 176, 72)


def _planet_map(game: Game, land: Land) -> Pixels:
    assert land.kind is not None
    tiles = np.frombuffer(bytes(land.tiles), np.uint8).reshape(HEIGHT, WIDTH)
    colours = _MAP_COLOURS[tiles]
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    sky = _sky(land.kind, game.step_number)
    above = y <= np.array(land.surface)[None, :]
    empty = tiles == AIR
    colours[empty & above] = sky.astype(np.int64)
    colours[empty & ~above] = np.array(TILES[ID[land.kind.rock]].colour) // 4
    colours += ((noise(x, y, 4) - 128) // 14)[..., None] * ~empty[..., None]
    return np.clip(colours, 0, 255).astype(np.uint8).repeat(_MAP_SCALE, 0).repeat(_MAP_SCALE, 1)


def _dot(draw: ImageDraw.ImageDraw, x: int, y: int, top: int, radius: int, colour: tuple[int, int, int]) -> None:
    cx, cy = x * _MAP_SCALE + 2, top + y * _MAP_SCALE + 2
    draw.ellipse((cx - radius, cy - radius, cx + radius, cy + radius), colour, (20, 20, 30))
