"""Each phase alone: what it reads, what it writes, and its results calculated by hand."""

from itertools import permutations
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.worlds.statecraft import Ledgers, Rules, legal_cessions, read_intentions
from cohabit.worlds.statecraft.cessions import cede
from cohabit.worlds.statecraft.turn import (
    MAX_SUMMARIES,
    PHASES,
    apply_damage,
    buy_mils,
    clamp_attacks,
    destroy_attackers,
    disband_mils,
    earn_income,
    pay_grants,
    pay_upkeep,
    split_proportionally,
    store_notes,
)

from .cases import make_state, turns

WRITES = {
    "earn_income": ["d_gross_income"],
    "clamp_attacks": ["d_attacks_clamped", "d_global_attacked", "d_attacking_mils", "d_defense_mils"],
    "apply_damage": ["d_damage_received", "d_total_damage_received", "d_available_money"],
    "pay_upkeep": ["d_upkeep_cost", "d_mils_disbanded_upkeep", "d_money_after_upkeep"],
    "buy_mils": ["d_mil_purchased", "d_money_after_purchases"],
    "destroy_attackers": ["d_mils_lost_by_attacker"],
    "pay_grants": ["d_grants_paid", "d_grants_received", "d_trade_bonus", "d_total_welfare_this_turn"],
    "disband_mils": ["d_mils_disbanded_voluntary", "d_mils_disbanded_total"],
}


class WrittenLedgers:
    """Only the ledgers that earlier phases wrote."""

    def __init__(self, written: dict[str, Any]) -> None:
        self.__dict__.update(written)

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} is read before it is written")

    def __setattr__(self, name: str, value: Any) -> None:
        raise AssertionError(f"{name} is changed")


@given(turns())
def test_a_phase_reads_only_what_earlier_phases_wrote_and_changes_nothing(turn: Any) -> None:
    state, answers, rules = turn
    intentions, _ = read_intentions(state, answers, rules)
    later = {name for names in WRITES.values() for name in names}
    written: dict[str, Any] = {n: v for n, v in msgspec.structs.asdict(intentions).items() if n not in later}
    before = msgspec.json.encode(state)
    for phase in PHASES:
        seen = msgspec.json.encode(written)
        added = phase(state, WrittenLedgers(written), rules)  # type: ignore[arg-type]
        assert msgspec.json.encode(written) == seen
        assert list(added) == WRITES[phase.__name__]
        written |= added
    store_notes(state, WrittenLedgers(written))  # type: ignore[arg-type]
    assert msgspec.json.encode(state) == before


def test_the_check_finds_a_phase_that_reads_a_later_ledger() -> None:
    with pytest.raises(AssertionError, match="d_gross_income is read before it is written"):
        apply_damage(make_state(), WrittenLedgers({}), Rules())  # type: ignore[arg-type]


# -- proportional splits -------------------------------------------------------------------------------------
def test_remaining_units_go_to_the_largest_remainders_and_then_to_the_smaller_names() -> None:
    assert split_proportionally(3, {"B": 4, "A": 2}) == {"B": 2, "A": 1}
    assert split_proportionally(1, {"B": 1, "A": 1}) == {"A": 1}
    assert split_proportionally(2, {"A": 1, "B": 1, "C": 1}) == {"A": 1, "B": 1}
    assert split_proportionally(5, {"A": 7, "B": 2, "C": 1}) == {"A": 4, "B": 1}  # 3.5, 1, 0.5: the tie goes to A
    assert split_proportionally(2, {"A": 1, "B": 4}) == {"B": 2}  # 0.4 and 1.6
    assert split_proportionally(0, {"A": 3}) == {}


@given(st.integers(0, 10**6), st.dictionaries(st.text(max_size=2), st.integers(1, 10**12), min_size=1))
def test_shares_add_up_and_are_within_one_unit_of_the_exact_proportion(units: int, weights: dict[str, int]) -> None:
    shares, whole = split_proportionally(units, weights), sum(weights.values())
    assert sum(shares.values()) == units
    extra: dict[bool, list[tuple[int, str]]] = {True: [], False: []}
    for name, weight in weights.items():
        low, rest = divmod(weight * units, whole)
        assert low <= shares.get(name, 0) <= low + (rest > 0)
        extra[shares.get(name, 0) > low].append((-rest, name))
    assert not all(extra.values()) or max(extra[True]) < min(extra[False])
    assert split_proportionally(units, dict(reversed(weights.items()))) == shares


# -- the result of each phase ---------------------------------------------------------------------
def ledgers(**written: Any) -> Ledgers:
    return Ledgers(**written)


def test_income_is_the_number_of_territories_times_their_yield() -> None:
    state = make_state({"A": 0, "B": 0}, land=3)
    state.territories["B"] = []
    found = earn_income(state, ledgers(d_mil_purchase_intent={"A": 0, "B": 0}), Rules(c_money_per_territory=7))
    assert found == {"d_gross_income": {"A": 21, "B": 0}}


