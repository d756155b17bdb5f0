"""docs/nexus.md and docs/nexus-rules.md say what the rules are."""

from __future__ import annotations

from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from cohabit.nexus import goals, packages, skills, suggestions
from cohabit.nexus.values import Profile, Requirement, Reward
from cohabit.worlds.crafter.travel import TRAVEL as CRAFTER

DOCS = Path(__file__).parents[2] / "docs"
PAGE = "".join((DOCS / name).read_text() for name in ("nexus.md", "nexus-rules.md"))


def rows_under(*head: str) -> list[list[str]]:
    """The rows of the table with this head."""
    lines = PAGE.splitlines()
    start = lines.index(f"| {' | '.join(head)} |") + 2
    rows = []
    for line in lines[start:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def listed_under(*head: str) -> list[list[str]]:
    """The entries of a table whose second column is a list, each with the first column, in order."""
    return sorted([first, one] for first, many in rows_under(*head) for one in many.split(", "))


def test_the_table_of_repetitions_is_what_the_rule_gives() -> None:
    found = rows_under("done", "worth")
    assert len(found) >= 5
    for done, worth in found:
        times = int(done.split()[0].replace(",", ""))
        assert f"{skills.worth(times):.3g}" == worth.removesuffix(" × the points")


def test_the_lessons_of_crafter_are_those_of_the_code() -> None:
    expected = [[one.domain.replace("_", " "), f"`{deed}` {one.points:g}"] for deed, one in CRAFTER.lessons.items()]
    assert listed_under("skill", "deeds and their points") == sorted(expected)


def test_the_bonuses_of_crafter_are_those_of_the_code() -> None:
    expected = []
    for rule in CRAFTER.bonuses:
        value = (
            f"{rule.base:g}" if rule.is_flag else f"{rule.factor:g} × skill" + (", rounded down" if rule.whole else "")
        )
        expected.append(
            [f"`{rule.name}`", rule.domain.replace("_", " "), f"{rule.threshold:g}", value, rule.description]
        )
    assert rows_under("bonus", "skill", "above", "value", "what it is") == expected


def test_the_items_of_crafter_are_those_of_the_code() -> None:
    expected = [[kind.category, f"`{name}` {kind.tier}"] for name, kind in CRAFTER.items.items()]
    assert listed_under("category", "items and their tiers") == sorted(expected)


def reward_text(reward: Reward) -> str:
    parts = [f"title {reward.title}"]
    parts += [f"`{name}` {amount:g}" for name, amount in reward.bonuses.items()]
    parts += [f"{domain.replace('_', ' ')}: {part:.0%} of what is missing" for domain, part in reward.skills.items()]
    return "; ".join(parts)


def test_the_meta_goals_are_those_of_the_code() -> None:
    expected = [[f"`{one.id}`", one.description, reward_text(one.reward)] for one in goals.GOALS.values()]
    assert rows_under("goal", "what it asks for", "reward") == expected


def test_every_type_of_requirement_is_explained() -> None:
    types = get_args(get_type_hints(Requirement)["type"])
    assert [row[0] for row in rows_under("type", "what is measured")] == [f"`{one}`" for one in types]


def test_the_weights_of_suggestions_are_those_of_the_code() -> None:
    assert {name: float(weight) for name, weight, _ in rows_under("term", "weight", "share")} == suggestions.WEIGHTS


@pytest.mark.parametrize(
    "sentence",
    [
        f"at most {skills.LESSONS_PER_DEED:g} times",
        f"the newest {skills.EVIDENCE_KEPT} ",
        f"the first {skills.NEW_WORLD_STEPS} steps",
        f"{skills.NEW_WORLD_LESSON.points:g} points of adaptation",
        f"at most {goals.MAX_ACTIVE} goals",
        f"at most {goals.MAX_OWN_GOAL} characters",
        f"{suggestions.MAX_SUGGESTIONS} games",
        f"above {suggestions.STRONG:g}",
        f"at most {suggestions.WEAK:g}",
        f"the last {suggestions.RECENT} visits",
        f"{packages.MEMORIES_KEPT} memories and {packages.MEMORIES_KEPT} strategies",
        f"{packages.MAX_MEMORY} characters",
    ],
)
def test_the_numbers_on_the_page_are_those_of_the_code(sentence: str) -> None:
    assert sentence in PAGE.replace("\n", " ")


def test_the_example_of_gains_is_what_the_rule_gives() -> None:
    deeds = {"achievement:collect_wood": 7, "achievement:make_wood_pickaxe": 1}
    found = skills.gains(CRAFTER, {}, deeds, Profile("a", "A"))
    (row,) = rows_under("resource management", "crafting")
    assert row == [f"{found['resource_management']:.4f}", f"{found['crafting']:.4f}"]
