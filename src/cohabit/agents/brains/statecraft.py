"""Brains for Statecraft: the scripted nations of that world, behind the interface of an agent."""

import importlib
import json
from typing import Any, ClassVar, Protocol

from cohabit.agents.brains.scripted import Scripted
from cohabit.model.action import Action
from cohabit.model.observation import Observation

NATIONS = "cohabit.worlds.statecraft.nations"
"""Found by its name, like every world: agents know no world by import."""


class _Nation(Protocol):
    def act(self, agent_input: dict[str, Any]) -> dict[str, Any]: ...


class Statesman(Scripted):
    """Plays a nation from what its observation holds: the status of a nation is its input object."""

    nation: ClassVar[str]

    def __init__(self, purpose: str = "agent") -> None:
        super().__init__(purpose)
        self.mind: _Nation = importlib.import_module(NATIONS).NATIONS[self.nation]()

    def decide(self, observation: Observation) -> Action | None:
        if "self" not in observation.status:  # the claim waits for its seat
            return None
        return Action(
            "submit", self.mind.act(agent_input(observation)), f"what the {self.nation.replace('_', ' ')} does"
        )


def agent_input(observation: Observation) -> dict[str, Any]:
    """The input object that the observation was made from, without its news and reports in words."""
    known = dict(observation.status)
    if isinstance(known.get("messages"), str):
        known["messages"] = json.loads(known["messages"])
    return known


class Passive(Statesman):
    nation = "passive"


class Trader(Statesman):
    nation = "trader"


class RingBuilder(Statesman):
    nation = "ring_builder"


class FreeRider(Statesman):
    nation = "free_rider"


class Hawk(Statesman):
    nation = "hawk"


class Grudger(Statesman):
    nation = "grudger"


class TitForTat(Statesman):
    nation = "tit_for_tat"


class Opportunist(Statesman):
    nation = "opportunist"


class PeaceEnforcer(Statesman):
    nation = "peace_enforcer"
