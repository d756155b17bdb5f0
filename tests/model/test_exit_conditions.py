"""Which exit conditions are understood, and for which amounts they hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.model.exit_conditions import ExitCondition, exit_condition


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("health < 10%", ExitCondition("health", 10, percent=True)),
        ("Health<3", ExitCondition("health", 3)),
        ("health <= 2.5", ExitCondition("health", 2.5, equal=True)),
        ("steps >= 200", ExitCondition("steps", 200, equal=True)),
        ("steps>5", ExitCondition("steps", 5)),
        ("playtime >= 90", ExitCondition("playtime", 90, equal=True)),
        ("playtime > 10 min", ExitCondition("playtime", 600, equal=True)),
        ("playtime >= 2h", ExitCondition("playtime", 7200, equal=True)),
        ("died", ExitCondition("died")),
        ("Death", ExitCondition("died")),
        ("goal_complete", ExitCondition("goal_complete")),
        ("goal complete", ExitCondition("goal_complete")),
        ("bored", None),
        ("", None),
        ("health > 3", None),
        ("health < many", None),
        ("steps >= -1", None),
        ("steps >= 99999999999999", None),
        ("I have died of boredom", None),
    ],
)
def test_a_condition_says_what_it_means_and_everything_else_is_a_note(
    text: str, condition: ExitCondition | None
) -> None:
    assert exit_condition(text) == condition


@given(st.text(max_size=300))
def test_no_text_is_too_strange(text: str) -> None:
    assert exit_condition(text) is None or isinstance(exit_condition(text), ExitCondition)


@pytest.mark.parametrize(
    ("text", "amount", "holds"),
    [
        ("health < 3", 2, True),
        ("health < 3", 3, False),
        ("health <= 3", 3, True),
        ("steps >= 3", 3, True),
        ("steps > 3", 3, False),
        ("steps > 3", 4, True),
    ],
)
def test_a_condition_holds_for_the_amounts_that_it_names(text: str, amount: float, holds: bool) -> None:
    condition = exit_condition(text)
    assert condition is not None
    assert condition.holds_for(amount) is holds
