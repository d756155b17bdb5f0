"""The view of a player: the 9 x 7 cells around it.

Cells beyond the edge of the map are there and empty, so a view has the same size everywhere.
"""

from typing import Any, NamedTuple

from cohabit.worlds.crafter.land import Land, Thing
from cohabit.worlds.crafter.player import Player
from cohabit.worlds.crafter.rules import ARROW, MATERIALS, NAMES, PLANT, VIEW_HEIGHT, VIEW_WIDTH
from cohabit.worlds.seen_map import Letters

LETTERS = " ~.#:'T!cidtf"
"""One letter for each material, in the order of ``MATERIALS``."""
ME = "@"
_THING_LETTERS = {"cow": "C", "zombie": "Z", "skeleton": "S", "plant": "P", "ripe plant": "R", "bundle": "B"}
MATERIAL_OF = dict(zip(LETTERS, MATERIALS, strict=True))
_TO_LETTERS = bytes(LETTERS.encode()) + bytes(256 - len(LETTERS))
SEEN_LETTERS = Letters(
    LETTERS, {letter: name for letter, name in MATERIAL_OF.items() if name},
    frozenset(material for material, name in enumerate(MATERIALS) if name in ("grass", "sand", "path")),
)  # fmt: skip
"""The letters for the map of the land that a player has seen; one can go on from cells that one can walk on."""
_ARROWS = {(-1, 0): "arrow left", (1, 0): "arrow right", (0, -1): "arrow up", (0, 1): "arrow down"}


class View(NamedTuple):
    ground: list[str]  # rows from top to bottom, a letter for each cell; the player is in the middle
    things: list[list[Any]]  # without the player itself, row by row: name, and offset to the right and down


def view_of(land: Land, player: Player) -> View:
    """The view of this player."""
    stride = land.stride
    left, up = VIEW_WIDTH // 2, VIEW_HEIGHT // 2
    first = player.cell - left * stride - up
    end = first + VIEW_WIDTH * stride
    ground: list[str] = []
    things: list[list[Any]] = []
    for row in range(VIEW_HEIGHT):
        ground.append(land.material[first + row : end : stride].translate(_TO_LETTERS).decode()[:VIEW_WIDTH])
        for column, thing in enumerate(land.at[first + row : end : stride]):
            if thing is not None and thing is not player:
                things.append([_name(thing), column - left, row - up])
    return View(ground, things)


def thing_letter(name: str) -> str:
    """The letter of a thing on a map."""
    return _THING_LETTERS.get(name) or ("O" if name.startswith("player ") else "A")


def whole_map(land: Land) -> list[str]:
    """The whole map, as rows from top to bottom with a letter for each cell."""
    rows = land.materials().T.tobytes().translate(_TO_LETTERS).decode()
    return [rows[start : start + land.width] for start in range(0, len(rows), land.width)]


def _name(thing: Thing | Player) -> str:
    if isinstance(thing, Player):
        return f"player {thing.name} asleep" if thing.sleeping else f"player {thing.name}"
    if thing.kind == ARROW:
        return _ARROWS[thing.dx, thing.dy]
    if thing.kind == PLANT and thing.ripe:
        return "ripe plant"
    return NAMES[thing.kind]


def is_in_view(player: Player, other: Player) -> bool:
    """True if a player sees another one, or itself."""
    return abs(other.x - player.x) <= VIEW_WIDTH // 2 and abs(other.y - player.y) <= VIEW_HEIGHT // 2
