"""The measures of a round: inequality, cooperation, wars, pledges and intervals."""

from fractions import Fraction
from itertools import pairwise, permutations
from math import exp, lgamma, log, log1p

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.lab.estimates import T_975, correlation, estimate, t_quantile
from cohabit.lab.statecraft import measures
from cohabit.lab.statecraft.pledges import final_ratings, pledge_outcomes, ratings_with_history, read_pledges
from cohabit.lab.statecraft.rounds import Grant, Place, Pledge, Rating
from cohabit.worlds.statecraft.pledges import find_pledges

from .example_rounds import a_round, attacks, eventful, turn

AMOUNTS = st.lists(st.integers(0, 10**9), min_size=1, max_size=12)


# -- inequality -------------------------------------------------------------------------------------
def test_gini_is_0_if_all_are_equal_and_nearly_1_if_one_has_everything() -> None:
    assert measures.gini([7, 7, 7]) == 0
    assert measures.gini([0, 0, 0, 12]) == Fraction(3, 4)
    assert measures.gini([1, 3]) == Fraction(1, 4)
    assert measures.gini([0, 0]) == 0


@given(AMOUNTS)
def test_gini_is_the_mean_difference_over_twice_the_mean(values: list[int]) -> None:
    n, total = len(values), sum(values)
    expected = Fraction(sum(abs(a - b) for a in values for b in values), 2 * n * total) if total else Fraction(0)
    assert measures.gini(values) == expected
    assert 0 <= measures.gini(values) < 1


@given(AMOUNTS, st.integers(1, 1000))
def test_gini_depends_neither_on_the_order_nor_on_the_unit(values: list[int], unit: int) -> None:
    assert measures.gini([unit * value for value in reversed(values)]) == measures.gini(values)


# -- cooperation ------------------------------------------------------------------------------------
@given(st.integers(1, 10**9), st.fractions(Fraction(1, 10), 10).filter(lambda factor: factor != 1))
def test_cooperation_is_1_if_everything_is_granted_and_0_if_everything_is_kept(gross: int, factor: Fraction) -> None:
    gross *= factor.denominator
    assert measures.cooperation_index(int(gross * factor), gross, factor) == 1
    assert measures.cooperation_index(gross, gross, factor) == 0


def test_war_makes_cooperation_negative_and_without_a_gain_from_trade_there_is_no_index() -> None:
    assert measures.cooperation_index(50, 100, Fraction(3, 2)) == -1
    assert measures.cooperation_index(100, 100, Fraction(1)) is None
    assert measures.cooperation_index(0, 0, Fraction(2)) is None


def test_the_cooperation_of_a_round_covers_all_its_turns() -> None:
    played = a_round([turn(gross_income=[10] * 3, welfare=[20] * 3), turn(gross_income=[10] * 3, welfare=[10] * 3)])
    assert measures.cooperation(played) == Fraction(1, 2)
    assert measures.cooperation_over_time(played) == [1, 0]


# -- ranks ------------------------------------------------------------------------------------------
def test_equal_nations_share_the_better_rank_and_the_win() -> None:
    played = a_round([turn(welfare=[5, 9, 9])])
    assert measures.ranks(played) == [3, 1, 1]
    assert measures.wins(played) == [0, Fraction(1, 2), Fraction(1, 2)]


# -- wars -------------------------------------------------------------------------------------------
@given(st.lists(st.booleans(), max_size=40))
def test_runs_are_maximal_and_cover_every_number_once(flags: list[bool]) -> None:
    numbers = [i for i, flag in enumerate(flags) if flag]
    found = measures.consecutive_runs(numbers)
    assert [n for first, last in found for n in range(first, last + 1)] == numbers
    assert all(after[0] > before[1] + 1 for before, after in pairwise(found))


def test_a_war_lasts_while_either_side_attacks_and_ends_with_a_turn_of_peace() -> None:
    played = a_round([
        turn(attacks=attacks(("A", "B", 2))),
        turn(attacks=attacks(("B", "A", 1))),
        turn(),
        turn(attacks=attacks(("A", "B", 1), ("B", "A", 1), ("C", "A", 4))),
    ])  # fmt: skip
    found = [(war.pair, war.first, war.last, war.started_by, war.mils) for war in measures.wars(played)]
    assert found == [(("A", "B"), 0, 1, "A", 3), (("A", "B"), 3, 3, "both", 2), (("A", "C"), 3, 3, "C", 4)]


