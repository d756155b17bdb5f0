"""What a nation is told when it submits: orders that it can carry out are found without resolving the turn."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cohabit.worlds.statecraft import GameState, Rules, run_turn
from cohabit.worlds.statecraft import without_effect as module
from cohabit.worlds.statecraft.intake import read_intentions
from cohabit.worlds.statecraft.without_effect import check_orders

from .cases import NAMES, make_state, turns

SMALL = st.integers(0, 9)
OTHERS = st.dictionaries(st.sampled_from(NAMES[1:]), st.integers(1, 9), max_size=3)
ORDERS = st.fixed_dictionaries(
    {}, optional={"purchase_mils": SMALL, "disband_mils": SMALL, "attacks": OTHERS, "money_grants": OTHERS}
)


def resolved(state: GameState, nation: str, answer: Any, rules: Rules) -> tuple[Any, Any]:
    """The same, from a turn that is resolved in every case."""
    turn = run_turn(state, {nation: answer}, rules)
    problems = [
        *module._attack_problems(state, nation, turn),
        *module._money_problems(nation, turn),
        *module._rest(state, nation, turn),
    ]
    found = [(entry.field, entry.reason, entry.kind) for entry in turn.dropped]
    return found + [(field, reason, kind) for kind, field, reason in problems], turn.ledgers.d_messages_sent[nation]


def told(state: GameState, nation: str, answer: Any, rules: Rules) -> tuple[Any, Any]:
    dropped, messages = check_orders(state, nation, answer, rules)
    return [(entry.field, entry.reason, entry.kind) for entry in dropped], messages


@given(turns())
def test_what_a_nation_is_told_is_what_resolving_the_turn_shows(turn: tuple[GameState, dict[str, Any], Rules]) -> None:
    state, answers, rules = turn
    for nation, answer in answers.items():
        assert told(state, nation, answer, rules) == resolved(state, nation, answer, rules)


@given(ORDERS, st.integers(0, 9), st.integers(0, 6))
def test_the_same_near_the_limits_of_army_and_money(orders: dict[str, Any], army: int, land: int) -> None:
    state = make_state(dict.fromkeys(NAMES, army), land=land)
    for price in (1, 3, 20):
        rules = Rules(c_mil_purchase_price=price)
        assert told(state, NAMES[0], orders, rules) == resolved(state, NAMES[0], orders, rules)


def test_orders_up_to_the_limits_need_no_trial_and_one_more_of_anything_does() -> None:
    state, rules = make_state(land=4), Rules()  # 5 mils; an income of 40, of which upkeep takes 10
    limit = {"purchase_mils": 1, "attacks": {"Boreas": 5}, "money_grants": {"Circe": 10}, "disband_mils": 6}
    assert needs_no_trial(state, limit, rules)
    for more in (
        {"purchase_mils": 2}, {"attacks": {"Boreas": 5, "Circe": 1}}, {"money_grants": {"Circe": 11}},
        {"disband_mils": 7}, {"cede_territories": {"Boreas": ["a3"]}},
    ):  # fmt: skip
        assert not needs_no_trial(state, {**limit, **more}, rules)


def needs_no_trial(state: GameState, orders: dict[str, Any], rules: Rules) -> bool:
    ledgers, dropped = read_intentions(state, {"Ares": orders}, rules)
    assert not dropped
    return module._has_all_it_needs(state, "Ares", ledgers, rules)
