"""Rooms whose world runs elsewhere: the connector to such a world, and how calls get through it."""

from typing import TYPE_CHECKING, Any, Protocol

from cohabit.house.calls import Call
from cohabit.house.clock import Clock
from cohabit.room.remote import Ask, RemoteWorld

if TYPE_CHECKING:
    from cohabit.house.rooms import RoomHost


class Connector(Protocol):
    """The asynchronous link to a remote world. What it raises says what became of a request:

    OUTCOME_UNKNOWN: it was sent, and no answer came. Anything else: nothing was done.
    """

    poll_ms: int
    """How often the world is polled."""

    async def about(self) -> dict[str, str]:
        """What is there: names and versions that everybody may read."""

    def check(self, ask: Ask) -> None:
        """Refuse what the other side does not know."""

    async def ask(self, ask: Ask, by: str | None = None) -> dict[str, Any]:
        """Ask, or do. ``by``: the member on whose behalf; None: nobody's, where something is only read."""

    def member_removed(self, member: str) -> None:
        """A member was removed: drop what is kept for it."""

    async def close(self, delete: bool = False) -> None:
        """``delete``: the room is deleted, and what is kept for its members goes with it."""


class RemoteRunner:
    """Runs the commands of a remote world for one room."""

    def __init__(self, host: "RoomHost", world: RemoteWorld, clock: Clock, connector: Connector | None = None) -> None:
        raise NotImplementedError

    def accepts(self, call: Call) -> bool:
        """Take over a call if it is for the remote world; False where the room itself handles it."""
        raise NotImplementedError

    async def connect(self, connector: Connector) -> None:
        """Use this connector from now on; poll the world now, and then every few seconds."""
        raise NotImplementedError

    def member_removed(self, member: str) -> None:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError

    async def closed(self) -> None:
        """After ``close``: wait until every caller has been told."""
        raise NotImplementedError