def test_destroyed_income_is_attributed_to_the_attackers_in_proportion() -> None:
    played = a_round(
        [turn(gross_income=[0, 10, 0], income_destroyed=[0, 10, 0], attacks=attacks(("A", "B", 1), ("C", "B", 2)))]
    )
    assert {war.pair: war.income_destroyed for war in measures.wars(played)} == {
        ("A", "B"): Fraction(10, 3),
        ("B", "C"): Fraction(20, 3),
    }


@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from(list(permutations("ABC", 2))), st.integers(1, 9)), max_size=6), max_size=6
    )
)
def test_the_income_destroyed_by_all_wars_is_the_total_of_the_round(
    orders: list[list[tuple[tuple[str, str], int]]],
) -> None:
    turns = []
    for number, rows in enumerate(orders):
        sent = dict(rows)
        targets = {target for _, target in sent}
        destroyed = [number + 7 if nation in targets else 0 for nation in "ABC"]
        turns.append(turn(income_destroyed=destroyed, attacks=attacks(*((*pair, mils) for pair, mils in sent.items()))))
    played = a_round(turns)
    fought = measures.wars(played)
    assert sum((war.income_destroyed for war in fought), Fraction(0)) == measures.total(
        played.turns, "income_destroyed"
    )
    assert sum(war.mils for war in fought) == sum(attack.mils for t in turns for attack in t.attacks)


# -- pledges ----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("pledge: grant 12 to Brena", [(12, "Brena")]),
        ("Pledge: No attack on Brena.", [(0, "Brena")]),
        ("hello\n  pledge:  grant 3 to B ; pledge: no attack on New Rome !\nbye", [(3, "B"), (0, "New Rome")]),
        ("I pledge: grant 3 to B", [(3, "B")]),
        ("- **Pledge:** grant 12 to brena.", [(12, "Brena")]),
        ("* pledge: no attack on BRENA", [(0, "Brena")]),
        ("2. _pledge_ — no attacks against `New Rome`", [(0, "New Rome")]),
        ("We pledge not to attack you; I pledge to give 5 money to you next turn!", [(0, "me"), (5, "me")]),
        ("pledge: I will grant you 7", [(7, "me")]),
        ("> PLEDGE: I'll never attack B (next turn)", [(0, "B")]),
        ("I will not pledge: grant 3 to B", []),
        ("Did Brena pledge: grant 3 to B", []),
        ("pledge: grant 3 to Atlantis", []),
        ("pledge: grant 0 to B", []),
        ("pledge: grant -3 to B", []),
        ("pledge: grant ٣ to B", []),
        ("pledge: grant 3 to ", []),
        ("pledge: attack on B", []),
        ("pledge: grant 1 to " + "B" * 400, []),
        ("", []),
    ],
)
def test_a_pledge_is_a_line_in_one_of_these_forms(text: str, found: list[tuple[int, str]]) -> None:
    assert list(find_pledges(text, ["Brena", "B", "New Rome", "me"], "me")) == found


def test_you_in_a_message_to_all_is_nobody() -> None:
    assert list(find_pledges("I pledge not to attack you", ["A", "B"], "all")) == []


PLEDGES = st.sampled_from(["pledge: grant 3 to A", "I pledge not to attack you", "pledge: no attack on B", "x"])
TEXTS = st.text() | st.lists(PLEDGES).map("\n".join)


@given(st.dictionaries(st.sampled_from("ABC"), st.dictionaries(st.sampled_from(["A", "B", "C", "all"]), TEXTS)))
def test_any_text_has_only_pledges_of_its_sender_about_another_nation(sent: dict[str, dict[str, str]]) -> None:
    found = {(pledge.author, pledge.target) for pledge in read_pledges(sent, ["A", "B", "C"])}
    assert found <= {(author, target) for author, target in permutations("ABC", 2) if author in sent}


