"""Arrays, numbers and a mask, for learners."""

import numpy as np

from cohabit import Action, ArraySpec, Eye, GameRejected, Observation, Outcome, Seat, SeatId, World, WorldSpec, action


class Corridor(World):
    """Corridor. Walk along nine cells to the door at the other end, in as few moves as you can."""

    spec = WorldSpec(name="corridor", quick=True)

    def reset(self, seed: int, seats: list[Seat]) -> None:
        self.walker, self.at, self.moves = seats[0].id, 0, 0

    def to_move(self) -> list[SeatId]:
        return [self.walker] if self.at < 8 else []

    def observe(self, eye: Eye) -> Observation:
        return Observation(text=f"You are in cell {self.at} of 0 to 8.", status={"at": self.at})

    @action()
    def walk(self, by: Seat, cells: int) -> Outcome:
        """Walk this many cells; a negative number leads back."""
        if not 0 <= self.at + cells <= 8 or abs(cells) > 3:
            raise GameRejected("that is too far")
        self.at, self.moves = self.at + cells, self.moves + 1
        return Outcome(f"You walk to cell {self.at}.")

    def legal(self, seat: Seat) -> list[Action]:
        return [Action("walk", {"cells": n}) for n in (-1, 1, 3) if 0 <= self.at + n <= 8]

    def returns(self) -> dict[SeatId, float]:
        return {self.walker: -self.moves}

    def numbered(self) -> list[Action]:
        """`cells` has no bounds, so these numbers are ours: back, on, and run."""
        return [Action("walk", {"cells": n}) for n in (-1, 1, 3)]

    def arrays(self) -> dict[str, ArraySpec]:
        return {"cells": ArraySpec(shape=(9,), high=1), "way": ArraySpec(shape=(1,), dtype="float32", high=8)}

    def array(self, eye: Eye, form: str) -> np.ndarray:
        if form == "way":
            return np.array([8 - self.at], np.float32)
        return np.array([cell == self.at for cell in range(9)], np.uint8)
