"""The layout and the text of a picture: where the map and the legend go, the names of cities, and the legend.

The legend shows only what is public about a kingdom.
"""

from functools import cache
from typing import Literal

from msgspec import Struct
from PIL import Image, ImageDraw, ImageFont

from cohabit.worlds.kingdoms.drawing.map import colour_of
from cohabit.worlds.kingdoms.sim import YEAR, City, Kingdom, Sim

LEGEND_FROM = 480
"""A smaller picture has no legend."""
READABLE_FROM = 960
"""In a smaller picture the legend is not scaled down any further, to stay readable."""
PAPER, INK, FAINT, RULE = "#171c24", "#f2efe6", "#98a2b0", "#2c3440"
WHITE, HALO, CROWN, FIRE = "#ffffff", "#10141b", "#ffe27a", "#ff6010"
Box = tuple[int, int, int, int]
Font = ImageFont.FreeTypeFont | ImageFont.ImageFont


@cache
def font(size: int) -> Font:
    """The font that comes with Pillow, so that pictures look the same everywhere."""
    return ImageFont.load_default(size)


# -- layout ---------------------------------------------------------------------------------------
class Frame(Struct, frozen=True):
    """Sizes in points. The map is in the upper left corner."""

    width: int
    height: int
    map_width: int
    map_height: int
    legend: Literal["none", "beside", "below"]


def frame(tiles_x: int, tiles_y: int, size: int, legend: bool) -> Frame:
    """A layout with the longest edge ``size``. The legend goes beside or below the map, where the map is larger."""
    if not legend or size < LEGEND_FROM:
        across, down = _fitted(tiles_x, tiles_y, size, size)
        return Frame(across, down, across, down, "none")
    strip = max(size, READABLE_FROM) // 5
    beside = _fitted(tiles_x, tiles_y, size - strip, size)
    below = _fitted(tiles_x, tiles_y, size, size - strip)
    if beside[0] * beside[1] >= below[0] * below[1]:
        return Frame(min(size, beside[0] + strip), beside[1], *beside, "beside")
    return Frame(below[0], min(size, below[1] + strip), *below, "below")


