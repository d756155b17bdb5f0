"""The memory, messages and tools of an agent, and the two WSAP prompts."""

from __future__ import annotations

import inspect
from typing import Literal, get_args

import msgspec

from cohabit.model.action import Action, ActionSpace, ParamDef
from cohabit.model.observation import Observation

MessageType = Literal["broadcast", "direct", "team"]


class HistoryEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One remembered step: the observation as text, the action, and its result."""

    step: int
    action: Action
    message: str = ""
    reward: float = 0.0
    observation: str = ""


class Memory(msgspec.Struct, frozen=True, omit_defaults=True):
    """The memory of an agent: facts about the world, plans, and past steps, oldest first."""

    facts: list[str] = []
    plans: list[str] = []
    history: list[HistoryEntry] = []


class AgentMessage(msgspec.Struct, frozen=True, omit_defaults=True):
    """A message from one agent to others."""

    sender: str
    content: str
    type: MessageType = "broadcast"

    def __post_init__(self) -> None:
        if not self.sender:
            raise ValueError("a message must have a sender")
        if self.type not in get_args(MessageType):
            raise ValueError(
                f"the type of a message must be one of {', '.join(get_args(MessageType))}, not {self.type!r}"
            )


class Tool(msgspec.Struct, frozen=True, omit_defaults=True):
    """A tool outside the world that an agent can use, such as a calculator or a wiki."""

    name: str
    description: str = ""
    parameters: list[ParamDef] = []

    def __post_init__(self) -> None:
        if not self.name:
            raise ValueError("a tool name must not be empty")


def system_message(game_name: str, game_description: str, action_space: ActionSpace) -> str:
    """The system prompt of a model, sent once before the first step."""
    return (
        f"You are an agent playing {game_name}.\n\n"
        f"{inspect.cleandoc(game_description)}\n\n"
        f"Available actions:\n{action_space.to_text()}\n\n"
        "Your goal is to survive and accomplish objectives. Respond with a JSON action."
    )


def step_message(observation: Observation) -> str:
    """The prompt of a model in each step."""
    return (
        f"{observation.to_text()}\n\n"
        'What action do you take? Respond with JSON: {"action": "name", "params": {}, "reasoning": "why"}'
    )
