"""What grows where: by how warm a place is and how much rain it gets.

It is warm in the middle of the map and cold towards its upper and lower edge, and colder the higher it lies.
"""

import numpy as np
from numpy.typing import NDArray

from cohabit.worlds.kingdoms.chance import Chance
from cohabit.worlds.kingdoms.land import Land
from cohabit.worlds.kingdoms.landscape import noise
from cohabit.worlds.kingdoms.tiles import CAN_GROW, GROUND_ROW, TOP_ROW

Places = NDArray[np.bool_]
Degrees = NDArray[np.int64]


def grow(chance: Chance, land: Land) -> None:
    """Cover the ground."""
    warmth, rain = _warmth(chance, land), _rain(chance, land)
    soil = CAN_GROW[land.ground]
    rock = (land.ground == GROUND_ROW["hills"]) | (land.ground == GROUND_ROW["mountains"])
    for top, places in (
        ("grass", soil),
        ("savanna", soil & (warmth > 150) & (rain < 130)),
        ("desert", soil & (warmth > 140) & (rain < 85)),
        ("forest", soil & (rain > 140)),
        ("jungle", soil & (warmth > 165) & (rain > 125)),
        ("taiga", soil & (warmth < 75) & (rain > 90)),
        ("swamp", soil & (land.level < 118) & (warmth > 90) & (rain > 150)),
        ("snow", (soil & (warmth < 30)) | (rock & (warmth < 15))),
    ):
        land.top[places] = TOP_ROW[top]
    _sprinkle(chance, land)


def _warmth(chance: Chance, land: Land) -> Degrees:
    """How warm every cell is, about 0 to 255."""
    y = np.arange(land.height, dtype=np.int64)[:, None]
    from_edge = np.minimum(y, land.height - 1 - y) * 510 // land.height
    wobble = noise.field(chance, "warmth", land.width, land.height, 64, 6) - noise.MIDDLE
    height = np.maximum(0, land.level.reshape(land.height, land.width).astype(np.int64) - 120)
    warmth: Degrees = (from_edge + (wobble >> 9) - height).ravel()
    return warmth


def _rain(chance: Chance, land: Land) -> Degrees:
    """How much rain every cell gets, about 0 to 255."""
    spacing = max(24, min(96, min(land.width, land.height) // 6))
    wide = noise.field(chance, "rain", land.width, land.height, spacing) - noise.MIDDLE
    return ((wide * 3 >> 9) + 118).astype(np.int64).ravel()


def _sprinkle(chance: Chance, land: Land) -> None:
    """Flowers in the grass and mushrooms in the woods, in patches."""
    patch = noise.field(chance, "patches", land.width, land.height, 12, 3).ravel() > 42000
    few = chance.hits(1, 3, "sprinkle", 0, np.arange(land.size))
    flowers = (land.top == TOP_ROW["grass"]) & patch & few
    mushrooms = ((land.top == TOP_ROW["forest"]) | (land.top == TOP_ROW["taiga"])) & patch & few
    land.top[flowers] = TOP_ROW["flowers"]
    land.top[mushrooms] = TOP_ROW["mushrooms"]
