"""Brains by name, loaded when somebody asks for one."""

import importlib

from cohabit.agents.contract import Agent
from cohabit.errors import UnknownAsset
from cohabit.model.suggest import nearest

BRAINS = {
    "random": "cohabit.agents.brains.scripted:Random",
    "nim-master": "cohabit.agents.brains.scripted:NimMaster",
    "lamplighter": "cohabit.agents.brains.lanterns:Lamplighter",
    "warlord": "cohabit.agents.brains.kingdoms.kings:Warlord",
    "steward": "cohabit.agents.brains.kingdoms.kings:Steward",
    "ecologist": "cohabit.agents.brains.kingdoms.gods:Ecologist",
    "civilizer": "cohabit.agents.brains.kingdoms.gods:Civilizer",
    "calamity": "cohabit.agents.brains.kingdoms.gods:Calamity",
    "dungeon-master": "cohabit.agents.brains.kingdoms.story:DungeonMaster",
    "chronicler": "cohabit.agents.brains.kingdoms.story:Chronicler",
    "passive": "cohabit.agents.brains.statecraft:Passive",
    "trader": "cohabit.agents.brains.statecraft:Trader",
    "ring-builder": "cohabit.agents.brains.statecraft:RingBuilder",
    "free-rider": "cohabit.agents.brains.statecraft:FreeRider",
    "hawk": "cohabit.agents.brains.statecraft:Hawk",
    "grudger": "cohabit.agents.brains.statecraft:Grudger",
    "tit-for-tat": "cohabit.agents.brains.statecraft:TitForTat",
    "opportunist": "cohabit.agents.brains.statecraft:Opportunist",
    "peace-enforcer": "cohabit.agents.brains.statecraft:PeaceEnforcer",
}


def make_agent(name: str, world: str, purpose: str) -> Agent:
    """The brain of that name; ``purpose`` seeds whatever it draws, so that it plays the same way again."""
    if name not in BRAINS:
        raise UnknownAsset(f"there is no brain {name!r}", did_you_mean=nearest(name, list(BRAINS), 2))
    module, _, attribute = BRAINS[name].partition(":")
    agent: Agent = getattr(importlib.import_module(module), attribute)(purpose)
    return agent
