"""Seats and viewpoints."""

from typing import Literal

from msgspec import Struct

SeatId = str
Sees = Literal["own", "public", "all"]


class Seat(Struct, frozen=True, omit_defaults=True, gc=False):
    """A position in a world: a side, a hand of cards, a nation, a body."""

    id: SeatId
    name: str = ""


class Eye(Struct, frozen=True, omit_defaults=True, gc=False):
    """A member's viewpoint.

    ``own``: what the seat sees, and what is public. ``public``: what everyone may see.
    ``all``: everything; ``seat`` is the member's own seat, if any.
    """

    seat: SeatId | None = None
    sees: Sees = "public"


PUBLIC = Eye()
"""A viewer without a seat."""
ALL = Eye(sees="all")
"""A viewer that sees everything."""
