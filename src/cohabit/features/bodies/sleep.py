"""Absent players: a body whose player misses rounds, or is away where these have no time limit, falls asleep after a
while, and rounds do not wait for it.

It is asleep for the room alone: in the world it does nothing, as when a round times out. It wakes when its player
calls again. A player with a stand-in is away from then on, so its stand-in takes over.
"""

from collections.abc import Iterator
from typing import Annotated

from msgspec import Meta, Struct

from cohabit.bodies import EmbodiedWorld
from cohabit.features.bodies.state import BODIES
from cohabit.features.bodies.views import has_bodies
from cohabit.model.grant import Capability
from cohabit.model.seat import SeatId
from cohabit.room.base import BaseRoom, Context
from cohabit.room.commands import command, system_entry
from cohabit.room.play import turns
from cohabit.room.state import Member, handle_of
from cohabit.room.timers import Due
from cohabit.world import Pace, World

C = Capability
WOKEN = "You were asleep, so rounds did not wait for you. You are awake again now, and they do."


class Sleeping(Struct):
    seconds: int


def _has_rounds(world: type[World], pace: Pace) -> bool:
    return issubclass(world, EmbodiedWorld) and pace == "rounds"


@command(category="host", needs=C.CONTROL_WORLD, records=True, only_if=_has_rounds)
def sleep_after(
    ctx: Context,
    seconds: Annotated[int, Meta(ge=0, le=86_400, description="0: rounds wait for everybody")],
) -> Sleeping:
    """Set after how many seconds of missed rounds a body falls asleep; where rounds have no time limit, after how many
    its player is away. Rounds do not wait for those who sleep."""
    kept = BODIES.change(ctx.state)
    kept.sleep_ms = seconds * 1000
    if not seconds:
        kept.asleep = []
    ctx.tell(f"{ctx.member.handle} set after how long bodies fall asleep: {f'{seconds} s' if seconds else 'never'}")
    return Sleeping(seconds)


@system_entry()
def fell_asleep(ctx: Context, member: str) -> None:
    """A player has not called for a while. It counts as away until it calls again."""
    who, kept = ctx.state.members[member], BODIES.change(ctx.state)
    kept.asleep = [*kept.asleep, member]
    who.here = False
    who.away_since = ctx.at if who.away_since is None else who.away_since
    ctx.tell(f"{who.handle} has fallen asleep; rounds do not wait for it", "roster")


@system_entry()
def round_without_sleepers(ctx: Context) -> None:
    """Everybody who is awake has chosen."""
    ctx.state.turn_started = ctx.at
    ctx.state.waiting_for = []  # this resolves the round; nothing more is due for it
    turns.resolve(ctx.room, ctx.told)


def acted(room: BaseRoom, member: Member) -> None:
    """A player has chosen, so it is awake, and the round can go on without those who sleep."""
    kept = BODIES.read(room.state)
    if not kept.sleep_ms:
        return
    kept.has_choice = True
    if room.state.turn_ms is not None:
        kept.missed.pop(member.id, None)  # its timeouts are counted from here
    if member.id in kept.asleep:
        kept.asleep.remove(member.id)
        if room.state.turn_ms is None:
            kept.missed[member.id] = 0
        room.timers.changed()
    elif kept.asleep:
        room.timers.changed()


def round_ended(room: BaseRoom) -> None:
    kept = BODIES.read(room.state)
    if kept.has_choice:
        kept.has_choice = False


def follow(ctx: Context) -> None:
    """After an entry: those who are here again are awake; those who have no seat any more are forgotten."""
    kept = BODIES.read(ctx.state)
    if not (kept.asleep or kept.missed):
        return
    members = ctx.state.members
    for name in list(kept.missed):
        who = members.get(name)
        if who is None or (who.here and ctx.state.turn_ms is None):
            del kept.missed[name]
    for name in list(kept.asleep):
        who = members.get(name)
        if who is None or who.seat is None:
            kept.asleep.remove(name)
        elif who.played_by_bot:
            kept.asleep.remove(name)
            if ctx.state.turn_ms is not None:  # or it would fall asleep again as soon as it returns
                kept.missed[name] = who.timeouts
        elif who.here:
            kept.asleep.remove(name)
            if ctx.state.turn_ms is not None:
                kept.missed[name] = who.timeouts  # what it missed until now does not count again
            ctx.tell(f"{who.handle} is awake again", "roster")
        else:
            continue
        ctx.room.timers.changed()


def due(room: BaseRoom) -> Iterator[Due]:
    state, kept = room.state, BODIES.read(room.state)
    if not kept.sleep_ms or room.pace != "rounds" or state.archived or not has_bodies(room):
        return
    asleep = {state.members[name].seat for name in kept.asleep if name in state.members}
    if kept.has_choice and state.waiting_for and asleep.issuperset(state.waiting_for):
        yield 0, "round_without_sleepers", {}
    for member in state.members.values():
        if member.seat not in room.seats or member.played_by_bot or member.id in kept.asleep:
            continue
        if state.turn_ms is not None:
            if (member.timeouts - kept.missed.get(member.id, 0)) * state.turn_ms >= kept.sleep_ms:
                yield 0, "fell_asleep", {"member": member.id}
        elif member.away_since is not None and member.id not in kept.missed:  # else it plays without being connected
            yield member.away_since + kept.sleep_ms, "fell_asleep", {"member": member.id}


def absent(room: BaseRoom) -> list[SeatId]:
    members = room.state.members
    found = [members[name].seat for name in BODIES.read(room.state).asleep if name in members]
    asleep = [seat for seat in found if seat is not None]
    return asleep if room.seats.keys() - set(asleep) else []  # if all sleep, the game waits for any of them


def text(room: BaseRoom, member: Member) -> str:
    """The players who sleep, for those who wait for a round to end. A player who looks is woken by that."""
    asleep = [name for name in BODIES.read(room.state).asleep if name != member.id]
    others = f"Asleep, so rounds do not wait for them: {', '.join(map(handle_of, asleep))}" if asleep else ""
    return others if member.id not in BODIES.read(room.state).asleep else f"{WOKEN}\n{others}".rstrip()
