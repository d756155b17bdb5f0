"""A world of rounds with rewards: what each seat gets follows from what all of them submitted."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from cohabit.model.action import Action
from cohabit.world import Eye, GameRejected, Observation, Outcome, Range, Seat, SeatId, Told, World, WorldSpec, action


class Harvest(World):
    """Harvest. Each round everybody takes 0 to 3 baskets from a common field; if all together take more than six, all go
    away empty. The baskets of a round are not shown to others."""

    spec = WorldSpec(name="harvest", seats=3, seat_names=("north", "east", "south"), pace="rounds", quick=True)

    def __init__(self, rounds: Annotated[int, Range(1, 100)] = 5) -> None:
        self.rounds = rounds

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.order = [seat.id for seat in seats]
        self.submitted: dict[SeatId, int] = {}
        self.totals: dict[SeatId, float] = dict.fromkeys(self.order, 0.0)
        self.round = 0
        self.enough = True

    def to_move(self) -> Sequence[SeatId]:
        return [] if self.round >= self.rounds else [seat for seat in self.order if seat not in self.submitted]

    def observe(self, eye: Eye) -> Observation:
        own = {"submitted": self.submitted.get(eye.seat)} if eye.seat is not None else {}
        return Observation(text=f"round {self.round + 1} of {self.rounds}", status={"round": self.round, **own})

    @action()
    def take(self, by: Seat, baskets: Annotated[int, Range(0, 3)]) -> Outcome:
        """Take baskets from the field this round."""
        if by.id in self.submitted:
            raise GameRejected("you have submitted already")
        self.submitted[by.id] = baskets
        return Outcome(f"you take {baskets}", pending=True)

    def resolve(self) -> Sequence[Told]:
        enough = sum(self.submitted.values()) <= 6
        for seat, baskets in self.submitted.items():
            self.totals[seat] += baskets if enough else 0
        self.submitted = {}
        self.round += 1
        self.enough = enough
        return [Told(f"round {self.round}: {'a good harvest' if enough else 'the field is empty'}")]

    def outcome(self, seat: Seat) -> Outcome:
        return Outcome("you have your baskets" if self.enough else "you go away empty", success=self.enough)

    def returns(self) -> Mapping[SeatId, float]:
        return dict(self.totals)

    def legal(self, seat: Seat) -> Sequence[Action]:
        return [Action("take", {"baskets": n}) for n in range(4)] if seat.id not in self.submitted else []
