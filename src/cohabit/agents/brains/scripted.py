"""Scripted brains: they follow a rule and need no model."""

from collections.abc import Sequence

from cohabit.model.action import Action, ActionResult, ActionSpace
from cohabit.model.observation import Goal, Observation
from cohabit.model.stream import Stream


class Scripted:
    """The base class of scripted brains. They keep no memory and make no plans."""

    quick = True  # called directly, not on a thread
    reads_choices = True  # False: it never looks at the legal actions, so the lab need not list them
    reads_text = True  # False: it never looks at the text, so the lab need not have it written
    looks = True  # False: it decides without an observation
    reflects = False  # whether it looks at the results of its actions: set for classes that override ``reflect``

    def __init_subclass__(cls) -> None:
        cls.reflects = cls.reflect is not Scripted.reflect

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
    """Chooses a random legal action. It can play every world that lists them."""

    reads_text = False

    def decide(self, observation: Observation) -> Action:
        choices = observation.choices
        if not choices:
            raise ValueError("this world does not list its legal actions, so a random player cannot play it")
        chosen = choices[self.stream.below(len(choices))]
        return Action(chosen["action"], chosen["params"], "a random legal action")


class NimMaster(Scripted):
    """Plays Nim perfectly: it leaves a multiple of four if possible."""

    def decide(self, observation: Observation) -> Action:
        stones = int(observation.status["stones"])
        n = stones % 4
        if n:
            return Action("take", {"n": n}, f"leaves {stones - n}, a multiple of four")
        return Action("take", {"n": 1}, "the heap is a multiple of four, so take as few as possible")
