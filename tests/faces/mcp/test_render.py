"""Values without a text of their own, as a model reads them."""

from __future__ import annotations

from typing import Any

import pytest

from cohabit.faces.mcp.render import rendered


def lines(result: Any) -> list[str]:
    return str(rendered(result, readable=True, values=True).content[0].text).splitlines()  # type: ignore[union-attr]


@pytest.mark.parametrize("sequence", [list, tuple])
def test_lists_and_tuples_inside_values_are_words(sequence: Any) -> None:
    goal = {"id": "survivor", "requirements": sequence([{"type": "survive_steps", "target": 100.0}])}
    assert lines({"genre": sequence(["survival", "sandbox"]), "none": sequence([]), "goals": sequence([goal])}) == [
        "genre: survival, sandbox",
        "none: none",
        "goals:",
        "- id survivor, requirements ((type survive_steps, target 100))",
    ]


def test_sentences_for_the_reader_come_first_and_as_they_are() -> None:
    assert lines({"seat": "4", "message": "You wave.", "note": "Nobody sees it."}) == [
        "You wave.",
        "Nobody sees it.",
        "seat: 4",
    ]


def test_times_are_dates() -> None:
    assert lines({"created_at": 1_700_000_000_123, "visits": [{"ended_at": 1_700_000_060_000, "steps": 3}]}) == [
        "created_at: 2023-11-14 22:13:20 UTC",
        "visits:",
        "- ended_at 2023-11-14 22:14:20 UTC, steps 3",
    ]


@pytest.mark.parametrize("value", [{"gold": 1_700_000_000_123}, {"completed_at": 5}, {"created_at": 10**13}])
def test_other_numbers_are_not_dates(value: dict[str, int]) -> None:
    ((name, number),) = value.items()
    assert lines(value) == [f"{name}: {number}"]


def test_a_time_that_is_missing_is_none() -> None:
    assert lines({"completed_at": None}) == ["completed_at: none"]
