"""Rooms that are open to spectators from the start: members who only watch see everything, some steps later.

The scenario decides it (``spectator_delay``), and nothing changes it later, because players join on these terms. A
member becomes a spectator with `spectate`, or by a watch link. It cannot play in a game that it has seen, and a game
that was seen does not come back: by a save, or by its seed.

A step is a tick where time passes, a round in a world of rounds, and otherwise a change of who is to move, so that
nobody can shorten the delay by acting often. In a world without turns, or with one seat, it is any action.
"""

from typing import Annotated

from msgspec import Meta, Struct

from cohabit.errors import BadArgs, Busy, GameRejected
from cohabit.model.grant import Capability
from cohabit.model.seat import SeatId
from cohabit.remote import RemoteWorld
from cohabit.room.base import BaseRoom, Context
from cohabit.room.commands import Command, command, system_entry
from cohabit.room.decision import Decision
from cohabit.room.feature import Feature
from cohabit.room.play.seats import seat_in_game
from cohabit.room.slices import Slice
from cohabit.room.state import Member, RoomState
from cohabit.scenario import Scenario
from cohabit.world import World, overrides

C = Capability
MARKS = 128
"""The precision of a delay: one of more steps than that may be longer by less than 1 %."""


class Spectators(Struct, omit_defaults=True):
    delay: int = 0  # in steps
    steps: int = 0  # since the room was opened
    marks: list[tuple[int, int]] = []  # after how many steps the room was at which entry; the oldest one is shown
    over: int = -1  # the last entry at which a game was over: everything until there is shown
    to_move: list[str] = []  # after the last entry: seats, or the member whose turn it is
    tick: int = 0  # likewise
    watching: list[str] = []  # the ids of the members who are spectators


class Changed(Struct, omit_defaults=True):
    at: int = 0  # the last time


SPECTATORS = Slice("spectators", Spectators)
CHANGED = Slice("spectators", Changed)
CHANGE_MS = 1_000
"""The least time between two calls of a member: somebody who only watches could fill the record with them."""
EVERYTHING = "*everything*"
"""Stands for a seat in ``RoomState.played``: a spectator has seen what is hidden from all, so it can take none."""


def _plays(room: BaseRoom, member: Member) -> bool:
    """True if a member has seen what is hidden in a seat of this game, or is about to."""
    seat = member.seat or member.claim or member.through
    return seat is not None or seat_in_game(room.state, member) not in (None, EVERYTHING)


def _may_spectate(room: BaseRoom, member: Member) -> bool:
    return SPECTATORS.is_kept(room.state) and not _plays(room, member) and C.READ_ALL not in member.held


class Spectating(Struct):
    spectating: bool
    delay: int  # in steps


@command(
    category="meta",
    needs=C.WATCH,
    records=True,
    any_turn=True,
    offered_if=_may_spectate,
    listed=True,
    hint="makes you a spectator: then `delayed_view` shows you everything, some steps late.",
)
def spectate(
    ctx: Context,
    off: Annotated[bool, Meta(description="stop being a spectator; you can play in the next game")] = False,
) -> Spectating:
    """Be a spectator: `delayed_view` shows you everything, as it was some steps ago. You cannot play in this game."""
    if not SPECTATORS.is_kept(ctx.state):
        raise GameRejected(
            "this room is not open to spectators; only its scenario can open it, when the room is created "
            "(spectator_delay)"
        )
    kept, me = SPECTATORS.change(ctx.state), ctx.member
    if CHANGED.is_kept(me) and ctx.at - CHANGED.read(me).at < CHANGE_MS:
        raise Busy("you called this less than a second ago; wait a moment", retry_after_s=1)
    if not off and _plays(ctx.room, me):
        raise GameRejected("you play in this game, or see what a player sees; you can be a spectator in the next game")
    CHANGED.change(me).at = ctx.at
    if off:
        kept.watching = [who for who in kept.watching if who != me.id]
        return Spectating(False, kept.delay)
    _add(ctx, me)
    return Spectating(True, kept.delay)


@system_entry()
def spectates(ctx: Context, member: str) -> None:
    """A member with a watch link is a spectator from the start: it can never act."""
    _add(ctx, ctx.state.members[member])


def _add(ctx: Context, member: Member) -> None:
    kept = SPECTATORS.change(ctx.state)
    if member.id not in kept.watching:
        kept.watching = [*kept.watching, member.id]
        if seat_in_game(ctx.state, member) != EVERYTHING:  # else that was said in this game
            ctx.tell(f"{member.handle} watches as a spectator", "roster")


