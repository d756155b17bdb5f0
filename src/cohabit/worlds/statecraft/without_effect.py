"""What a nation is told about its orders when it submits them: what is dropped, and what can have no effect."""

from collections.abc import Iterator
from typing import Any

from cohabit.worlds.statecraft.rules import Rules
from cohabit.worlds.statecraft.state import DroppedInput, GameState, TurnResult
from cohabit.worlds.statecraft.turn import run_turn


def check_orders(state: GameState, nation: str, answer: Any, rules: Rules) -> list[DroppedInput]:
    """The parts of an answer that are dropped or changed, and the orders that can have no effect.

    The turn is resolved as if the other nations did nothing. They can only reduce what a nation can do in this turn,
    because received grants cannot be spent. So an order without effect here has none in the game either.
    """
    turn = run_turn(state, {nation: answer}, rules)
    found = [DroppedInput(nation, field, reason) for field, reason in _without_effect(state, nation, turn)]
    return [*turn.dropped, *found]


def _without_effect(state: GameState, nation: str, turn: TurnResult) -> Iterator[tuple[str, str]]:
    ledgers, army = turn.ledgers, state.mils[nation]
    bought, money = ledgers.d_mil_purchased[nation], ledgers.d_money_after_upkeep[nation]
    attacking = sum(ledgers.d_global_attacks[nation].values())
    if attacking > army:
        yield "attacks", f"{attacking} sent in all, but your army has {army}; mils bought this turn do not attack"
    if ledgers.d_mil_purchase_intent[nation] and not bought:
        yield "purchase_mils", f"your income leaves {money} after upkeep, which buys no mil"
    for receiver in ledgers.d_money_grants[nation]:
        if receiver not in ledgers.d_grants_paid[nation]:
            yield "money_grants", f"{receiver}: no money is left for it after upkeep, purchases and the other grants"
    for _, receiver, territory, reason in turn.cessions_refused:
        yield "cede_territories", f"{territory} to {receiver}: {reason}"
    if ledgers.d_mils_disband_intent[nation] and not army + bought:
        yield "disband_mils", "you have no mils to disband"
