"""Rewards per tick, and a pace that the config decides."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from cohabit import Eye, Observation, Outcome, Range, Seat, SeatId, Told, World, WorldSpec, action
from cohabit.world import Pace


class Drift(World):
    """Drift. In each tick a raft earns as much as its sail is set.

    If two rafts have set the same sail, every raft loses a point per tick.
    """

    spec = WorldSpec(name="drift", seats=2, seat_names=("otter", "heron"), pace="clock", tick_ms=100, quick=True)

    def __init__(self, live: bool = True) -> None:
        self.live = live

    @property
    def pace(self) -> Pace:
        return "clock" if self.live else "turns"

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.order = [seat.id for seat in seats]
        self.sails: dict[SeatId, int] = dict.fromkeys(self.order, 0)
        self.totals: dict[SeatId, float] = dict.fromkeys(self.order, 0.0)
        self.moves = 0

    def to_move(self) -> Sequence[SeatId]:
        return self.order if self.live else [self.order[self.moves % len(self.order)]]

    def observe(self, eye: Eye) -> Observation:
        own = {"sail": self.sails[eye.seat]} if eye.seat is not None else {}
        return Observation(text=f"{len(self.order)} rafts on the river", status=own)

    @action()
    def trim(self, by: Seat, sail: Annotated[int, Range(0, 3)]) -> Outcome:
        """Set your sail."""
        self.sails[by.id] = sail
        self.moves += 1
        if not self.live:
            self.advance(1)
        return Outcome(f"Your sail is at {sail}.")

    def skip(self, seat: Seat) -> Outcome:
        self.moves += 1
        self.advance(1)
        return Outcome(public=f"{seat.id} drifts")

    def advance(self, ticks: int) -> Sequence[Told]:
        crowded = len(dict.fromkeys(self.sails.values())) < len(self.sails)
        for seat, sail in self.sails.items():
            self.totals[seat] += ticks * (sail - (1 if crowded else 0))
        return ()

    def returns(self) -> Mapping[SeatId, float]:
        return dict(self.totals)