def _order(room: BaseRoom) -> list[str] | None:
    """The members to move, where a change of that is a step."""
    state = room.state
    if state.turn_based and len(state.turn_order) > 1 and not state.ticks_per_turn:
        return [state.turn_holder or ""]
    return list(state.waiting_for) if room.pace == "turns" and len(state.seats) > 1 else None


class SpectatorsFeature(Feature):
    name = "spectators"
    room_slice = SPECTATORS
    member_slice = CHANGED

    def opening(self, scenario: Scenario, world: World) -> Spectators | None:
        if scenario.spectator_delay is None:
            return None
        if not world.spec.hides(scenario.partial_intel):
            raise BadArgs("spectator_delay: nothing is hidden here, so everybody who watches sees everything; omit it")
        if isinstance(world, RemoteWorld) or overrides(world, "arrive"):
            raise BadArgs("spectator_delay: not in a remote world, nor in one where players can arrive at any time")
        return Spectators(scenario.spectator_delay)

    # -- changes ----------------------------------------------------------------------------------
    def acted(self, room: BaseRoom, member: Member) -> None:
        if room.pace in ("step", "turns") and _order(room) is None:
            SPECTATORS.change(room.state).steps += 1

    def round_ended(self, room: BaseRoom) -> None:
        SPECTATORS.change(room.state).steps += 1

    def follow(self, ctx: Context) -> None:
        kept, state, entry = SPECTATORS.change(ctx.state), ctx.state, ctx.room.record.seq + 1
        order = _order(ctx.room) or []
        if order != kept.to_move:
            kept.to_move = order
            kept.steps += 1
        if state.tick != kept.tick:  # it is smaller in a new game, which counts from 0
            kept.steps += state.tick - kept.tick if state.tick > kept.tick else state.tick
            kept.tick = state.tick
        if not kept.marks or kept.steps - kept.marks[-1][0] >= max(1, kept.delay // MARKS):
            kept.marks = [*kept.marks, (kept.steps, entry)]
            while len(kept.marks) > 1 and kept.marks[1][0] <= kept.steps - kept.delay:
                kept.marks = kept.marks[1:]
        if state.over_since is not None:
            kept.over = entry
        self._follow_spectators(state, kept)

    @staticmethod
    def _follow_spectators(state: RoomState, kept: Spectators) -> None:
        """Also in the next game they see everything."""
        kept.watching = [who for who in kept.watching if who in state.members]
        for who in kept.watching:
            member = state.members[who]
            state.played.setdefault(member.identity or member.id, EVERYTHING)

    def game_ends(self, ctx: Context, is_loaded: bool) -> None:
        if ctx.state.over_since is not None:
            SPECTATORS.change(ctx.state).over = ctx.room.record.seq

    def take_seat(self, ctx: Context, member: Member, seat: SeatId | None) -> bool:
        if seat_in_game(ctx.state, member) == EVERYTHING:
            raise GameRejected(
                "you have watched this game as a spectator; you can play in the next one (`spectate` with off)"
            )
        return False

    # -- questions --------------------------------------------------------------------------------
    def full_view_until(self, room: BaseRoom, member: Member) -> int | None:
        kept = SPECTATORS.read(room.state)
        if member.id not in kept.watching or _plays(room, member):
            return None
        if room.state.over_since is not None:
            return room.record.seq
        is_due = bool(kept.marks) and kept.marks[0][0] <= kept.steps - kept.delay
        return max(kept.over, kept.marks[0][1] if is_due else -1)

    def steps_until(self, room: BaseRoom, seq: int) -> int:
        kept = SPECTATORS.read(room.state)
        return kept.steps if seq == room.record.seq else max((n for n, entry in kept.marks if entry <= seq), default=0)

    def closes_save(self, room: BaseRoom, game: str, seq: int) -> str:
        return "this room is open to spectators, who know this game by now; begin a new one (`rematch`)"

    def refuses(self, room: BaseRoom, member: Member, command: Command) -> Decision | None:
        if command.name != "reset":
            return None
        return Decision("GAME_REJECTED", "spectators know what this seed deals; begin a new game (`rematch`)")

    def notice(self, room: BaseRoom) -> str:
        delay = SPECTATORS.read(room.state).delay
        steps = "1 step" if delay == 1 else f"{delay} steps"
        return f"It is open to spectators: members who only watch can see everything, {steps} later."
