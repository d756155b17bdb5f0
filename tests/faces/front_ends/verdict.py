"""A game that ends with its first move, and says in words who has won."""

from collections.abc import Sequence
from typing import Any

from cohabit import Action, Eye, Observation, Outcome, Seat, SeatId, World, WorldSpec, action


class Verdict(World):
    """The first move ends the game. The config says who wins, or what each side gets."""

    spec = WorldSpec(name="verdict", seats=2, seat_names=("left", "right"), pace="step", open_information=True)

    def __init__(self, winner: Any = "left", returns: dict[str, int] | None = None) -> None:
        self.result = {"returns": returns} if returns else {"winner": winner}

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.ended = False

    def to_move(self) -> Sequence[SeatId]:
        return [] if self.ended else ["left", "right"]

    def observe(self, eye: Eye) -> Observation:
        return Observation(status=self.result if self.ended else {}, step=int(self.ended))

    @action()
    def end(self, by: Seat) -> Outcome:
        """End the game."""
        self.ended = True
        return Outcome("ended", public="it ends")

    def legal(self, seat: Seat) -> Sequence[Action]:
        return [Action("end")]
