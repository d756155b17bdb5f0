"""Where things go in a picture: the map, and the legend beside or below it, whichever leaves the map larger."""

from typing import Literal

from msgspec import Struct

SMALLEST_WITH_LEGEND = 480
"""A picture smaller than this has no room for a legend."""
READABLE = 960
"""In a picture smaller than this the legend does not shrink any more, or nobody could read it."""


class Frame(Struct, frozen=True):
    """Sizes in points. The map is in the upper left corner."""

    width: int
    height: int
    map_width: int
    map_height: int
    legend: Literal["none", "beside", "below"]


def frame(tiles_x: int, tiles_y: int, size: int, legend: bool) -> Frame:
    """A frame for a map of so many tiles; the longest edge of the whole is ``size``."""
    if not legend or size < SMALLEST_WITH_LEGEND:
        across, down = _fitted(tiles_x, tiles_y, size, size)
        return Frame(across, down, across, down, "none")
    strip = max(size, READABLE) // 5
    beside = _fitted(tiles_x, tiles_y, size - strip, size)
    below = _fitted(tiles_x, tiles_y, size, size - strip)
    if beside[0] * beside[1] >= below[0] * below[1]:
        return Frame(min(size, beside[0] + strip), beside[1], *beside, "beside")
    return Frame(below[0], min(size, below[1] + strip), *below, "below")


def _fitted(tiles_x: int, tiles_y: int, most_x: int, most_y: int) -> tuple[int, int]:
    """The largest size of this shape within these bounds; one of the edges reaches its bound."""
    if tiles_x * most_y >= tiles_y * most_x:
        return most_x, max(1, tiles_y * most_x // tiles_x)
    return max(1, tiles_x * most_y // tiles_y), most_y
