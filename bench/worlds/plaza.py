"""A world for measuring: up to thousands of seats, everybody may act at any time, every seat sees something else."""

from collections.abc import Sequence
from typing import Annotated

from cohabit.world import Eye, Observation, Outcome, Range, Seat, SeatId, World, WorldSpec, action


class Plaza(World):
    """Everybody has a counter of their own and sees it, and one for all."""

    spec = WorldSpec(name="plaza", seats=(1, 5000), pace="step", quick=True)

    def __init__(self, aloud: bool = False, one_moves: bool = False) -> None:
        self.aloud = aloud
        self.one_moves = one_moves

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.order = [seat.id for seat in seats]
        self.total = 0
        self.own = dict.fromkeys(self.order, 0)

    def to_move(self) -> Sequence[SeatId]:
        return self.order[:1] if self.one_moves else self.order

    def observe(self, eye: Eye) -> Observation:
        mine = self.own.get(eye.seat, 0) if eye.seat else 0
        text = f"The big counter stands at {self.total}. From {eye.seat or 'the gallery'} you see {mine} of yours."
        return Observation(text=text, status={"total": self.total, "mine": mine}, step=self.total)

    @action()
    def bump(self, by: Seat, by_n: Annotated[int, Range(1, 9)]) -> Outcome:
        """Count on."""
        self.total += by_n
        self.own[by.id] += by_n
        return Outcome("Counted.", public=f"{by.name} counts {by_n}" if self.aloud else "")
