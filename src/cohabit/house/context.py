"""What a house command gets: the house, the caller, and the room it is about, if any."""

from typing import TYPE_CHECKING, Any

from cohabit.errors import BadArgs, UnknownRoom
from cohabit.house.calls import Check
from cohabit.house.store.contract import Write
from cohabit.model.identity import Credential, Identity
from cohabit.room.commands import Command
from cohabit.room.room import Room
from cohabit.room.state import Member

if TYPE_CHECKING:
    from cohabit.house.house import House
    from cohabit.house.rooms import RoomHost


class HouseContext:
    """Also the target of a call: the command, and where and by whom it is called."""

    __slots__ = ("broken_room", "command", "credential", "host", "house", "maybe_member")

    def __init__(
        self,
        house: "House",
        credential: Credential,
        command: Command,
        host: "RoomHost | None" = None,
        member: Member | None = None,
        broken_room: str = "",
    ) -> None:
        self.house = house
        self.credential = credential
        self.command = command
        self.host = host
        self.maybe_member = member  # None: the caller is not in the room, or it is about no room
        self.broken_room = broken_room  # the id of a room that could not be opened

    @property
    def room(self) -> "RoomHost":
        if self.host is None:
            raise BadArgs("say which room")
        return self.host

    @property
    def member(self) -> Member:
        if self.maybe_member is None:
            raise UnknownRoom("you are not in this room yet; call join first")
        return self.maybe_member

    async def record(
        self, do: str, args: dict[str, Any], also: Write | None = None, check: Check | None = None
    ) -> None:
        """Put something on the record of the room on behalf of the caller. Meanwhile the room may have been archived or
        the caller's rights taken, so all is decided again, with ``check`` last, when it is about to happen."""

        def decide_again(room: Room, at: int) -> None:
            self.house.door.decide_again(self, room, at)
            if check is not None:
                check(room, at)

        await self.room.put_system(do, args, also, decide_again)

    @property
    def identity(self) -> Identity | None:
        """Who calls; None for the holder of an invite, who is nobody yet."""
        return self.house.identities.get(self.credential.identity)

    @property
    def is_host(self) -> bool:
        """Is the caller a host of the house?"""
        return self.house.identities.is_host(self.credential)
