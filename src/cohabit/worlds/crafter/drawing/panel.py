"""Text, bars and labels of the larger pictures."""

from functools import lru_cache
from unicodedata import combining, normalize

from PIL import Image, ImageDraw

from cohabit.worlds.crafter.drawing.icons import VITAL_COLOURS
from cohabit.worlds.crafter.drawing.pen import font
from cohabit.worlds.crafter.game import Game
from cohabit.worlds.crafter.player import Player
from cohabit.worlds.crafter.rules import DAY, MOST, NIGHT
from cohabit.worlds.png import encode_rgb

PAPER, SLOT, RULE = "#171c24", "#242b37", "#38414f"
INK, FAINT, WHITE, GOOD, BAD = "#f2efe6", "#7f8a9a", "#ffffff", "#7bd88f", "#ff7b72"
Place = tuple[int, int]


@lru_cache(2048)
def written(text: str, size: int, colour: str, halo: bool = False) -> Image.Image:
    """A line of text as a picture of its own, with transparent surroundings; with a dark halo on uneven ground."""
    letters = font(size)
    edge = 2 if halo else 0
    image = Image.new("RGBA", (max(1, round(letters.getlength(text))) + 2 * edge + 1, round(size * 1.35) + 2 * edge))
    stroke = {"stroke_width": edge, "stroke_fill": "#10141b"} if halo else {}
    ImageDraw.Draw(image).text((edge, edge), text, colour, letters, **stroke)  # type: ignore[arg-type]
    return image


def write(image: Image.Image, place: Place, text: str, size: int, colour: str = INK) -> None:
    line = written(text, size, colour)
    image.paste(line, place, line)


def write_right(image: Image.Image, place: Place, text: str, size: int, colour: str = INK) -> None:
    """Text that ends at a place."""
    line = written(text, size, colour)
    image.paste(line, (place[0] - line.width, place[1]), line)


@lru_cache(2048)
def fitted(name: str, size: int, width: int) -> str:
    """As much of a name as fits. The font has no accents, so they are left out."""
    letters = font(size)
    plain = "".join(sign for sign in normalize("NFKD", name) if not combining(sign))
    plain = "".join(sign if sign.isprintable() else "?" for sign in plain)
    if letters.getlength(plain) <= width:
        return plain
    while plain and letters.getlength(f"{plain}…") > width:
        plain = plain[:-1]
    return f"{plain}…"


def name_of(player: Player) -> str:
    return player.name or f"player {player.number + 1}"


class Labels:
    """Names on a picture that do not cover each other, as long as there is room."""

    def __init__(self, image: Image.Image) -> None:
        self.image = image
        self.taken: list[tuple[int, int, int, int]] = []

    def put(self, player: Player, size: int, width: int, middle: Place, reach: int, must: bool) -> None:
        """Write a name below or above a place, whose figure reaches this far. If it must, it may cover others."""
        line = written(fitted(name_of(player), size, width), size, WHITE, halo=True)
        x = min(max(0, middle[0] - line.width // 2), self.image.width - line.width)
        below, above = middle[1] + reach - 3, middle[1] - reach - line.height + 3
        boxes = [(x, y, x + line.width, y + line.height) for y in (below, above)]
        inside = [box for box in boxes if box[1] >= 0 and box[3] <= self.image.height]
        free = [box for box in inside if not any(_overlap(box, other) for other in self.taken)]
        if free or must:
            box = (free or inside)[0]
            self.taken.append(box)
            self.image.paste(line, box[:2], line)


def _overlap(one: tuple[int, int, int, int], other: tuple[int, int, int, int]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] + 4 < other[3] and other[1] + 4 < one[3]


@lru_cache(512)
def bar(vital: str, amount: int, width: int, height: int) -> Image.Image:
    """A vital as a bar: of nine parts, or in one piece where it is too narrow for that."""
    image = Image.new("RGB", (width, height), RULE)
    image.paste(VITAL_COLOURS[vital], (0, 0, width * amount // MOST, height))
    if width >= 4 * MOST:
        for part in range(1, MOST):
            image.paste(PAPER, (part * width // MOST - 1, 0, part * width // MOST, height))
    return image


@lru_cache(256)
def badge(number: int, colour: str, size: int) -> Image.Image:
    """A disc with the number of a player."""
    side = size * 4
    image = Image.new("RGBA", (side, side))
    pen = ImageDraw.Draw(image)
    pen.ellipse((0, 0, side - 1, side - 1), "#10141b")
    pen.ellipse((3, 3, side - 4, side - 4), WHITE)
    pen.ellipse((9, 9, side - 10, side - 10), colour)
    dark = sum(bytes.fromhex(colour[1:])) < 420
    pen.text((side // 2, side // 2), str(number), WHITE if dark else "#10141b", font(size * 5 // 2), anchor="mm")
    return image.resize((size, size), Image.Resampling.LANCZOS)


def time_of(game: Game) -> str:
    light = "night" if game.daylight < NIGHT else "day"
    return f"Day {game.step_number // DAY + 1} · {light} · step {game.step_number:,}"


def condition(player: Player) -> str:
    """The state of a player besides the numbers: dead, left, asleep, or empty."""
    if not player.alive:
        return "dead"
    if player.removed:
        return "left"
    return "asleep" if player.sleeping else ""


def as_png(image: Image.Image) -> bytes:
    return encode_rgb(image.width, image.tobytes())
