"""The textures of the original game, read from its installed package.

They are not part of this project. The package is found but never imported.
"""

from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from cohabit.errors import BadArgs

Pixels = NDArray[np.uint8]
MOST_CACHED = 4096  # textures, in all sizes
INSTALL = "pictures of the original game need its textures; install them with: pip install 'cohabit[crafter]'"


@lru_cache(MOST_CACHED)
def stock_texture(name: str, width: int, height: int) -> Pixels:
    """A texture in rows and columns, with three colours or with four where it has transparent parts."""
    with Image.open(_folder() / f"{name}.png") as image:
        return np.array(image.resize((width, height), Image.Resampling.NEAREST))


def has_textures() -> bool:
    """True if the original's package is installed."""
    try:
        _folder()
    except BadArgs:
        return False
    return True


@cache
def _folder() -> Path:
    package = find_spec("crafter")
    places = package.submodule_search_locations if package else None
    for place in places or ():
        if (Path(place) / "assets" / "unknown.png").exists():
            return Path(place) / "assets"
    raise BadArgs(INSTALL)
