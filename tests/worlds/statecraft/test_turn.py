"""Whole turns: invariants, and the known cases calculated by hand."""

import json
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from cohabit.worlds.statecraft import DefaultAgent, GameState, Rules, run_turn

from .cases import NAMES, make_state, turns

CHEAP = Rules(c_money_per_territory=5, c_mil_purchase_price=2, c_mil_upkeep_price=1, c_damage_per_attack_mil=1)


# -- invariants -------------------------------------------------------------------
@given(turns())
def test_all_money_is_accounted_for(turn: Any) -> None:
    state, answers, rules = turn
    found = run_turn(state, answers, rules)
    ledgers = found.ledgers
    for name in state.nations:
        gross, damage = ledgers.d_gross_income[name], ledgers.d_total_damage_received[name]
        assert gross == len(state.territories[name]) * rules.c_money_per_territory
        upkeep = ledgers.d_available_money[name] - ledgers.d_money_after_upkeep[name]
        spent = ledgers.d_mil_purchased[name] * rules.c_mil_purchase_price
        granted = sum(ledgers.d_grants_paid[name].values())
        received = sum(ledgers.d_grants_received[name].values())
        kept = gross - min(gross, damage) - upkeep - spent - granted
        assert kept >= 0
        gained = ledgers.d_total_welfare_this_turn[name]
        assert gained * rules.trade_denominator <= kept * rules.trade_denominator + received * rules.trade_numerator
        assert (gained + 1 - kept) * rules.trade_denominator > received * rules.trade_numerator
        assert found.end.welfare[name] == state.welfare[name] + gained
    assert sum(sum(flow.values()) for flow in ledgers.d_grants_paid.values()) == sum(
        sum(flow.values()) for flow in ledgers.d_grants_received.values()
    )


