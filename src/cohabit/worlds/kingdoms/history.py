"""The numbers of people and soldiers of each kingdom over time, for charts."""

from typing import Any

from msgspec import Struct

from cohabit.worlds.kingdoms.sim import YEAR, Sim

MAX_SAMPLES = 192
BLOCK = 32
"""Samples in a layer. Only the last layer changes, until there are too many samples and every second one is dropped."""
Sample = tuple[int, dict[int, tuple[int, int]]]
"""A tick; and people and soldiers by kingdom."""


class History(Struct):
    """Samples at equal distances, the oldest first."""

    every: int = YEAR  # ticks
    samples: list[Sample] = []

    def note(self, sim: Sim) -> None:
        """Called often; takes a sample when it is time for one."""
        last = self.samples[-1][0] if self.samples else -self.every
        if sim.tick < last:  # another world
            self.every, self.samples = YEAR, []
        elif sim.tick - last < self.every:
            return
        self.samples.append((sim.tick, {k.id: (k.people, k.soldiers) for k in sim.alive}))
        if len(self.samples) > MAX_SAMPLES:
            self.samples, self.every = self.samples[::2], 2 * self.every

    def layers(self, *, everything: bool, own: int | None) -> dict[str, Any]:
        """The people of all kingdoms, which are public; soldiers only of one's own, or for those who see everything."""

        def line(kingdom: int, people: int, soldiers: int) -> list[int | None]:
            return [kingdom, people, soldiers if everything or kingdom == own else None]

        blocks = range(0, len(self.samples), BLOCK)
        return {
            f"history {start // BLOCK}": [
                [tick, [line(kingdom, *numbers) for kingdom, numbers in at.items()]]
                for tick, at in self.samples[start : start + BLOCK]
            ]
            for start in blocks
        }
