"""Rewards per round, which follow from what all seats submitted."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from cohabit import Action, Eye, GameRejected, Observation, Outcome, Range, Seat, SeatId, Told, World, WorldSpec, action


class Harvest(World):
    """Harvest. In each round every player takes 0 to 3 baskets from a common field.

    If all of them together take more than six, nobody gets anything. What a player takes is not shown to the others.
    """

    spec = WorldSpec(name="harvest", seats=3, seat_names=("north", "east", "south"), pace="rounds", quick=True)

    def __init__(self, rounds: Annotated[int, Range(1, 100)] = 5) -> None:
        self.rounds = rounds

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.order = [seat.id for seat in seats]
        self.submitted: dict[SeatId, int] = {}
        self.totals: dict[SeatId, float] = dict.fromkeys(self.order, 0.0)
        self.round, self.enough = 0, True

    def to_move(self) -> Sequence[SeatId]:
        return [] if self.round >= self.rounds else [seat for seat in self.order if seat not in self.submitted]

    def observe(self, eye: Eye) -> Observation:
        own = {"submitted": self.submitted.get(eye.seat)} if eye.seat is not None else {}
        return Observation(text=f"round {self.round + 1} of {self.rounds}", status={"round": self.round, **own})

    @action()
    def take(self, by: Seat, baskets: Annotated[int, Range(0, 3)]) -> Outcome:
        """Take baskets from the field in this round."""
        if by.id in self.submitted:
            raise GameRejected("you have submitted already; wait for the others")
        self.submitted[by.id] = baskets
        return Outcome(f"You take {baskets}.", pending=True)

    def legal(self, seat: Seat) -> Sequence[Action]:
        return [] if seat.id in self.submitted else [Action("take", {"baskets": n}) for n in range(4)]

    def resolve(self) -> Sequence[Told]:
        enough = self.enough = sum(self.submitted.values()) <= 6
        for seat, baskets in self.submitted.items():
            self.totals[seat] += baskets if enough else 0
        self.submitted, self.round = {}, self.round + 1
        return [Told(f"round {self.round}: {'a good harvest' if enough else 'the field is empty'}")]

    def outcome(self, seat: Seat) -> Outcome:
        return Outcome("You have your baskets." if self.enough else "You get nothing.", success=self.enough)

    def returns(self) -> Mapping[SeatId, float]:
        return dict(self.totals)
