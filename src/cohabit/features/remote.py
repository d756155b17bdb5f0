"""Remote worlds: the record entries of rooms with one.

An action has two entries. ``asked`` is on disk before anything is sent, so after a crash an action that may have been
executed is not treated as unsent; ``answered`` contains the outcome. A replay reads the answers from the record and
sends nothing.
"""

from typing import Any

import msgspec

from cohabit.model.seat import SeatId
from cohabit.remote import RemoteWorld, Sent
from cohabit.room.base import Context
from cohabit.room.commands import system_entry
from cohabit.room.feature import Feature
from cohabit.room.play import seats
from cohabit.room.play.games import keep_to_played_seats, leave_closed_seats, switch_game
from cohabit.room.replies import remember
from cohabit.room.state import KeptReply, handle_of
from cohabit.world import Outcome


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
    if by in ctx.state.members and (made := ctx.room.commands.get(action)) is not None:
        Context(ctx.room, ctx.state, ctx.state.members[by], ctx.at).spoke(made, args)
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


class RemoteFeature(Feature):
    name = "remote"
