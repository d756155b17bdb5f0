"""A small world with keys and a document that uses none of them."""

from collections.abc import Sequence
from typing import Literal

from cohabit.model.action import Action
from cohabit.world import Eye, Observation, Outcome, Seat, SeatId, World, WorldSpec, action

Direction = Literal["up", "right"]


class Walk(World):
    """A walk without an end."""

    spec = WorldSpec(name="walk", seats=1, open_information=True, quick=True, front_end="walk.html")
    keys = {  # noqa: RUF012 - as in other worlds
        "ArrowUp": Action("step", {"direction": "up"}),
        "ArrowRight": Action("step", {"direction": "right"}),
    }

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.seat, self.x, self.y = seats[0].id, 0, 0

    def to_move(self) -> Sequence[SeatId]:
        return [self.seat]

    def observe(self, eye: Eye) -> Observation:
        return Observation(text=f"{self.x}, {self.y}")

    @action()
    def step(self, by: Seat, direction: Direction) -> Outcome:
        """Take a step."""
        if direction == "up":
            self.y += 1
        else:
            self.x += 1
        return Outcome("You step.")
