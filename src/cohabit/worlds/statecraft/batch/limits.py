"""Whole numbers of 64 bits are exact until they overflow: a batch whose numbers could is refused before it starts."""

from cohabit.errors import BadArgs
from cohabit.worlds.statecraft.batch.arrays import BatchOrders, BatchStanding
from cohabit.worlds.statecraft.rules import Rules

LARGEST = 2**63 - 1


def check_room(standing: BatchStanding, orders: BatchOrders, rules: Rules) -> None:
    """BadArgs where a number of this turn might not fit, or is negative. The plain engine has no such limit."""
    xp, n = standing.board.xp, standing.board.size
    for name in ("purchase", "attacks", "grants", "disband"):
        if int(xp.min(getattr(orders, name))) < 0:
            raise BadArgs(f"{name}: must not be negative")
    mils, ordered = int(xp.max(standing.mils)), int(xp.max(orders.attacks))
    income = len(standing.board.territories) * rules.c_money_per_territory
    trade = income * (rules.trade_numerator + rules.trade_denominator)
    worst = {
        "attacks": max(ordered, mils) * max(mils, 1) * n * n,  # shares of a clamp, and of losses, with room for ties
        "c_damage_per_attack_mil": mils * n * rules.c_damage_per_attack_mil,
        "c_mil_upkeep_price": mils * rules.c_mil_upkeep_price,
        "c_trade_factor": trade + int(xp.max(standing.welfare)),
    }
    for name, number in worst.items():
        if number > LARGEST:
            raise BadArgs(f"{name}: too large for a batch, whose numbers have 64 bits; play such games one by one")
