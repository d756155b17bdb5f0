"""One seat of a world as an environment of Gymnasium."""

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from cohabit.envs.episodes import Setup
from cohabit.envs.playing import Frame, Playing


class SeatEnv(Playing, gymnasium.Env[Any, Any]):
    """One seat of a world. Its opponents play between two steps."""

    def __init__(self, setup: Setup, observe: str | None, render_mode: str | None) -> None:
        self._open(setup, observe, render_mode)
        (self._seat,) = self._episodes.learners
        self.observation_space = self._interface.observation_space()
        self.action_space = self._interface.action_space()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin a game. The seed is that of the world; without one, the next of the last seed's sequence."""
        super().reset(seed=seed)
        self._episodes.reset(seed)
        observation, info = self._interface.perceive(self._episodes, self._seat)
        return observation, {**info, "seed": self._episodes.seed}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Act, and let the others play until this seat is to move again."""
        episodes, seat = self._episodes, self._seat
        episodes.step({seat: self._interface.read(action)})
        observation, info = self._interface.perceive(episodes, seat)
        over = episodes.has_ended(seat)
        return observation, episodes.reward(seat), over, episodes.is_truncated() and not over, info

    def action_masks(self) -> NDArray[np.bool_]:
        """A mask of the actions: True for those that can be chosen now, as `MaskablePPO` of sb3-contrib asks for it."""
        mask = self._interface.mask(self._episodes, self._seat)
        if mask is None:
            raise AttributeError(f"{self._episodes.setup.world} does not list all legal actions by number")
        return mask.astype(np.bool_)

    def render(self) -> Frame | None:
        """The view of this seat: a text (``ansi``) or a picture (``rgb_array``)."""
        return self._drawn(self.room.eye_of(self._episodes.member(self._seat)))
