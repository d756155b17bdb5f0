"""How a city is marked, on the map and in the legend."""

from PIL import ImageDraw

WHITE, HALO, CROWN = "#ffffff", "#10141b", "#ffe27a"


def city_mark(pen: ImageDraw.ImageDraw, x: int, y: int, radius: int, colour: str, capital: bool) -> None:
    """A square, or a golden diamond for a capital, with a dark rim."""
    for smaller, fill in enumerate((HALO, CROWN if capital else WHITE, colour)):
        if capital:
            reach = radius + 5 - 2 * smaller
            pen.polygon([(x, y - reach), (x + reach, y), (x, y + reach), (x - reach, y)], fill)
        else:
            reach = radius + 1 - smaller
            pen.rectangle((x - reach, y - reach, x + reach, y + reach), fill)
