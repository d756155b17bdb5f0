"""Cities in a picture: a mark in the colour of the kingdom, and the name where there is room for it."""

from PIL import Image, ImageDraw

from cohabit.worlds.kingdoms.drawing.legend import font
from cohabit.worlds.kingdoms.drawing.marker import HALO, WHITE, city_mark
from cohabit.worlds.kingdoms.drawing.palette import colour_of
from cohabit.worlds.kingdoms.realms import City
from cohabit.worlds.kingdoms.sim import Sim

Box = tuple[int, int, int, int]


def name_cities(image: Image.Image, sim: Sim, cities: list[City], map_size: tuple[int, int], size: int) -> None:
    """Mark these cities. Capitals and large cities get their names first; names never lie on each other."""
    pen = ImageDraw.Draw(image)
    capitals = {kingdom.capital for kingdom in sim.alive}
    ordered = sorted(cities, key=lambda city: (city.id not in capitals, -city.people, city.id))
    radius = max(2, size // 260)
    for city in reversed(ordered):
        colour = colour_of(sim.kingdoms[city.kingdom].colour)
        city_mark(pen, *_place(sim, city, map_size), radius, colour, city.id in capitals)
    taken: list[Box] = []
    for city in ordered:
        letters = font(max(9, size // (80 if city.id in capitals else 98)))
        box = _box(_place(sim, city, map_size), round(letters.getlength(city.name)), size // 80, radius, map_size)
        if not any(_overlap(box, other) for other in taken):
            taken.append(box)
            pen.text(box[:2], city.name, WHITE, letters, stroke_width=max(1, size // 640), stroke_fill=HALO)


def _place(sim: Sim, city: City, map_size: tuple[int, int]) -> tuple[int, int]:
    """The point in the middle of the city's tile."""
    x = (2 * city.x + 1) * map_size[0] // (2 * sim.land.width)
    y = (2 * city.y + 1) * map_size[1] // (2 * sim.land.height)
    return x, y


def _box(place: tuple[int, int], wide: int, tall: int, radius: int, map_size: tuple[int, int]) -> Box:
    """Where a name goes: below its mark, or above it at the lower edge of the map; never off the map."""
    x, y = place
    left = max(2, min(x - wide // 2, map_size[0] - wide - 2))
    top = y + radius + 2 if y + radius + tall + 4 < map_size[1] else y - radius - tall - 6
    return left, top, left + wide, top + tall


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
