"""Whole turns: what is conserved, what changes nothing, and the known cases worked out by hand."""

import json
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from cohabit.worlds.statecraft import DefaultAgent, Rules, Standing, run_turn

from .tables import NAMES, standing, turns

CHEAP = Rules(c_money_per_territory=5, c_mil_purchase_price=2, c_mil_upkeep_price=1, c_damage_per_attack_mil=1)


# -- what holds in every turn -------------------------------------------------------------------
@given(turns())
def test_money_goes_where_the_rules_say_to_the_last_coin(turn: Any) -> None:
    table, answers, rules = turn
    found = run_turn(table, answers, rules)
    books = found.ledgers
    for name in table.nations:
        gross, burnt = books.d_gross_income[name], books.d_total_damage_received[name]
        assert gross == len(table.territories[name]) * rules.c_money_per_territory
        paid_up = books.d_available_money[name] - books.d_money_after_upkeep[name]
        spent = books.d_mil_purchased[name] * rules.c_mil_purchase_price
        given_away = sum(books.d_grants_paid[name].values())
        got = sum(books.d_grants_received[name].values())
        kept = gross - min(gross, burnt) - paid_up - spent - given_away
        assert kept >= 0
        gained = books.d_total_welfare_this_turn[name]
        assert gained * rules.trade_denominator <= kept * rules.trade_denominator + got * rules.trade_numerator
        assert (gained + 1 - kept) * rules.trade_denominator > got * rules.trade_numerator
        assert found.end.welfare[name] == table.welfare[name] + gained
    assert sum(sum(flow.values()) for flow in books.d_grants_paid.values()) == sum(
        sum(flow.values()) for flow in books.d_grants_received.values()
    )