def test_no_nation_sends_more_than_it_has_and_the_rest_defends() -> None:
    state = make_state({"A": 2, "B": 6, "C": 0})
    orders = {"A": {"B": 5}, "B": {"A": 1, "C": 3}, "C": {"A": 4}}
    assert clamp_attacks(state, ledgers(d_global_attacks=orders), Rules()) == {
        "d_attacks_clamped": {"A": {"B": 2}, "B": {"A": 1, "C": 3}, "C": {}},
        "d_global_attacked": {"A": {"B": 1}, "B": {"A": 2}, "C": {"B": 3}},
        "d_attacking_mils": {"A": 2, "B": 4, "C": 0},
        "d_defense_mils": {"A": 0, "B": 2, "C": 0},
    }


def test_damage_destroys_income_and_any_excess_is_wasted() -> None:
    sent = {"A": {"B": 2, "C": 1}, "B": {"A": 9}, "C": {}}
    gross = {"A": 40, "B": 20, "C": 20}
    rules = Rules(c_damage_per_attack_mil=3)
    found = apply_damage(make_state(), ledgers(d_gross_income=gross, d_global_attacked=sent), rules)
    assert found == {
        "d_damage_received": {"A": {"B": 6, "C": 3}, "B": {"A": 27}, "C": {}},
        "d_total_damage_received": {"A": 9, "B": 27, "C": 0},
        "d_available_money": {"A": 31, "B": 0, "C": 20},
    }


@pytest.mark.parametrize(
    ("money", "army", "price", "forced", "left"),
    [
        (5, 6, 2, 4, 1),
        (12, 6, 2, 0, 0),
        (13, 6, 2, 0, 1),
        (0, 6, 2, 6, 0),
        (5, 2, 4, 1, 1),
        (7, 2, 4, 1, 3),
        (3, 9, 0, 0, 3),
    ],
)
def test_mils_that_cannot_be_paid_are_disbanded_and_the_change_is_kept(
    money: int, army: int, price: int, forced: int, left: int
) -> None:
    rules = Rules(c_mil_upkeep_price=price)
    found = pay_upkeep(make_state({"A": army}), ledgers(d_available_money={"A": money}), rules)
    assert found == {
        "d_upkeep_cost": {"A": army * price},
        "d_mils_disbanded_upkeep": {"A": forced},
        "d_money_after_upkeep": {"A": left},
    }


def test_mils_are_bought_as_ordered_as_far_as_the_money_goes() -> None:
    written = ledgers(d_money_after_upkeep={"A": 45, "B": 45, "C": 19}, d_mil_purchase_intent={"A": 1, "B": 9, "C": 9})
    assert buy_mils(make_state(), written, Rules(c_mil_purchase_price=20)) == {
        "d_mil_purchased": {"A": 1, "B": 2, "C": 0},
        "d_money_after_purchases": {"A": 25, "B": 5, "C": 19},
    }


def test_losses_are_split_among_the_attackers_in_proportion() -> None:
    written = ledgers(
        d_global_attacked={"A": {"B": 4, "C": 2}, "B": {}, "C": {}}, d_defense_mils={"A": 12, "B": 9, "C": 9}
    )
    assert destroy_attackers(make_state(), written, Rules()) == {"d_mils_lost_by_attacker": {"A": 0, "B": 2, "C": 1}}


def test_attackers_lose_no_more_than_they_sent_unless_the_loss_cap_is_the_army() -> None:
    written = ledgers(
        d_global_attacked={"A": {"B": 1, "C": 1}, "B": {}, "C": {}}, d_defense_mils={"A": 20, "B": 0, "C": 0}
    )
    assert destroy_attackers(make_state(), written, Rules())["d_mils_lost_by_attacker"] == {"A": 0, "B": 1, "C": 1}
    assert destroy_attackers(make_state(), written, Rules(loss_cap="army"))["d_mils_lost_by_attacker"] == {
        "A": 0,
        "B": 3,
        "C": 2,
    }


def test_grants_are_paid_in_name_order_while_money_lasts_and_are_worth_more_to_the_receiver() -> None:
    written = ledgers(
        d_money_grants={"A": {"B": 4, "C": 9}, "B": {"A": 2}, "C": {}},
        d_money_after_purchases={"A": 10, "B": 7, "C": 0},
    )
    found = pay_grants(make_state(), written, Rules(trade_numerator=3, trade_denominator=2))
    assert found == {
        "d_grants_paid": {"A": {"B": 4, "C": 6}, "B": {"A": 2}, "C": {}},
        "d_grants_received": {"A": {"B": 2}, "B": {"A": 4}, "C": {"A": 6}},
        "d_trade_bonus": {"A": 1, "B": 2, "C": 3},
        "d_total_welfare_this_turn": {"A": 3, "B": 11, "C": 9},
    }


def test_a_factor_of_1_point_13_is_exact() -> None:
    written = ledgers(d_money_grants={"A": {"B": 100}, "B": {}}, d_money_after_purchases={"A": 100, "B": 0})
    found = pay_grants(make_state(), written, Rules(trade_numerator=113, trade_denominator=100))
    assert found["d_total_welfare_this_turn"] == {"A": 0, "B": 113}  # a float would give 112
    assert found["d_trade_bonus"] == {"A": 0, "B": 13}


