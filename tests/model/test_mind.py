"""Memory, messages, tools, and the two prompts."""

import msgspec
import pytest

from cohabit.model.action import Action, ActionDef, ActionSpace, ParamDef
from cohabit.model.mind import AgentMessage, HistoryEntry, Memory, Tool, step_message, system_message
from cohabit.model.observation import Observation


def test_the_system_message_contains_the_game_its_description_and_its_actions() -> None:
    description = """
        Stay alive.

          Sleep at night.
        """
    assert system_message("Crafter", description, ActionSpace([ActionDef("noop", "Do nothing")])) == (
        "You are an agent playing Crafter.\n\n"
        "Stay alive.\n\n  Sleep at night.\n\n"
        "Available actions:\n- noop [general]: Do nothing\n\n"
        "Your goal is to survive and accomplish objectives. Respond with a JSON action."
    )


def test_the_step_message_ends_with_the_question() -> None:
    assert step_message(Observation(step=4)) == (
        'Step 4\n\nWhat action do you take? Respond with JSON: {"action": "name", "params": {}, "reasoning": "why"}'
    )


def test_a_memory_can_be_encoded_and_decoded() -> None:
    memory = Memory(["A village lies north"], ["Make a pickaxe"], [HistoryEntry(1, Action("noop"), "Nothing", 0.5)])
    assert msgspec.json.decode(msgspec.json.encode(memory), type=Memory) == memory


def test_invalid_messages_and_tools_are_refused() -> None:
    assert AgentMessage("ada", "hello").type == "broadcast"
    with pytest.raises(ValueError, match="broadcast, direct, team"):
        AgentMessage("ada", "hello", "shout")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="empty"):
        Tool("", "Adds numbers", [ParamDef("numbers")])
