"""Kingdoms at war: ticks per second, how the cost grows with creatures and with the map, and pictures."""

import time
from functools import partial
from typing import Any

from bench.common import quotients, take_turns
from bench.report import Report

HOW = """
A world after 5,000 ticks, then a war of all kingdoms against all. Before each round people in the cities and animals
are added or removed to reach the given number of creatures. A round is 100 ticks, measured in ticks per second of
processor time, in one process. The targets are 100 ticks for 10,000 creatures on 256 x 256 tiles, and 150 ms for a
picture of 1280 points (drawn and encoded as JPEG).
""".strip()
TICKS, PICTURE_MS = 100.0, 150.0
SMALL, LARGE = 4, 16  # zones a side: 256 and 1024 tiles


class AtWar:
    """A world with a fixed number of creatures."""

    def __init__(self, zones: int, creatures: int, age: int) -> None:
        from cohabit.worlds.kingdoms.beginning import begin
        from cohabit.worlds.kingdoms.rules.diplomacy import declare_war
        from cohabit.worlds.kingdoms.rules.tick import step
        from cohabit.worlds.kingdoms.sim import Sim
        from cohabit.worlds.kingdoms.terrain import generate

        self.step = step
        self.creatures = creatures
        self.sim = Sim(11, generate(11, zones, zones))
        begin(self.sim, 8, 0)
        for _ in range(age):
            step(self.sim)
        alive = [k.id for k in self.sim.alive]
        for one in alive:
            for other in alive:
                if one < other:
                    declare_war(self.sim, one, other, "for the benchmark")
        self.fill()

    def fill(self) -> None:
        """Add or remove creatures to reach the number; every third group that is added is wild."""
        import numpy as np

        from cohabit.worlds.kingdoms.rules import life
        from cohabit.worlds.kingdoms.species import SPECIES_ROW

        sim = self.sim
        extra = sim.creatures.n - self.creatures
        if extra > 0:
            wild = np.flatnonzero(sim.creatures.kingdom == 0)
            sim.creatures.hp[wild[:: max(1, len(wild) // extra)][:extra]] = 0
            sim.creatures.remove_dead()
        cities = list(sim.cities.values())
        herds = [SPECIES_ROW[name] for name in ("sheep", "wolf", "deer")]
        for turn in range(100_000):
            missing = self.creatures - sim.creatures.n
            if missing <= 0:
                break
            city = cities[turn % len(cities)]
            if turn % 3:
                race = SPECIES_ROW[sim.kingdoms[city.kingdom].race]
                life.spawn(sim, race, city.x, city.y, min(50, missing), city.kingdom, city.id)
            else:
                x, y = (city.x * 7 + turn * 31) % sim.land.width, (city.y * 5 + turn * 17) % sim.land.height
                life.spawn(sim, herds[turn % len(herds)], x, y, min(50, missing))

    def round(self, ticks: int) -> float:
        """Ticks per second of processor time."""
        self.fill()
        began = time.process_time()
        for _ in range(ticks):
            self.step(self.sim)
        return ticks / (time.process_time() - began)

    def picture(self) -> float:
        """Milliseconds of processor time for one picture."""
        from cohabit.worlds.kingdoms.drawing.picture import draw, encode

        began = time.process_time()
        encode(draw(self.sim, None, 1280), "jpg", 80)
        return (time.process_time() - began) * 1000


def run(quick: bool) -> Report:
    age, ticks, rounds = (100, 10, 2) if quick else (5_000, 100, 7)
    many = 1_000 if quick else 10_000
    small = AtWar(SMALL, many, age)
    crowded = AtWar(SMALL, 2 * many, age)
    large = AtWar(LARGE, many, age)
    contestants: dict[str, Any] = {
        f"{many:,} on 256 x 256": partial(small.round, ticks),
        f"{2 * many:,} on 256 x 256": partial(crowded.round, ticks),
        f"{many:,} on 1024 x 1024": partial(large.round, ticks),
        "a picture of 1280 points": small.picture,
    }
    found = list(take_turns(contestants, rounds).items())
    report = Report("kingdoms", "Kingdoms at war", HOW)
    for name, values in found[:3]:
        report.measure(name, values, "ticks/CPU-s")
    report.measure(found[3][0], found[3][1], "CPU-ms")
    plain, twice, wide, drawn = (values for _, values in found)
    report.ratio("kingdoms: ticks over the floor of 100", [v / TICKS for v in plain], 1.0, "at least")
    report.ratio("kingdoms: cost of twice the creatures", quotients(plain, twice), 2.2, "at most")
    report.ratio("kingdoms: cost of 16 times the map", quotients(plain, wide), 1.3, "at most")
    report.ratio("kingdoms: a picture over its budget", [v / PICTURE_MS for v in drawn], 1.0, "at most")
    return report
