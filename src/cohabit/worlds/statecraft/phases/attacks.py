"""Phase 2: nobody sends more mils than it has; who ordered more sends them all, in the proportions of its orders."""

from typing import Any

from cohabit.worlds.statecraft.ledgers import Amounts, Flows, Ledgers, Standing
from cohabit.worlds.statecraft.rules import Rules
from cohabit.worlds.statecraft.shares import split


def attacks(standing: Standing, ledgers: Ledgers, rules: Rules) -> dict[str, Any]:
    clamped: Flows = {}
    attacked: Flows = {name: {} for name in ledgers.d_global_attacks}
    sent: Amounts = {}
    defence: Amounts = {}
    for name, orders in ledgers.d_global_attacks.items():
        army, ordered = standing.mils[name], sum(orders.values())
        if ordered > army:
            orders, ordered = split(army, orders), army
        clamped[name] = orders
        sent[name] = ordered
        defence[name] = army - ordered
        for target, mils in orders.items():
            attacked[target][name] = mils
    return {
        "d_attacks_clamped": clamped,
        "d_global_attacked": attacked,
        "d_attacking_mils": sent,
        "d_defense_mils": defence,
    }
