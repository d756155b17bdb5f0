"""Phase 4: armies are paid, those away included. Mils that cannot be paid are dismissed; small change is kept."""

from typing import Any

from cohabit.worlds.statecraft.ledgers import Amounts, Ledgers, Standing
from cohabit.worlds.statecraft.rules import Rules


def upkeep(standing: Standing, ledgers: Ledgers, rules: Rules) -> dict[str, Any]:
    price = rules.c_mil_upkeep_price
    costs: Amounts = {}
    forced: Amounts = {}
    left: Amounts = {}
    for name, money in ledgers.d_available_money.items():
        army = standing.mils[name]
        costs[name] = cost = army * price
        dismissed = 0 if money >= cost else min(-((money - cost) // price), army)  # rounded up
        forced[name] = dismissed
        left[name] = max(money - (cost - dismissed * price), 0)
    return {"d_upkeep_cost": costs, "d_mils_disbanded_upkeep": forced, "d_money_after_upkeep": left}
