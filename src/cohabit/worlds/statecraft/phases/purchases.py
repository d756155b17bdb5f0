"""Phase 5: mils are bought, as many as were wanted and can be paid."""

from typing import Any

from cohabit.worlds.statecraft.ledgers import Amounts, Ledgers, Standing
from cohabit.worlds.statecraft.rules import Rules


def purchases(standing: Standing, ledgers: Ledgers, rules: Rules) -> dict[str, Any]:
    price, wanted = rules.c_mil_purchase_price, ledgers.d_mil_purchase_intent
    bought: Amounts = {}
    left: Amounts = {}
    for name, money in ledgers.d_money_after_upkeep.items():
        bought[name] = mils = min(wanted[name], money // price)
        left[name] = money - mils * price
    return {"d_mil_purchased": bought, "d_money_after_purchases": left}
