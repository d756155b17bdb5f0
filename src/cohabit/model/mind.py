"""The memory, messages and tools of an agent, and the two WSAP prompts."""

from __future__ import annotations

import inspect
import json
from typing import Literal, get_args

import msgspec

from cohabit.model.action import Action, ActionSpace, ParamDef
from cohabit.model.observation import Observation, one_line
from cohabit.model.value import Value

MessageType = Literal["broadcast", "direct", "team"]


class HistoryEntry(msgspec.Struct, Value, frozen=True, omit_defaults=True):
    """One remembered step: the observation as text, the action, and its result."""

    step: int
    action: Action
    message: str = ""
    reward: float = 0.0
    observation: str = ""

    def to_text(self) -> str:
        text = f"Step {self.step}: {self.action.text}"
        if self.message:
            text += f" -> {one_line(self.message)}"
        return f"{text} (reward {self.reward:g})" if self.reward else text


class Memory(msgspec.Struct, Value, frozen=True, omit_defaults=True):
    """The memory of an agent: facts about the world, plans, and past steps, oldest first."""

    facts: list[str] = []
    plans: list[str] = []
    history: list[HistoryEntry] = []

    def to_text(self) -> str:
        """Facts, plans and past steps, each as a list. Empty sections are left out."""
        sections = {
            "FACTS": [one_line(fact) for fact in self.facts],
            "PLANS": [one_line(plan) for plan in self.plans],
            "HISTORY": [entry.to_text() for entry in self.history],
        }
        return "\n\n".join(
            "\n".join([f"{title}:", *(f"- {line}" for line in lines)]) for title, lines in sections.items() if lines
        )


class AgentMessage(msgspec.Struct, Value, frozen=True, omit_defaults=True):
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

    def to_text(self) -> str:
        """Quoted and attributed, because it is what another agent wrote."""
        return f"{one_line(self.sender)} ({self.type}): {json.dumps(self.content, ensure_ascii=False)}"


class Tool(msgspec.Struct, Value, frozen=True, omit_defaults=True):
    """A tool outside the world that an agent can use, such as a calculator or a wiki."""

    name: str
    description: str = ""
    parameters: list[ParamDef] = []

    def __post_init__(self) -> None:
        if not self.name:
            raise ValueError("a tool name must not be empty")

    def to_text(self) -> str:
        lines = [one_line(f"- {self.name}: {self.description}").removesuffix(":")]
        return "\n".join([*lines, *(f"    {parameter.to_text()}" for parameter in self.parameters)])


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
