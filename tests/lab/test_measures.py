"""What a round is measured by."""

from fractions import Fraction
from itertools import pairwise, permutations
from math import exp, lgamma, log, log1p

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.lab import measures, promises
from cohabit.lab.intervals import T_975, correlation, estimate, t_quantile
from cohabit.lab.record import Place, Pledge, Rating

from .rounds import a_round, attacks, eventful, turn

AMOUNTS = st.lists(st.integers(0, 10**9), min_size=1, max_size=12)


# -- inequality -------------------------------------------------------------------------------------
def test_gini_is_nothing_where_all_are_equal_and_nearly_one_where_one_has_all() -> None:
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
def test_gini_knows_neither_order_nor_unit(values: list[int], times: int) -> None:
    assert measures.gini([times * value for value in reversed(values)]) == measures.gini(values)


# -- cooperation ------------------------------------------------------------------------------------
@given(st.integers(1, 10**9), st.fractions(Fraction(1, 10), 10).filter(lambda factor: factor != 1))
def test_granting_everything_is_one_and_keeping_everything_is_nothing(gross: int, factor: Fraction) -> None:
    gross *= factor.denominator
    assert measures.cooperation(int(gross * factor), gross, factor) == 1
    assert measures.cooperation(gross, gross, factor) == 0


def test_war_makes_cooperation_negative_and_where_nothing_can_be_gained_there_is_no_index() -> None:
    assert measures.cooperation(50, 100, Fraction(3, 2)) == -1
    assert measures.cooperation(100, 100, Fraction(1)) is None
    assert measures.cooperation(0, 0, Fraction(2)) is None


def test_cooperation_of_a_round_is_over_all_its_turns() -> None:
    played = a_round([turn(gross=[10, 10, 10], welfare=[20, 20, 20]), turn(gross=[10, 10, 10], welfare=[10, 10, 10])])
    assert measures.cooperation_of(played) == Fraction(1, 2)
    assert measures.cooperation_over_time(played) == [1, 0]


# -- ranks ------------------------------------------------------------------------------------------
def test_equals_share_the_better_rank_and_the_win() -> None:
    played = a_round([turn(welfare=[5, 9, 9])])
    assert measures.ranks(played) == [3, 1, 1]
    assert measures.wins(played) == [0, Fraction(1, 2), Fraction(1, 2)]


# -- wars -------------------------------------------------------------------------------------------
@given(st.lists(st.booleans(), max_size=40))
def test_runs_are_maximal_and_cover_every_number_once(flags: list[bool]) -> None:
    numbers = [i for i, flag in enumerate(flags) if flag]
    found = measures.runs(numbers)
    assert [n for first, last in found for n in range(first, last + 1)] == numbers
    assert all(after[0] > before[1] + 1 for before, after in pairwise(found))


def test_a_war_goes_on_while_either_side_attacks_and_a_turn_of_peace_ends_it() -> None:
    played = a_round([
        turn(attacks=attacks(("A", "B", 2))),
        turn(attacks=attacks(("B", "A", 1))),
        turn(),
        turn(attacks=attacks(("A", "B", 1), ("B", "A", 1), ("C", "A", 4))),
    ])  # fmt: skip
    found = [(war.pair, war.first, war.last, war.began, war.mils) for war in measures.wars(played)]
    assert found == [(("A", "B"), 0, 1, "A", 3), (("A", "B"), 3, 3, "both", 2), (("A", "C"), 3, 3, "C", 4)]


def test_burnt_income_is_laid_at_the_attackers_doors_in_proportion() -> None:
    played = a_round([turn(gross=[0, 10, 0], burnt=[0, 10, 0], attacks=attacks(("A", "B", 1), ("C", "B", 2)))])
    assert {war.pair: war.burnt for war in measures.wars(played)} == {
        ("A", "B"): Fraction(10, 3),
        ("B", "C"): Fraction(20, 3),
    }


@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from(list(permutations("ABC", 2))), st.integers(1, 9)), max_size=6), max_size=6
    )
)
def test_what_all_wars_burnt_is_what_was_burnt(orders: list[list[tuple[tuple[str, str], int]]]) -> None:
    turns = []
    for number, rows in enumerate(orders):
        sent = dict(rows)
        struck = {target for _, target in sent}
        burnt = [number + 7 if nation in struck else 0 for nation in "ABC"]
        turns.append(turn(burnt=burnt, attacks=attacks(*((*pair, mils) for pair, mils in sent.items()))))
    played = a_round(turns)
    fought = measures.wars(played)
    assert sum((war.burnt for war in fought), Fraction(0)) == measures.total(played.turns, "burnt")
    assert sum(war.mils for war in fought) == sum(attack.mils for t in turns for attack in t.attacks)


