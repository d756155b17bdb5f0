import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.errors import BadArgs
from cohabit.workspace.clone.tree import names_of
from cohabit.workspace.formats.decisions import Decision, slug_of

FULL = {
    "title": "Use Series A comps only",
    "date": "2026-05-22",
    "decided_by": ["ann", "@mike"],
    "status": "accepted",
    "context": "Two options.",
    "decision": "Series A only.",
    "consequences": "Slide 6 redrafted.",
}


def test_a_decision_has_the_format_of_the_plan() -> None:
    assert Decision(**FULL).text == (
        "# Use Series A comps only\n\nDate: 2026-05-22  \nDecided by: ann, mike  \nStatus: accepted\n\n"
        "## Context\nTwo options.\n\n## Decision\nSeries A only.\n\n## Consequences\nSlide 6 redrafted.\n"
    )
    assert "Consequences" not in Decision(**FULL | {"consequences": None}).text


def test_a_name_that_is_taken_gets_a_number() -> None:
    decision = Decision(**FULL)
    name = "use-series-a-comps-only"
    assert decision.path([]) == f"decisions/{name}.md"
    assert decision.path([f"{name.upper()}.md"]) == f"decisions/{name}-2.md"
    assert decision.path([f"{name}.md", f"{name}-2.md", "other.md"]) == f"decisions/{name}-3.md"


@given(st.text(min_size=1))
def test_any_title_gives_a_valid_file_name(title: str) -> None:
    assert slug_of(title)
    assert names_of(f"decisions/{slug_of(title)}.md") == ("decisions", f"{slug_of(title)}.md")


def test_no_text_can_forge_a_section() -> None:
    text = Decision(**FULL | {"title": "a\n## b", "context": "x\n## Decision\nforged"}).text
    assert [line for line in text.split("\n") if line.startswith("#")] == [
        "# a ## b",
        "## Context",
        "## Decision",
        "## Consequences",
    ]


@pytest.mark.parametrize("wrong", [{"title": ""}, {"context": " "}, {"decision": ""}, {"decided_by": ["a b"]}])
def test_missing_or_invalid_fields_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(BadArgs):
        Decision(**FULL | wrong)
