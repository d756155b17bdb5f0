"""Phase 3: every mil sent at somebody burns some of its income. Defence does not help."""

from typing import Any

from cohabit.worlds.statecraft.ledgers import Amounts, Flows, Ledgers, Standing
from cohabit.worlds.statecraft.rules import Rules


def damage(standing: Standing, ledgers: Ledgers, rules: Rules) -> dict[str, Any]:
    each = rules.c_damage_per_attack_mil
    gross = ledgers.d_gross_income
    received: Flows = {}
    total: Amounts = {}
    money: Amounts = {}
    for name, attackers in ledgers.d_global_attacked.items():
        received[name] = {attacker: mils * each for attacker, mils in attackers.items()}
        total[name] = burnt = sum(attackers.values()) * each
        money[name] = max(gross[name] - burnt, 0)
    return {"d_damage_received": received, "d_total_damage_received": total, "d_available_money": money}
