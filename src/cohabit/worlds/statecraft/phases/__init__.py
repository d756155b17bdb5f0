"""The phases of a turn, in order. Each is a function of the standing, the ledgers so far and the rules.

A phase reads only what earlier phases wrote, changes nothing, and returns the ledgers that it adds, by name.
"""

from collections.abc import Callable
from typing import Any

from cohabit.worlds.statecraft.ledgers import Ledgers, Standing
from cohabit.worlds.statecraft.phases.attacks import attacks
from cohabit.worlds.statecraft.phases.damage import damage
from cohabit.worlds.statecraft.phases.income import income
from cohabit.worlds.statecraft.phases.losses import losses
from cohabit.worlds.statecraft.phases.purchases import purchases
from cohabit.worlds.statecraft.phases.upkeep import upkeep
from cohabit.worlds.statecraft.phases.welfare import welfare
from cohabit.worlds.statecraft.rules import Rules

Phase = Callable[[Standing, Ledgers, Rules], dict[str, Any]]

PHASES: tuple[Phase, ...] = (income, attacks, damage, upkeep, purchases, losses, welfare)
"""1 to 7. What follows makes the next standing: ``closing`` (8) and ``history`` (10); 9, the reports, only reads."""
