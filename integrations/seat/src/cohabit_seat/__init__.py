"""A seat of a room of a Cohabit house, over HTTP: for programs whose libraries do not fit beside those of Cohabit."""

from cohabit_seat.member import Link, Member, NoReply, Refused, read_links
from cohabit_seat.player import CannotPlay, Choice, Player, Seen
from cohabit_seat.seats import NoFreeSeat, Seats, client

__all__ = [
    "CannotPlay", "Choice", "Link", "Member", "NoFreeSeat", "NoReply", "Player", "Refused", "Seats", "Seen", "client",
    "read_links",
]  # fmt: skip
