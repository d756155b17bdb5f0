"""What environments render: the text of a view, or the world's picture as an array."""

from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cohabit.errors import BadArgs
from cohabit.model.seat import Eye
from cohabit.room.room import Room
from cohabit.world import World, overrides

Frame = str | NDArray[np.uint8]


def modes_of(world: World) -> list[str]:
    """The render modes of a world."""
    return ["ansi", "rgb_array"] if overrides(world, "picture") else ["ansi"]


def check_mode(mode: str | None, world: World) -> str | None:
    if mode is not None and mode not in modes_of(world):
        raise BadArgs(f"render_mode: {world.spec.name} has {' and '.join(modes_of(world))}, not {mode!r}")
    return mode


def drawn(room: Room, eye: Eye, mode: str | None) -> Frame | None:
    """What an eye sees, in this mode."""
    if mode is None:
        return None
    if mode == "ansi":
        return room.view_through(eye).text
    from PIL import Image

    png: Any = room.crash_on_bug(room.world.picture, eye)
    if png is None:
        raise BadArgs(f"{room.state.world} has no picture now")
    return np.array(Image.open(BytesIO(png)).convert("RGB"), dtype=np.uint8)
