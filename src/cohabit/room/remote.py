"""Remote worlds: their contract and their record entries.

An action has two entries. ``asked`` is on disk before anything is sent, so after a crash an action that may have been
executed is not treated as unsent; ``answered`` contains the outcome. A replay reads the answers from the record and
sends nothing.
"""

from collections.abc import Generator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import msgspec
from msgspec import Struct

from cohabit.errors import GameRejected
from cohabit.model.record import Told
from cohabit.model.seat import SeatId
from cohabit.room import seats
from cohabit.room.base import Context
from cohabit.room.commands import system_entry
from cohabit.room.games import keep_to_played_seats, leave_closed_seats, switch_game
from cohabit.room.replies import remember
from cohabit.room.state import KeptReply, handle_of
from cohabit.world import Outcome, World

MAX_RECORDED_ARG = 2_000
"""Longer text arguments, such as a whole save, are not recorded."""


# -- the contract -----------------------------------------------------------------------------------
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
    house sends the action. The recorded answer is passed to ``answered``.
    """

    connector: ClassVar[str] = ""
    """The name of the registered connector; empty: set with House.connect_room."""
    separate: ClassVar[bool] = False
    """Whether members have separate workspaces, so each may have one pending action."""
    refresh_after: ClassVar[tuple[str, ...]] = ()
    """Actions after which the world is polled immediately."""
    refresh_for_members: ClassVar[bool] = False
    """Whether the world is polled when members come, go or change seats."""
    how_to_connect: ClassVar[str] = "start its room together with its connector"
    """What to do if a room of this world has no connector."""

    about: dict[str, str]  # versions, as reported by the remote side
    reachable: bool
    pending: Sent | None  # part of the state, so snapshots include it

    def save(self) -> bytes:
        raise GameRejected(NO_SAVES)

    def load(self, data: bytes) -> None:
        """What is known here follows from the record of the remote side: nobody may set it to something else."""
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


# -- entries ------------------------------------------------------------------------------------
def _world(ctx: Context) -> RemoteWorld:
    assert isinstance(ctx.room.world, RemoteWorld)
    return ctx.room.world


@system_entry()
def asked(
    ctx: Context,
    by: str,
    action: str,
    args: dict[str, Any],
    seat: SeatId | None = None,
    key: str | None = None,
    digest: str = "",
    why: str | None = None,
) -> None:
    """An action is about to be sent to the remote world. Until it is answered, its outcome is unknown."""
    _world(ctx).sending(Sent(by, action, seat, key, digest, args))
    if key is not None and by in ctx.state.members:
        remember(ctx.state, by, key, KeptReply(action, digest, unknown=True))


@system_entry()
def answered(
    ctx: Context,
    result: dict[str, Any] | None = None,
    refused: dict[str, Any] | None = None,
    unknown: str = "",
    by: str | None = None,
) -> Outcome | None:
    """The outcome of an action: its answer, a refusal, or that the outcome is unknown.

    ``by``: whose action it was, in worlds in which several may be pending. With separate workspaces, the next member on
    a seat must not see the previous member's results, so private results go only to the caller.
    """
    world = _world(ctx)
    sent = world.settled(by)
    who = handle_of(sent.by)
    own = None if world.separate else (sent.seat,) if sent.seat is not None else ()
    if unknown:
        ctx.tell(f"{who}: {sent.action}: {unknown}", seats=own, members=(sent.by,))
        return None
    if refused is not None:
        if sent.key is not None:  # a refusal changed nothing, so the key may be used again
            ctx.state.replies.get(sent.by, {}).pop(sent.key, None)
        return None
    outcome = world.answered(sent, result or {})
    ctx.told.extend(outcome.told)
    if outcome.public:
        ctx.tell(f"{who}: {outcome.public}", "turn")
    if not ctx.told and not world.separate:
        ctx.tell(f"{who}: {outcome.message}", seats=own, members=(sent.by,))
    if sent.key is not None and sent.by in ctx.state.members:
        remember(ctx.state, sent.by, sent.key, KeptReply(sent.action, sent.digest, msgspec.to_builtins(outcome)))
    return outcome


@system_entry()
def polled(ctx: Context, state: dict[str, Any]) -> None:
    """The remote world has changed."""
    room = ctx.room
    told, replaced = _world(ctx).polled(state)
    ctx.told.extend(told)
    if not replaced:
        return
    ctx.state.games += 1
    switch_game(ctx.state, str(ctx.state.games))
    seats.release_claims(ctx.state)
    seats.adopt_seats(room, room.world.seats_now() or ())
    leave_closed_seats(ctx)
    keep_to_played_seats(ctx, {})


@system_entry()
def reached(ctx: Context, about: dict[str, str]) -> None:
    """The remote world is connected."""
    world = _world(ctx)
    world.reachable, world.about = True, about
    versions = ", ".join(f"{k} {v}" for k, v in about.items())
    ctx.tell(f"connected to {world.spec.title} ({versions or 'version unknown'})")


@system_entry()
def lost(ctx: Context, why: str) -> None:
    """The connection to the remote world was lost."""
    world = _world(ctx)
    world.reachable = False
    ctx.tell(f"lost the connection to {world.spec.title}: {why}")
