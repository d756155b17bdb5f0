"""Every name of the Wild Spaces Agent Protocol, so that code written from its text needs one import:

from cohabit.protocols.wsap import *
"""

from collections.abc import Sequence
from typing import Protocol

from cohabit.adapter import GameAdapter
from cohabit.model.action import Action, ActionDef, ActionResult, ActionSpace, ParamDef
from cohabit.model.avatar import (
    AVATAR_ACTIONS,
    Avatar,
    AvatarRoster,
    AvatarSpec,
    AvatarState,
    DeathEvent,
    EmbodiedObservation,
    JackInResult,
    JackOutResult,
    RespawnOption,
)
from cohabit.model.mind import AgentMessage, HistoryEntry, Memory, Tool, step_message, system_message
from cohabit.model.observation import Achievement, Effect, Entity, Event, Goal, Location, Observation, Terrain
from cohabit.protocols.wsap.embodied import AvatarGameAdapter, as_avatar_adapter
from cohabit.protocols.wsap.one_seat import as_adapter

__all__ = [
    "AVATAR_ACTIONS", "Achievement", "Action", "ActionDef", "ActionResult", "ActionSpace", "Agent", "AgentMessage",
    "Avatar", "AvatarGameAdapter", "AvatarRoster", "AvatarSpec", "AvatarState", "DeathEvent", "Effect",
    "EmbodiedObservation", "Entity", "Event", "GameAdapter", "Goal", "HistoryEntry", "JackInResult", "JackOutResult",
    "Location", "Memory", "Observation", "ParamDef", "RespawnOption", "Terrain", "Tool", "as_adapter",
    "as_avatar_adapter", "step_message", "system_message",
]  # fmt: skip


class Agent(Protocol):
    """An agent as the protocol defines it: synchronous. ``agents.contract.adapted`` makes the runner's form of it."""

    def initialize(self, game_desc: str, action_space: ActionSpace) -> None:
        """Called once with what the game is and what can be done in it."""

    def decide(self, observation: Observation) -> Action:
        """Choose an action."""
        raise NotImplementedError

    def reflect(self, result: ActionResult) -> None:
        """Learn the outcome of the action."""

    def plan(self, goals: Sequence[Goal]) -> list[str]:
        """Say how to reach the goals."""
        return []
