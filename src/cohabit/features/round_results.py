"""The outcome of each player's own action in the last round, in worlds of rounds.

An action is chosen now and happens when the round ends. Its player is then told its name, whether it succeeded, and
what happened: in the reply, if its choice ended the round, and in every view until it chooses again.
"""

from collections.abc import Mapping
from math import isfinite
from typing import Any

from msgspec import Struct

from cohabit.model.observation import LastAction
from cohabit.model.seat import Seat, SeatId
from cohabit.room.base import BaseRoom, Context
from cohabit.room.feature import Feature
from cohabit.room.slices import Slice
from cohabit.room.state import Member
from cohabit.world import Outcome, World


class Choice(Struct):
    member: str
    action: str


class Done(Struct):
    member: str
    last: LastAction


class RoundResults(Struct, omit_defaults=True):
    """``chosen``: in this round. ``done``: in the last one."""

    chosen: dict[SeatId, Choice] = {}
    done: dict[SeatId, Done] = {}


RESULTS = Slice("round_results", RoundResults)


class RoundResultsFeature(Feature):
    name = "round_results"
    room_slice = RESULTS

    def active(self, room: BaseRoom) -> bool:
        return room.pace == "rounds"

    def chose(self, room: BaseRoom, member: Member, action: str) -> None:
        if member.seat is not None:
            RESULTS.change(room.state).chosen[member.seat] = Choice(member.id, action)

    def round_ended(self, room: BaseRoom) -> None:
        kept = RESULTS.read(room.state)
        if not (kept.chosen or kept.done):
            return
        totals = room.crash_on_error(room.world.returns)
        done = {seat: _came_of(room, seat, choice, totals) for seat, choice in kept.chosen.items()}
        kept.chosen, kept.done = {}, {seat: result for seat, result in done.items() if result is not None}

    def follow_roster(self, ctx: Context) -> None:
        """Drop the actions of players who have left: they are not shown to the next player of the seat."""
        if RESULTS.is_kept(ctx.state):
            kept, members = RESULTS.read(ctx.state), ctx.state.members
            noted: tuple[dict[SeatId, Any], ...] = (kept.chosen, kept.done)
            for of in noted:
                for seat, one in list(of.items()):
                    if one.member not in members or members[one.member].seat != seat:
                        del of[seat]

    def game_ends(self, ctx: Context, is_loaded: bool) -> None:
        RESULTS.drop(ctx.state)

    def view_lines(self, room: BaseRoom, member: Member) -> str:
        """The choice of a player for this round, as text."""
        chosen = RESULTS.read(room.state).chosen.get(member.seat) if member.seat is not None else None
        mine = chosen is not None and chosen.member == member.id
        return f"You chose {chosen.action}; it happens when the round ends." if chosen is not None and mine else ""

    def last_action(self, room: BaseRoom, seat: SeatId) -> LastAction | None:
        kept = RESULTS.read(room.state)
        done = kept.done.get(seat)
        return done.last if done is not None and seat not in kept.chosen else None


def _came_of(room: BaseRoom, seat: SeatId, choice: Choice, totals: Mapping[SeatId, float]) -> Done | None:
    if seat not in room.seats:
        return None
    outcome = room.crash_on_error(_outcome_of, room.world, room.seats[seat])
    if outcome is None:
        return None
    # The room reports rewards after the round, so what was reported last is the total before it.
    reward = totals[seat] - room.state.returns.get(seat, 0.0) if seat in totals else float(outcome.reward)
    achieved = list(outcome.achievements)
    return Done(choice.member, LastAction(choice.action, bool(outcome.success), outcome.message, reward, achieved))


def _outcome_of(world: World, seat: Seat) -> Outcome | None:
    """What the world says, if it can be kept: a snapshot with other types could not be read again."""
    outcome: Any = world.outcome(seat)
    if outcome is None:
        return None
    if not isinstance(outcome, Outcome):
        raise TypeError(f"outcome() must return an Outcome, not {outcome!r:.60}")
    if not all(isinstance(text, str) for text in (outcome.message, *outcome.achievements)):
        raise TypeError(f"the message and achievements of outcome() must be texts, not in {outcome!r:.60}")
    if not isfinite(outcome.reward):
        raise ValueError(f"a reward must be a finite number, not {outcome.reward!r}")
    return outcome
