"""The problems of a nation's orders, reported when it submits them: parts dropped, cut, or without effect."""

from collections.abc import Iterator
from typing import Any

from cohabit.worlds.statecraft.intake import read_intentions
from cohabit.worlds.statecraft.rules import Rules
from cohabit.worlds.statecraft.state import Drop, DroppedInput, GameState, Ledgers, Texts, TurnResult
from cohabit.worlds.statecraft.turn import carry_out

Problem = tuple[Drop, str, str]
"""The kind of problem, the field of the order, and the reason."""


def check_orders(state: GameState, nation: str, answer: Any, rules: Rules) -> tuple[list[DroppedInput], Texts]:
    """The parts of an answer that are dropped or changed, and the orders that cannot be carried out in full; and the
    messages that are sent.

    The turn is resolved as if the other nations did nothing. They can only reduce what a nation can do in this turn,
    because received grants cannot be spent. So what is cut here is cut at least as much in the game.
    """
    ledgers, unreadable = read_intentions(state, {nation: answer}, rules)
    if _has_all_it_needs(state, nation, ledgers, rules):
        return unreadable, ledgers.d_messages_sent[nation]
    turn = carry_out(state, ledgers, unreadable, rules)
    problems = [*_attack_problems(state, nation, turn), *_money_problems(nation, turn), *_rest(state, nation, turn)]
    dropped = [*turn.dropped, *(DroppedInput(nation, field, reason, kind) for kind, field, reason in problems)]
    return dropped, ledgers.d_messages_sent[nation]


def _has_all_it_needs(state: GameState, nation: str, ledgers: Ledgers, rules: Rules) -> bool:
    """True if the nation can certainly do all that it intends, as most can. It saves resolving the turn."""
    army, bought = state.mils[nation], ledgers.d_mil_purchase_intent[nation]
    income = len(state.territories.get(nation, ())) * rules.c_money_per_territory
    costs = army * rules.c_mil_upkeep_price + bought * rules.c_mil_purchase_price
    return (
        costs + sum(ledgers.d_money_grants[nation].values()) <= income
        and sum(ledgers.d_global_attacks[nation].values()) <= army
        and ledgers.d_mils_disband_intent[nation] <= army + bought
        and not ledgers.d_territory_cession[nation]
    )


def _attack_problems(state: GameState, nation: str, turn: TurnResult) -> Iterator[Problem]:
    army, sent = state.mils[nation], turn.ledgers.d_attacks_clamped[nation]
    ordered = sum(turn.ledgers.d_global_attacks[nation].values())
    reason = f"{ordered} sent in all, but your army has {army}; mils bought this turn do not attack"
    if ordered > army and sent:
        yield "cut", "attacks", f"{reason}; cut to {', '.join(f'{n} against {to}' for to, n in sent.items())}"
    elif ordered > army:
        yield "dropped", "attacks", reason


def _money_problems(nation: str, turn: TurnResult) -> Iterator[Problem]:
    ledgers = turn.ledgers
    ordered, bought = ledgers.d_mil_purchase_intent[nation], ledgers.d_mil_purchased[nation]
    left = f"your income leaves {ledgers.d_money_after_upkeep[nation]} after upkeep"
    if ordered and not bought:
        yield "dropped", "purchase_mils", f"{left}, which buys no mil"
    elif ordered > bought:
        yield "cut", "purchase_mils", f"{ordered} mils, but {left}; cut to at most {bought}"
    for receiver, amount in ledgers.d_money_grants[nation].items():
        paid = ledgers.d_grants_paid[nation].get(receiver, 0)
        uses = "upkeep, purchases and the other grants"
        if amount and not paid:
            yield "dropped", "money_grants", f"{receiver}: no money is left for it after {uses}"
        elif amount > paid:
            yield "cut", "money_grants", f"{amount} to {receiver}, but {uses} leave {paid}; cut to at most {paid}"


def _rest(state: GameState, nation: str, turn: TurnResult) -> Iterator[Problem]:
    for _, receiver, territory, reason in turn.cessions_refused:
        yield "dropped", "cede_territories", f"{territory} to {receiver}: {reason}"
    ledgers, ordered = turn.ledgers, turn.ledgers.d_mils_disband_intent[nation]
    # Losses in attacks are not counted: a defender that attacks somebody destroys fewer of them.
    army = state.mils[nation] - ledgers.d_mils_disbanded_upkeep[nation] + ledgers.d_mil_purchased[nation]
    if ordered and not army:
        yield "dropped", "disband_mils", "you have no mils to disband"
    elif ordered > army:
        yield "cut", "disband_mils", f"{ordered} mils; cut to at most {army}, your whole army"
