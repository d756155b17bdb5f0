"""The size of the arguments of an action: large ones are found at a bounded cost."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.model.limits import MAX_ARGUMENT_TEXT, MAX_DEPTH, MAX_VALUES, too_large

values = st.recursive(
    st.none() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=40,
)


@given(st.dictionaries(st.text(max_size=3), values, max_size=5))
def test_arguments_of_an_ordinary_size_are_read(args: dict[str, Any]) -> None:
    assert too_large(args) == ""


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "args",
    [
        {str(i): i for i in range(MAX_VALUES + 1)},
        {"a": list(range(MAX_VALUES))},
        {"a": {str(i): i for i in range(MAX_VALUES)}},
        {"a": [[1] * 100 for _ in range(MAX_VALUES // 100)]},
        {"a": nested(MAX_DEPTH + 1)},
        {"a": nested(100_000)},
        {"a": [[]] * 10**6},
        {"a": "x" * 600_000, "b": "x" * 600_000},
        {"a": {"x" * 600_000: ["x" * 600_000]}},
    ],
)
def test_arguments_that_no_action_needs_are_not_read(args: dict[str, Any]) -> None:
    assert too_large(args)


def test_the_limits_themselves_are_allowed() -> None:
    assert not too_large({"a": list(range(MAX_VALUES - 1))})
    assert not too_large({"a": nested(MAX_DEPTH)})
    assert not too_large({"text": "x" * MAX_ARGUMENT_TEXT})
    assert not too_large({"texts": ["x" * (MAX_ARGUMENT_TEXT - len("texts"))]})
    assert not too_large(None)
