"""Brains that follow a rule: quick, free and always there."""

from collections.abc import Sequence

from cohabit.model.action import Action, ActionResult, ActionSpace
from cohabit.model.observation import Goal, Observation
from cohabit.model.stream import Stream


class Scripted:
    """What scripted brains share: no memory, no plan."""

    def __init__(self, purpose: str = "agent") -> None:
        self.stream = Stream(0, purpose)

    def initialize(self, game_desc: str, action_space: ActionSpace) -> None:
        self.actions = action_space

    def decide(self, observation: Observation) -> Action | None:
        raise NotImplementedError

    def reflect(self, result: ActionResult) -> None:
        pass

    def plan(self, goals: Sequence[Goal]) -> list[str]:
        return [goal.description for goal in goals]


class Random(Scripted):
    """Takes any of the actions that are open; plays every world that lists them."""

    def decide(self, observation: Observation) -> Action:
        if not observation.choices:
            raise ValueError("this world does not list what can be done, so a random player cannot play it")
        chosen = self.stream.choice(observation.choices)
        return Action(chosen["action"], chosen["params"], "any of the open ones")


class NimMaster(Scripted):
    """Plays Nim perfectly: leaves a multiple of four wherever that is possible."""

    def decide(self, observation: Observation) -> Action:
        stones = int(observation.status["stones"])
        n = stones % 4
        if n:
            return Action("take", {"n": n}, f"leaves {stones - n}, a multiple of four")
        return Action("take", {"n": 1}, "the heap is a multiple of four: play for time")
