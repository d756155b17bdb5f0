"""The actions of a body in every world whose seats are bodies (`bodies.py`), beside the actions of the world."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated

from msgspec import Meta, Struct

from cohabit.bodies import EmbodiedWorld, writes
from cohabit.errors import AskerError, GameRejected
from cohabit.features.bodies.avatars import for_bodies, is_embodied, required
from cohabit.features.bodies.views import body_of, embodied, sees_body, world_of
from cohabit.model.avatar import EmbodiedObservation, Emote, Stance
from cohabit.model.grant import Capability
from cohabit.room.base import Context
from cohabit.room.commands import command
from cohabit.world import Outcome, Pace, World

C = Capability


class Done(Struct):
    message: str


class Belongings(Struct, omit_defaults=True):
    """What a body carries. ``equipment``: slot to item."""

    inventory: dict[str, int]
    equipment: dict[str, str] = {}
    encumbrance: float | None = None


def _writes(method: str) -> Callable[[type[World], Pace], bool]:
    return lambda world, pace: writes(world, method)


def _stances(world: type[World]) -> dict[str, Sequence[str]]:
    return {"stance": world.stances if issubclass(world, EmbodiedWorld) else ()}


def _has_stances(world: type[World], pace: Pace) -> bool:
    return issubclass(world, EmbodiedWorld) and bool(world.stances)


movement = partial(command, category="meta", needs=C.ACT, records=True, offered_if=is_embodied)
"""A command that moves the body of its caller."""


@command(category="read", needs=C.READ_OWN, only_if=for_bodies, offered_if=is_embodied)
def inspect_self(ctx: Context) -> EmbodiedObservation:
    """Your body: health, equipment, stance, injuries and senses, what it cannot do now, and what you see."""
    room, me = ctx.room, ctx.member
    return embodied(room, required(room, me), me, room.observe(room.eye_of(me)), ctx.at)


@command(category="read", needs=C.READ_OWN, only_if=for_bodies, offered_if=is_embodied, world_may_replace=True)
def check_inventory(ctx: Context) -> Belongings:
    """The items that your body carries, and those that it has equipped."""
    body = body_of(ctx.room, required(ctx.room, ctx.member))
    return Belongings(dict(body.inventory), dict(body.equipment), body.encumbrance)


@movement(only_if=_writes("turn_to"))
def look(
    ctx: Context, target: Annotated[str, Meta(max_length=60, description="a direction, or something near you")]
) -> Done:
    """Turn your body to face a direction or an entity. It takes no time."""
    return _moved(ctx, world_of(ctx.room).turn_to, target, f"you look at {target}")


@movement(only_if=_has_stances, choices=_stances, world_may_replace=True)
def stance(ctx: Context, stance: Stance) -> Done:
    """Take a stance. Which ones there are, and what they do, depends on the world. It takes no time."""
    world = world_of(ctx.room)
    if stance not in world.stances:
        *others, last = world.stances
        choices = f"{', '.join(others)} or {last}" if others else last
        raise GameRejected(f"you cannot take the stance {stance} here; choose {choices}")
    return _moved(ctx, world.take_stance, stance, f"you are {stance}")


@movement(only_if=_writes("wear"), world_may_replace=True)
def equip(ctx: Context, item: Annotated[str, Meta(max_length=60, description="an item that you carry")]) -> Done:
    """Equip an item that you carry. It takes no time."""
    return _moved(ctx, world_of(ctx.room).wear, item, f"you equip {item}")


@movement(only_if=_writes("take_off"), world_may_replace=True)
def unequip(ctx: Context, slot: Annotated[str, Meta(max_length=60, description="a slot, or what is in it")]) -> Done:
    """Put an equipped item away. It takes no time."""
    return _moved(ctx, world_of(ctx.room).take_off, slot, f"you put away {slot}")


def _moved(ctx: Context, move: Callable[..., Outcome], what: str, done: str) -> Done:
    """The member's body does something that takes no time. ``done``: what to tell if the world says nothing."""
    room = ctx.room
    avatar = required(room, ctx.member)
    is_blind = not sees_body(room, ctx.member)
    try:
        outcome = move(room.seats[avatar.seat], what)
    except AskerError as refused:
        room.check_unchanged(move.__name__, refused)
        if is_blind:
            raise GameRejected("this is not possible; you are not allowed to see why") from None
        raise
    if is_blind:
        return Done("Done.")
    ctx.tell(outcome.message or done, members=(ctx.member.id,))
    return Done(outcome.message or done)


@movement(only_if=for_bodies)
def emote(ctx: Context, emote: Emote) -> Done:
    """Express something with your body. Those who see it are told."""
    room, me = ctx.room, ctx.member
    avatar = required(room, me)
    world = world_of(room)
    world.express(room.seats[avatar.seat], emote)
    seen_by = [seat for seat in room.crash_on_error(world.witnesses, avatar.seat) if seat != avatar.seat]
    does = {"sit": "sits down", "shake": "shakes its head"}.get(emote, f"{emote}s")
    ctx.tell(f"you {emote}", members=(me.id,))
    if seen_by:
        ctx.tell(f"{avatar.name} {does}", seats=tuple(seen_by))
    return Done(f"You {emote}.")
