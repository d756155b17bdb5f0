"""A world that shows itself in a picture, and in no board."""

from collections.abc import Sequence

from cohabit.world import Eye, Observation, Outcome, Seat, SeatId, World, WorldSpec, action
from cohabit.worlds.png import squares

COLOURS = ((200, 60, 40), (40, 90, 200))


class Painted(World):
    """Painted. A wall of one colour; painting it changes the colour."""

    spec = WorldSpec(name="painted", seats=1, open_information=True, quick=True)

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.seat, self.coats = seats[0].id, 0

    def to_move(self) -> Sequence[SeatId]:
        return [self.seat]

    def observe(self, eye: Eye) -> Observation:
        return Observation(text=f"The wall has {self.coats} coats.", step=self.coats)

    def picture(self, eye: Eye) -> bytes:
        return squares(2, [self.coats % 2] * 4, [self.coats % 2] * 4, COLOURS)

    @action()
    def paint(self, by: Seat) -> Outcome:
        """Paint the wall."""
        self.coats += 1
        return Outcome("Painted.")
