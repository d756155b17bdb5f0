"""A message on a room's bus, as its reader gets it."""

from msgspec import Struct, field

EVERYBODY = "*"
TEAM = "team:"
MAX_MESSAGE = 16_000
"""The longest content of a message, in characters."""


class Message(Struct, frozen=True, gc=False):
    """One delivered copy. ``seq`` numbers all deliveries in the room; ``sender`` is the id of a member, ``to`` the
    address as the sender wrote it."""

    seq: int
    sender: str = field(name="from")
    to: str
    kind: str
    content: str
    sent_at: int

    @property
    def directed(self) -> bool:
        return self.to != EVERYBODY and not self.to.startswith(TEAM)
