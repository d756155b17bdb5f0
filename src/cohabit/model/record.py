"""A record entry, and the notices it contains."""

from typing import Any

import msgspec
from msgspec import Struct

from cohabit.model.seat import SeatId


class Told(Struct, frozen=True, omit_defaults=True, gc=False):
    """A text notice about something that happened, for everyone unless seats or members are given."""

    text: str
    kind: str = "info"
    seats: tuple[SeatId, ...] | None = None
    members: tuple[str, ...] | None = None
    by_world: bool = False  # the world did it, in the same entry as a call; not the caller
    shows: str = ""  # the argument of the entry that its recipients get with it


class Entry(Struct, frozen=True, omit_defaults=True, gc=False):
    """One entry of the record: who did what and when. Replaying all entries in order reproduces the room.

    ``by`` is None for system entries (ticks, timeouts). ``via`` is the stand-in bot that acted for the member, ``why``
    the member's stated reasoning, ``key`` its idempotency key. ``players`` are the members who held the notified seats
    at the time: a later player of a seat must not read what its earlier players were told.
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
    players: dict[SeatId, str] | None = None


encode_entry = msgspec.json.Encoder().encode
decode_entry = msgspec.json.Decoder(Entry).decode
