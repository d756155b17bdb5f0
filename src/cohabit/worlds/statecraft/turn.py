"""One turn: intake, then the phases in order. Pure: the given state and answers are not changed.

A phase is a function of the state at the start of the turn, the ledgers so far and the rules. It reads only ledgers
that earlier phases wrote, and returns the ledgers that it adds, by name.
"""

from collections.abc import Callable
from typing import Any

from cohabit.worlds.statecraft.cessions import cede
from cohabit.worlds.statecraft.intake import read_intentions
from cohabit.worlds.statecraft.rules import Rules
from cohabit.worlds.statecraft.state import Amounts, Answers, DroppedInput, Flows, GameState, Ledgers, Texts, TurnResult

Summaries = dict[str, list[tuple[int, str]]]
MAX_SUMMARIES = 64
"""The number of turn summaries that the state holds per nation, so that a turn costs the same in a long game."""


def run_turn(state: GameState, answers: Answers, rules: Rules) -> TurnResult:
    """Resolve a turn. The result does not depend on the order of the answers, and no answer can make it fail."""
    return carry_out(state, *read_intentions(state, answers, rules), rules)


def carry_out(state: GameState, ledgers: Ledgers, dropped: list[DroppedInput], rules: Rules) -> TurnResult:
    """Run the phases on the intentions of every nation, which are completed to the ledgers of the turn."""
    for phase in PHASES:
        for name, ledger in phase(state, ledgers, rules).items():
            setattr(ledgers, name, ledger)
    territories, ceded, refused = cede(state, ledgers.d_territory_cession)
    history, summaries = store_notes(state, ledgers)
    gained, disbanded = ledgers.d_total_welfare_this_turn, ledgers.d_mils_disbanded_voluntary
    end = GameState(
        turn=state.turn + 1,
        mils={name: _army(state, ledgers, name) - mils for name, mils in disbanded.items()},
        territories=territories,
        welfare={name: state.welfare.get(name, 0) + gain for name, gain in gained.items()},
        capitals=state.capitals,
        graph=state.graph,
        history=history,
        summaries=summaries,
    )
    return TurnResult(end, ledgers, dropped, ceded, refused)


# -- the phases ---------------------------------------------------------------------------------
def earn_income(state: GameState, ledgers: Ledgers, rules: Rules) -> dict[str, Any]:
    """Phase 1: territories earn money."""
    each, territories = rules.c_money_per_territory, state.territories
    return {"d_gross_income": {name: len(territories.get(name, ())) * each for name in ledgers.d_mil_purchase_intent}}


def clamp_attacks(state: GameState, ledgers: Ledgers, rules: Rules) -> dict[str, Any]:
    """Phase 2: no nation sends more mils than it has. Larger orders are scaled down in proportion."""
    clamped: Flows = {}
    attacked: Flows = {name: {} for name in ledgers.d_global_attacks}
    sent: Amounts = {}
    defense: Amounts = {}
    for name, orders in ledgers.d_global_attacks.items():
        army, ordered = state.mils[name], sum(orders.values())
        if ordered > army:
            orders, ordered = split_proportionally(army, orders), army
        clamped[name] = orders
        sent[name] = ordered
        defense[name] = army - ordered
        for target, mils in orders.items():
            attacked[target][name] = mils
    return {
        "d_attacks_clamped": clamped,
        "d_global_attacked": attacked,
        "d_attacking_mils": sent,
        "d_defense_mils": defense,
    }


def apply_damage(state: GameState, ledgers: Ledgers, rules: Rules) -> dict[str, Any]:
    """Phase 3: every attacking mil destroys income of its target. Defense does not reduce the damage."""
    each = rules.c_damage_per_attack_mil
    gross = ledgers.d_gross_income
    received: Flows = {}
    total: Amounts = {}
    money: Amounts = {}
    for name, attackers in ledgers.d_global_attacked.items():
        received[name] = {attacker: mils * each for attacker, mils in attackers.items()}
        total[name] = damage = sum(attackers.values()) * each
        money[name] = max(gross[name] - damage, 0)
    return {"d_damage_received": received, "d_total_damage_received": total, "d_available_money": money}


