"""A class that plays a nation by its input object: ``act(agent_input)``, the interface of experiments.

Such a class in a file is an agent like any other, so it has a process of its own.
"""

import json
from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from cohabit.agents.brains.statecraft import TRAITS, read_input
from cohabit.errors import UnknownAsset
from cohabit.model.action import Action
from cohabit.model.observation import Observation
from cohabit.model.suggest import nearest
from cohabit.worlds.statecraft.fields import type_name


class Player(Protocol):
    """The interface of a player."""

    def act(self, agent_input: dict[str, Any]) -> Any: ...


class NationAgent:
    """A player as an agent: it gets the input object, and its answer is submitted as it is."""

    reads_choices = False

    def __init__(self, player: Player, scripted: bool = False) -> None:
        """Only scripted nations are trusted to answer in time."""
        self.player = player
        self.quick = scripted
        self.reads_text = not scripted

    def decide(self, observation: Observation) -> Action | None:
        if "self" not in observation.status:  # this player has no seat yet
            return None
        answer = self.player.act(read_input(observation))
        return Action("submit", {"answer": _as_text(answer), "accept_drops": True})


def nation_of_class(made: Callable[..., Player], trait: str = "") -> NationAgent:
    """An agent from a class, which gets the text of a trait if one is named."""
    if not trait:
        return NationAgent(made())
    if trait not in TRAITS:
        raise UnknownAsset(
            f"unknown trait {trait!r}; the traits are {', '.join(TRAITS)}",
            did_you_mean=nearest(trait, list(TRAITS), 2),
        )
    return NationAgent(made(TRAITS[trait]))


def _as_text(answer: Any) -> str:
    """An answer as JSON, for the record; a text as it is. What JSON does not have becomes the name of its type."""
    if isinstance(answer, str):
        return answer
    if isinstance(answer, bytes | bytearray):
        return answer.decode(errors="replace")
    try:
        return msgspec.json.encode(answer).decode()
    except (TypeError, ValueError, OverflowError, RecursionError):
        return json.dumps(answer, default=type_name)