@given(turns())
def test_mils_change_only_by_purchases_losses_and_disbanding(turn: Any) -> None:
    state, answers, rules = turn
    found = run_turn(state, answers, rules)
    ledgers = found.ledgers
    for name in state.nations:
        sent = sum(ledgers.d_attacks_clamped[name].values())
        assert (
            sent
            == ledgers.d_attacking_mils[name]
            == min(state.mils[name], sum(ledgers.d_global_attacks[name].values()))
        )
        assert ledgers.d_defense_mils[name] == state.mils[name] - sent
        lost = ledgers.d_mils_lost_by_attacker[name]
        assert rules.loss_cap == "army" or lost <= sent
        left = max(state.mils[name] - ledgers.d_mils_disbanded_upkeep[name] - lost, 0)
        disbanded = ledgers.d_mils_disbanded_voluntary[name]
        assert found.end.mils[name] == left + ledgers.d_mil_purchased[name] - disbanded >= 0
    destroyed = sum(
        min(ledgers.d_defense_mils[name] // rules.c_defense_destroy_factor, sum(attackers.values()))
        if rules.loss_cap == "committed"
        else ledgers.d_defense_mils[name] // rules.c_defense_destroy_factor
        for name, attackers in ledgers.d_global_attacked.items()
        if attackers
    )
    assert sum(ledgers.d_mils_lost_by_attacker.values()) == destroyed


@given(turns())
def test_every_territory_keeps_exactly_one_owner_and_changes_hands_only_by_cession(turn: Any) -> None:
    state, answers, rules = turn
    found = run_turn(state, answers, rules)
    owners = {each: name for name, land in state.territories.items() for each in land}
    for giver, receiver, territory in found.cessions_done:
        assert owners[territory] == giver
        assert territory != state.capitals.get(giver)
        owners[territory] = receiver
    assert {each: name for name, land in found.end.territories.items() for each in land} == owners
    assert sum(map(len, found.end.territories.values())) == len(owners)
    assert all(land == sorted(land) for land in found.end.territories.values())
    wanted = [(g, r, t) for g, to in found.ledgers.d_territory_cession.items() for r, land in to.items() for t in land]
    assert sorted([*found.cessions_done, *(row[:3] for row in found.cessions_refused)]) == sorted(wanted)


def shuffled(value: Any, data: st.DataObject) -> Any:
    """The same value with its objects in another order. The order of lists is kept."""
    if isinstance(value, dict):
        return {key: shuffled(value[key], data) for key in data.draw(st.permutations(list(value)))}
    return value


@given(turns(), st.data())
def test_the_order_of_nations_answers_and_entries_does_not_change_the_result(turn: Any, data: st.DataObject) -> None:
    state, answers, rules = turn
    other = GameState(**{name: shuffled(value, data) for name, value in msgspec.structs.asdict(state).items()})
    first, second = run_turn(state, answers, rules), run_turn(other, shuffled(answers, data), rules)
    assert first == second
    assert msgspec.json.encode([first.ledgers, first.dropped, first.end.mils]) == msgspec.json.encode(
        [second.ledgers, second.dropped, second.end.mils]
    )


@given(turns())
def test_a_turn_is_repeatable_and_changes_neither_the_state_nor_the_answers(turn: Any) -> None:
    state, answers, rules = turn
    before = msgspec.json.encode([state, answers])
    first = run_turn(state, answers, rules)
    assert msgspec.json.encode([state, answers]) == before
    assert run_turn(state, answers, rules) == first
    assert run_turn(state, {name: json.dumps(answer) for name, answer in answers.items()}, rules) == first


@given(turns())
def test_an_empty_answer_and_no_answer_are_the_same(turn: Any) -> None:
    state, answers, rules = turn
    everybody = {name: answers.get(name, {}) for name in state.nations}
    assert run_turn(state, everybody, rules) == run_turn(state, answers, rules)


def test_granting_everything_in_a_ring_is_worth_the_trade_factor_and_doing_nothing_the_income() -> None:
    state = make_state(dict.fromkeys(NAMES, 0), land=4)
    ring = {name: {"money_grants": {NAMES[i - 1]: 10**6}} for i, name in enumerate(NAMES)}
    for answers, worth in ((ring, 80), ({}, 40)):
        assert run_turn(state, answers, Rules()).ledgers.d_total_welfare_this_turn == dict.fromkeys(NAMES, worth)


# -- known cases --------------------------------------------------------------------------------
def played(state: GameState, *moves: dict[str, Any], rules: Rules = CHEAP) -> Any:
    """The result of the last of these turns, played one after the other."""
    found = None
    for answers in moves:
        found = run_turn(state, answers, rules)
        state = found.end
    assert found is not None
    return found


def test_case_two_turns_of_valid_intents() -> None:
    state = make_state({"A": 2, "B": 0}, land=2)
    found = played(
        state,
        {"A": {"purchase_mils": 1, "money_grants": {"B": 3}}, "B": {"money_grants": {"A": 1}}},
        {"A": {"attacks": {"B": 2}}, "B": {"purchase_mils": 9}},
    )
    # Turn 1. A: 10 - 2 upkeep - 2 bought - 3 granted = 3, and 1 x 2 received. B: 10 - 1 = 9, and 3 x 2.
    # Turn 2. A: 10 - 3 = 7. B: 10 - 2 damage = 8, 4 mils bought, nothing left.
    assert found.end.mils == {"A": 3, "B": 4}
    assert found.end.welfare == {"A": 100 + 5 + 7, "B": 100 + 15 + 0}
    assert found.end.turn == 5


def test_case_invalid_answers_become_defaults() -> None:
    state = make_state({"A": 2, "B": 0, "C": 0, "D": 0}, land=2)
    found = played(state, {"A": "{not json", "B": "[1, 2]", "C": '"text"', "D": {"attacks": [], "purchase_mils": "3"}})
    without = played(state, {})
    assert found.end == without.end
    assert [(each.nation, each.field) for each in found.dropped] == [
        ("A", "*"), ("B", "*"), ("C", "*"), ("D", "purchase_mils"), ("D", "attacks"),
    ]  # fmt: skip


def test_case_invalid_items_and_unknown_names_are_dropped_alone() -> None:
    answer = {
        "cede_territories": {"B": ["a1", 3]},
        "messages": {"B": "hi", "all": 3},
        "attacks": {"B": 1, "Q": 1},
        "money_grants": {"B": -2},
        "extra": 1,
    }
    found = played(make_state({"A": 2, "B": 0}, land=2), {"A": answer})
    assert found.ledgers.d_territory_cession["A"] == {"B": ["a1"]}
    assert found.ledgers.d_messages_sent["A"] == {"B": "hi"}
    assert found.ledgers.d_global_attacks["A"] == {"B": 1}
    assert found.ledgers.d_money_grants["A"] == {}
    assert [each.field for each in found.dropped] == [
        "attacks", "cede_territories", "money_grants", "messages", "extra",
    ]  # fmt: skip


def test_case_build_up_and_attack() -> None:
    state = make_state({"A": 2, "B": 4}, land=2)
    rules = Rules(c_money_per_territory=5, c_mil_purchase_price=4, c_mil_upkeep_price=1, c_damage_per_attack_mil=1)
    found = played(state, {"A": {"purchase_mils": 2}}, {"A": {"attacks": {"B": 4}}}, rules=rules)
    assert found.ledgers.d_attacking_mils["A"] == 4
    assert found.end.mils == {"A": 3, "B": 4}  # four defenders destroy one


def test_case_three_losses_over_four_and_two_attackers_are_two_and_one() -> None:
    state = make_state({"A": 4, "B": 2, "C": 12}, land=4)
    found = played(state, {"A": {"attacks": {"C": 4}}, "B": {"attacks": {"C": 2}}})
    assert found.ledgers.d_mils_lost_by_attacker == {"A": 2, "B": 1, "C": 0}
    assert found.end.mils == {"A": 2, "B": 1, "C": 12}


def test_case_five_ordered_with_two_owned_are_two() -> None:
    found = played(make_state({"A": 2, "B": 0}), {"A": {"attacks": {"B": 5}}})
    assert found.ledgers.d_attacks_clamped == {"A": {"B": 2}, "B": {}}


def test_case_an_army_that_cannot_be_paid_shrinks_and_is_then_stable() -> None:
    rules = Rules(c_money_per_territory=5, c_mil_upkeep_price=2)
    first = played(make_state({"A": 6}, land=1), {}, rules=rules)
    assert first.ledgers.d_mils_disbanded_upkeep == {"A": 4}
    assert first.ledgers.d_money_after_upkeep == {"A": 1}
    assert played(first.end, {}, rules=rules).end.mils == first.end.mils == {"A": 2}


def test_case_mutual_grants_and_a_capital_that_cannot_be_ceded() -> None:
    state = make_state({"A": 0, "B": 0}, land=2)  # a0 a1 b0 b1
    state.territories["B"] = ["b0"]
    state.welfare = {"A": 0, "B": 0}
    state.capitals = {"A": "a0", "B": "b0"}
    answers = {
        "A": {"money_grants": {"B": 4}, "cede_territories": {"B": ["a1"]}},
        "B": {"money_grants": {"A": 2}, "cede_territories": {"A": ["b0"]}},
    }
    found = played(state, answers, rules=Rules())
    assert found.end.welfare == {"A": 20 - 4 + 2 * 2, "B": 10 - 2 + 4 * 2}  # 20 and 16
    assert found.end.territories == {"A": ["a0"], "B": ["a1", "b0"]}
    assert found.cessions_refused == [("B", "A", "b0", "it is the giver's capital")]


def test_case_a_territory_that_is_not_adjacent_to_the_receiver_is_not_ceded() -> None:
    state = make_state({"A": 0, "B": 0, "C": 0}, land=2)
    found = played(state, {"A": {"cede_territories": {"C": ["a1"]}}})
    assert found.end.territories == state.territories
    assert [(each.field, each.reason) for each in found.dropped] == [
        ("cede_territories", "a1 to C: not adjacent to the receiver's territory")
    ]


def test_case_four_mils_less_three_are_one() -> None:
    assert played(make_state({"A": 4}), {"A": {"disband_mils": 3}}).end.mils == {"A": 1}


def test_case_a_grant_counts_in_the_same_turn_and_welfare_is_rounded_down() -> None:
    state = make_state({"A": 0, "B": 0}, land=2)
    rules = Rules(c_money_per_territory=5, trade_numerator=3, trade_denominator=2)
    found = played(state, {"A": {"money_grants": {"B": 5}}}, rules=rules)
    assert found.ledgers.d_total_welfare_this_turn == {"A": 5, "B": 17}  # 10 + 7.5
    assert played(found.end, {}, rules=rules).ledgers.d_total_welfare_this_turn == {"A": 10, "B": 10}


def test_case_default_agents_do_nothing() -> None:
    state, agents = make_state(), {name: DefaultAgent() for name in NAMES}
    for _ in range(3):
        state = run_turn(state, {name: agent.act({}) for name, agent in agents.items()}, Rules()).end
    assert state.mils == dict.fromkeys(NAMES, 5)
    assert state.welfare == dict.fromkeys(NAMES, 130)


def test_the_state_does_not_grow_in_a_long_game() -> None:
    state = make_state({"A": 1})
    sizes = []
    for _ in range(300):
        state = run_turn(state, {"A": {"summary_last_turn": "the same", "history_summary": "again"}}, Rules()).end
        sizes.append(len(msgspec.json.encode([state.history, [len(s) for s in state.summaries.values()]])))
    assert max(sizes[100:]) == min(sizes[100:])
