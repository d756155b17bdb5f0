"""The total rewards of the seats, in worlds that count them (``World.returns``)."""

from math import isclose, isfinite

import msgspec

from cohabit.model.record import Told
from cohabit.model.seat import SeatId
from cohabit.room.base import BaseRoom
from cohabit.world import Outcome


def rewarded(room: BaseRoom, by: str, outcome: Outcome, told: list[Told]) -> Outcome:
    """The outcome with the actor's reward, as reported by ``World.returns``."""
    seat = room.state.members[by].seat
    gains = report_returns(room, told, seat)
    gain = gains.get(seat, 0.0) if seat is not None else 0.0
    if isclose(gain, outcome.reward):  # the same but for rounding
        return outcome
    return msgspec.structs.replace(outcome, reward=gain)


def report_returns(room: BaseRoom, told: list[Told], actor: SeatId | None = None) -> dict[SeatId, float]:
    """Add up the rewards, and notify each seat whose total has changed. Returns the changes.

    ``actor``: the seat that acted. The rewards of other seats are attributed to the world, not to the actor.
    """
    before, totals = room.state.returns, room.crash_on_error(room.world.returns)
    if totals == before:  # as after most actions
        return {}
    now = {seat: float(total) for seat, total in totals.items()}
    if not all(map(isfinite, now.values())):
        raise ValueError(f"returns() gives {now}; a total is a finite number")
    gains = {seat: total - before.get(seat, 0.0) for seat, total in now.items() if total != before.get(seat, 0.0)}
    if room.world.spec.tell_rewards:
        for seat, gain in gains.items():
            text = f"Reward: {gain:+g} (total {now[seat]:g})"
            told.append(Told(text, "reward", (seat,), by_world=seat != actor))
    room.state.returns = now
    return gains