def test_the_same_pledge_sent_to_several_nations_counts_once_and_has_all_of_them_as_recipients() -> None:
    text = "pledge: no attack on B"
    sent = {"A": {"B": text, "C": text}, "B": {"all": "pledge: grant 2 to B; pledge: grant 2 to Nobody"}}
    assert read_pledges(sent, ["A", "B", "C", "D"]) == [Pledge("A", "B", 0, ["B", "C"])]
    assert read_pledges({"A": {"all": text}}, ["A", "B", "C"]) == [Pledge("A", "B", 0, ["B", "C"])]
    assert read_pledges({"A": {"B": text}}, ["A", "B", "C"], open_messages=True)[0].recipients == ["B", "C"]


def test_the_outcome_of_a_pledge_is_decided_in_the_turn_after_it() -> None:
    found = [(one.pledge.author, one.done, one.kept) for one in pledge_outcomes(eventful())]
    assert found == [("A", 20, True), ("C", 2, False), ("A", 0, None)]


def test_a_grant_that_is_only_partly_paid_is_a_broken_pledge() -> None:
    pledges = [Pledge("A", "B", 5, ["B"])]
    for paid, kept in ((4, False), (5, True), (9, True)):
        played = a_round([turn(pledges=pledges), turn(grants=[Grant("A", "B", paid), Grant("A", "C", 9)])])
        assert [one.kept for one in pledge_outcomes(played)] == [kept]


def test_a_rating_is_compared_with_the_pledges_that_the_rater_received_and_saw_fall_due() -> None:
    found = {(one.rating.rater, one.rating.rated): (one.kept, one.broken) for one in ratings_with_history(eventful())}
    assert found == {("B", "A"): (1, 0), ("B", "C"): (0, 1), ("A", "C"): (0, 1)}


def test_a_rating_is_not_compared_with_pledges_that_fall_due_in_its_own_turn() -> None:
    rated = turn(grants=[Grant("A", "B", 5)], ratings=[Rating("B", "A", 7, 0)])
    played = a_round([turn(pledges=[Pledge("A", "B", 5, ["B"])]), rated, rated])
    assert [(one.turn, one.kept) for one in ratings_with_history(played)] == [(1, 0), (2, 1)]
    assert [one.turn for one in final_ratings(ratings_with_history(played))] == [2]


# -- intervals --------------------------------------------------------------------------------------
def student_cdf(t: float, freedom: int, steps: int = 4000) -> float:
    """The distribution function of Student's t, by Simpson's rule."""
    log_scale = lgamma((freedom + 1) / 2) - lgamma(freedom / 2) - 0.5 * log(freedom * 3.141592653589793)

    def density(x: float) -> float:
        return exp(log_scale - (freedom + 1) / 2 * log1p(x * x / freedom))

    width = t / steps
    inner = sum((4 if i % 2 else 2) * density(i * width) for i in range(1, steps))
    return 0.5 + width / 3 * (density(0) + inner + density(t))


@pytest.mark.parametrize("freedom", T_975)
def test_the_table_has_the_quantiles_of_students_distribution(freedom: int) -> None:
    assert student_cdf(t_quantile(freedom), freedom) == pytest.approx(0.975, abs=4e-5)


def test_between_two_rows_of_the_table_the_wider_interval_is_used() -> None:
    assert t_quantile(39) == t_quantile(30)
    assert t_quantile(10**9) == t_quantile(1000)


def test_an_interval_is_the_mean_and_t_times_the_standard_error() -> None:
    found = estimate([1, 2, 3, 4])
    assert found is not None
    assert (found.mean, found.n) == (Fraction(5, 2), 4)
    assert found.half_width == pytest.approx(3.182 * (5 / 3 / 4) ** 0.5)
    assert estimate([]) is None
    one = estimate([5])
    assert one is not None
    assert one.half_width is None


def test_there_is_a_correlation_only_if_both_variables_vary() -> None:
    up = [(Fraction(i), Fraction(2 * i + 1)) for i in range(5)]
    assert correlation(up) == pytest.approx(1)
    assert correlation([(x, -y) for x, y in up]) == pytest.approx(-1)
    assert correlation([(Fraction(1), y) for _, y in up]) is None
    assert correlation(up[:1]) is None


def test_a_place_is_written_with_its_line_up_seed_and_round() -> None:
    assert str(Place("ring", 3, 1)) == "ring, seed 3, round 1"
