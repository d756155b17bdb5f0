"""Names. A creature's name is worked out from its id whenever somebody asks: nothing is stored."""

from cohabit.worlds.kingdoms.sim import Sim
from cohabit.worlds.kingdoms.species import SPECIES

_MASK = (1 << 64) - 1
STARTS = {
    "human": ("Al", "Ber", "Cor", "Ed", "Fin", "Gar", "Hal", "Is", "Jo", "Mar", "Os", "Ro", "Tam", "Wil"),
    "elf": ("Ae", "Cel", "Eli", "Fae", "Ila", "Lir", "Nae", "Sil", "Tha", "Vae", "Yl"),
    "orc": ("Bur", "Dro", "Gor", "Gru", "Kha", "Mog", "Nar", "Rok", "Shag", "Ug", "Zug"),
    "dwarf": ("Bal", "Bro", "Dur", "Far", "Gim", "Kil", "Mor", "Nor", "Thor", "Thra", "Ur"),
}
ENDS = {
    "human": ("an", "bert", "da", "den", "ford", "ic", "la", "mund", "ra", "ric", "well", "wyn"),
    "elf": ("diel", "las", "lian", "lor", "nor", "rian", "riel", "sar", "thil", "wen"),
    "orc": ("bag", "dush", "gash", "goth", "kar", "mak", "nak", "rag", "tuk", "zog"),
    "dwarf": ("bek", "din", "dur", "grim", "in", "li", "nar", "rik", "rin", "run"),
}
BEASTS = ("Ash", "Bram", "Dusk", "Ember", "Fern", "Gale", "Hazel", "Moss", "Nettle", "Rush", "Sorrel", "Thorn")
PLACES = {
    "human": ("bridge", "bury", "field", "ham", "mere", "stead", "ton", "wick"),
    "elf": ("dell", "glade", "lorn", "mir", "shade", "vale", "wood"),
    "orc": ("dum", "gor", "krag", "maw", "pit", "skar", "tusk"),
    "dwarf": ("delve", "forge", "gate", "hall", "heim", "hold", "stone"),
}
PLURALS = {"elf": "elves", "dwarf": "dwarves", "wolf": "wolves", "sheep": "sheep", "deer": "deer", "fish": "fish"}


def _roll(who: int, salt: int) -> int:
    """A number that looks random, from an id."""
    bits = (who * 0x9E3779B97F4A7C15 + salt * 0xD1B54A32D192ED03) & _MASK
    bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & _MASK
    return bits ^ (bits >> 31)


def _of(words: tuple[str, ...], who: int, salt: int) -> str:
    return words[_roll(who, salt) % len(words)]


def name_of(who: int, species: int) -> str:
    """The name of a creature. People have two syllables of their race; a beast is called after what it is."""
    kind = SPECIES[species].id
    if kind in STARTS:
        return _of(STARTS[kind], who, 1) + _of(ENDS[kind], who, 2)
    return f"{_of(BEASTS, who, 1)} the {kind.replace('_', ' ')}"


def many(race: str) -> str:
    """More than one of them."""
    return PLURALS.get(race, f"{race}s")


def city_name(sim: Sim, race: str, number: int) -> str:
    """A name for city ``number`` that no city bears now."""
    taken = [city.name for city in sim.cities.values()]
    return _fresh(taken, race, sim.seed + number, PLACES[race])


def kingdom_name(sim: Sim, race: str, number: int) -> str:
    """A name for kingdom ``number`` that no kingdom ever bore."""
    taken = [kingdom.name for kingdom in sim.kingdoms.values()]
    return _fresh(taken, race, sim.seed + number, ENDS[race], salt=500)


def _fresh(taken: list[str], race: str, who: int, ends: tuple[str, ...], salt: int = 100) -> str:
    name = ""
    for more in range(0, 80, 2):
        name = _of(STARTS[race], who, salt + more) + _of(ends, who, salt + more + 1)
        if name not in taken:
            return name
    return f"{name} {len(taken) + 1}"