def test_received_money_cannot_be_granted_again() -> None:
    written = ledgers(
        d_money_grants={"A": {"B": 9}, "B": {"C": 9}, "C": {}}, d_money_after_purchases={"A": 9, "B": 0, "C": 0}
    )
    assert pay_grants(make_state(), written, Rules())["d_total_welfare_this_turn"] == {"A": 0, "B": 18, "C": 0}


def test_bought_mils_join_the_army_before_mils_are_disbanded() -> None:
    state = make_state({"A": 4, "B": 4, "C": 4})
    written = ledgers(
        d_mils_disbanded_upkeep={"A": 0, "B": 3, "C": 1},
        d_mils_lost_by_attacker={"A": 1, "B": 2, "C": 0},
        d_mil_purchased={"A": 0, "B": 2, "C": 1},
        d_mils_disband_intent={"A": 3, "B": 0, "C": 9},
    )
    assert disband_mils(state, written, Rules()) == {
        "d_mils_disbanded_voluntary": {"A": 3, "B": 0, "C": 4},
        "d_mils_disbanded_total": {"A": 3, "B": 3, "C": 5},
    }


# -- cessions ---------------------------------------------------------------------------------------
def test_each_cession_is_checked_on_the_map_as_it_is_by_then() -> None:
    state = make_state({"A": 0, "B": 0, "C": 0}, land=2)  # a0 a1 b0 b1 c0 c1
    found = cede(state, {"C": {"B": ["c0", "c1"]}, "A": {"B": ["a1", "a0", "a1"]}, "B": {"C": ["b1"], "A": ["b0"]}})
    assert found.done == [("A", "B", "a1"), ("B", "C", "b1")]
    assert found.refused == [
        ("A", "B", "a0", "it is the giver's capital"),
        ("A", "B", "a1", "the giver no longer owns it"),
        ("B", "A", "b0", "it is the giver's capital"),
        ("C", "B", "c0", "it is the giver's capital"),
        ("C", "B", "c1", "it is not adjacent to the receiver's territory"),
    ]


def test_a_territory_ceded_to_two_nations_goes_to_the_smaller_name_and_the_other_cession_is_refused() -> None:
    state = make_state({"A": 0, "B": 0, "C": 0}, land=2, graph=False)
    found = cede(state, {"B": {"C": ["b1"], "A": ["b1"]}})
    assert found.done == [("B", "A", "b1")]
    assert found.refused == [("B", "C", "b1", "the giver no longer owns it")]
    assert found.territories == {"A": ["a0", "a1", "b1"], "B": ["b0"], "C": ["c0", "c1"]}


def test_legal_cessions_are_adjacent_to_the_receiver_and_exclude_capitals() -> None:
    state = make_state({"A": 0, "B": 0, "C": 0}, land=2)  # a0 a1 b0 b1 c0 c1, capitals a0 b0 c0
    assert legal_cessions(state) == {"A": {"B": ["a1"]}, "B": {"C": ["b1"]}}
    state.capitals = {}
    assert legal_cessions(state) == {
        "A": {"B": ["a1"]}, "B": {"A": ["b0"], "C": ["b1"]}, "C": {"B": ["c0"]},
    }  # fmt: skip
    state.graph = {each: [] for land in state.territories.values() for each in land}
    assert legal_cessions(state) == {}
    state.graph = None
    assert legal_cessions(state)["A"] == {"B": ["a0", "a1"], "C": ["a0", "a1"]}


@given(turns())
def test_a_cession_is_legal_exactly_if_it_is_not_refused(turn: Any) -> None:
    state, _, _ = turn
    legal = {
        (giver, receiver, territory)
        for giver, receivers in legal_cessions(state).items()
        for receiver, territories in receivers.items()
        for territory in territories
    }
    asked = [(a, b, territory) for a, b in permutations(state.nations, 2) for territory in state.territories[a]]
    assert {one for one in asked if cede(state, {one[0]: {one[1]: [one[2]]}}).done} == legal


# -- notes ------------------------------------------------------------------------------------
def test_a_history_replaces_the_previous_one_and_summaries_are_added() -> None:
    state = make_state({"A": 0, "B": 0}, history={"A": "old", "B": "kept"}, summaries={"B": [(1, "one")]})
    written = ledgers(d_history_summary={"A": "new", "B": ""}, d_turn_summary={"A": "", "B": "two"})
    assert store_notes(state, written) == ({"A": "new", "B": "kept"}, {"B": [(1, "one"), (2, "two")]})
    assert state.summaries == {"B": [(1, "one")]}


def test_only_the_newest_summaries_are_kept() -> None:
    state = make_state({"A": 0}, summaries={"A": [(i, "x") for i in range(MAX_SUMMARIES)]})
    _, found = store_notes(state, ledgers(d_history_summary={}, d_turn_summary={"A": "new"}))
    assert len(found["A"]) == MAX_SUMMARIES
    assert found["A"][-1] == (2, "new")
    assert found["A"][0] == (1, "x")
