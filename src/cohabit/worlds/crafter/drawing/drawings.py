"""Drawings that are data: ``drawings.txt`` has the name of each, and its strokes, one in a line.

A stroke is a method of the pen and its arguments. A colour that is a word is left open: ``colour`` and ``shade`` of a
player, ``light`` and ``dark`` of a metal.
"""

from typing import Any

from msgspec import json

from cohabit.model.table_files import read_drawings
from cohabit.worlds.crafter.drawing.pen import Pen, Sketch

DRAWINGS: dict[str, list[list[Any]]] = {
    name: [json.decode(stroke) for stroke in strokes] for name, strokes in read_drawings(__file__).items()
}


def drawing(name: str, **colours: str) -> Sketch:
    """The drawing with this name, in these colours where it leaves them open."""

    def draw(pen: Pen) -> None:
        for tool, *values in DRAWINGS[name]:
            getattr(pen, tool)(*(colours.get(value, value) if isinstance(value, str) else value for value in values))

    return draw
