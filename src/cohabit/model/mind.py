"""What a mind keeps, says and reads: memory, messages, tools, and the two prompts of the protocol."""

from __future__ import annotations

import inspect
from typing import Literal, get_args

import msgspec

from cohabit.model.action import Action, ActionSpace, ParamDef
from cohabit.model.observation import Observation

MessageType = Literal["broadcast", "direct", "team"]


class HistoryEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One step as it is remembered: what was seen (as text), what was done, what came of it."""

    step: int
    action: Action
    message: str = ""
    reward: float = 0.0
    observation: str = ""


class Memory(msgspec.Struct, frozen=True, omit_defaults=True):
    """What an agent takes along: facts about the world, plans, and past steps, oldest first."""

    facts: list[str] = []
    plans: list[str] = []
    history: list[HistoryEntry] = []


class AgentMessage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something one agent says to others."""

    sender: str
    content: str
    type: MessageType = "broadcast"

    def __post_init__(self) -> None:
        if not self.sender:
            raise ValueError("a message needs a sender")
        if self.type not in get_args(MessageType):
            raise ValueError(f"a message is one of {', '.join(get_args(MessageType))}, not {self.type!r}")


class Tool(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something outside the world that an agent can use: a calculator, a wiki."""

    name: str
    description: str = ""
    parameters: list[ParamDef] = []

    def __post_init__(self) -> None:
        if not self.name:
            raise ValueError("a tool's name must not be empty")


def system_message(game_name: str, game_description: str, action_space: ActionSpace) -> str:
    """What a model is told once, before the first step."""
    return (
        f"You are an agent playing {game_name}.\n\n"
        f"{inspect.cleandoc(game_description)}\n\n"
        f"Available actions:\n{action_space.to_text()}\n\n"
        "Your goal is to survive and accomplish objectives. Respond with a JSON action."
    )


def step_message(observation: Observation) -> str:
    """What a model is told each step."""
    return (
        f"{observation.to_text()}\n\n"
        'What action do you take? Respond with JSON: {"action": "name", "params": {}, "reasoning": "why"}'
    )