# -- promises ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("pledge: grant 12 to Brena", [(12, "Brena")]),
        ("Pledge: No attack on Brena.", [(0, "Brena")]),
        ("hello\n  pledge:  grant 3 to B ; pledge: no attack on New Rome !\nbye", [(3, "B"), (0, "New Rome")]),
        ("I pledge: grant 3 to B", []),
        ("pledge: grant 0 to B", []),
        ("pledge: grant -3 to B", []),
        ("pledge: grant ٣ to B", []),
        ("pledge: grant 3 to ", []),
        ("pledge: attack on B", []),
        ("pledge: grant 1 to " + "B" * 400, []),
        ("", []),
    ],
)
def test_a_pledge_is_a_line_of_that_form_and_nothing_else(text: str, found: list[tuple[int, str]]) -> None:
    assert list(promises.pledges_in(text)) == found


@given(st.dictionaries(st.sampled_from("ABC"), st.dictionaries(st.sampled_from(["A", "B", "C", "all"]), st.text())))
def test_reading_pledges_takes_any_text(sent: dict[str, dict[str, str]]) -> None:
    promises.read_pledges(sent, ["A", "B", "C"])


def test_who_promises_the_same_to_several_has_promised_once_and_each_of_them_has_heard_it() -> None:
    word = "pledge: no attack on B"
    sent = {"A": {"B": word, "C": word}, "B": {"all": "pledge: grant 2 to B; pledge: grant 2 to Nobody"}}
    assert promises.read_pledges(sent, ["A", "B", "C", "D"]) == [Pledge("A", "B", 0, ["B", "C"])]
    assert promises.read_pledges({"A": {"all": word}}, ["A", "B", "C"]) == [Pledge("A", "B", 0, ["B", "C"])]
    assert promises.read_pledges({"A": {"B": word}}, ["A", "B", "C"], open_messages=True)[0].heard == ["B", "C"]


def test_a_promise_is_judged_by_what_happened_in_the_turn_after_it() -> None:
    found = [(one.pledge.by, one.done, one.kept) for one in promises.outcomes(eventful())]
    assert found == [("A", 20, True), ("C", 2, False), ("A", 0, None)]


def test_a_grant_that_was_only_partly_paid_is_a_broken_promise() -> None:
    pledges = [Pledge("A", "B", 5, ["B"])]
    for paid, kept in ((4, False), (5, True), (9, True)):
        played = a_round([turn(pledges=pledges), turn(grants=[("A", "B", paid), ("A", "C", 9)])])
        assert [one.kept for one in promises.outcomes(played)] == [kept]


def test_a_rating_is_set_against_what_the_rater_was_promised_and_had_seen() -> None:
    found = {
        (one.rating.rater, one.rating.rated): (one.kept, one.broken)
        for one in promises.ratings_against_promises(eventful())
    }
    assert found == {("B", "A"): (1, 0), ("B", "C"): (0, 1), ("A", "C"): (0, 1)}


def test_a_rating_does_not_know_what_falls_due_in_its_own_turn() -> None:
    rated = turn(grants=[("A", "B", 5)], ratings=[Rating("B", "A", 7, 0)])
    played = a_round([turn(pledges=[Pledge("A", "B", 5, ["B"])]), rated, rated])
    assert [(one.turn, one.kept) for one in promises.ratings_against_promises(played)] == [(1, 0), (2, 1)]
    assert [one.turn for one in promises.last_word(promises.ratings_against_promises(played))] == [2]


# -- intervals --------------------------------------------------------------------------------------
def student_below(t: float, freedom: int, steps: int = 4000) -> float:
    """The probability that Student's t is below this: Simpson's rule over its density from 0."""
    log_scale = lgamma((freedom + 1) / 2) - lgamma(freedom / 2) - 0.5 * log(freedom * 3.141592653589793)

    def density(x: float) -> float:
        return exp(log_scale - (freedom + 1) / 2 * log1p(x * x / freedom))

    width = t / steps
    inner = sum((4 if i % 2 else 2) * density(i * width) for i in range(1, steps))
    return 0.5 + width / 3 * (density(0) + inner + density(t))


@pytest.mark.parametrize("freedom", T_975)
def test_the_table_is_that_of_students_distribution(freedom: int) -> None:
    assert student_below(t_quantile(freedom), freedom) == pytest.approx(0.975, abs=4e-5)


def test_between_two_rows_the_wider_interval_is_taken() -> None:
    assert t_quantile(39) == t_quantile(30)
    assert t_quantile(10**9) == t_quantile(1000)


def test_an_interval_is_the_mean_and_t_times_the_standard_error() -> None:
    found = estimate([1, 2, 3, 4])
    assert found is not None
    assert (found.mean, found.n) == (Fraction(5, 2), 4)
    assert found.half == pytest.approx(3.182 * (5 / 3 / 4) ** 0.5)
    assert estimate([]) is None
    one = estimate([5])
    assert one is not None
    assert one.half is None


def test_a_correlation_is_there_only_where_both_sides_vary() -> None:
    up = [(Fraction(i), Fraction(2 * i + 1)) for i in range(5)]
    assert correlation(up) == pytest.approx(1)
    assert correlation([(x, -y) for x, y in up]) == pytest.approx(-1)
    assert correlation([(Fraction(1), y) for _, y in up]) is None
    assert correlation(up[:1]) is None


def test_a_place_reads_as_a_sentence() -> None:
    assert str(Place("ring", 3, 1)) == "ring, seed 3, round 1"
