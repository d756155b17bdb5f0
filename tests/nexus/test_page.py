"""docs/nexus.md and docs/nexus-rules.md say what the rules are."""

from __future__ import annotations

from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from cohabit.nexus import goals, packages, skills, suggestions
from cohabit.nexus.values import Profile, Requirement
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


def test_the_table_of_repetitions_is_what_the_rule_gives() -> None:
    found = rows_under("done", "worth")
    assert len(found) >= 5
    for done, worth in found:
        times = int(done.split()[0].replace(",", ""))
        assert f"{skills.worth(times):.3g}" == worth.removesuffix(" × the points")


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
