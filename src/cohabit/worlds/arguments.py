"""The arguments of WorldBox's commands, declared once: for Kingdoms, and for the game itself behind its bridge."""

from typing import Annotated

from msgspec import Meta, Struct

from cohabit.world import Range

MOST_ACTORS = 5000
"""What one page of query_actors holds at most."""
X = Annotated[int, Range(doc="column, from 0 in the west")]
Y = Annotated[int, Range(doc="row")]
Zones = Annotated[int, Range(2, 16, "zones of 64 tiles")]
KingdomId = Annotated[int, Range(doc="the id of a kingdom (see list_kingdoms)")]
IncludeWild = Annotated[bool, Range(doc="also those without a crown")]
Race = Annotated[str | None, Range(doc="only this kind, by its id")]
Limit = Annotated[int, Range(doc=f"at most so many ({MOST_ACTORS} at most)")]
Offset = Annotated[int, Range(0, doc="leave out so many")]
MaxDimension = Annotated[int, Range(0, None, "longest edge in pixels; 0: as it is")]
PictureFormat = Annotated[str, Range(doc="jpg or png")]
Quality = Annotated[int, Range(doc="1 to 100, for jpg")]
PowerId = Annotated[str, Range(doc="one of list_powers")]
BrushRadius = Annotated[int, Range(1, 50, "of the brush")]
Pulses = Annotated[int, Range(1, 200, "how often")]
DragEnd = Annotated[int, Range(doc="drag: where the last pulse falls")]
EntityId = Annotated[str, Range(doc="one of list_actors; for a kingdom's player its own race")]
Count = Annotated[int, Range(1, 100, "how many")]
Adult = Annotated[bool, Range(doc="grown up at once")]
TileId = Annotated[str | None, Range(doc="ground, one of list_tiles")]
TopId = Annotated[str | None, Range(doc="what covers it, such as forest")]
DiscRadius = Annotated[int, Range(None, 200, "of the disc; 0: one tile")]
Side = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]


class Rect(Struct, omit_defaults=True):
    """Half open: x to x + w - 1. With a side missing it is ignored."""

    x: Side | None = None
    y: Side | None = None
    w: Side | None = None
    h: Side | None = None
