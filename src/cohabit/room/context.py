"""What a room command gets: the room, the member who calls, and the time."""

from typing import TYPE_CHECKING

from cohabit.model.record import Told
from cohabit.model.seat import SeatId
from cohabit.room.state import Member, RoomState

if TYPE_CHECKING:
    from cohabit.room.room import Room


class Context:
    """``me`` is None for what the house does itself. ``tell`` is how a command informs others."""

    __slots__ = ("at", "me", "room", "told")

    def __init__(self, room: "Room", me: Member | None, at: int) -> None:
        self.room = room
        self.me = me
        self.at = at
        self.told: list[Told] = []

    @property
    def state(self) -> RoomState:
        return self.room.state

    @property
    def member(self) -> Member:
        """The member who calls, where one does."""
        assert self.me is not None
        return self.me

    def tell(
        self,
        text: str,
        kind: str = "info",
        seats: tuple[SeatId, ...] | None = None,
        members: tuple[str, ...] | None = None,
    ) -> None:
        """Say what happened: to everybody, unless seats or members are named."""
        self.told.append(Told(text, kind, seats, members))
