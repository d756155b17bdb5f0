"""What a house command is handed: the house, who asks, and the room it is about, if any."""

from typing import TYPE_CHECKING

from cohabit.errors import BadArgs, PermissionDenied
from cohabit.house.store import Credential
from cohabit.room.commands import Command
from cohabit.room.decide import by_grant, by_turn, refusal
from cohabit.room.state import Member

if TYPE_CHECKING:
    from cohabit.house.house import House
    from cohabit.house.rooms import RoomHost


class HouseContext:
    def __init__(self, house: "House", credential: Credential, host: "RoomHost | None" = None) -> None:
        self.house = house
        self.credential = credential
        self.host = host

    @property
    def room(self) -> "RoomHost":
        if self.host is None:
            raise BadArgs("say which room")
        return self.host

    @property
    def member(self) -> Member:
        member = self.room.room.state.members.get(self.credential.who)
        if member is None:
            raise PermissionDenied(f"{self.credential.who} is not a member of this room")
        return member

    def require(self, command: Command) -> None:
        """The decision for commands that the house runs: grant, then turn. Refusals are audited like any."""
        member, room = self.member, self.room.room
        decision = by_grant(member, command) and by_turn(room.state, member, command, None, False)
        if not decision:
            now = self.house.clock.now()
            room.audit.refused(now, member.id, command.name, decision.code, decision.reason)
            raise refusal(decision)
