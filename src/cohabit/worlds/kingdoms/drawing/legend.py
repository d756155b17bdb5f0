"""The legend of a picture: what year it is, the kingdoms in their colours with the largest first, and what marks mean.

It tells what is public of a kingdom and nothing else.
"""

from functools import cache

from PIL import Image, ImageDraw, ImageFont

from cohabit.worlds.kingdoms.drawing.frame import READABLE
from cohabit.worlds.kingdoms.drawing.marker import city_mark
from cohabit.worlds.kingdoms.drawing.palette import colour_of
from cohabit.worlds.kingdoms.realms import Kingdom
from cohabit.worlds.kingdoms.sim import YEAR, Sim

PAPER, INK, FAINT, RULE = "#171c24", "#f2efe6", "#98a2b0", "#2c3440"
Font = ImageFont.FreeTypeFont | ImageFont.ImageFont


@cache
def font(size: int) -> Font:
    """Letters that come with Pillow, so that pictures look the same everywhere."""
    return ImageFont.load_default(size)


def legend(sim: Sim, width: int, height: int, size: int) -> Image.Image:
    """A strip of this width and height, for a picture whose longest edge is ``size``."""
    image = Image.new("RGB", (width, height), PAPER)
    strip = _Strip(image, size)
    strip.title(f"Year {sim.tick // YEAR:,}", f"tick {sim.tick:,}")
    key = strip.key() if height > width else 0
    strip.kingdoms(sorted(sim.alive, key=lambda kingdom: (-kingdom.people, kingdom.id)), height - key)
    return image


class _Strip:
    """Draws the parts of a legend. Lengths are meant for a picture of 1280 points, and scaled."""

    def __init__(self, image: Image.Image, size: int) -> None:
        self.pen = ImageDraw.Draw(image)
        self.width, self.height = image.size
        self.size = max(size, READABLE)
        self.gap = self.scaled(18)

    def scaled(self, length: int) -> int:
        return max(1, length * self.size // 1280)

    def write(self, x: int, y: int, words: str, colour: str, letters: int) -> None:
        self.pen.text((x, y), words, colour, font(self.scaled(letters)))

    def title(self, title: str, below: str) -> None:
        self.write(self.gap, self.scaled(12), title, INK, 26)
        self.write(self.gap, self.scaled(46), below, FAINT, 13)
        self.pen.line((self.gap, self.scaled(76), self.width - self.gap, self.scaled(76)), RULE)

    def kingdoms(self, kingdoms: list[Kingdom], bottom: int) -> None:
        """Entries in columns, down to ``bottom``; how many more there are, where they do not all fit."""
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
        """Colour and name, people and cities, and a bar as long as its share of the largest kingdom's people."""
        colour, swatch, indent = colour_of(kingdom.colour), self.scaled(14), self.scaled(24)
        edge = y + self.scaled(5)
        self.pen.rounded_rectangle((x, edge, x + swatch, edge + swatch), self.scaled(3), colour, INK)
        self.write(x + indent, y, _cut(kingdom.name, width - indent, font(self.scaled(16))), INK, 16)
        words = f"{_many(kingdom.people, 'person', 'people')} · {_many(kingdom.cities, 'city', 'cities')}"
        self.write(x + indent, y + self.scaled(21), words, FAINT, 13)
        left, line, thick = x + indent, y + self.scaled(41), self.scaled(2)
        self.pen.rectangle((left, line, x + width, line + thick), RULE)
        if kingdom.people > 0:
            self.pen.rectangle((left, line, left + (width - indent) * kingdom.people // most, line + thick), colour)

    def key(self) -> int:
        """What the marks on the map mean, at the foot of the strip; how high that is."""
        tall, x = self.scaled(24), self.gap + self.scaled(8)
        words = ("capital", "city", "people", "animals", "fire")
        top = self.height - self.gap // 2 - tall * len(words)
        self.pen.line((self.gap, top - self.gap // 2, self.width - self.gap, top - self.gap // 2), RULE)
        for place, word in enumerate(words):
            y = top + place * tall + tall // 2
            if word in ("capital", "city"):
                city_mark(self.pen, x, y, self.scaled(4), FAINT, word == "capital")
            else:
                reach, colour = {"people": (3, FAINT), "animals": (1, INK), "fire": (3, "#ff6010")}[word]
                reach = self.scaled(reach)
                self.pen.rectangle((x - reach, y - reach, x + reach, y + reach), colour)
            self.write(x + self.scaled(20), y - self.scaled(9), word, FAINT, 13)
        return self.height - top + self.gap


def _cut(words: str, width: int, letters: Font) -> str:
    """As much of the words as fits."""
    if letters.getlength(words) <= width:
        return words
    while words and letters.getlength(f"{words}…") > width:
        words = words[:-1]
    return f"{words}…"


def _many(count: int, one: str, several: str) -> str:
    return f"{count:,} {one if count == 1 else several}"
