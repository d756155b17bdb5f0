"""Three gods: one protects species, one helps kingdoms grow, one causes a catastrophe now and then."""

from typing import ClassVar

from cohabit.agents.brains.kingdoms.reading import Reading, broadcast, power, read
from cohabit.agents.brains.scripted import Scripted
from cohabit.model.action import Action
from cohabit.model.observation import Observation
from cohabit.model.table_files import read_table

RACES = ("human", "elf", "orc", "dwarf")
MIN_RACES = 3
MIN_OF_A_RACE = 12
PROTECTED = ("sheep", "cow", "deer", "horse", "goat", "rabbit", "fox", "wolf", "bear")
MIN_OF_A_SPECIES = 4
"""An ecologist spawns creatures of a race or species of which there are fewer."""
SPAWNED = 12
SPAWN_DISTANCE = 30
"""Creatures are spawned within this distance of a random city."""
MIN_FIRE = 4
"""The number of burning tiles from which the ecologist makes it rain."""
SMALL_KINGDOM = 25
"""A kingdom with fewer people should not be at war."""
WANTED_PEOPLE = 1500
"""A civilizer stops helping when all kingdoms together have this many people."""
GIFTS = ("bounty", "timber", "fertility", "masonry")
CATASTROPHES = read_table(__file__, dict[str, str])
"""By power, how each is announced."""


class God(Scripted):
    """The base of the gods: they observe often and act rarely."""

    every: ClassVar[int] = 100
    """Ticks between two actions."""

    def __init__(self, purpose: str = "god") -> None:
        super().__init__(purpose)
        self.acted = -self.every

    def decide(self, observation: Observation) -> Action | None:
        world = read(observation)
        if world.tick < self.acted:  # a new world has begun
            self.acted = -self.every
        if world.tick - self.acted < self.every:
            return None
        action = self.choose(world)
        if action is not None:
            self.acted = world.tick
        return action

    def choose(self, world: Reading) -> Action | None:
        """The action that is needed now, if any."""
        raise NotImplementedError


class Ecologist(God):
    """Protects races and animals: puts out fires, spawns rare creatures, and calms wars against small kingdoms."""

    def choose(self, world: Reading) -> Action | None:
        return self._rain(world) or self._save_races(world) or self._save_animals(world) or self._calm(world)

    def _rain(self, world: Reading) -> Action | None:
        if world.fires is None or world.fires.tiles < MIN_FIRE:
            return None
        x, y = world.fires.at
        where = {"power_id": "rain", "x": x, "y": y, "radius": 8, "pulses": 10}
        return Action("invoke_power", where, f"{world.fires.tiles} tiles burn")

    def _save_races(self, world: Reading) -> Action | None:
        rare = [race for race in RACES if world.creatures.get(race, 0) < MIN_OF_A_RACE]
        return self._spawn(world, rare[0], SPAWNED) if len(RACES) - len(rare) < MIN_RACES else None

    def _save_animals(self, world: Reading) -> Action | None:
        rare = [kind for kind in PROTECTED if world.creatures.get(kind, 0) < MIN_OF_A_SPECIES]
        return self._spawn(world, self.stream.choice(rare), SPAWNED // 2) if rare else None

    def _spawn(self, world: Reading, kind: str, count: int) -> Action:
        x, y = self._random_place(world)
        where = {"entity_id": kind, "x": x, "y": y, "count": count, "adult": True}
        return Action("spawn", where, f"{kind}: {world.creatures.get(kind, 0)} left")

    def _random_place(self, world: Reading) -> tuple[int, int]:
        width, height = world.map
        x, y = self.stream.below(width), self.stream.below(height)
        if world.cities:
            near = self.stream.choice(list(world.cities.values()))
            x = near.x + self.stream.between(-SPAWN_DISTANCE, SPAWN_DISTANCE)
            y = near.y + self.stream.between(-SPAWN_DISTANCE, SPAWN_DISTANCE)
        return min(max(x, 0), width - 1), min(max(y, 0), height - 1)

    def _calm(self, world: Reading) -> Action | None:
        """Make the enemy of a small kingdom weary of the war."""
        lines = {line.id: line for line in world.kingdoms.values()}
        for war in world.wars.values():
            one, other = sorted((lines[war.attacker], lines[war.defender]), key=lambda line: line.people)
            found = world.biggest_city(other.id)
            if one.people < SMALL_KINGDOM and found is not None:
                return power("weariness", found[1], f"{world.name_of(one.id)} is too small for a war")
        return None


class Civilizer(God):
    """Helps the smallest kingdom grow until the world has enough people."""

    def choose(self, world: Reading) -> Action | None:
        if sum(line.people for line in world.kingdoms.values()) >= WANTED_PEOPLE:
            return None
        settled = [line for line in world.kingdoms.values() if line.cities]
        smallest = min(settled, key=lambda line: (line.people, line.id), default=None)
        found = world.biggest_city(smallest.id) if smallest is not None else None
        if smallest is None or found is None:
            return None
        return power(self.stream.choice(GIFTS), found[1], f"{world.name_of(smallest.id)} is the smallest kingdom")


class Calamity(God):
    """Causes one catastrophe in 5000 ticks in the largest city of the largest kingdom, and announces it."""

    every = 5000

    def __init__(self, purpose: str = "god") -> None:
        super().__init__(purpose)
        self.acted = -self.every // 2  # the first catastrophe comes after half of that time
        self.announcement: Action | None = None

    def decide(self, observation: Observation) -> Action | None:
        announcement, self.announcement = self.announcement, None
        return announcement or super().decide(observation)

    def choose(self, world: Reading) -> Action | None:
        largest = max(world.kingdoms.values(), key=lambda line: (line.people, -line.id), default=None)
        found = world.biggest_city(largest.id) if largest is not None else None
        if found is None:
            return None
        name, city = found
        who = world.name_of(city.kingdom)  # where the city lies, and that it exists, may be hidden from the readers
        what = self.stream.choice(list(CATASTROPHES))
        self.announcement = broadcast(CATASTROPHES[what].format(who=who), "omen")
        return power(what, city, f"{name} has grown too large")
