"""The base of Gymnasium and PettingZoo environments: episodes and rendering."""

from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cohabit.envs.episodes import Episodes, Setup
from cohabit.envs.spaces import Interface
from cohabit.errors import BadArgs
from cohabit.model.seat import Eye
from cohabit.registry import make_world
from cohabit.room.room import Room
from cohabit.world import World, overrides

Frame = str | NDArray[np.uint8]


class Playing:
    """Plays the episodes of an environment, and renders a view as text or the world's picture as an array."""

    metadata: dict[str, Any]
    render_mode: str | None

    def _open(self, setup: Setup, observe: str | None, render_mode: str | None) -> World:
        world = make_world(setup.world, setup.config)
        self._episodes = Episodes(setup, world)
        self._interface = Interface(world, observe)
        modes = ["ansi", "rgb_array"] if overrides(world, "picture") else ["ansi"]
        if render_mode is not None and render_mode not in modes:
            raise BadArgs(f"render_mode: {world.spec.name} has {' and '.join(modes)}, not {render_mode!r}")
        self.metadata, self.render_mode = {"render_modes": modes, "render_fps": 4}, render_mode
        return world

    @property
    def room(self) -> Room:
        """The room of this game, with its record and its standings."""
        return self._episodes.room

    def close(self) -> None:
        """End the game. Can be called again."""
        self._episodes.close()

    def _drawn(self, eye: Eye) -> Frame | None:
        """The view or the picture of an eye, depending on the render mode."""
        room = self.room
        if self.render_mode is None:
            return None
        if self.render_mode == "ansi":
            return room.view_through(eye).text
        from PIL import Image

        png: Any = room.crash_on_bug(room.world.picture, eye)
        if png is None:
            raise BadArgs(f"{room.state.world} has no picture now")
        return np.array(Image.open(BytesIO(png)).convert("RGB"), dtype=np.uint8)
