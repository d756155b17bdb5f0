"""Phase 1: land earns money."""

from typing import Any

from cohabit.worlds.statecraft.ledgers import Ledgers, Standing
from cohabit.worlds.statecraft.rules import Rules


def income(standing: Standing, ledgers: Ledgers, rules: Rules) -> dict[str, Any]:
    each, land = rules.c_money_per_territory, standing.territories
    return {"d_gross_income": {name: len(land.get(name, ())) * each for name in ledgers.d_mil_purchase_intent}}
