"""The status of an observation of Kingdoms as typed values, and the actions that several brains use."""

import msgspec
from msgspec import Struct

from cohabit.model.action import Action
from cohabit.model.observation import Observation

HUNGER_PREFIX = "hunger in "
"""The start of the name of the effect that reports a hungry city."""


class Kingdom(Struct):
    """An entry of the public list of kingdoms."""

    id: int
    race: str
    people: int
    cities: int
    player: bool = False  # a seat of the match


class City(Struct):
    """A city with a known place: an own city, or any city for an eye that sees everything."""

    x: int
    y: int
    people: int
    soldiers: int
    loyalty: int
    siege: int = 0
    kingdom: int = 0  # these two are shown to eyes that see everything; a king sees its own cities only
    id: int = 0


class Fires(Struct):
    tiles: int
    at: tuple[int, int]


class War(Struct):
    attacker: int
    defender: int


class Reading(Struct):
    """The whole status. Values that are not shown keep their default."""

    tick: int
    map: tuple[int, int]
    kingdoms: dict[str, Kingdom]
    cities: dict[str, City] = {}
    # for kings
    kingdom_id: int = 0
    people: int = 0
    soldiers: int = 0
    faith: int = 0
    at_war_with: list[int] = []
    peace_offered_to: list[int] = []
    orders: dict[str, str] = {}
    hungry: list[str] = []  # names of my cities in which food is running low
    # for eyes that see everything
    wars: dict[str, War] = {}
    fires: Fires | None = None
    creatures: dict[str, int] = {}

    @property
    def own(self) -> dict[str, City]:
        """My cities, by name."""
        return {name: city for name, city in self.cities.items() if city.kingdom == self.kingdom_id}

    def name_of(self, kingdom: int) -> str:
        names = (name for name, line in self.kingdoms.items() if line.id == kingdom)
        return next(names, "a kingdom that no longer exists")

    def biggest_city(self, kingdom: int) -> tuple[str, City] | None:
        """The name and the data of the largest known city of a kingdom."""
        known = [(name, city) for name, city in self.cities.items() if city.kingdom == kingdom]
        return max(known, key=lambda found: (found[1].people, -found[1].id), default=None)


def read(seen: Observation) -> Reading:
    """The status of an observation, with the hungry cities among its effects."""
    effects = [effect.name for effect in seen.active_effects]
    hungry = [name.removeprefix(HUNGER_PREFIX) for name in effects if name.startswith(HUNGER_PREFIX)]
    found = msgspec.convert({"tick": seen.step, **seen.status, "hungry": hungry}, Reading)
    mine = found.kingdoms.get(found.name_of(found.kingdom_id))
    for city in found.cities.values():
        city.kingdom = city.kingdom or found.kingdom_id
    found.people = mine.people if mine is not None else found.people
    return found


def power(power_id: str, city: City, why: str, **more: int) -> Action:
    """Use a power on a city."""
    return Action("invoke_power", {"power_id": power_id, "x": city.x, "y": city.y, **more}, why)


def broadcast(content: str, kind: str) -> Action:
    """Send a message to everybody in the room."""
    return Action("send_message", {"to": "*", "content": content, "kind": kind})
