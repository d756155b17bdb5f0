"""One turn of every game of a batch: the phases of the plain engine, as arithmetic on whole arrays."""

from typing import Any

from cohabit.worlds.statecraft.batch.arrays import Array, BatchOrders, BatchStanding, BatchTurn, by_pair
from cohabit.worlds.statecraft.batch.cessions import cede, land
from cohabit.worlds.statecraft.batch.limits import check_room
from cohabit.worlds.statecraft.batch.shares import divided
from cohabit.worlds.statecraft.rules import Rules

SENDERS, TARGETS = 1, 2
"""The axes of a table games x nations x others."""


def step(standing: BatchStanding, orders: BatchOrders, rules: Rules) -> tuple[BatchStanding, BatchTurn]:
    """The standings after this turn, and its ledgers. Nothing that is handed in is changed."""
    check_room(standing, orders, rules)
    xp, mils = standing.board.xp, standing.mils
    gross = land(xp, standing.owner, standing.board.size) * rules.c_money_per_territory
    sent = clamped(xp, orders.attacks, mils)
    attacking = xp.sum(sent, axis=TARGETS)
    defense = mils - attacking
    damage = xp.sum(sent, axis=SENDERS) * rules.c_damage_per_attack_mil
    available = xp.maximum(gross - damage, 0)
    upkeep, forced, after_upkeep = paid_upkeep(xp, available, mils, rules)
    bought = xp.minimum(orders.purchase, after_upkeep // rules.c_mil_purchase_price)
    after_purchases = after_upkeep - bought * rules.c_mil_purchase_price
    lost = attackers_losses(xp, sent, defense, rules)
    paid, left = paid_grants(xp, orders.grants, after_purchases)
    received = xp.sum(paid, axis=SENDERS)
    up, down = rules.trade_numerator, rules.trade_denominator
    welfare = left + received * up // down
    army = xp.maximum(mils - forced - lost, 0) + bought
    disbanded = xp.minimum(orders.disband, army)
    owner, cessions_done = cede(standing, orders)
    end = BatchStanding(
        board=standing.board, turn=standing.turn + 1, mils=army - disbanded, welfare=standing.welfare + welfare,
        owner=owner, capitals=standing.capitals,
    )  # fmt: skip
    turn = BatchTurn(
        orders=orders, gross_income=gross, attacks_clamped=sent, attacking_mils=attacking, defense_mils=defense,
        total_damage_received=damage, available_money=available, upkeep_cost=upkeep, mils_disbanded_upkeep=forced,
        money_after_upkeep=after_upkeep, mil_purchased=bought, money_after_purchases=after_purchases,
        mils_lost_by_attacker=lost, grants_paid=paid, trade_bonus=received * (up - down) // down,
        total_welfare_this_turn=welfare, mils_disbanded_voluntary=disbanded, cessions_done=cessions_done,
    )  # fmt: skip
    return end, turn


def clamped(xp: Any, attacks: Array, mils: Array) -> Array:
    """Phase 2: orders beyond the army are scaled down to exactly the army."""
    too_many = xp.sum(attacks, axis=TARGETS) > mils
    return xp.where(too_many[:, :, None], divided(xp, attacks, mils, TARGETS), attacks)


def paid_upkeep(xp: Any, money: Array, mils: Array, rules: Rules) -> tuple[Array, Array, Array]:
    """Phase 4: what the army costs, the mils that cannot be kept, and the money left."""
    price = rules.c_mil_upkeep_price
    cost = mils * price
    if not price:
        return cost, cost, money
    short = xp.maximum(cost - money, 0)
    forced = xp.minimum((short + (price - 1)) // price, mils)
    return cost, forced, xp.maximum(money - (cost - forced * price), 0)


def attackers_losses(xp: Any, sent: Array, defense: Array, rules: Rules) -> Array:
    """Phase 6: each target destroys so many, divided over its attackers by what each sent."""
    destroyed = defense // rules.c_defense_destroy_factor
    if rules.loss_cap == "committed":
        # Never more than all of them sent: then no share is more than its attacker sent either.
        destroyed = xp.minimum(destroyed, xp.sum(sent, axis=SENDERS))
    return xp.sum(divided(xp, sent, destroyed, SENDERS), axis=TARGETS)


def paid_grants(xp: Any, wanted: Array, money: Array) -> tuple[Array, Array]:
    """Phase 7: each giver pays its receivers in name order as long as there is money."""
    paid, left = [], money
    for want in xp.unstack(wanted, axis=TARGETS):
        paid.append(xp.minimum(want, left))
        left = left - paid[-1]
    return xp.permute_dims(by_pair(xp, paid), (0, 2, 1)), left
