"""A record entry, and the notices it contains."""

from collections.abc import Iterable
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


def why_unreadable(told: Iterable[Any]) -> str:
    """Why an entry with these notices could not be read again; empty if it could. A world may return anything, and what
    is recorded has the types of ``Told``, or its room does not open again."""
    for one in told:
        if not isinstance(one, Told):
            return f"what is told must be values of Told, not {one!r:.60}"
        if type(one.text) is str and one.kind == "info" and one.seats is None:
            continue  # the usual case
        given: Any = one
        text = given.text if isinstance(given.kind, str) else given.kind
        if not isinstance(text, str):
            return f"what is told (message, public, Told) must be text, not {text!r:.60}"
        seats = given.seats
        if seats is not None and (type(seats) is not tuple or [seat for seat in seats if not isinstance(seat, str)]):
            return f"the seats of a Told must be a tuple of ids, such as (by.id,), not {seats!r:.60}"
    return ""


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
