"""The context passed to a room command: the room, the calling member, and the time."""

from msgspec import Struct

from cohabit.model.record import Told
from cohabit.model.seat import SeatId
from cohabit.room.base import BaseRoom
from cohabit.room.state import Member, RoomState


class Context(Struct, eq=False):
    """The context of one entry. ``me`` is None for system entries; ``tell`` adds a notice for other members."""

    room: BaseRoom
    state: RoomState  # of the room
    me: Member | None
    at: int
    told: list[Told] = []

    @property
    def member(self) -> Member:
        """The calling member. Not for system entries."""
        assert self.me is not None
        return self.me

    def tell(
        self,
        text: str,
        kind: str = "info",
        seats: tuple[SeatId, ...] | None = None,
        members: tuple[str, ...] | None = None,
        shows: str = "",
    ) -> None:
        """Add a notice, for everyone unless seats or members are given. ``shows``: the argument that goes with it."""
        self.told.append(Told(text, kind, seats, members, shows=shows))
