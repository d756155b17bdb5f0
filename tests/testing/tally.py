"""A small world that keeps the contract. The tests of the checker break it, one line at a time."""

from collections.abc import Sequence
from typing import Annotated

from cohabit.model.action import Action
from cohabit.world import (
    Eye,
    GameRejected,
    Observation,
    Outcome,
    Range,
    Seat,
    SeatId,
    Standing,
    Stream,
    World,
    WorldSpec,
    action,
    query,
)

SHARED: list[int] = []


class Tally(World):
    """Tally. In turn add 1 to 5 to the sum; a die adds as much again; the player who passes 30 loses."""

    spec = WorldSpec(name="tally", seats=2, seat_names=("left", "right"), pace="turns")

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.dice = Stream(seed, "dice")
        self.order = [seat.id for seat in seats]
        self.sums = {seat.id: 0 for seat in seats}
        self.moves = 0
        self.words = ["one", "two", "three", "four", "five", "six"]
        self.said = ""

    def to_move(self) -> Sequence[SeatId]:
        return [] if sum(self.sums.values()) > 30 else [self.order[self.moves % len(self.order)]]

    def observe(self, eye: Eye) -> Observation:
        return Observation(text=f"sum {sum(self.sums.values())} {self.said}", step=self.moves)

    @action()
    def add(self, by: Seat, n: Annotated[int, Range(0, 9)]) -> Outcome:
        """Add to the sum."""
        if not 1 <= n <= 5:
            raise GameRejected("1 to 5")
        self.sums[by.id] += n + self.dice.between(1, 6)
        self.moves += 1
        self.said = self.words[self.moves % 6]
        return Outcome("added", public=f"{by.id} adds {n}")

    @query()
    def total(self, eye: Eye) -> int:
        """The sum."""
        return sum(self.sums.values())

    def legal(self, seat: Seat) -> Sequence[Action]:
        return [Action("add", {"n": n}) for n in range(1, 6)]

    def standings(self) -> Sequence[Standing]:
        return [Standing(seat, seat, -total) for seat, total in self.sums.items()]
