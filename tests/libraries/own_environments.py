"""Environments of one's own, for the tests: each with another space of actions."""

from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces


class Adds(gymnasium.Env[Any, Any]):
    """Adds what it is given, and ends at ten."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["ansi"]}

    def __init__(self, goal: int = 10, render_mode: str | None = None) -> None:
        self.goal, self.render_mode = goal, render_mode
        self.action_space: Any = spaces.Discrete(3, start=1)
        self.observation_space: Any = spaces.Box(0, 99, (2,), np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.sum = float(self.np_random.integers(0, 5))
        return self._seen(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.sum += self.worth(action)
        return self._seen(), 1.0, self.sum >= self.goal, False, {}

    def worth(self, action: Any) -> float:
        return float(np.sum(np.abs(action)))

    def _seen(self) -> Any:
        return np.array([self.sum, self.goal], dtype=np.float32)

    def render(self) -> Any:
        return f"<{self.sum:g} of {self.goal}>"


class Named(Adds):
    action_names = ("little", "more", "much")


class Masked(Adds):
    """Its second action is never possible, and an error."""

    def __init__(self, actions: int = 3) -> None:
        super().__init__()
        self.action_space = spaces.Discrete(actions, start=1)
        self.mask = np.array([1, 0, 1] + [0] * (actions - 3), np.int8)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        return super().reset(seed=seed)[0], {"action_mask": self.mask}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert action != 2
        seen, reward, over, cut, _ = super().step(action)
        return seen, reward, over, cut, {"action_mask": self.mask}


class Vector(Adds):
    def __init__(self) -> None:
        super().__init__()
        self.action_space = spaces.Box(-1, 1, (2,), np.float32)


class Pairs(Adds):
    def __init__(self) -> None:
        super().__init__()
        self.action_space = spaces.MultiDiscrete([3, 2])


class Words(Adds):
    def __init__(self) -> None:
        super().__init__()
        self.action_space = spaces.Text(max_length=5, charset="abc")

    def worth(self, action: Any) -> float:
        return float(len(action))


class Nested(Adds):
    def __init__(self) -> None:
        super().__init__()
        self.action_space = spaces.Dict({"how": spaces.Discrete(2), "far": spaces.Box(0, 5, (1,), np.float32)})

    def worth(self, action: Any) -> float:
        return float(action["how"] + action["far"][0])


class Unsteady(Adds):
    """Draws from the generator of the whole process."""

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return super().step(np.random.random())


def broken() -> Adds:
    raise RuntimeError("no display")
