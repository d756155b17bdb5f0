"""Three gods, each with a care of its own: living things, growing kingdoms, and a catastrophe now and then."""

from typing import ClassVar

from cohabit.agents.brains.kingdoms.reading import Reading, broadcast, power, read
from cohabit.agents.brains.scripted import Scripted
from cohabit.model.action import Action
from cohabit.model.observation import Observation

RACES = ("human", "elf", "orc", "dwarf")
RACES_WANTED = 3
FEWEST_OF_A_RACE = 12
DEAR = ("sheep", "cow", "deer", "horse", "goat", "rabbit", "fox", "wolf", "bear")
FEWEST_OF_A_KIND = 4
"""An ecologist brings back what there is less of than this."""
BROUGHT = 12
AROUND = 30
"""Creatures are brought to a place this near to some city."""
BLAZE = 4
"""So many tiles on fire are worth a rain."""
SMALL = 25
"""A kingdom with fewer people than this should not be at war."""
GROWN_WORLD = 1500
"""How many people a civilizer wants to see in all kingdoms together."""
GIFTS = ("bounty", "timber", "fertility", "masonry")
CATASTROPHES = {
    "meteorite": "A star fell on {city}.",
    "earthquake": "The ground under {city} shook, and would not stop.",
    "tornado": "A whirlwind came down upon {city}.",
    "locusts": "Locusts darkened the sky over {city}.",
    "plague": "A sickness went from door to door in {city}.",
    "volcano": "The earth opened beside {city}, and it was full of fire.",
}


class God(Scripted):
    """What gods have in common: they look often and act seldom."""

    every: ClassVar[int] = 100
    """Ticks from one deed to the next."""

    def __init__(self, purpose: str = "god") -> None:
        super().__init__(purpose)
        self.acted = -self.every

    def decide(self, observation: Observation) -> Action | None:
        world = read(observation)
        if world.tick < self.acted:  # another world has begun
            self.acted = -self.every
        if world.tick - self.acted < self.every:
            return None
        action = self.care(world)
        if action is not None:
            self.acted = world.tick
        return action

    def care(self, world: Reading) -> Action | None:
        """What there is to do now, if anything."""
        raise NotImplementedError


class Ecologist(God):
    """Keeps three races and the animals alive: rain on fires, new life for what is rare, peace for the small."""

    def care(self, world: Reading) -> Action | None:
        return self._rain(world) or self._save_races(world) or self._save_animals(world) or self._calm(world)

    def _rain(self, world: Reading) -> Action | None:
        if world.fires is None or world.fires.tiles < BLAZE:
            return None
        x, y = world.fires.at
        where = {"power_id": "rain", "x": x, "y": y, "radius": 8, "pulses": 10}
        return Action("invoke_power", where, f"{world.fires.tiles} tiles burn")

    def _save_races(self, world: Reading) -> Action | None:
        rare = [race for race in RACES if world.creatures.get(race, 0) < FEWEST_OF_A_RACE]
        return self._bring(world, rare[0], BROUGHT) if len(RACES) - len(rare) < RACES_WANTED else None

    def _save_animals(self, world: Reading) -> Action | None:
        rare = [kind for kind in DEAR if world.creatures.get(kind, 0) < FEWEST_OF_A_KIND]
        return self._bring(world, self.stream.choice(rare), BROUGHT // 2) if rare else None

    def _bring(self, world: Reading, kind: str, count: int) -> Action:
        x, y = self._somewhere(world)
        where = {"entity_id": kind, "x": x, "y": y, "count": count, "adult": True}
        return Action("spawn", where, f"{kind}: {world.creatures.get(kind, 0)} left")

    def _somewhere(self, world: Reading) -> tuple[int, int]:
        width, height = world.map
        x, y = self.stream.below(width), self.stream.below(height)
        if world.cities:
            near = self.stream.choice(list(world.cities.values()))
            x = near.x + self.stream.between(-AROUND, AROUND)
            y = near.y + self.stream.between(-AROUND, AROUND)
        return min(max(x, 0), width - 1), min(max(y, 0), height - 1)

    def _calm(self, world: Reading) -> Action | None:
        """Make whoever fights somebody small tired of it."""
        lines = {line.id: line for line in world.kingdoms.values()}
        for war in world.wars:
            one, other = sorted((lines[who] for who in war), key=lambda line: line.people)
            found = world.biggest_city(other.id)
            if one.people < SMALL and found is not None:
                return power("weariness", found[1], f"{world.name_of(one.id)} is too small for a war")
        return None


class Civilizer(God):
    """Helps the smallest kingdom to grow, until the world is full enough."""

    def care(self, world: Reading) -> Action | None:
        if sum(line.people for line in world.kingdoms.values()) >= GROWN_WORLD:
            return None
        settled = [line for line in world.kingdoms.values() if line.cities]
        smallest = min(settled, key=lambda line: (line.people, line.id), default=None)
        found = world.biggest_city(smallest.id) if smallest is not None else None
        if smallest is None or found is None:
            return None
        return power(self.stream.choice(GIFTS), found[1], f"{world.name_of(smallest.id)} is the smallest kingdom")


class Calamity(God):
    """One catastrophe in 5000 ticks, where most people live; and a word about it."""

    every = 5000

    def __init__(self, purpose: str = "god") -> None:
        super().__init__(purpose)
        self.acted = -self.every // 2  # the first one comes in the middle of the first time
        self.word: Action | None = None

    def decide(self, observation: Observation) -> Action | None:
        word, self.word = self.word, None
        return word or super().decide(observation)

    def care(self, world: Reading) -> Action | None:
        greatest = max(world.kingdoms.values(), key=lambda line: (line.people, -line.id), default=None)
        found = world.biggest_city(greatest.id) if greatest is not None else None
        if found is None:
            return None
        name, city = found
        what = self.stream.choice(list(CATASTROPHES))
        self.word = broadcast(CATASTROPHES[what].format(city=name), "omen")
        return power(what, city, f"{name} has grown too great")
