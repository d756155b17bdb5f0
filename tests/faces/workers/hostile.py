"""A world that can do to its process what no thread can stop."""

import ctypes
import mmap
from collections.abc import Sequence

from cohabit.world import Eye, Observation, Outcome, Seat, SeatId, World, WorldSpec, action

HOLDS_THE_INTERPRETER = ctypes.PyDLL(None)
"""Calls through it keep the global interpreter lock."""
EATEN: list[mmap.mmap] = []


class Hostile(World):
    """Does what it is told."""

    spec = WorldSpec(name="hostile", title="Hostile", seats=1, pace="step", open_information=True)

    def reset(self, seed: int, seats: Sequence[Seat]) -> None:
        self.count = 0
        self.players = [seat.id for seat in seats]

    def to_move(self) -> Sequence[SeatId]:
        return self.players

    def observe(self, eye: Eye) -> Observation:
        return Observation(text=f"count {self.count}")

    @action()
    def count_up(self, by: Seat) -> Outcome:
        """Count."""
        self.count += 1
        return Outcome(f"counted {self.count}")

    @action()
    def grip(self, by: Seat) -> Outcome:
        """Hold the interpreter for an hour, in native code."""
        HOLDS_THE_INTERPRETER.sleep(3600)
        return Outcome("let go")

    @action()
    def crash(self, by: Seat) -> Outcome:
        """End the process as a bug in native code does."""
        ctypes.string_at(0)
        return Outcome("went on")

    @action()
    def eat(self, by: Seat) -> Outcome:
        """Take half a gigabyte."""
        taken = mmap.mmap(-1, 512 << 20)
        for page in range(0, len(taken), mmap.PAGESIZE):
            taken[page] = 1
        EATEN.append(taken)
        return Outcome("ate")
