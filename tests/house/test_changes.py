"""Topics: what kind of thing changed, without what it is."""

import json
from typing import Any

import pytest

from cohabit.house.streams.changes import Changes, Topics


def frame(push: str, **rest: Any) -> bytes:
    return json.dumps({"push": push, "room": "den", **rest}).encode()


def told(*frames: bytes, first: bytes = b"") -> list[set[str]]:
    heard: list[Topics] = []
    changes = Changes(heard.append)
    if first:
        assert changes.begin(first)
    for one in frames:
        assert changes.pushed(one)
    return [set(topics) for topics in heard]


@pytest.mark.parametrize(
    ("kinds", "topics"),
    [
        (["info"], {"events"}),
        (["chat"], {"events", "messages"}),
        (["direct", "turn"], {"events", "messages"}),
        (["roster"], {"events", "roster"}),
    ],
)
def test_an_event_changes_the_topics_of_its_kind(kinds: list[str], topics: set[str]) -> None:
    items = [{"at": 1, "do": "x", "text": "y", "kind": kind} for kind in kinds]
    assert told(frame("events", cursor="c", items=items)) == [topics]


def test_an_event_without_a_kind_is_an_event() -> None:
    assert told(frame("events", cursor="c", items=[{"at": 1, "do": "x", "text": "y"}])) == [{"events"}]


def test_a_view_that_is_the_same_as_the_last_is_no_change() -> None:
    one, other = frame("view", view={"text": "1"}), frame("view", view={"text": "2"})
    assert told(one, other, other, one, first=one) == [{"view"}, {"view"}]


def test_a_view_after_none_at_all_is_a_change() -> None:
    assert told(frame("view", view={"text": "1"})) == [{"view"}]


def test_another_grant_changes_the_rights() -> None:
    assert told(frame("grant", grant={})) == [{"rights"}]


def test_only_a_view_can_be_the_first_view() -> None:
    assert not Changes(lambda topics: None).begin(frame("events", cursor="c", items=[{"text": "y"}]))
