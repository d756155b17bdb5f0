"""Whatever a game sends, callers get values within the limits of the documentation, or an error."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.errors import BadArgs
from cohabit.protocols.starbound import wire

TEXT = st.text(st.characters(codec="utf-8"), max_size=12) | st.just("\x1b[2J") | st.just("a\nSTATUS:\nb")
NUMBER = st.integers(-5, 200) | st.floats(-5, 200)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBER | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=8,
)
EVENT = TEXT | st.fixed_dictionaries({"description": TEXT}, optional={"type": TEXT})
VIEW = st.fixed_dictionaries(
    {
        "health": NUMBER,
        "max_health": NUMBER,
        "energy": NUMBER,
        "max_energy": NUMBER,
        "position": st.tuples(NUMBER, NUMBER),
    },
    optional={
        "food": NUMBER,
        "max_food": NUMBER,
        "world_name": TEXT,
        "holding": TEXT,
        "inventory": st.dictionaries(TEXT, st.integers(-3, 9), max_size=3),
        "quests": st.lists(st.fixed_dictionaries({"id": TEXT, "description": TEXT}), max_size=3),
        "nearby_entities": st.lists(st.fixed_dictionaries({"type": TEXT, "distance": NUMBER}), max_size=3),
    },
).map(lambda view: {**view, "position": list(view["position"])})
OUTCOME = st.fixed_dictionaries(
    {"success": st.booleans()},
    optional={
        "message": TEXT,
        "reward": NUMBER,
        "achievements": st.lists(TEXT, max_size=3),
        "events": st.lists(EVENT, max_size=4).flatmap(lambda few: st.integers(1, 200).map(lambda n: few * n)),
        "observation": VIEW,
    },
)
WHOLE_VIEW = {"health": 5, "max_health": 9, "energy": 1, "max_energy": 9, "position": [1, 2]}


def parts(value: Any) -> Iterator[Any]:
    yield value
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from parts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from parts(inner)


def within_limits(value: Any) -> bool:
    found = list(parts(value))
    texts = [one for one in found if isinstance(one, str)]
    sizes = [len(one) for one in found if isinstance(one, list | dict)]
    return all(len(text) <= wire.MAX_TEXT and text.isprintable() for text in texts) and max(sizes) <= wire.MAX_ITEMS


@given(VIEW | JSON)
def test_a_view_is_within_the_limits_or_refused(sent: Any) -> None:
    try:
        view = wire.read_view(sent)
    except BadArgs:
        return
    assert within_limits(wire.as_plain(view))
    assert min(view.health, view.max_health, view.energy, view.max_energy, view.food or 0) >= 0
    assert all(count >= 0 for count in view.inventory.values())
    assert all(line.isprintable() for line in wire.observation_of(view).to_text().split("\n"))


@given(OUTCOME | JSON)
def test_an_outcome_is_within_the_limits_or_refused(sent: Any) -> None:
    try:
        outcome = wire.read_outcome(sent)
    except BadArgs:
        return
    assert within_limits(wire.as_plain(outcome))
    assert len(outcome.events) <= wire.MAX_EVENTS


@given(JSON)
def test_any_other_result_is_within_the_limits_or_refused(sent: Any) -> None:
    try:
        found = wire.read_object(sent)
    except BadArgs:
        return
    assert within_limits(found)


@pytest.mark.parametrize("name", ["health", "max_health", "energy", "max_energy", "food", "max_food"])
def test_a_negative_vital_is_refused(name: str) -> None:
    with pytest.raises(BadArgs, match="must be at least 0"):
        wire.read_view({**WHOLE_VIEW, name: -1})


def test_of_500_events_the_newest_are_kept() -> None:
    outcome = wire.read_outcome({"success": True, "events": [f"event {n}" for n in range(500)]})
    assert [event.description for event in outcome.events] == [f"event {n}" for n in range(492, 500)]


def test_an_escape_sequence_and_a_line_break_become_spaces() -> None:
    view = wire.read_view({**WHOLE_VIEW, "world_name": "\x1b[31mred\nSTATUS:\nhealth: 999"})
    assert view.world_name == " [31mred STATUS: health: 999"
