"""Each phase by itself: what it reads, what it writes, and its sums worked out by hand."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.worlds.statecraft import Ledgers, Rules, legal_outbound, take_in
from cohabit.worlds.statecraft.cessions import cede
from cohabit.worlds.statecraft.phases import PHASES
from cohabit.worlds.statecraft.phases.attacks import attacks
from cohabit.worlds.statecraft.phases.closing import closing
from cohabit.worlds.statecraft.phases.damage import damage
from cohabit.worlds.statecraft.phases.history import KEPT, history
from cohabit.worlds.statecraft.phases.income import income
from cohabit.worlds.statecraft.phases.losses import losses
from cohabit.worlds.statecraft.phases.purchases import purchases
from cohabit.worlds.statecraft.phases.upkeep import upkeep
from cohabit.worlds.statecraft.phases.welfare import welfare
from cohabit.worlds.statecraft.shares import split

from .tables import standing, turns

WRITES = {
    "income": ["d_gross_income"],
    "attacks": ["d_attacks_clamped", "d_global_attacked", "d_attacking_mils", "d_defense_mils"],
    "damage": ["d_damage_received", "d_total_damage_received", "d_available_money"],
    "upkeep": ["d_upkeep_cost", "d_mils_disbanded_upkeep", "d_money_after_upkeep"],
    "purchases": ["d_mil_purchased", "d_money_after_purchases"],
    "losses": ["d_mils_lost_by_attacker"],
    "welfare": ["d_grants_paid", "d_grants_received", "d_trade_bonus", "d_total_welfare_this_turn"],
    "closing": ["d_mils_disbanded_voluntary", "d_mils_disbanded_total"],
}


class SoFar:
    """Ledgers of which only those are there that earlier phases wrote."""

    def __init__(self, written: dict[str, Any]) -> None:
        self.__dict__.update(written)

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} is read before it is written")

    def __setattr__(self, name: str, value: Any) -> None:
        raise AssertionError(f"{name} is changed")


@given(turns())
def test_a_phase_reads_only_what_earlier_phases_wrote_and_changes_nothing(turn: Any) -> None:
    table, answers, rules = turn
    taken, _ = take_in(table, answers, rules)
    later = {name for names in WRITES.values() for name in names}
    written: dict[str, Any] = {n: v for n, v in msgspec.structs.asdict(taken).items() if n not in later}
    before = msgspec.json.encode(table)
    for phase in PHASES:
        seen = msgspec.json.encode(written)
        added = phase(table, SoFar(written), rules)  # type: ignore[arg-type]
        assert msgspec.json.encode(written) == seen
        assert list(added) == WRITES[phase.__name__]
        written |= added
    assert list(closing(table, SoFar(written), rules).written) == WRITES["closing"]  # type: ignore[arg-type]
    history(table, SoFar(written))  # type: ignore[arg-type]
    assert msgspec.json.encode(table) == before


def test_the_check_notices_a_phase_that_looks_ahead() -> None:
    with pytest.raises(AssertionError, match="d_gross_income is read before it is written"):
        damage(standing(), SoFar({}), Rules())  # type: ignore[arg-type]


# -- shares -------------------------------------------------------------------------------------
def test_spare_units_go_to_the_largest_fractions_and_then_to_the_smaller_names() -> None:
    assert split(3, {"B": 4, "A": 2}) == {"B": 2, "A": 1}
    assert split(1, {"B": 1, "A": 1}) == {"A": 1}
    assert split(2, {"A": 1, "B": 1, "C": 1}) == {"A": 1, "B": 1}
    assert split(5, {"A": 7, "B": 2, "C": 1}) == {"A": 4, "B": 1}  # 3.5, 1, 0.5: the tie goes to A
    assert split(2, {"A": 1, "B": 4}) == {"B": 2}  # 0.4 and 1.6
    assert split(0, {"A": 3}) == {}


@given(st.integers(0, 10**6), st.dictionaries(st.text(max_size=2), st.integers(1, 10**12), min_size=1))
def test_shares_add_up_and_are_within_one_of_what_is_fair(units: int, weights: dict[str, int]) -> None:
    shares, whole = split(units, weights), sum(weights.values())
    assert sum(shares.values()) == units
    spared: dict[bool, list[tuple[int, str]]] = {True: [], False: []}
    for name, weight in weights.items():
        low, rest = divmod(weight * units, whole)
        assert low <= shares.get(name, 0) <= low + (rest > 0)
        spared[shares.get(name, 0) > low].append((-rest, name))
    assert not all(spared.values()) or max(spared[True]) < min(spared[False])
    assert split(units, dict(reversed(weights.items()))) == shares


# -- the sums of each phase ---------------------------------------------------------------------
def ledgers(**written: Any) -> Ledgers:
    return Ledgers(**written)


def test_income_is_land_times_money() -> None:
    table = standing({"A": 0, "B": 0}, land=3)
    table.territories["B"] = []
    found = income(table, ledgers(d_mil_purchase_intent={"A": 0, "B": 0}), Rules(c_money_per_territory=7))
    assert found == {"d_gross_income": {"A": 21, "B": 0}}


def test_nobody_sends_more_than_it_has_and_the_rest_defends() -> None:
    table = standing({"A": 2, "B": 6, "C": 0})
    orders = {"A": {"B": 5}, "B": {"A": 1, "C": 3}, "C": {"A": 4}}
    assert attacks(table, ledgers(d_global_attacks=orders), Rules()) == {
        "d_attacks_clamped": {"A": {"B": 2}, "B": {"A": 1, "C": 3}, "C": {}},
        "d_global_attacked": {"A": {"B": 1}, "B": {"A": 2}, "C": {"B": 3}},
        "d_attacking_mils": {"A": 2, "B": 4, "C": 0},
        "d_defense_mils": {"A": 0, "B": 2, "C": 0},
    }


def test_damage_burns_income_and_what_is_beyond_it_is_wasted() -> None:
    sent = {"A": {"B": 2, "C": 1}, "B": {"A": 9}, "C": {}}
    gross = {"A": 40, "B": 20, "C": 20}
    found = damage(standing(), ledgers(d_gross_income=gross, d_global_attacked=sent), Rules(c_damage_per_attack_mil=3))
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
def test_mils_that_cannot_be_paid_are_dismissed_and_change_is_kept(
    money: int, army: int, price: int, forced: int, left: int
) -> None:
    found = upkeep(standing({"A": army}), ledgers(d_available_money={"A": money}), Rules(c_mil_upkeep_price=price))
    assert found == {
        "d_upkeep_cost": {"A": army * price},
        "d_mils_disbanded_upkeep": {"A": forced},
        "d_money_after_upkeep": {"A": left},
    }


def test_purchases_are_those_wanted_as_far_as_the_money_goes() -> None:
    books = ledgers(d_money_after_upkeep={"A": 45, "B": 45, "C": 19}, d_mil_purchase_intent={"A": 1, "B": 9, "C": 9})
    assert purchases(standing(), books, Rules(c_mil_purchase_price=20)) == {
        "d_mil_purchased": {"A": 1, "B": 2, "C": 0},
        "d_money_after_purchases": {"A": 25, "B": 5, "C": 19},
    }


def test_losses_are_shared_by_the_attackers_in_proportion() -> None:
    books = ledgers(
        d_global_attacked={"A": {"B": 4, "C": 2}, "B": {}, "C": {}}, d_defense_mils={"A": 12, "B": 9, "C": 9}
    )
    assert losses(standing(), books, Rules()) == {"d_mils_lost_by_attacker": {"A": 0, "B": 2, "C": 1}}


def test_attackers_lose_no_more_than_they_sent_unless_the_rules_are_the_old_ones() -> None:
    books = ledgers(
        d_global_attacked={"A": {"B": 1, "C": 1}, "B": {}, "C": {}}, d_defense_mils={"A": 20, "B": 0, "C": 0}
    )
    assert losses(standing(), books, Rules())["d_mils_lost_by_attacker"] == {"A": 0, "B": 1, "C": 1}
    assert losses(standing(), books, Rules(loss_cap="army"))["d_mils_lost_by_attacker"] == {"A": 0, "B": 3, "C": 2}


def test_grants_are_paid_by_name_while_money_lasts_and_are_worth_more_to_who_receives_them() -> None:
    books = ledgers(
        d_money_grants={"A": {"B": 4, "C": 9}, "B": {"A": 2}, "C": {}},
        d_money_after_purchases={"A": 10, "B": 7, "C": 0},
    )
    found = welfare(standing(), books, Rules(trade_numerator=3, trade_denominator=2))
    assert found == {
        "d_grants_paid": {"A": {"B": 4, "C": 6}, "B": {"A": 2}, "C": {}},
        "d_grants_received": {"A": {"B": 2}, "B": {"A": 4}, "C": {"A": 6}},
        "d_trade_bonus": {"A": 1, "B": 2, "C": 3},
        "d_total_welfare_this_turn": {"A": 3, "B": 11, "C": 9},
    }


def test_a_factor_of_1_point_13_is_exact() -> None:
    books = ledgers(d_money_grants={"A": {"B": 100}, "B": {}}, d_money_after_purchases={"A": 100, "B": 0})
    found = welfare(standing(), books, Rules(trade_numerator=113, trade_denominator=100))
    assert found["d_total_welfare_this_turn"] == {"A": 0, "B": 113}  # a float would have made 112 of it
    assert found["d_trade_bonus"] == {"A": 0, "B": 13}


def test_received_money_cannot_be_given_on() -> None:
    books = ledgers(
        d_money_grants={"A": {"B": 9}, "B": {"C": 9}, "C": {}}, d_money_after_purchases={"A": 9, "B": 0, "C": 0}
    )
    assert welfare(standing(), books, Rules())["d_total_welfare_this_turn"] == {"A": 0, "B": 18, "C": 0}


def test_armies_end_with_what_was_bought_and_dismissals_come_last() -> None:
    table = standing({"A": 4, "B": 4, "C": 4})
    books = ledgers(
        d_mils_disbanded_upkeep={"A": 0, "B": 3, "C": 1},
        d_mils_lost_by_attacker={"A": 1, "B": 2, "C": 0},
        d_mil_purchased={"A": 0, "B": 2, "C": 1},
        d_mils_disband_intent={"A": 3, "B": 0, "C": 9},
        d_territory_cession={},
    )
    found = closing(table, books, Rules())
    assert found.mils == {"A": 0, "B": 2, "C": 0}
    assert found.written == {
        "d_mils_disbanded_voluntary": {"A": 3, "B": 0, "C": 4},
        "d_mils_disbanded_total": {"A": 3, "B": 3, "C": 5},
    }


# -- land ---------------------------------------------------------------------------------------
def test_land_is_handed_over_one_by_one_on_the_map_as_it_then_is() -> None:
    table = standing({"A": 0, "B": 0, "C": 0}, land=2)  # a0 a1 b0 b1 c0 c1
    found = cede(table, {"C": {"B": ["c0", "c1"]}, "A": {"B": ["a1", "a0", "a1"]}, "B": {"C": ["b1"], "A": ["b0"]}})
    assert found.done == [("A", "B", "a1"), ("B", "C", "b1")]
    assert found.refused == [
        ("A", "B", "a0", "the giver's capital"),
        ("A", "B", "a1", "no longer the giver's"),
        ("B", "A", "b0", "the giver's capital"),
        ("C", "B", "c0", "the giver's capital"),
        ("C", "B", "c1", "borders none of the receiver's land"),
    ]


def test_the_same_land_for_two_goes_to_the_smaller_name_and_the_other_is_told() -> None:
    table = standing({"A": 0, "B": 0, "C": 0}, land=2, graph=False)
    found = cede(table, {"B": {"C": ["b1"], "A": ["b1"]}})
    assert found.done == [("B", "A", "b1")]
    assert found.refused == [("B", "C", "b1", "no longer the giver's")]
    assert found.territories == {"A": ["a0", "a1", "b1"], "B": ["b0"], "C": ["c0", "c1"]}


def test_legal_cessions_are_those_that_border_on_the_receiver_without_capitals() -> None:
    table = standing({"A": 0, "B": 0, "C": 0}, land=2)  # a0 a1 b0 b1 c0 c1, capitals a0 b0 c0
    assert legal_outbound(table) == {"A": {"B": ["a1"]}, "B": {"C": ["b1"]}}
    table.capitals = {}
    assert legal_outbound(table) == {
        "A": {"B": ["a1"]}, "B": {"A": ["b0"], "C": ["b1"]}, "C": {"B": ["c0"]},
    }  # fmt: skip
    table.graph = {each: [] for land in table.territories.values() for each in land}
    assert legal_outbound(table) == {}
    table.graph = None
    assert legal_outbound(table)["A"] == {"B": ["a0", "a1"], "C": ["a0", "a1"]}


@given(turns())
def test_what_is_legal_is_what_is_not_refused(turn: Any) -> None:
    table, _, _ = turn
    legal = legal_outbound(table)
    for giver in table.nations:
        for receiver in table.nations:
            for territory in table.territories[giver]:
                if receiver != giver:
                    done = cede(table, {giver: {receiver: [territory]}}).done
                    assert bool(done) == (territory in legal.get(giver, {}).get(receiver, []))


# -- history ------------------------------------------------------------------------------------
def test_a_history_replaces_the_one_before_and_summaries_are_added() -> None:
    table = standing({"A": 0, "B": 0}, history={"A": "old", "B": "kept"}, summaries={"B": [(2, "two")]})
    books = ledgers(d_history_summary={"A": "new", "B": ""}, d_turn_summary={"A": "", "B": "three"})
    assert history(table, books) == ({"A": "new", "B": "kept"}, {"B": [(2, "two"), (3, "three")]})
    assert table.summaries == {"B": [(2, "two")]}


def test_only_the_newest_summaries_are_at_hand() -> None:
    table = standing({"A": 0}, summaries={"A": [(i, "x") for i in range(KEPT)]})
    found = history(table, ledgers(d_history_summary={}, d_turn_summary={"A": "new"}))
    assert len(found.summaries["A"]) == KEPT
    assert found.summaries["A"][-1] == (3, "new")
    assert found.summaries["A"][0] == (1, "x")