def _fitted(tiles_x: int, tiles_y: int, max_x: int, max_y: int) -> tuple[int, int]:
    """The largest size with this aspect ratio within these bounds."""
    if tiles_x * max_y >= tiles_y * max_x:
        return max_x, max(1, tiles_y * max_x // tiles_x)
    return max(1, tiles_x * max_y // tiles_y), max_y


# -- cities on the map ----------------------------------------------------------------------------
def city_symbol(pen: ImageDraw.ImageDraw, x: int, y: int, radius: int, colour: str, capital: bool) -> None:
    """A square, or a golden diamond for a capital, with a dark rim."""
    for smaller, fill in enumerate((HALO, CROWN if capital else WHITE, colour)):
        if capital:
            reach = radius + 5 - 2 * smaller
            pen.polygon([(x, y - reach), (x + reach, y), (x, y + reach), (x - reach, y)], fill)
        else:
            reach = radius + 1 - smaller
            pen.rectangle((x - reach, y - reach, x + reach, y + reach), fill)


def label_cities(image: Image.Image, sim: Sim, cities: list[City], map_size: tuple[int, int], size: int) -> None:
    """Draw these cities. Capitals and large cities get their names first, and no name overlaps another."""
    pen = ImageDraw.Draw(image)
    capitals = {kingdom.capital for kingdom in sim.alive}
    ordered = sorted(cities, key=lambda city: (city.id not in capitals, -city.people, city.id))
    radius = max(2, size // 260)
    for city in reversed(ordered):
        colour = colour_of(sim.kingdoms[city.kingdom].colour)
        city_symbol(pen, *_place(sim, city, map_size), radius, colour, city.id in capitals)
    taken: list[Box] = []
    for city in ordered:
        letters = font(max(9, size // (80 if city.id in capitals else 98)))
        box = _label_box(_place(sim, city, map_size), round(letters.getlength(city.name)), size // 80, radius, map_size)
        if not any(_overlap(box, other) for other in taken):
            taken.append(box)
            pen.text(box[:2], city.name, WHITE, letters, stroke_width=max(1, size // 640), stroke_fill=HALO)


def _place(sim: Sim, city: City, map_size: tuple[int, int]) -> tuple[int, int]:
    """The point in the middle of the city's tile."""
    x = (2 * city.x + 1) * map_size[0] // (2 * sim.land.width)
    y = (2 * city.y + 1) * map_size[1] // (2 * sim.land.height)
    return x, y


def _label_box(place: tuple[int, int], wide: int, tall: int, radius: int, map_size: tuple[int, int]) -> Box:
    """The box of a name: below its symbol, or above it at the lower edge of the map; never off the map."""
    x, y = place
    left = max(2, min(x - wide // 2, map_size[0] - wide - 2))
    top = y + radius + 2 if y + radius + tall + 4 < map_size[1] else y - radius - tall - 6
    return left, top, left + wide, top + tall


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


# -- the legend -----------------------------------------------------------------------------------
def draw_legend(sim: Sim, width: int, height: int, size: int) -> Image.Image:
    """The legend as a strip of this width and height, for a picture whose longest edge is ``size``."""
    image = Image.new("RGB", (width, height), PAPER)
    strip = _Strip(image, size)
    strip.title(f"Year {sim.tick // YEAR:,}", f"tick {sim.tick:,}")
    symbols = strip.symbols() if height > width else 0
    strip.kingdoms(sorted(sim.alive, key=lambda kingdom: (-kingdom.people, kingdom.id)), height - symbols)
    return image


class _Strip:
    """Draws the parts of a legend. Lengths are given for a picture of 1280 points, and scaled."""

    def __init__(self, image: Image.Image, size: int) -> None:
        self.pen = ImageDraw.Draw(image)
        self.width, self.height = image.size
        self.size = max(size, READABLE_FROM)
        self.gap = self.scaled(18)

    def scaled(self, length: int) -> int:
        return max(1, length * self.size // 1280)

    def write(self, x: int, y: int, text: str, colour: str, letters: int) -> None:
        self.pen.text((x, y), text, colour, font(self.scaled(letters)))

    def title(self, title: str, below: str) -> None:
        self.write(self.gap, self.scaled(12), title, INK, 26)
        self.write(self.gap, self.scaled(46), below, FAINT, 13)
        self.pen.line((self.gap, self.scaled(76), self.width - self.gap, self.scaled(76)), RULE)

    def kingdoms(self, kingdoms: list[Kingdom], bottom: int) -> None:
        """Entries in columns down to ``bottom``, and the number of those that do not fit."""
        top, wide, tall = self.scaled(86), self.scaled(236), self.scaled(50)
        rows = max(1, (bottom - top) // tall)
        room = rows * max(1, (self.width - self.gap) // wide)
        shown = kingdoms if len(kingdoms) <= room else kingdoms[: room - 1]
        places = [(self.gap + place // rows * wide, top + place % rows * tall) for place in range(len(shown) + 1)]
        for kingdom, (x, y) in zip(shown, places, strict=False):
            self._entry(kingdom, x, y, wide - self.gap, kingdoms[0].people)
        if len(shown) < len(kingdoms):
            self.write(*places[-1], f"and {len(kingdoms) - len(shown)} more", FAINT, 14)
        if not kingdoms:
            self.write(self.gap, top, "no kingdoms", FAINT, 14)

    def _entry(self, kingdom: Kingdom, x: int, y: int, width: int, most: int) -> None:
        """Colour and name, people and cities, and a bar in proportion to the people of the largest kingdom."""
        colour, swatch, indent = colour_of(kingdom.colour), self.scaled(14), self.scaled(24)
        edge = y + self.scaled(5)
        self.pen.rounded_rectangle((x, edge, x + swatch, edge + swatch), self.scaled(3), colour, INK)
        self.write(x + indent, y, _cut(kingdom.name, width - indent, font(self.scaled(16))), INK, 16)
        counts = f"{_count(kingdom.people, 'person', 'people')} · {_count(kingdom.cities, 'city', 'cities')}"
        self.write(x + indent, y + self.scaled(21), counts, FAINT, 13)
        left, line, thick = x + indent, y + self.scaled(41), self.scaled(2)
        self.pen.rectangle((left, line, x + width, line + thick), RULE)
        if kingdom.people > 0:
            self.pen.rectangle((left, line, left + (width - indent) * kingdom.people // most, line + thick), colour)

    def symbols(self) -> int:
        """The meaning of the symbols, at the bottom of the strip; returns the height of that part."""
        tall, x = self.scaled(24), self.gap + self.scaled(8)
        words = ("capital", "city", "people", "animals", "fire")
        top = self.height - self.gap // 2 - tall * len(words)
        self.pen.line((self.gap, top - self.gap // 2, self.width - self.gap, top - self.gap // 2), RULE)
        for place, word in enumerate(words):
            y = top + place * tall + tall // 2
            if word in ("capital", "city"):
                city_symbol(self.pen, x, y, self.scaled(4), FAINT, word == "capital")
            else:
                reach, colour = {"people": (3, FAINT), "animals": (1, INK), "fire": (3, FIRE)}[word]
                reach = self.scaled(reach)
                self.pen.rectangle((x - reach, y - reach, x + reach, y + reach), colour)
            self.write(x + self.scaled(20), y - self.scaled(9), word, FAINT, 13)
        return self.height - top + self.gap


def _cut(text: str, width: int, letters: Font) -> str:
    """As much of the text as fits."""
    if letters.getlength(text) <= width:
        return text
    while text and letters.getlength(f"{text}…") > width:
        text = text[:-1]
    return f"{text}…"


def _count(count: int, one: str, several: str) -> str:
    return f"{count:,} {one if count == 1 else several}"
