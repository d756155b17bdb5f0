"""A vector environment of Gymnasium over a batch. Needs Gymnasium: the extra ``envs``."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from cohabit.errors import BadArgs
from cohabit.worlds.crafter import rules
from cohabit.worlds.crafter.arrays import SYMBOLS, array_forms
from cohabit.worlds.crafter.batch.engine import LENGTH, CrafterBatch, next_seed

_SPACES = {
    "view": spaces.Box(0, len(rules.NAMES) - 1, (rules.VIEW_HEIGHT, rules.VIEW_WIDTH), np.uint8),
    "vitals": spaces.Box(0, rules.MOST, (len(rules.VITALS),), np.uint8),
    "inventory": spaces.Box(0, rules.MOST, (len(rules.ITEMS),), np.uint8),
    "daylight": spaces.Box(0.0, 1.0, (), np.float32),
    "facing": spaces.Box(-1, 1, (2,), np.int8),
    "sleeping": spaces.Box(0, 1, (), np.uint8),
    "achievements": spaces.MultiBinary(len(rules.ACHIEVEMENTS)),
}
"""The observation of a player, with the names of ``Observation``. Achievements are those unlocked so far."""
_SYMBOLS_SPACE = spaces.Box(0, array_forms()[SYMBOLS].high, array_forms()[SYMBOLS].shape, np.uint8)
PARTS = "parts"
Dict = dict[str, Any]


class CrafterVectorEnv(VectorEnv):  # type: ignore[misc]  # Gymnasium is not there when types are checked
    """``num_envs`` games of Crafter. Observations and results are arrays of NumPy, whatever the batch computes with.

    ``observe``: ``parts``, a dictionary with the fields of ``Observation``, or ``symbols``, one row of small numbers as
    the world ``crafter`` offers it. An episode is terminated by death and truncated at ``length``. The achievements
    unlocked in a step are in ``infos["unlocked"]``. All games follow from the seeds of the first reset.
    """

    def __init__(
        self,
        num_envs: int,
        size: tuple[int, int] = (64, 64),
        *,
        length: int | None = LENGTH,
        observe: str = PARTS,
        autoreset_mode: AutoresetMode = AutoresetMode.NEXT_STEP,
        xp: Any = np,
        device: Any = None,
    ) -> None:
        self.num_envs = num_envs
        self.metadata = {"autoreset_mode": autoreset_mode, "render_modes": []}
        if observe not in (PARTS, SYMBOLS):
            raise BadArgs(f"observe must be {PARTS!r} or {SYMBOLS!r}, not {observe!r}")
        self._observes_symbols = observe == SYMBOLS
        self.single_observation_space = _SYMBOLS_SPACE if self._observes_symbols else spaces.Dict(_SPACES)
        self.single_action_space = spaces.Discrete(len(rules.ACTIONS))
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._autoreset_mode = autoreset_mode
        self._options: Dict = {"size": size, "length": length, "xp": xp, "device": device}
        self._batch: CrafterBatch | None = None
        self._ended = np.zeros(num_envs, bool)

    @property
    def batch(self) -> CrafterBatch:
        """The games."""
        if self._batch is None:
            raise BadArgs("reset the environment before its first step")
        return self._batch

    def reset(self, *, seed: int | Sequence[int | None] | None = None, options: Dict | None = None) -> tuple[Any, Dict]:
        """Start new games: all, or those of ``options["reset_mask"]``.

        ``seed``: one for all, which counts up from game to game, or a list. Without it, or where the list has None, a
        seed is drawn for the first game, and each later seed follows from the last one."""
        mask = (options or {}).get("reset_mask")
        if self._batch is None:
            if mask is not None:
                raise BadArgs("reset all games before you reset some of them")
            self._batch = CrafterBatch(self._seeds(seed, None), **self._options)
        else:
            chosen = np.ones(self.num_envs, bool) if mask is None else np.asarray(mask)
            if chosen.shape != (self.num_envs,) or chosen.dtype != bool or not chosen.any():
                raise BadArgs(f"reset_mask must have {self.num_envs} truth values, and at least one must be true")
            seeds = self._seeds(seed, self._batch.seeds)
            self._batch.reset(chosen, [seeds[game] for game in np.flatnonzero(chosen)])
        self._ended = self._ended & ~np.asarray(mask) if mask is not None else np.zeros(self.num_envs, bool)
        return self._observe(), {}

    def _seeds(self, seed: int | Sequence[int | None] | None, last: list[int] | None) -> list[int]:
        if isinstance(seed, int | np.integer):
            return [int(seed) + number for number in range(self.num_envs)]
        given = [None] * self.num_envs if seed is None else list(seed)
        if len(given) != self.num_envs:
            raise BadArgs(f"there must be {self.num_envs} seeds, not {len(given)}")
        drawn = self.np_random.integers(0, 1 << 32, self.num_envs).tolist() if last is None else map(next_seed, last)
        return [new if one is None else int(one) for one, new in zip(given, drawn, strict=True)]

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, Dict]:
        """One step of every game."""
        if self._autoreset_mode is AutoresetMode.DISABLED and self._ended.any():
            raise BadArgs("some games are over; reset them with options={'reset_mask': …}")
        batch, ended = self.batch, self._ended
        result = batch.step(actions)
        rewards, dead, over, unlocked = (
            batch.library.host(array) for array in (result.rewards, result.dead, result.over, result.unlocked)
        )
        infos: Dict = {}
        if self._autoreset_mode is AutoresetMode.NEXT_STEP and ended.any():
            batch.reset(ended)
            rewards, unlocked = np.where(ended, 0.0, rewards), unlocked & ~ended[:, None]
            dead, over = dead & ~ended, over & ~ended
        elif self._autoreset_mode is AutoresetMode.SAME_STEP and over.any():
            infos = {"final_obs": self._final(over), "_final_obs": over}
            batch.reset(over)
        self._ended = over
        infos |= {"unlocked": unlocked, "_unlocked": np.ones(self.num_envs, bool)}
        return self._observe(), rewards, dead, over & ~dead, infos

    def _observe(self) -> Any:
        if self._observes_symbols:
            return self.batch.library.host(self.batch.symbols())
        seen, host = self.batch.observe(), self.batch.library.host
        arrays = {name: host(getattr(seen, name)) for name in _SPACES}
        arrays["achievements"] = arrays["achievements"] > 0
        return {name: array.astype(_SPACES[name].dtype) for name, array in arrays.items()}

    def _final(self, over: Any) -> Any:
        """The last observations of games that are over, one object each."""
        seen = self._observe()
        final = np.full(self.num_envs, None, object)
        for game in np.flatnonzero(over):
            final[game] = seen[game] if self._observes_symbols else {name: part[game] for name, part in seen.items()}
        return final
