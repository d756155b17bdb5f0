"""A pen for small pictures. Coordinates go from 0 to 64 in both directions, whatever the size of the result."""

from collections.abc import Callable, Sequence
from functools import cache

from PIL import Image, ImageDraw, ImageFilter, ImageFont

UNITS = 64
_SCALE = 3  # pixels of the sketch for one unit; a sketch is shrunk, which smooths its edges
_RIM_COLOUR = "#1d1a26"
_RIM = 3  # pixels of the sketch
_WIDER = [min(255, value * (2 * _RIM + 1)) for value in range(256)]  # of a blurred shape: all that was touched
Point = tuple[float, float]
Font = ImageFont.FreeTypeFont | ImageFont.ImageFont


class Pen:
    """Draws on a sketch that is transparent at first."""

    def __init__(self, ground: str | None = None) -> None:
        side = UNITS * _SCALE
        self.image = Image.new("RGBA", (side, side), ground or (0, 0, 0, 0))
        self._draw = ImageDraw.Draw(self.image)

    def oval(self, x: float, y: float, across: float, down: float, fill: str) -> None:
        """An ellipse around a point, with these radii."""
        self._draw.ellipse(_scaled((x - across, y - down), (x + across, y + down)), fill)

    def box(self, x: float, y: float, right: float, bottom: float, fill: str, radius: float = 0) -> None:
        self._draw.rounded_rectangle(_scaled((x, y), (right, bottom)), radius * _SCALE, fill)

    def shape(self, fill: str, *points: Point) -> None:
        self._draw.polygon(_scaled(*points), fill)

    def line(self, fill: str, width: float, *points: Point) -> None:
        """A line with round ends and corners."""
        self._draw.line(_scaled(*points), fill, round(width * _SCALE), joint="curve")
        for x, y in points:
            self.oval(x, y, width / 2, width / 2, fill)

    def arc(self, fill: str, width: float, x: float, y: float, radius: float, start: float, end: float) -> None:
        """Part of a circle around a point; angles in degrees, clockwise from the right."""
        corners = _scaled((x - radius, y - radius), (x + radius, y + radius))
        self._draw.arc(corners, start, end, fill, round(width * _SCALE))


def _scaled(*points: Point) -> list[float]:
    return [value * _SCALE for point in points for value in point]


Sketch = Callable[[Pen], None]


def drawn(sketch: Sketch, size: int, ground: str | None = None) -> Image.Image:
    """A sketch at its final size."""
    pen = Pen(ground)
    sketch(pen)
    return pen.image.resize((size, size), Image.Resampling.LANCZOS)


def figure(sketch: Sketch, size: int, shadow: bool = False) -> Image.Image:
    """A sketch with a dark rim, so that it stands out against any ground; with a shadow if it stands upright."""
    pen = Pen()
    sketch(pen)
    wider = pen.image.getchannel("A").filter(ImageFilter.BoxBlur(_RIM)).point(_WIDER)
    whole = Image.new("RGBA", pen.image.size, (0, 0, 0, 0))
    if shadow:
        ImageDraw.Draw(whole).ellipse(_scaled((11, 53), (53, 63.5)), (0, 0, 0, 80))
    whole.paste(_RIM_COLOUR, mask=wider)
    whole.alpha_composite(pen.image)
    return whole.resize((size, size), Image.Resampling.LANCZOS)


def spread(count: int, start: int) -> Sequence[Point]:
    """Points that cover the square evenly, without a visible pattern; another start gives others."""
    numbers = range(start, start + count)
    return [(n * 0.7548776662466927 % 1 * UNITS, n * 0.5698402909980532 % 1 * UNITS) for n in numbers]


@cache
def font(size: int) -> Font:
    """The font that comes with Pillow, so that pictures look the same everywhere."""
    return ImageFont.load_default(size)
