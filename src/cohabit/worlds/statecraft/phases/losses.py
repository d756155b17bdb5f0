"""Phase 6: mils that stayed at home destroy attackers, in proportion to what each one sent. Defenders lose none."""

from typing import Any

from cohabit.worlds.statecraft.ledgers import Amounts, Ledgers, Standing
from cohabit.worlds.statecraft.rules import Rules
from cohabit.worlds.statecraft.shares import split


def losses(standing: Standing, ledgers: Ledgers, rules: Rules) -> dict[str, Any]:
    factor, committed = rules.c_defense_destroy_factor, rules.loss_cap == "committed"
    lost: Amounts = dict.fromkeys(ledgers.d_global_attacked, 0)
    for name, attackers in ledgers.d_global_attacked.items():
        destroyed = ledgers.d_defense_mils[name] // factor
        if not attackers or not destroyed:
            continue
        if committed:
            destroyed = min(destroyed, sum(attackers.values()))
        for attacker, mils in split(destroyed, attackers).items():
            lost[attacker] += mils
    return {"d_mils_lost_by_attacker": lost}