def pay_upkeep(state: GameState, ledgers: Ledgers, rules: Rules) -> dict[str, Any]:
    """Phase 4: every mil is paid, attackers included. Mils that cannot be paid are disbanded; the change is kept."""
    price = rules.c_mil_upkeep_price
    costs: Amounts = {}
    forced: Amounts = {}
    remaining: Amounts = {}
    for name, money in ledgers.d_available_money.items():
        army = state.mils[name]
        costs[name] = cost = army * price
        disbanded = 0 if money >= cost else min(-((money - cost) // price), army)  # rounded up
        forced[name] = disbanded
        remaining[name] = max(money - (cost - disbanded * price), 0)
    return {"d_upkeep_cost": costs, "d_mils_disbanded_upkeep": forced, "d_money_after_upkeep": remaining}


def buy_mils(state: GameState, ledgers: Ledgers, rules: Rules) -> dict[str, Any]:
    """Phase 5: mils are bought as ordered, as far as the money goes."""
    price, ordered = rules.c_mil_purchase_price, ledgers.d_mil_purchase_intent
    bought: Amounts = {}
    remaining: Amounts = {}
    for name, money in ledgers.d_money_after_upkeep.items():
        bought[name] = mils = min(ordered[name], money // price)
        remaining[name] = money - mils * price
    return {"d_mil_purchased": bought, "d_money_after_purchases": remaining}


def destroy_attackers(state: GameState, ledgers: Ledgers, rules: Rules) -> dict[str, Any]:
    """Phase 6: mils at home destroy attackers, in proportion to what each attacker sent. Defenders lose none."""
    factor, committed = rules.c_defense_destroy_factor, rules.loss_cap == "committed"
    lost: Amounts = dict.fromkeys(ledgers.d_global_attacked, 0)
    for name, attackers in ledgers.d_global_attacked.items():
        destroyed = ledgers.d_defense_mils[name] // factor
        if committed:
            destroyed = min(destroyed, sum(attackers.values()))
        for attacker, mils in split_proportionally(destroyed, attackers).items():
            lost[attacker] += mils
    return {"d_mils_lost_by_attacker": lost}


def pay_grants(state: GameState, ledgers: Ledgers, rules: Rules) -> dict[str, Any]:
    """Phase 7: grants are paid. The remaining money and the value of received grants become welfare.

    A received grant is worth ``c_trade_factor`` times its amount. It cannot be spent or granted again.
    """
    paid: Flows = {}
    received: Flows = {name: {} for name in ledgers.d_money_grants}
    remaining: Amounts = {}
    for giver, ordered in ledgers.d_money_grants.items():
        money = ledgers.d_money_after_purchases[giver]
        given: Amounts = {}
        for receiver, amount in ordered.items():  # in name order, as intake wrote them
            if not money:
                break
            given[receiver] = received[receiver][giver] = amount = min(amount, money)
            money -= amount
        paid[giver], remaining[giver] = given, money
    numerator, denominator = rules.trade_numerator, rules.trade_denominator
    bonus: Amounts = {}
    welfare: Amounts = {}
    for name, givers in received.items():
        total = sum(givers.values())
        bonus[name] = total * (numerator - denominator) // denominator
        welfare[name] = remaining[name] + total * numerator // denominator
    return {
        "d_grants_paid": paid,
        "d_grants_received": received,
        "d_trade_bonus": bonus,
        "d_total_welfare_this_turn": welfare,
    }


def disband_mils(state: GameState, ledgers: Ledgers, rules: Rules) -> dict[str, Any]:
    """Phase 8: mils are disbanded as ordered, those that were bought in this turn too."""
    voluntary: Amounts = {}
    total: Amounts = {}
    for name, forced in ledgers.d_mils_disbanded_upkeep.items():
        voluntary[name] = disbanded = min(ledgers.d_mils_disband_intent[name], _army(state, ledgers, name))
        total[name] = forced + disbanded
    return {"d_mils_disbanded_voluntary": voluntary, "d_mils_disbanded_total": total}


def _army(state: GameState, ledgers: Ledgers, nation: str) -> int:
    """The army of a nation after losses and purchases."""
    lost = ledgers.d_mils_disbanded_upkeep[nation] + ledgers.d_mils_lost_by_attacker[nation]
    return max(state.mils[nation] - lost, 0) + ledgers.d_mil_purchased[nation]


Phase = Callable[[GameState, Ledgers, Rules], dict[str, Any]]
PHASES: tuple[Phase, ...] = (
    earn_income, clamp_attacks, apply_damage, pay_upkeep, buy_mils, destroy_attackers, pay_grants, disband_mils,
)  # fmt: skip
"""1 to 8. Then territories are ceded; phase 9, the reports, only reads, and phase 10 is ``store_notes``."""


def store_notes(state: GameState, ledgers: Ledgers) -> tuple[Texts, Summaries]:
    """Phase 10: a history replaces the old one; a summary of the turn before is added. Empty texts are ignored."""
    histories = {name: text for name, text in ledgers.d_history_summary.items() if text}
    summaries = {
        name: [*state.summaries.get(name, ())[1 - MAX_SUMMARIES :], (state.turn - 1, text)]
        for name, text in ledgers.d_turn_summary.items()
        if text
    }
    return {**state.history, **histories}, {**state.summaries, **summaries}


def split_proportionally(units: int, weights: dict[str, int]) -> dict[str, int]:
    """Split ``units`` in proportion to the weights, which are at least 1, by largest remainder. Omits empty shares.

    Each share is rounded down. The remaining units go, one each, to the largest remainders; ties go to the smaller
    name. A share without a remainder gets no extra unit.
    """
    total_weight = sum(weights.values())
    shares = {}
    remainders = []
    left = units
    for name, weight in weights.items():
        share, remainder = divmod(weight * units, total_weight)
        shares[name] = share
        left -= share
        if remainder:
            remainders.append((-remainder, name))
    remainders.sort()
    for _, name in remainders[:left]:
        shares[name] += 1
    return {name: share for name, share in shares.items() if share}
