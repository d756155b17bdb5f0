"""What a mind is: the agent interface of WSAP."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from msgspec import Struct

from cohabit.model.action import Action, ActionResult, ActionSpace
from cohabit.model.observation import Goal, Observation


class Heard(Struct, frozen=True):
    """A message to an agent. ``seat`` is the seat of its sender, if it has one."""

    sender: str
    content: str
    seat: str | None = None


@runtime_checkable
class Listener(Protocol):
    """An agent that reads its messages."""

    def hear(self, message: Heard) -> None:
        """Called once for every message, before the next decision."""


class Agent(Protocol):
    """A mind that plays through observations and actions. What it thinks with is its own affair."""

    def initialize(self, game_desc: str, action_space: ActionSpace) -> None:
        """Called once, with what the world is and what can be done in it."""

    def decide(self, observation: Observation) -> Action | None:
        """Choose an action; None: nothing now. Runs off the event loop, so it may take its time."""

    def reflect(self, result: ActionResult) -> None:
        """Learn what came of it."""

    def plan(self, goals: Sequence[Goal]) -> list[str]:
        """Say how it means to reach its goals."""
