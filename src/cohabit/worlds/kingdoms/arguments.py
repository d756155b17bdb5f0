"""The arguments of WorldBox's commands, declared once: for the game itself and for the world Kingdoms."""

from typing import Annotated

from msgspec import Meta, Struct

from cohabit.world import Range

MAX_ACTORS = 5000
"""The size of the largest page of query_actors."""
X = Annotated[int, Range(doc="column")]
Y = Annotated[int, Range(doc="row")]
Zones = Annotated[int, Range(2, 16, "zones of 64 tiles")]
KingdomId = Annotated[int, Range(doc="the id of a kingdom")]
IncludeWild = Annotated[bool, Range(doc="include wild kingdoms, which have no king")]
Race = Annotated[str | None, Range(doc="only creatures of this kind, by its id")]
Limit = Annotated[int, Range(doc=f"the size of a page, up to {MAX_ACTORS}")]
Offset = Annotated[int, Range(0, doc="skip this many")]
MaxDimension = Annotated[int, Range(0, None, "longest edge in pixels; 0: full size")]
PictureFormat = Annotated[str, Range(doc="jpg or png")]
Quality = Annotated[int, Range(doc="1 to 100, for jpg")]
PowerId = Annotated[str, Range(doc="the id of a power")]
BrushRadius = Annotated[int, Range(1, 50, "of the brush")]
Pulses = Annotated[int, Range(1, 200, "how often")]
DragEnd = Annotated[int, Range(doc="drag: the position of the last pulse")]
EntityId = Annotated[str, Range(doc="the id of a kind of creature; for the player of a kingdom, its own race")]
Count = Annotated[int, Range(1, 100, "how many")]
Adult = Annotated[bool, Range(doc="spawn adults")]
TileId = Annotated[str | None, Range(doc="the id of a kind of ground, such as sand")]
TopId = Annotated[str | None, Range(doc="what covers it, such as forest")]
DiscRadius = Annotated[int, Range(None, 200, "of the disc; 0: one tile")]
Side = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]


class Rect(Struct, omit_defaults=True):
    """Half open: x to x + w - 1. A rectangle with a side missing is ignored."""

    x: Side | None = None
    y: Side | None = None
    w: Side | None = None
    h: Side | None = None
