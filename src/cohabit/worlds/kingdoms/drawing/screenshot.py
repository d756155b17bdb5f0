"""The picture of the whole map that clients of the WorldBox bridge ask for, in the sizes they know."""

from cohabit.errors import BadArgs
from cohabit.worlds.kingdoms.answers import Screenshot
from cohabit.worlds.kingdoms.drawing import picture
from cohabit.worlds.kingdoms.drawing.frame import SMALLEST_WITH_LEGEND, frame
from cohabit.worlds.kingdoms.sight import View

POINTS_PER_TILE, LARGEST = 8, 4096
FORMATS = {"": "jpg", "jpg": "jpg", "jpeg": "jpg", "png": "png"}


def screenshot(view: View, max_dimension: int, wanted: str, quality: int) -> Screenshot:
    """Shrunk until its longest edge has ``max_dimension`` points (0: not at all), never enlarged."""
    kind = FORMATS.get(wanted.strip().lower())
    if kind is None:
        raise BadArgs(f"format is jpg or png, not {wanted[:20]!r}")
    land = view.sim.land
    whole = min(LARGEST, POINTS_PER_TILE * max(land.width, land.height))
    size = min(max_dimension or whole, whole)
    legend = size >= SMALLEST_WITH_LEGEND
    source = frame(land.width, land.height, whole, legend)
    image = picture.draw(view.sim, view.seen, size, legend)
    quality = min(max(quality, 1), 100)
    data = picture.encode(image, "png" if kind == "png" else "jpg", quality)
    return Screenshot(
        kind, image.width, image.height, source.width, source.height, data, len(data),
        quality=quality if kind == "jpg" else None,
    )  # fmt: skip
