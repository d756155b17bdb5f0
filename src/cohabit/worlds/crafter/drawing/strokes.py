"""All drawings as strokes, for those who draw them elsewhere: the same ones that the pictures are made of."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any, cast

from cohabit.worlds.crafter.drawing.drawings import DRAWINGS
from cohabit.worlds.crafter.drawing.fixtures import FIXTURES
from cohabit.worlds.crafter.drawing.ground import SURFACES, VARIANTS
from cohabit.worlds.crafter.drawing.icons import ICON_OF_ACHIEVEMENT, ICONS, VITAL_COLOURS
from cohabit.worlds.crafter.drawing.pen import Pen, Sketch
from cohabit.worlds.crafter.rules import MATERIALS

Strokes = list[list[Any]]
"""Each is the name of a tool of the pen, and its arguments."""


class _Recorder:
    """A pen that keeps its strokes instead of drawing them."""

    def __init__(self) -> None:
        self.strokes: Strokes = []

    def __getattr__(self, tool: str) -> Callable[..., None]:
        return lambda *values: self.strokes.append([tool, *map(_short, values)])


def _short(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 1)
    return [_short(part) for part in value] if isinstance(value, tuple | list) else value


def strokes_of(sketch: Sketch) -> Strokes:
    recorder = _Recorder()
    sketch(cast(Pen, recorder))
    return recorder.strokes


@cache
def all_drawings() -> dict[str, Any]:
    """Figures, what stands on the ground, icons, and the surfaces of the ground, from the lowest to the highest."""
    return {
        "figures": DRAWINGS,
        "fixtures": {MATERIALS[material]: strokes_of(sketch) for material, sketch in FIXTURES.items()},
        "icons": {name: strokes_of(sketch) for name, sketch in ICONS.items() if name not in DRAWINGS},
        "icon_of": ICON_OF_ACHIEVEMENT,
        "vitals": VITAL_COLOURS,
        "surfaces": [
            {
                "colour": kind.colour, "light": kind.light, "lip": kind.lip, "depth": kind.depth,
                "materials": [MATERIALS[material] for material in kind.materials],
                "variants": [strokes_of(cast(Sketch, partial(kind.sketch, variant=i))) for i in range(VARIANTS)],
            }
            for kind in SURFACES
        ],
    }  # fmt: skip
