"""The contract of remote worlds, which run outside of the house: in a game, or in a repository.

The room holds what is known of such a world from the record (``features/remote.py``). A connector of the house talks to
it.
"""

from collections.abc import Generator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from msgspec import Struct

from cohabit.errors import GameRejected
from cohabit.model.record import Told
from cohabit.model.seat import SeatId
from cohabit.world import Outcome, World


class Ask(Struct, frozen=True):
    """One request to a remote world. ``seat``: of the member who acts; None for reads and for members without one."""

    name: str
    args: dict[str, Any] = {}
    seat: SeatId | None = None


Plan = Generator[Ask, dict[str, Any], Any]
"""Yields requests, is sent their answers (or has the error raised in it), and returns the result."""


class Sent(Struct, frozen=True):
    """An action that was sent to a remote world and whose outcome is not recorded yet."""

    by: str
    action: str
    seat: SeatId | None = None
    key: str | None = None
    digest: str = ""
    args: dict[str, Any] = {}  # as recorded


class Polled(NamedTuple):
    """The result of polling. ``replaced``: a different world is running, so claims are bound again."""

    told: Sequence[Told] = ()
    replaced: bool = False


NO_SAVES = "this world is outside of this room, so it is neither saved nor loaded here"


class RemoteWorld(World):
    """The local part of a remote world: the state that follows from the record.

    Its commands return a ``Plan``, which the house executes through the connector. A query's plan returns the answer,
    filtered for the eye. An action's plan makes the necessary checks and raises if the action is not allowed; then the
    house sends the action. One that needs no checks here has no plan, and returns None. The recorded answer is passed
    to ``answered``.
    """

    connector: ClassVar[str] = ""
    """The name of the registered connector; empty: set with House.connect_room."""
    separate: ClassVar[bool] = False
    """True if members have separate workspaces, so each may have one pending action."""
    refresh_after: ClassVar[tuple[str, ...]] = ()
    """Actions after which the world is polled immediately."""
    refresh_for_members: ClassVar[bool] = False
    """True if the world is polled when members come, go or change seats."""
    is_of_house: ClassVar[bool] = False
    """True if its remote side is other rooms of the same house, which then run in the same process."""
    how_to_connect: ClassVar[str] = "start its room together with its connector"
    """The advice if a room of this world has no connector."""

    about: dict[str, str]  # versions, as reported by the remote side
    reachable: bool
    pending: Sent | None  # part of the state, so snapshots include it

    def save(self) -> bytes:
        raise GameRejected(NO_SAVES)

    def load(self, data: bytes) -> None:
        """Refuse a save: the state here follows from the record of the remote side, and nobody may set it otherwise."""
        raise GameRejected(NO_SAVES)

    def sending(self, sent: Sent) -> None:
        """An action is about to be sent."""
        self.pending = sent

    def settled(self, by: str | None) -> Sent:
        """Clear the pending action that now has an outcome. ``by``: whose it is, if several may be pending."""
        sent, self.pending = self.pending, None
        assert sent is not None
        return sent

    def all_pending(self) -> Sequence[Sent]:
        """The actions that were sent and have no outcome yet."""
        return [self.pending] if self.pending is not None else []

    def recorded_answer(self, sent: Ask, answer: Mapping[str, Any]) -> dict[str, Any]:
        """The part of an answer that is recorded and passed to ``answered``, now and in every replay."""
        return dict(answer)

    def shown_answer(self, sent: Ask, answer: Mapping[str, Any]) -> Any:
        """The part of an answer that the caller gets as ``data``."""
        return answer

    def poll(self) -> Plan:
        """Called every few seconds. The plan returns the argument for ``polled``, or None if nothing changed."""
        raise NotImplementedError

    def polled(self, state: Mapping[str, Any]) -> Polled:
        """The remote world has changed."""
        raise NotImplementedError

    def answered(self, sent: Sent, answer: Mapping[str, Any]) -> Outcome:
        """An action was executed. Returns its outcome."""
        raise NotImplementedError


class SeparateWorld(RemoteWorld):
    """A remote world in which members have separate workspaces, so each may have one pending action."""

    separate = True
    sent: dict[str, Sent]  # by member; part of the state, as ``pending`` is elsewhere

    def sending(self, sent: Sent) -> None:
        self.sent[sent.by] = sent

    def settled(self, by: str | None) -> Sent:
        assert by is not None
        return self.sent.pop(by)

    def all_pending(self) -> Sequence[Sent]:
        return list(self.sent.values())
