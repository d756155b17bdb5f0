"""Brains for tests: they act as scripted, and keep what they saw."""

from collections.abc import Iterable, Sequence

from cohabit.model.action import Action, ActionResult, ActionSpace
from cohabit.model.observation import Goal, Observation


class _Recording:
    """Keeps everything that it is given."""

    def __init__(self) -> None:
        self.game = ""
        self.actions = ActionSpace()
        self.seen: list[Observation] = []
        self.results: list[ActionResult] = []

    def initialize(self, game_desc: str, action_space: ActionSpace) -> None:
        self.game, self.actions = game_desc, action_space

    def reflect(self, result: ActionResult) -> None:
        self.results.append(result)

    def plan(self, goals: Sequence[Goal]) -> list[str]:
        return [goal.description for goal in goals]


class Script(_Recording):
    """Does these actions, one after another; after the last one it raises."""

    def __init__(self, actions: Iterable[Action | str]) -> None:
        super().__init__()
        self.left = [_action(action) for action in actions]

    def decide(self, observation: Observation) -> Action:
        self.seen.append(observation)
        if not self.left:
            raise ValueError(f"the script ended after {len(self.seen) - 1} actions")
        return self.left.pop(0)


class Always(_Recording):
    """Does the same action every time."""

    def __init__(self, action: Action | str) -> None:
        super().__init__()
        self.action = _action(action)

    def decide(self, observation: Observation) -> Action:
        self.seen.append(observation)
        return self.action


def _action(action: Action | str) -> Action:
    return Action(action) if isinstance(action, str) else action
