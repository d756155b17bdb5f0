"""One entry of a room's record, and what an entry tells whom."""

from typing import Any

import msgspec
from msgspec import Struct

from cohabit.model.seat import SeatId


class Told(Struct, frozen=True, omit_defaults=True, gc=False):
    """Something that happened, in words. Told to everybody unless seats or members are named."""

    text: str
    kind: str = "info"
    seats: tuple[SeatId, ...] | None = None
    members: tuple[str, ...] | None = None


class Entry(Struct, frozen=True, omit_defaults=True, gc=False):
    """One line of the record: who did what, and when. Re-running the entries in order gives the room.

    ``by`` is None for what the house did itself (ticks, time-outs). ``via`` marks who held the hand
    (a stand-in bot), ``why`` is the member's own reasoning, ``key`` its idempotency key.
    """

    seq: int
    at: int
    do: str
    by: str | None = None
    args: Any = None
    told: tuple[Told, ...] = ()
    why: str | None = None
    key: str | None = None
    via: str | None = None


encode_entry = msgspec.json.Encoder().encode
decode_entry = msgspec.json.Decoder(Entry).decode
