"""The tiles of the land, with the tool that each needs and the items that it gives."""

from msgspec import Struct

from cohabit.model.table_files import read_table
from cohabit.worlds.words import with_article

UNBREAKABLE = 99
HANDS = 0  # the tool tier of bare hands


class Tile(Struct, frozen=True, kw_only=True, gc=False, forbid_unknown_fields=True):
    """One kind of tile. ``tier``: the tool tier that digs it. ``letter``: how text maps show it."""

    name: str
    letter: str
    solid: bool = False
    tier: int = HANDS
    drop: str = ""
    light: int = 0  # how many tiles around it are lit
    liquid: bool = False
    warm: bool = False
    colour: tuple[int, int, int]  # red, green and blue
    marks: tuple[int, int, int] | None = None  # the colour of ore in it, or of details


TILES = read_table(__file__, dict[str, tuple[Tile, ...]])["tiles"]
ID = {tile.name: number for number, tile in enumerate(TILES)}
NAME_OF_LETTER = {tile.letter: tile.name for tile in TILES}
LETTER_OF_NAME = {tile.name: tile.letter for tile in TILES}
SOLID = tuple(tile.solid for tile in TILES)
LETTERS = bytes("".join(tile.letter for tile in TILES), "ascii")
TO_LETTERS = LETTERS + bytes(256 - len(LETTERS))

AIR, WATER, LAVA, ACID = ID["air"], ID["water"], ID["lava"], ID["acid"]
TREE, LEAVES, BUSH, CACTUS = ID["tree"], ID["leaves"], ID["bush"], ID["cactus"]
PLATFORM, LADDER, BED, ALTAR = ID["platform"], ID["ladder"], ID["bed"], ID["altar"]
LIQUIDS = (WATER, LAVA, ACID)
OPEN = tuple(not tile.solid for tile in TILES)
SUPPORTS = tuple(tile.solid or tile.name in ("platform", "ladder") for tile in TILES)
"""Tiles that carry a body above them."""


def described(tile: Tile) -> str:
    """A tile in a sentence: ``a tree``, but ``stone``."""
    is_substance = tile.solid or tile.liquid or tile.name in ("air", "leaves")
    return tile.name if is_substance and tile.name != "plank" else with_article(tile.name)
