"""Calls of a world that is elsewhere: what a room lets through, and what it puts on record of the answers.

An action leaves two entries. ``asked`` is on disk before anything is sent, so that after a crash nobody takes an
action for undone that may have been done; ``answered`` says what came of it. A replay reads the answers there and
asks nobody.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from cohabit.model.grant import Capability
from cohabit.room import turns
from cohabit.room.commands import Command, command
from cohabit.room.context import Context
from cohabit.room.replies import remember
from cohabit.room.state import KeptReply, Member
from cohabit.world import Outcome, Plan, RemoteWorld, SeatId, Sent

if TYPE_CHECKING:
    from cohabit.room.room import Room

LONGEST_KEPT = 2_000
"""Texts in arguments that are longer (a whole save, say) are not put on record."""


class Errand(Struct, frozen=True):
    """A call that was decided, checked and found in scope; what is left is to ask the world, which is elsewhere."""

    who: str
    command: Command
    args: dict[str, Any]
    plan: Plan
    seat: SeatId | None = None
    key: str | None = None
    why: str | None = None
    wrapped: bool = False

    @property
    def acts(self) -> bool:
        return self.command.records

    def as_sent(self) -> dict[str, Any]:
        """The arguments for the other side. What is as it would be anyhow is left out: an old one may not know it."""
        sent: dict[str, Any] = msgspec.to_builtins(self.command.args_type(**self.args))
        return sent


def errand(
    room: "Room",
    member: Member,
    command: Command,
    args: dict[str, Any],
    key: str | None,
    why: str | None,
    wrapped: bool,
) -> Errand:
    """What is left to do of a call that the room lets through."""
    if not command.records:
        return Errand(member.id, command, args, command.run(room.looks(member), **args))
    god = Capability.ACTION_GLOBAL in member.held
    plan = command.run(None if god else room.seat_of(member), **args)
    return Errand(member.id, command, args, plan, member.seat, key, why, wrapped)


def kept_args(args: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments as the record keeps them."""
    return {
        name: f"({len(value)} characters)" if isinstance(value, str) and len(value) > LONGEST_KEPT else value
        for name, value in args.items()
    }


def _world(ctx: Context) -> RemoteWorld:
    assert isinstance(ctx.room.world, RemoteWorld)
    return ctx.room.world


@command(category="meta", records=True)
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
    """Somebody's action is about to leave for the world elsewhere. Until it is answered nobody knows its fate."""
    _world(ctx).under_way = Sent(by, action, seat, key, digest)
    if key is not None:
        remember(ctx.state, by, key, KeptReply(action, digest, unknown=True))


@command(category="meta", records=True)
def answered(
    ctx: Context, result: dict[str, Any] | None = None, refused: dict[str, Any] | None = None, unknown: str = ""
) -> Outcome | None:
    """What came of it: the answer, or that it was refused over there, or that nobody knows."""
    world = _world(ctx)
    sent, world.under_way = world.under_way, None
    assert sent is not None
    own = (sent.seat,) if sent.seat is not None else ()
    if unknown:
        ctx.tell(f"{sent.by}: {sent.action}: {unknown}", seats=own, members=(sent.by,))
        return None
    if refused is not None:
        if sent.key is not None:  # a refusal changed nothing, so the key may be used again
            ctx.state.replies.get(sent.by, {}).pop(sent.key, None)
        return None
    outcome = world.answered(sent, result or {})
    ctx.told.extend(outcome.told)
    if outcome.public:
        ctx.tell(f"{sent.by}: {outcome.public}", "turn")
    if not ctx.told:
        ctx.tell(f"{sent.by}: {outcome.message}", seats=own, members=(sent.by,))
    if sent.key is not None:
        remember(ctx.state, sent.by, sent.key, KeptReply(sent.action, sent.digest, msgspec.to_builtins(outcome)))
    return outcome


@command(category="meta", records=True)
def seen(ctx: Context, what: dict[str, Any]) -> None:
    """The world elsewhere has changed."""
    room, state = ctx.room, ctx.state
    told, anew = _world(ctx).seen(what)
    ctx.told.extend(told)
    if not anew:
        return
    state.games += 1
    state.seats_ever = []
    for member in state.members.values():
        if member.claim is not None:
            member.seat = None
    turns.bind(room, room.world.seats_now() or ())


@command(category="meta", records=True)
def reached(ctx: Context, about: dict[str, str]) -> None:
    """The world elsewhere answers, for the first time or again."""
    world = _world(ctx)
    world.reachable, world.about = True, about
    ctx.tell(f"{world.spec.title} answers ({', '.join(f'{k} {v}' for k, v in about.items()) or 'no version told'})")


@command(category="meta", records=True)
def lost(ctx: Context, why: str) -> None:
    """The world elsewhere does not answer."""
    world = _world(ctx)
    world.reachable = False
    ctx.tell(f"{world.spec.title} does not answer: {why}")
