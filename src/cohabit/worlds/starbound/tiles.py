"""What the land is made of: every tile, what it takes to dig it, and what it gives."""

from msgspec import Struct

from cohabit.worlds.words import with_article

UNBREAKABLE = 99
HANDS = 0  # the tool tier of bare hands


class Tile(Struct, frozen=True, gc=False):
    """One kind of tile. ``tier``: the tool tier that digs it. ``letter``: how text maps show it."""

    name: str
    letter: str
    solid: bool = False
    tier: int = HANDS
    drop: str = ""
    light: int = 0  # how many tiles around it are lit
    liquid: bool = False
    warm: bool = False


TILES = (
    Tile("air", ".", tier=UNBREAKABLE),
    Tile("dirt", "o", solid=True, drop="dirt"),
    Tile("grass", "^", solid=True, drop="dirt"),
    Tile("stone", "#", solid=True, tier=1, drop="stone"),
    Tile("sand", ":", solid=True, drop="sand"),
    Tile("snow", "*", solid=True, drop="snow"),
    Tile("ice", "=", solid=True, tier=1, drop="ice"),
    Tile("ash", ";", solid=True, drop="ash"),
    Tile("obsidian", "%", solid=True, tier=3, drop="obsidian"),
    Tile("coal", "c", solid=True, tier=1, drop="coal"),
    Tile("iron", "i", solid=True, tier=2, drop="iron"),
    Tile("titanium", "t", solid=True, tier=3, drop="titanium"),
    Tile("diamond", "d", solid=True, tier=3, drop="diamond"),
    Tile("crystal", "x", solid=True, tier=2, drop="crystal", light=2),
    Tile("tree", "T", drop="wood"),
    Tile("leaves", "l", drop="fiber"),
    Tile("bush", "b", drop="berries"),
    Tile("cactus", "y", drop="fiber"),
    Tile("mushroom", "m", drop="mushroom", light=1),
    Tile("water", "~", tier=UNBREAKABLE, liquid=True),
    Tile("lava", "!", tier=UNBREAKABLE, liquid=True, light=4, warm=True),
    Tile("acid", "&", tier=UNBREAKABLE, liquid=True, light=1),
    Tile("bedrock", "X", solid=True, tier=UNBREAKABLE),
    Tile("plank", "w", solid=True, drop="wood"),
    Tile("platform", "-", drop="platform"),
    Tile("ladder", "H", drop="ladder"),
    Tile("torch", "f", drop="torch", light=5, warm=True),
    Tile("campfire", "F", drop="campfire", light=6, warm=True),
    Tile("workbench", "W", drop="workbench"),
    Tile("furnace", "U", drop="furnace", light=4, warm=True),
    Tile("anvil", "V", drop="anvil"),
    Tile("bed", "B", drop="bed"),
    Tile("hull", "|", solid=True, tier=UNBREAKABLE, light=9),
    Tile("locker", "L", tier=UNBREAKABLE),
    Tile("console", "N", tier=UNBREAKABLE, light=9),
    Tile("teleporter", "P", tier=UNBREAKABLE, light=9),
    Tile("altar", "A", tier=UNBREAKABLE, light=3),
    Tile("brick", "+", solid=True, tier=3, drop="stone"),
)
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
