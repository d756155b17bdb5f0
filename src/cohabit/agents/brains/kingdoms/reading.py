"""What a brain reads in an observation of Kingdoms: the status, as values with names."""

import msgspec
from msgspec import Struct

from cohabit.model.action import Action
from cohabit.model.observation import Observation

HUNGER = "hunger in "
"""How the worry about a hungry city begins."""


class Kingdom(Struct):
    """One line of the public list of kingdoms."""

    id: int
    race: str
    people: int
    cities: int
    player: bool = False  # a seat of the match: somebody plays it


class City(Struct):
    """A city whose place is known: one's own, or any for whoever sees everything."""

    id: int
    kingdom: int
    x: int
    y: int
    people: int
    soldiers: int
    loyalty: int
    siege: int


class Fires(Struct):
    tiles: int
    at: tuple[int, int]


class Reading(Struct):
    """The whole status. What an eye is not shown keeps its default."""

    tick: int
    map: tuple[int, int]
    kingdoms: dict[str, Kingdom]
    cities: dict[str, City] = {}
    # a king's own
    kingdom_id: int = 0
    people: int = 0
    soldiers: int = 0
    faith: int = 0
    weariness: int = 0
    at_war_with: list[int] = []
    peace_offered_to: list[int] = []
    peace_offered_by: list[int] = []
    orders: dict[str, str] = {}
    hungry: list[str] = []  # my cities in which food runs low
    # for eyes that see everything
    wars: list[tuple[int, int]] = []
    laws: list[str] = []
    fires: Fires | None = None
    creatures: dict[str, int] = {}

    @property
    def own(self) -> dict[str, City]:
        """My cities, by name."""
        return {name: city for name, city in self.cities.items() if city.kingdom == self.kingdom_id}

    def name_of(self, kingdom: int) -> str:
        return next((name for name, line in self.kingdoms.items() if line.id == kingdom), "a kingdom that is no more")

    def biggest_city(self, kingdom: int) -> tuple[str, City] | None:
        """The city of a kingdom with the most people, where this eye knows it."""
        known = [(name, city) for name, city in self.cities.items() if city.kingdom == kingdom]
        return max(known, key=lambda found: (found[1].people, -found[1].id), default=None)


def read(seen: Observation) -> Reading:
    """The status of an observation, and the worries in it."""
    hungry = [effect.name.removeprefix(HUNGER) for effect in seen.active_effects if effect.name.startswith(HUNGER)]
    return msgspec.convert({**seen.status, "hungry": hungry}, Reading)


def power(power_id: str, city: City, why: str, **more: int) -> Action:
    """Use a power on a city."""
    return Action("invoke_power", {"power_id": power_id, "x": city.x, "y": city.y, **more}, why)


def broadcast(content: str, kind: str) -> Action:
    """Say something to everybody in the room."""
    return Action("send_message", {"to": "*", "content": content, "kind": kind})
