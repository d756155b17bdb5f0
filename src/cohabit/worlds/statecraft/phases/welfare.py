"""Phase 7: money is given, and what is left of it, with the worth of what was received, is the welfare of the turn.

Money received is worth ``c_trade_factor`` times as much, and cannot be spent or given on.
"""

from typing import Any

from cohabit.worlds.statecraft.ledgers import Amounts, Flows, Ledgers, Standing
from cohabit.worlds.statecraft.rules import Rules


def welfare(standing: Standing, ledgers: Ledgers, rules: Rules) -> dict[str, Any]:
    paid: Flows = {}
    received: Flows = {name: {} for name in ledgers.d_money_grants}
    left: Amounts = {}
    for giver, wanted in ledgers.d_money_grants.items():
        money = ledgers.d_money_after_purchases[giver]
        given: Amounts = {}
        for receiver, amount in wanted.items():  # by name, as intake wrote them
            if not money:
                break
            given[receiver] = received[receiver][giver] = amount = min(amount, money)
            money -= amount
        paid[giver], left[giver] = given, money
    up, down = rules.trade_numerator, rules.trade_denominator
    bonus: Amounts = {}
    gained: Amounts = {}
    for name, givers in received.items():
        got = sum(givers.values())
        bonus[name] = got * (up - down) // down
        gained[name] = left[name] + got * up // down
    return {
        "d_grants_paid": paid,
        "d_grants_received": received,
        "d_trade_bonus": bonus,
        "d_total_welfare_this_turn": gained,
    }
