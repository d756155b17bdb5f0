"""Scripted nations: deterministic, memoryless but for their own history text, and worth playing against."""

from cohabit.worlds.statecraft.nations.base import Nation
from cohabit.worlds.statecraft.nations.fighters import Hawk, Opportunist, PeaceEnforcer
from cohabit.worlds.statecraft.nations.givers import FreeRider, Passive, RingBuilder, Trader
from cohabit.worlds.statecraft.nations.mirrors import Grudger, TitForTat
from cohabit.worlds.statecraft.nations.traits import TRAITS

__all__ = ["NATIONS", "TRAITS", "Nation"]

NATIONS: dict[str, type[Nation]] = {
    "passive": Passive,
    "trader": Trader,
    "ring_builder": RingBuilder,
    "free_rider": FreeRider,
    "hawk": Hawk,
    "grudger": Grudger,
    "tit_for_tat": TitForTat,
    "opportunist": Opportunist,
    "peace_enforcer": PeaceEnforcer,
}
