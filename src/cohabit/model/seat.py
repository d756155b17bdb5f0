"""Where somebody sits, and how somebody looks into a world."""

from typing import Literal

from msgspec import Struct

SeatId = str
Sees = Literal["own", "public", "all"]


class Seat(Struct, frozen=True, omit_defaults=True, gc=False):
    """A position in a world: a side, a hand of cards, a nation, a body."""

    id: SeatId
    name: str = ""


class Eye(Struct, frozen=True, omit_defaults=True, gc=False):
    """How a member looks into a world.

    ``own``: what the seat sees, and what is public. ``public``: what everybody may see.
    ``all``: everything, from ``seat``'s side where there is one.
    """

    seat: SeatId | None = None
    sees: Sees = "public"


PUBLIC = Eye()
"""The eye of somebody who holds no seat."""
ALL = Eye(sees="all")
"""The eye of a god."""
