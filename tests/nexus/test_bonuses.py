"""What skills and completed meta-goals give in a world."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.model.travel import BonusRule, Domain, Travel
from cohabit.nexus.packages import bonuses
from cohabit.nexus.values import GoalProgress
from cohabit.worlds.crafter.travel import TRAVEL as CRAFTER

from .making import PLANETS, agent

# The tables of the second description of the Nexus: its thresholds and factors are others.
STARBOUND_B = Travel(
    bonuses=(
        BonusRule("scanner_range", "exploration", threshold=0.2, base=1, factor=5, whole=True),
        BonusRule("weapon_damage", "combat", threshold=0.3, base=1, factor=0.3),
        BonusRule("shop_discount", "social", threshold=0.4, factor=20),
    )
)


def test_the_example_that_was_checked_against_the_reference_comes_out() -> None:
    profile = agent(skills={"resource_management": 0.7, "survival": 0.45, "crafting": 0.35})
    assert bonuses(CRAFTER, profile) == {"inventory_bonus": 2, "health_bonus": 0, "recipe_hint": 1}


@pytest.mark.parametrize(
    ("table", "domain", "level", "expected"),
    [
        (CRAFTER, "resource_management", 1.0, {"inventory_bonus": 3}),
        (CRAFTER, "survival", 0.5, {"health_bonus": 1}),
        (CRAFTER, "crafting", 0.3, {}),
        (CRAFTER, "crafting", 0.301, {"recipe_hint": 1}),
        (PLANETS, "exploration", 0.15, {"scanner_range": 1}),
        (PLANETS, "exploration", 0.6, {"scanner_range": 4}),
        (PLANETS, "exploration", 1.0, {"scanner_range": 6}),
        (PLANETS, "combat", 0.5, {"weapon_tier": 2}),
        (PLANETS, "social", 0.5, {"price_modifier": 0.9}),
        (STARBOUND_B, "exploration", 0.41, {"scanner_range": 3}),
        (STARBOUND_B, "combat", 0.5, {"weapon_damage": 1.15}),
        (STARBOUND_B, "social", 0.5, {"shop_discount": 10}),
        (STARBOUND_B, "social", 0.39, {}),
    ],
)
def test_the_tables_of_the_descriptions_come_out(
    table: Travel, domain: Domain, level: float, expected: dict[str, float]
) -> None:
    assert bonuses(table, agent(skills={domain: level})) == pytest.approx(expected)


def test_a_skill_that_equals_the_threshold_gives_nothing() -> None:
    assert bonuses(CRAFTER, agent(skills={"survival": 0.1})) == {}
    assert bonuses(CRAFTER, agent(skills={"survival": 0.1000001})) == {"health_bonus": 0}


def test_an_agent_without_skills_and_titles_gets_nothing() -> None:
    assert bonuses(CRAFTER, agent()) == {}


def test_a_completed_goal_adds_its_reward_where_the_world_has_such_a_bonus() -> None:
    profile = agent(goals=[GoalProgress("survivor", completed_at=5), GoalProgress("master_crafter", completed_at=6)])
    assert bonuses(CRAFTER, profile) == {"health": 0.1, "inventory_bonus": 1}
    assert bonuses(PLANETS, profile) == {"health": 0.1}
    assert bonuses(Travel(), profile) == {}


def test_rewards_and_skills_add_up() -> None:
    done = [
        GoalProgress("survivor", completed_at=5),
        GoalProgress("wayfarer", completed_at=5),
        GoalProgress("forager", completed_at=5),
    ]
    profile = agent(goals=done, skills={"resource_management": 0.7})
    assert bonuses(CRAFTER, profile) == pytest.approx({"health": 0.2, "inventory_bonus": 3})


def test_a_yes_stays_a_yes_however_often_it_is_earned() -> None:
    profile = agent(goals=[GoalProgress("polyglot", completed_at=5)], skills={"crafting": 0.9})
    assert bonuses(CRAFTER, profile)["recipe_hint"] == 1


def test_a_goal_that_is_not_completed_gives_nothing() -> None:
    assert (
        bonuses(
            CRAFTER, agent(goals=[GoalProgress("survivor", progress=0.9), GoalProgress("own-1", "x", completed_at=3)])
        )
        == {}
    )


@given(st.floats(0, 1), st.floats(0, 1))
def test_more_skill_never_gives_less(one: float, other: float) -> None:
    low, high = sorted((one, other))
    less, more = (bonuses(CRAFTER, agent(skills={"survival": level})) for level in (low, high))
    assert less.get("health_bonus", 0) <= more.get("health_bonus", 0)


def test_a_world_declares_each_bonus_once() -> None:
    with pytest.raises(ValueError, match="declared once"):
        Travel(bonuses=(BonusRule("luck", "social"), BonusRule("luck", "combat")))
    with pytest.raises(ValueError, match="threshold of luck"):
        BonusRule("luck", "social", threshold=1.5)
