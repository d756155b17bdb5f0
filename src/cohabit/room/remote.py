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
"""What is longer than this in an argument (a whole save, say) is not put on record."""


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
    works: bool = False
    """May it act there, and not only look? Where members have places of their own, it then asks in its own."""

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
    god, seat = Capability.ACT_GLOBAL in member.held, room.seat_of(member)
    works = god or (seat is not None and Capability.ACT in member.held)
    if not command.records:
        return Errand(member.id, command, args, command.run(room.looks(member), **args), works=works)
    plan = command.run(None if god else seat, **args)
    return Errand(member.id, command, args, plan, member.seat, key, why, wrapped, works)


def conclude(room: "Room", errand: Errand, answer: Mapping[str, Any], at: int, whole: Any = None) -> Any:
    """Put on record what came of an errand; the reply for whoever is still there to read it.

    ``whole``: the answer itself, where the record keeps less of it.
    """
    outcome = room.system("answered", answer, at)
    member = room.state.members.get(errand.who)
    if outcome is None or member is None:
        return None
    if whole is not None:
        outcome = msgspec.structs.replace(outcome, data=whole)
    return room.reply(member, errand.command, outcome, True, errand.wrapped)


def kept_args(args: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments as the record keeps them."""
    return {name: _kept(value) for name, value in args.items()}


def _kept(value: Any) -> Any:
    if isinstance(value, str):
        return f"({len(value)} characters)" if len(value) > LONGEST_KEPT else value
    if isinstance(value, list | dict) and len(msgspec.json.encode(value)) > LONGEST_KEPT:
        return f"({len(value)} items)"
    return value


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
    _world(ctx).left(Sent(by, action, seat, key, digest))
    if key is not None and by in ctx.state.members:  # else a namesake would find it
        remember(ctx.state, by, key, KeptReply(action, digest, unknown=True))


@command(category="meta", records=True)
def answered(
    ctx: Context,
    result: dict[str, Any] | None = None,
    refused: dict[str, Any] | None = None,
    unknown: str = "",
    by: str | None = None,
) -> Outcome | None:
    """What came of it: the answer, or that it was refused over there, or that nobody knows.

    ``by`` says whose action it was, in worlds where several may be under way. Where each member has a place of its own
    a seat is only a chair: whoever sits there next must not read what the last one did, nor must a namesake. So an
    answer that is not for all is told to nobody there; the caller has it.
    """
    world = _world(ctx)
    sent = world.came_back(by)
    own = None if world.apart else (sent.seat,) if sent.seat is not None else ()
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
    if not ctx.told and not world.apart:
        ctx.tell(f"{sent.by}: {outcome.message}", seats=own, members=(sent.by,))
    if sent.key is not None and sent.by in ctx.state.members:
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
