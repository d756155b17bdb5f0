"""One turn of every game of a batch: the phases of the plain engine as array arithmetic."""

from typing import Any

from cohabit.errors import BadArgs
from cohabit.worlds.statecraft.batch import arrays
from cohabit.worlds.statecraft.batch.arrays import Array, BatchLedgers, BatchOrders, BatchState, Board
from cohabit.worlds.statecraft.rules import Rules

SENDERS, TARGETS = 1, 2
"""The axes of an array of games x nations x others."""
MAX_INT64 = 2**63 - 1
MAX_PAIRWISE_PARTS = 24
"""Beyond this number of parts, sorting is faster than comparing each with each."""


def step(state: BatchState, orders: BatchOrders, rules: Rules) -> tuple[BatchState, BatchLedgers]:
    """The state after this turn, and its ledgers. The arguments are not changed."""
    check_range(state, orders, rules)
    xp, mils = state.xp, state.mils
    gross = count_territories(xp, state.owner, state.board.size) * rules.c_money_per_territory
    sent = clamp_attacks(xp, orders.attacks, mils)
    attacking = xp.sum(sent, axis=TARGETS)
    defense = mils - attacking
    damage = xp.sum(sent, axis=SENDERS) * rules.c_damage_per_attack_mil
    available = xp.maximum(gross - damage, 0)
    upkeep, forced, after_upkeep = pay_upkeep(xp, available, mils, rules)
    bought = xp.minimum(orders.purchase, after_upkeep // rules.c_mil_purchase_price)
    after_purchases = after_upkeep - bought * rules.c_mil_purchase_price
    lost = attacker_losses(xp, sent, defense, rules)
    paid, left = pay_grants(xp, orders.grants, after_purchases)
    received = xp.sum(paid, axis=SENDERS)
    numerator, denominator = rules.trade_numerator, rules.trade_denominator
    welfare = left + received * numerator // denominator
    army = xp.maximum(mils - forced - lost, 0) + bought
    disbanded = xp.minimum(orders.disband, army)
    owner, cessions_done = cede(state, orders)
    end = BatchState(
        board=state.board, turn=state.turn + 1, mils=army - disbanded, welfare=state.welfare + welfare,
        owner=owner, capitals=state.capitals,
    )  # fmt: skip
    ledgers = BatchLedgers(
        orders=orders, gross_income=gross, attacks_clamped=sent, attacking_mils=attacking, defense_mils=defense,
        total_damage_received=damage, available_money=available, upkeep_cost=upkeep, mils_disbanded_upkeep=forced,
        money_after_upkeep=after_upkeep, mil_purchased=bought, money_after_purchases=after_purchases,
        mils_lost_by_attacker=lost, grants_paid=paid,
        trade_bonus=received * (numerator - denominator) // denominator,
        total_welfare_this_turn=welfare, mils_disbanded_voluntary=disbanded, cessions_done=cessions_done,
    )  # fmt: skip
    return end, ledgers


def check_range(state: BatchState, orders: BatchOrders, rules: Rules) -> None:
    """BadArgs if an order is negative or a number of this turn could overflow 64 bits."""
    xp, n = state.xp, state.board.size
    for name in ("purchase", "attacks", "grants", "disband"):
        if int(xp.min(getattr(orders, name))) < 0:
            raise BadArgs(f"{name}: must not be negative")
    mils, ordered = int(xp.max(state.mils)), int(xp.max(orders.attacks))
    income = len(state.board.territories) * rules.c_money_per_territory
    trade = income * (rules.trade_numerator + rules.trade_denominator)
    largest = {
        "attacks": max(ordered, mils) * max(mils, 1) * n * n,  # the keys that break ties when mils are divided
        "c_damage_per_attack_mil": mils * n * rules.c_damage_per_attack_mil,
        "c_mil_upkeep_price": mils * rules.c_mil_upkeep_price,
        "c_trade_factor": trade + int(xp.max(state.welfare)),
    }
    for name, number in largest.items():
        if number > MAX_INT64:
            raise BadArgs(f"{name}: too large for the 64-bit integers of a batch; play such games one by one")


def count_territories(xp: Any, owner: Array, nations: int) -> Array:
    """games x nations: how many territories each nation owns."""
    counts = [xp.sum(xp.astype(owner == nation, xp.int32), axis=1, dtype=xp.int32) for nation in range(nations)]
    return xp.astype(arrays.by_nation(xp, counts), xp.int64)


def clamp_attacks(xp: Any, attacks: Array, mils: Array) -> Array:
    """Phase 2: orders that exceed the army are scaled down to exactly the army."""
    too_many = xp.sum(attacks, axis=TARGETS) > mils
    return xp.where(too_many[:, :, None], divide_proportionally(xp, attacks, mils, TARGETS), attacks)


def pay_upkeep(xp: Any, money: Array, mils: Array, rules: Rules) -> tuple[Array, Array, Array]:
    """Phase 4: the cost of the army, the mils that cannot be paid, and the remaining money."""
    price = rules.c_mil_upkeep_price
    cost = mils * price
    if not price:
        return cost, cost, money
    missing = xp.maximum(cost - money, 0)
    forced = xp.minimum((missing + (price - 1)) // price, mils)
    return cost, forced, xp.maximum(money - (cost - forced * price), 0)


def attacker_losses(xp: Any, sent: Array, defense: Array, rules: Rules) -> Array:
    """Phase 6: the mils destroyed at each target, divided among its attackers by what each sent."""
    destroyed = defense // rules.c_defense_destroy_factor
    if rules.loss_cap == "committed":
        # At most the total that was sent, and then no attacker's share exceeds what it sent either.
        destroyed = xp.minimum(destroyed, xp.sum(sent, axis=SENDERS))
    return xp.sum(divide_proportionally(xp, sent, destroyed, SENDERS), axis=TARGETS)


def pay_grants(xp: Any, ordered: Array, money: Array) -> tuple[Array, Array]:
    """Phase 7: each giver pays its receivers in name order while its money lasts."""
    paid, left = [], money
    for amount in xp.unstack(ordered, axis=TARGETS):
        paid.append(xp.minimum(amount, left))
        left = left - paid[-1]
    return xp.permute_dims(arrays.by_pair(xp, paid), (0, 2, 1)), left


# -- proportional division ------------------------------------------------------------------------
def divide_proportionally(xp: Any, parts: Array, whole: Array, axis: int) -> Array:
    """``whole`` divided along ``axis`` in proportion to ``parts`` by largest remainder; 0 if all parts are 0.

    Shares are rounded down, and the remaining units go, one each, to the largest remainders; ties go to the smaller
    name. There are always fewer units left than parts with a remainder, so a part that divides exactly gets none.
    """
    total = xp.sum(parts, axis=axis, keepdims=True)
    whole = xp.where(total > 0, xp.expand_dims(whole, axis=axis), 0)
    scaled = parts * whole
    total = xp.maximum(total, 1)
    units = scaled // total
    remaining = whole - xp.sum(units, axis=axis, keepdims=True)
    return units + xp.astype(_is_among_largest(xp, scaled - units * total, remaining, axis), xp.int64)


def _is_among_largest(xp: Any, remainders: Array, count: Array, axis: int) -> Array:
    """True for the ``count`` largest remainders; of equal ones, for those that come first."""
    n = remainders.shape[axis]
    shape = [1] * remainders.ndim
    shape[axis] = n
    last_first = xp.reshape(xp.arange(n - 1, -1, -1, dtype=xp.int64), tuple(shape))
    keys = remainders * n + last_first  # all different, so that there are no ties
    if n > MAX_PAIRWISE_PARTS:
        # Ascending, because NumPy's own sort does not support the standard's `descending`.
        smallest = xp.take_along_axis(xp.sort(keys, axis=axis), xp.minimum(n - count, n - 1), axis=axis)
        return (keys >= smallest) & (count > 0)
    first, *others = (xp.astype(xp.expand_dims(key, axis=axis) > keys, xp.int8) for key in xp.unstack(keys, axis=axis))
    return sum(others, start=first) < count


# -- cessions -------------------------------------------------------------------------------------
def cede(state: BatchState, orders: BatchOrders) -> tuple[Array, Array]:
    """The owners after all cessions, and which cessions were carried out.

    An order must be legal on the map at the start of the turn and, in the order of givers and slots, on the map as it
    is by then. Few nations cede in a turn, so the orders are processed in waves: the first legal order of every game,
    then the second of those that have one, and so on.
    """
    xp = state.xp
    games, givers, slots = orders.ceded.shape
    count = givers * slots
    if not count:
        return state.owner, orders.ceded >= 0
    territory, receiver = (xp.reshape(table, (games, count)) for table in (orders.ceded, orders.ceded_to))
    number = xp.arange(count, dtype=xp.int64)[None, :]
    legal = _is_legal_at_start(state, xp.broadcast_to(number // slots, (games, count)), territory, receiver)
    queue = xp.sort(xp.where(legal, number, count), axis=1)  # for each game: its legal orders, then padding
    waves = int(xp.max(xp.sum(xp.astype(legal, xp.int64), axis=1)))
    owner, done = state.owner, xp.zeros((games, count), dtype=xp.bool)
    for wave in range(waves):
        current = queue[:, wave : wave + 1]  # games x 1
        place = xp.minimum(current, count - 1)
        ceded, to = (xp.take_along_axis(table, place, axis=1) for table in (xp.maximum(territory, 0), receiver))
        accepted = (current < count) & _is_legal(state.board, owner, place // slots, ceded, to)
        here = xp.arange(owner.shape[1], dtype=xp.int64)[None, :] == ceded
        owner = xp.where(here & accepted, to, owner)
        done = done | ((number == current) & accepted)
    return owner, xp.reshape(done, (games, givers, slots))


def _is_legal_at_start(state: BatchState, giver: Array, territory: Array, receiver: Array) -> Array:
    """True for orders that are legal at the start of the turn. Capitals cannot be ceded."""
    xp = state.xp
    capital = xp.take_along_axis(state.capitals, giver, axis=1)
    valid = (territory >= 0) & (receiver >= 0) & (receiver != giver) & (territory != capital)
    return valid & _is_legal(state.board, state.owner, giver, xp.maximum(territory, 0), receiver)


def _is_legal(board: Board, owner: Array, giver: Array, territory: Array, receiver: Array) -> Array:
    """True where the giver owns the territory and, if there is a map, the receiver owns a neighbour of it.

    All are games x orders, and ``territory`` is always a valid index.
    """
    xp = board.xp
    owned = _owners_at(xp, owner, territory) == giver
    if not board.has_map:
        return owned
    adjacent = receiver < 0
    for neighbour in xp.unstack(board.neighbours, axis=1):
        adjacent = adjacent | (_owners_at(xp, owner, _take(xp, neighbour, territory)) == receiver)
    return owned & adjacent


def _owners_at(xp: Any, owner: Array, territory: Array) -> Array:
    """The owners of these territories (games x any number). A lookup in one flat array is faster than by rows."""
    games, places = owner.shape
    game = xp.arange(games, dtype=xp.int64)[:, None]
    return _take(xp, xp.reshape(xp.permute_dims(owner, (1, 0)), (games * places,)), territory * games + game)


def _take(xp: Any, values: Array, index: Array) -> Array:
    """The values at an index array of any shape."""
    return xp.reshape(xp.take(values, xp.reshape(index, (-1,))), index.shape)
