"""Our notes on the games of OpenSpiel: their rules, the names of the seats, how their text is made readable, and which
games are left out. The table is ``catalogue.toml``."""

from functools import cache

from msgspec import Struct

from cohabit.library import Parameter
from cohabit.model.table_files import read_table


class About(Struct, frozen=True, forbid_unknown_fields=True):
    """One game. The defaults are right for most."""

    title: str = ""  # "": the name that the library gives it
    rules: str = ""  # two sentences
    seat_names: tuple[str, ...] = ()  # in the order of the library's players
    reader: str = ""  # of ``boards`` or ``hands``: the function that makes the text readable
    shows: str = "observation"  # the text of the library that is shown: observation, information or state
    parameters: dict[str, Parameter] = {}  # that differ from the library's defaults
    seed: str = ""  # the parameter that seeds the random numbers that the game draws itself
    conceal: str = ""  # a pattern of text that the library shows to players who should not see it
    open_moves: bool = False  # of a game with hidden information: everybody sees every move
    redraws: bool = True  # False: what is hidden from a player cannot be redrawn, so leaks cannot be tested
    resamples: bool = False  # the library can redraw what a player may not see
    cannot: str = ""  # a sentence about what is missing


class Catalogue(Struct, frozen=True):
    left_out: dict[str, str]  # why
    games: dict[str, About]

    def about(self, game: str) -> About:
        return self.games.get(game, About())


@cache
def catalogue() -> Catalogue:
    """The table. It is read once."""
    return read_table(__file__, Catalogue)
