"""A world that promises to be quick and does not return: it computes, or it waits."""

import time
from collections.abc import Sequence

from cohabit.world import Eye, Observation, Outcome, Seat, SeatId, World, WorldSpec, action


class Stuck(World):
    """Nothing happens here until somebody calls an action that hangs."""

    spec = WorldSpec(name="stuck", seats=1, quick=True)

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.order = [seat.id for seat in seats]

    def to_move(self) -> Sequence[SeatId]:
        return self.order

    def observe(self, eye: Eye) -> Observation:
        return Observation(text="quiet")

    @action()
    def spin(self, by: Seat) -> Outcome:
        """Compute for ever."""
        while True:
            pass

    @action()
    def sleep(self, by: Seat) -> Outcome:
        """Wait for ever."""
        time.sleep(10**6)
        return Outcome()

    @action()
    def plod(self, by: Seat) -> Outcome:
        """Compute for a tenth of a second."""
        ends = time.thread_time() + 0.1
        while time.thread_time() < ends:
            pass
        return Outcome()