@given(turns())
def test_mils_come_by_purchase_and_go_by_dismissal_and_loss_only(turn: Any) -> None:
    table, answers, rules = turn
    found = run_turn(table, answers, rules)
    books = found.ledgers
    for name in table.nations:
        sent = sum(books.d_attacks_clamped[name].values())
        assert sent == books.d_attacking_mils[name] == min(table.mils[name], sum(books.d_global_attacks[name].values()))
        assert books.d_defense_mils[name] == table.mils[name] - sent
        lost = books.d_mils_lost_by_attacker[name]
        assert rules.loss_cap == "army" or lost <= sent
        left = max(table.mils[name] - books.d_mils_disbanded_upkeep[name] - lost, 0)
        dismissed = books.d_mils_disbanded_voluntary[name]
        assert found.end.mils[name] == left + books.d_mil_purchased[name] - dismissed >= 0
    destroyed = sum(
        min(books.d_defense_mils[name] // rules.c_defense_destroy_factor, sum(attackers.values()))
        if rules.loss_cap == "committed"
        else books.d_defense_mils[name] // rules.c_defense_destroy_factor
        for name, attackers in books.d_global_attacked.items()
        if attackers
    )
    assert sum(books.d_mils_lost_by_attacker.values()) == destroyed


@given(turns())
def test_every_territory_keeps_exactly_one_owner_and_moves_only_by_cession(turn: Any) -> None:
    table, answers, rules = turn
    found = run_turn(table, answers, rules)
    owners = {each: name for name, land in table.territories.items() for each in land}
    for giver, receiver, territory in found.cessions_done:
        assert owners[territory] == giver
        assert territory != table.capitals.get(giver)
        owners[territory] = receiver
    assert {each: name for name, land in found.end.territories.items() for each in land} == owners
    assert sum(map(len, found.end.territories.values())) == len(owners)
    assert all(land == sorted(land) for land in found.end.territories.values())
    wanted = [(g, r, t) for g, to in found.ledgers.d_territory_cession.items() for r, land in to.items() for t in land]
    assert sorted([*found.cessions_done, *(row[:3] for row in found.cessions_refused)]) == sorted(wanted)


def shuffled(value: Any, data: st.DataObject) -> Any:
    """The same value, with its objects in another order; lists have an order that means something."""
    if isinstance(value, dict):
        return {key: shuffled(value[key], data) for key in data.draw(st.permutations(list(value)))}
    return value


@given(turns(), st.data())
def test_the_order_of_nations_answers_and_entries_changes_nothing(turn: Any, data: st.DataObject) -> None:
    table, answers, rules = turn
    other = Standing(**{name: shuffled(value, data) for name, value in msgspec.structs.asdict(table).items()})
    first, second = run_turn(table, answers, rules), run_turn(other, shuffled(answers, data), rules)
    assert first == second
    assert msgspec.json.encode([first.ledgers, first.dropped, first.end.mils]) == msgspec.json.encode(
        [second.ledgers, second.dropped, second.end.mils]
    )


@given(turns())
def test_a_turn_changes_neither_the_standing_nor_the_answers_and_comes_out_the_same_twice(turn: Any) -> None:
    table, answers, rules = turn
    before = msgspec.json.encode([table, answers])
    first = run_turn(table, answers, rules)
    assert msgspec.json.encode([table, answers]) == before
    assert run_turn(table, answers, rules) == first
    assert run_turn(table, {name: json.dumps(answer) for name, answer in answers.items()}, rules) == first


@given(turns())
def test_who_passes_and_who_is_missing_are_the_same(turn: Any) -> None:
    table, answers, rules = turn
    everybody = {name: answers.get(name, {}) for name in table.nations}
    assert run_turn(table, everybody, rules) == run_turn(table, answers, rules)


def test_full_trade_round_a_ring_is_worth_the_factor_and_doing_nothing_is_worth_the_income() -> None:
    table = standing(dict.fromkeys(NAMES, 0), land=4)
    ring = {name: {"money_grants": {NAMES[i - 1]: 10**6}} for i, name in enumerate(NAMES)}
    for answers, worth in ((ring, 80), ({}, 40)):
        assert run_turn(table, answers, Rules()).ledgers.d_total_welfare_this_turn == dict.fromkeys(NAMES, worth)


# -- known cases --------------------------------------------------------------------------------
def played(table: Standing, *moves: dict[str, Any], rules: Rules = CHEAP) -> Any:
    """The last of these turns, one after the other."""
    found = None
    for answers in moves:
        found = run_turn(table, answers, rules)
        table = found.end
    assert found is not None
    return found


def test_case_two_turns_of_valid_intents() -> None:
    table = standing({"A": 2, "B": 0}, land=2)
    found = played(
        table,
        {"A": {"purchase_mils": 1, "money_grants": {"B": 3}}, "B": {"money_grants": {"A": 1}}},
        {"A": {"attacks": {"B": 2}}, "B": {"purchase_mils": 9}},
    )
    # Turn 1. A: 10 - 2 upkeep - 2 bought - 3 given = 3, and 1 x 2 received. B: 10 - 1 = 9, and 3 x 2.
    # Turn 2. A: 10 - 3 = 7. B: 10 - 2 burnt = 8, 4 mils bought, nothing left.
    assert found.end.mils == {"A": 3, "B": 4}
    assert found.end.welfare == {"A": 100 + 5 + 7, "B": 100 + 15 + 0}
    assert found.end.turn == 5


def test_case_broken_answers_give_defaults() -> None:
    table = standing({"A": 2, "B": 0, "C": 0, "D": 0}, land=2)
    found = played(table, {"A": "{not json", "B": "[1, 2]", "C": '"text"', "D": {"attacks": [], "purchase_mils": "3"}})
    passed = played(table, {})
    assert found.end == passed.end
    assert [(each.nation, each.field) for each in found.dropped] == [
        ("A", "*"), ("B", "*"), ("C", "*"), ("D", "purchase_mils"), ("D", "attacks"),
    ]  # fmt: skip


def test_case_one_bad_item_drops_its_field_and_unknown_names_go_singly() -> None:
    answer = {
        "cede_territories": {"B": ["a1", 3]},
        "messages": {"B": "hi", "all": 3},
        "attacks": {"B": 1, "Q": 1},
        "money_grants": {"B": -2},
        "extra": 1,
    }
    found = played(standing({"A": 2, "B": 0}, land=2), {"A": answer})
    assert found.ledgers.d_territory_cession["A"] == found.ledgers.d_messages_sent["A"] == {}
    assert found.ledgers.d_global_attacks["A"] == {"B": 1}
    assert [each.field for each in found.dropped] == [
        "attacks", "cede_territories", "money_grants", "messages", "extra",
    ]  # fmt: skip


def test_case_build_up_and_attack() -> None:
    table = standing({"A": 2, "B": 4}, land=2)
    rules = Rules(c_money_per_territory=5, c_mil_purchase_price=4, c_mil_upkeep_price=1, c_damage_per_attack_mil=1)
    found = played(table, {"A": {"purchase_mils": 2}}, {"A": {"attacks": {"B": 4}}}, rules=rules)
    assert found.ledgers.d_attacking_mils["A"] == 4
    assert found.end.mils == {"A": 3, "B": 4}  # four defenders destroy one


def test_case_three_losses_over_four_and_two_attackers_are_two_and_one() -> None:
    table = standing({"A": 4, "B": 2, "C": 12}, land=4)
    found = played(table, {"A": {"attacks": {"C": 4}}, "B": {"attacks": {"C": 2}}})
    assert found.ledgers.d_mils_lost_by_attacker == {"A": 2, "B": 1, "C": 0}
    assert found.end.mils == {"A": 2, "B": 1, "C": 12}


def test_case_five_ordered_with_two_owned_are_two() -> None:
    found = played(standing({"A": 2, "B": 0}), {"A": {"attacks": {"B": 5}}})
    assert found.ledgers.d_attacks_clamped == {"A": {"B": 2}, "B": {}}


def test_case_an_army_that_cannot_be_paid_shrinks_and_is_then_stable() -> None:
    rules = Rules(c_money_per_territory=5, c_mil_upkeep_price=2)
    first = played(standing({"A": 6}, land=1), {}, rules=rules)
    assert first.ledgers.d_mils_disbanded_upkeep == {"A": 4}
    assert first.ledgers.d_money_after_upkeep == {"A": 1}
    assert played(first.end, {}, rules=rules).end.mils == first.end.mils == {"A": 2}


def test_case_mutual_grants_and_a_capital_that_is_not_ceded() -> None:
    table = standing({"A": 0, "B": 0}, land=2)  # a0 a1 b0 b1
    table.territories["B"] = ["b0"]
    table.welfare = {"A": 0, "B": 0}
    table.capitals = {"A": "a0", "B": "b0"}
    answers = {
        "A": {"money_grants": {"B": 4}, "cede_territories": {"B": ["a1"]}},
        "B": {"money_grants": {"A": 2}, "cede_territories": {"A": ["b0"]}},
    }
    found = played(table, answers, rules=Rules())
    assert found.end.welfare == {"A": 20 - 4 + 2 * 2, "B": 10 - 2 + 4 * 2}  # 20 and 16
    assert found.end.territories == {"A": ["a0"], "B": ["a1", "b0"]}
    assert found.cessions_refused == [("B", "A", "b0", "the giver's capital")]


def test_case_land_that_does_not_border_the_receiver_stays() -> None:
    table = standing({"A": 0, "B": 0, "C": 0}, land=2)
    found = played(table, {"A": {"cede_territories": {"C": ["a1"]}}})
    assert found.end.territories == table.territories
    assert [(each.field, each.reason) for each in found.dropped] == [
        ("cede_territories", "a1 to C: borders none of its land")
    ]


def test_case_four_mils_less_three_are_one() -> None:
    assert played(standing({"A": 4}), {"A": {"disband_mils": 3}}).end.mils == {"A": 1}


def test_case_a_grant_counts_in_the_same_turn_and_welfare_is_rounded_down() -> None:
    table = standing({"A": 0, "B": 0}, land=2)
    rules = Rules(c_money_per_territory=5, trade_numerator=3, trade_denominator=2)
    found = played(table, {"A": {"money_grants": {"B": 5}}}, rules=rules)
    assert found.ledgers.d_total_welfare_this_turn == {"A": 5, "B": 17}  # 10 + 7.5
    assert played(found.end, {}, rules=rules).ledgers.d_total_welfare_this_turn == {"A": 10, "B": 10}


def test_case_the_default_agents_do_nothing_for_ever() -> None:
    table, agents = standing(), {name: DefaultAgent() for name in NAMES}
    for _ in range(3):
        table = run_turn(table, {name: agent.act({}) for name, agent in agents.items()}, Rules()).end
    assert table.mils == dict.fromkeys(NAMES, 5)
    assert table.welfare == dict.fromkeys(NAMES, 130)


def test_a_game_of_hundreds_of_turns_keeps_no_more_than_a_short_one() -> None:
    table = standing({"A": 1})
    sizes = []
    for _ in range(300):
        table = run_turn(table, {"A": {"summary_last_turn": "the same", "history_summary": "again"}}, Rules()).end
        sizes.append(len(msgspec.json.encode([table.history, [len(s) for s in table.summaries.values()]])))
    assert max(sizes[100:]) == min(sizes[100:])
