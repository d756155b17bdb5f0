"""Names and public ids of creatures, cities and kingdoms, and names of species in sentences.

The name of a creature is computed from its public id on request. Names and public ids are keyed hashes:
they reveal neither the seed nor the numbers that the simulation counts with.
"""

from collections.abc import Iterable

from msgspec import Struct

from cohabit.model.table_files import read_table
from cohabit.worlds import words
from cohabit.worlds.kingdoms.chance import STEP, mixed_one
from cohabit.worlds.kingdoms.sim import City, Kingdom, Sim
from cohabit.worlds.kingdoms.species import SPECIES

PUBLIC_ID_BITS = 53
"""Every JSON reader keeps whole numbers of this size."""


class _Names(Struct, frozen=True, forbid_unknown_fields=True):
    starts: dict[str, tuple[str, ...]]
    ends: dict[str, tuple[str, ...]]
    city_ends: dict[str, tuple[str, ...]]
    beasts: tuple[str, ...]
    spellings: dict[str, str]
    plurals: dict[str, str]


NAMES = read_table(__file__, _Names)


# -- species in sentences -------------------------------------------------------------------------
def word_for(species: str) -> str:
    """The species with this id, as it is written in a sentence."""
    return NAMES.spellings.get(species, species.replace("_", " "))


def plural(species: str) -> str:
    return NAMES.plurals.get(species, f"{word_for(species)}s")


def with_article(species: str) -> str:
    """``a wolf``, ``an evil mage``."""
    return words.with_article(word_for(species))


def counted(count: int, species: str) -> str:
    """``1 wolf``, ``3 wolves``."""
    return f"{count} {word_for(species) if count == 1 else plural(species)}"


# -- proper names ---------------------------------------------------------------------------------
def _pick(words: tuple[str, ...], number: int, salt: int) -> str:
    return words[mixed_one(number * STEP + salt * 0xD1B54A32D192ED03) % len(words)]


def public_id(sim: Sim, purpose: str, number: int) -> int:
    """An id that members may see: unguessable, and small enough for a number in JSON."""
    return (sim.chance.secret(purpose, number) >> 64 - PUBLIC_ID_BITS) or 1


def city_id(sim: Sim, city: City) -> int:
    """The id under which members know a city."""
    return public_id(sim, "city ids", city.number)


def city_with_id(sim: Sim, public: int) -> City | None:
    """The city that members know under this id."""
    return next((city for city in sim.cities.values() if city_id(sim, city) == public), None)


def name_of(sim: Sim, row: int) -> str:
    """The name of a creature. People get two syllables of their race, beasts a name and their species."""
    kind = SPECIES[int(sim.creatures.species[row])].id
    creature = int(sim.creatures.public[row])
    if kind in NAMES.starts:
        return _pick(NAMES.starts[kind], creature, 1) + _pick(NAMES.ends[kind], creature, 2)
    return f"{_pick(NAMES.beasts, creature, 1)} the {word_for(kind)}"


def city_name(sim: Sim, realm: Kingdom, number: int) -> str:
    """A name for city ``number`` that no other city of its kingdom has. A city in the fog may have the same name: if
    its name were avoided, the names of one's own cities would tell of it."""
    taken = [city.name for city in sim.cities_of(realm.id)]
    return _unused(taken, realm.race, sim.chance.secret("city names", number), NAMES.city_ends[realm.race])


def labelled(cities: Iterable[City]) -> dict[str, City]:
    """These cities by name. Where several have the same name, the later ones are told apart by their place."""
    found: dict[str, City] = {}
    for city in cities:
        found[city.name if city.name not in found else f"{city.name} at {city.x},{city.y}"] = city
    return found


def kingdom_name(sim: Sim, race: str, number: int) -> str:
    """A name for kingdom ``number`` that no kingdom has had."""
    taken = [kingdom.name for kingdom in sim.kingdoms.values()]
    return _unused(taken, race, sim.chance.secret("kingdom names", number), NAMES.ends[race], salt=500)


def _unused(taken: list[str], race: str, number: int, ends: tuple[str, ...], salt: int = 100) -> str:
    name = ""
    for more in range(0, 80, 2):
        name = _pick(NAMES.starts[race], number, salt + more) + _pick(ends, number, salt + more + 1)
        if name not in taken:
            return name
    return f"{name} {len(taken) + 1}"
