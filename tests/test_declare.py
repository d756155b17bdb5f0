"""Declarations: what is wrong with arguments, in words."""

from copy import deepcopy
from datetime import datetime
from enum import Enum
from functools import partial
from inspect import signature
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta, Struct, defstruct, field

from cohabit.declare import Declaration
from cohabit.errors import BadArgs
from cohabit.model.validation_errors import in_words


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Point(Struct, forbid_unknown_fields=True):
    x: int
    y: Annotated[int, Meta(ge=0)] = 0


def everything(
    n: Annotated[int, Meta(ge=1, le=3)] = 1,
    even: Annotated[int, Meta(multiple_of=2)] | None = None,
    above: Annotated[float, Meta(gt=0, lt=1)] = 0.5,
    word: Annotated[str, Meta(min_length=1, max_length=5)] = "a",
    code: Annotated[str, Meta(pattern="^[a-z]+$")] = "a",
    few: Annotated[list[int], Meta(min_length=1, max_length=2)] = [1],  # noqa: B006 - never changed
    pair: tuple[int, str] = (1, "a"),
    points: list[Point] = [],  # noqa: B006 - never changed
    point: Point | None = None,
    either: int | str = 1,
    colour: Colour = Colour.RED,
    mode: Literal["fast", "slow"] = "fast",
    only: Literal["this"] = "this",
    when: Annotated[datetime, Meta(tz=True)] | None = None,
    ident: UUID | None = None,
    raw: bytes = b"",
    by_name: dict[str, int] = {},  # noqa: B006 - never changed
    sizes: Annotated[dict[str, int], Meta(max_length=1)] = {},  # noqa: B006 - never changed
    flag: bool = False,
) -> None:
    """Takes an argument of every kind."""


def required(a: int, b: str) -> None:
    """Takes two arguments."""


EVERYTHING = Declaration("everything", everything, skip=0)
REQUIRED = Declaration("required", required, skip=0)
Row: Any = defstruct(
    "Row",
    [
        (name, each.annotation, field(default_factory=partial(deepcopy, each.default)))
        for name, each in signature(everything).parameters.items()
    ],
    forbid_unknown_fields=True,
)


def table(rows: dict[str, Row]) -> None:
    """Takes an object with any keys."""


TABLE = Declaration("table", table, skip=0)
PLAIN = st.characters(exclude_characters="`$", codec="utf-8")
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(PLAIN, max_size=8),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(PLAIN, max_size=4), below, max_size=3),
    max_leaves=6,
)


def refused(declared: Declaration, args: Any) -> str:
    with pytest.raises(BadArgs) as wrong:
        declared.check(args)
    return wrong.value.message


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"n": 5}, "n must be a whole number from 1 to 3, not 5"),
    ({"n": "x"}, "n must be a whole number from 1 to 3, not 'x'"),
    ({"even": 3}, "even must be a whole number that is a multiple of 2 or null, not 3"),
    ({"above": 2}, "above must be a number above 0 below 1, not 2"),
    ({"word": "too long"}, "word must be text of 1 to 5 characters, not 'too long'"),
    ({"code": "7"}, "code must be text of the right form, not '7'"),
    ({"few": []}, "few must be a list of 1 to 2 items, not a list of 0"),
    ({"few": [1, "x"]}, "few[1] must be a whole number, not 'x'"),
    ({"pair": [1]}, "pair must be a list of 2 items, not a list of 1"),
    ({"points": [{"x": 1, "y": -1}]}, "points[0].y must be a whole number of at least 0, not -1"),
    ({"points": [{}]}, "points[0].x is missing; points[0] takes x, y"),
    ({"point": {"x": 1, "z": 1}}, "unknown field 'z'; point takes x, y"),
    ({"either": []}, "either must be a whole number or text, not a list of 0"),
    ({"colour": "green"}, "colour must be one of 'blue', 'red', not 'green'"),
    ({"mode": 1}, "mode must be one of 'fast', 'slow', not 1"),
    ({"only": "that"}, "only must be 'this', not 'that'"),
    ({"when": "soon"}, "when must be a date and time such as 2030-01-31T12:00:00Z or null, not 'soon'"),
    ({"ident": "me"}, "ident must be a UUID or null, not 'me'"),
    ({"raw": "?"}, "raw must be text in base64, not '?'"),
    ({"by_name": {"a": 1, "b": "c"}}, "by_name.b must be a whole number, not 'c'"),
    ({"sizes": {"a": 1, "b": 2}}, "sizes must be an object of at most 1 field, not an object"),
    ({"flag": "yes"}, "flag must be true or false, not 'yes'"),
    ({"n": {"x": 1}}, "n must be a whole number from 1 to 3, not an object"),
]


@pytest.mark.parametrize(("args", "message"), WRONG)
def test_a_message_names_the_argument_what_it_must_be_and_what_was_given(args: Any, message: str) -> None:
    assert refused(EVERYTHING, args) == f"everything: {message}"


@pytest.mark.parametrize("args", [args for args, _ in WRONG])
def test_a_message_names_the_key_of_a_wrong_value_in_an_object(args: Any) -> None:
    message = refused(TABLE, {"rows": {"first": {}, "second": args, "third": args}})
    assert "rows.second" in message
    assert "rows.first" not in message


def test_the_key_of_a_wrong_value_is_named_at_every_depth() -> None:
    good, bad = {"by_name": {"x": 1}}, {"by_name": {"x": 1, "y": "?", "z": "?"}}
    message = refused(TABLE, {"rows": {"first": good, "second": bad, "third": {"by_name": {"w": "?"}}}})
    assert message == "table: rows.second.by_name.y must be a whole number, not '?'"


def test_missing_and_unknown_arguments_are_named_and_so_are_the_known_ones() -> None:
    assert refused(REQUIRED, {"a": 1}) == "required: b is missing; it takes a, b"
    assert refused(REQUIRED, {"a": 1, "b": "x", "c": 1}) == "required: unknown argument 'c'; it takes a, b"
    assert refused(REQUIRED, [1]) == "required: the arguments must be an object; it takes a, b"


def test_a_raw_declaration_passes_on_undeclared_arguments_if_it_takes_them() -> None:
    def closed(me: str, n: int = 1) -> None: ...
    def open_to_all(me: str, /, n: int = 1, **unknown: Any) -> None: ...

    args = {"n": "x", "me": 2, "no such": 3}
    assert Declaration("closed", closed, raw=True).check(args) == {"n": "x"}
    taking_all = Declaration("open_to_all", open_to_all, raw=True)
    assert taking_all.check(args) == args
    assert taking_all.arguments == ("n",)
    assert refused(taking_all, [1]) == "open_to_all: the arguments must be an object; it takes n"


def test_text_arguments_are_refused_in_the_same_words() -> None:
    with pytest.raises(BadArgs, match=r"^everything: n must be a whole number from 1 to 3, not '9'$"):
        EVERYTHING.check_text({"n": "9"})


@given(st.dictionaries(st.sampled_from([*EVERYTHING.arguments, "other"]), VALUES, max_size=3) | VALUES)
def test_no_message_has_the_notation_of_the_library(args: Any) -> None:
    for declared in (EVERYTHING, REQUIRED):
        try:
            assert declared.check(args).keys() <= set(declared.arguments)
        except BadArgs as wrong:
            assert "`" not in wrong.message
            assert "$" not in wrong.message
            assert "msgspec" not in wrong.message


def test_checked_arguments_are_accepted_again_under_their_names_on_the_wire() -> None:
    def give(ctx: Any, id_: str, for_: str = "me", n: int = 1) -> None: ...

    declared = Declaration("give", give)
    checked = declared.check({"id": "x", "n": 2})
    assert checked == {"id_": "x", "for_": "me", "n": 2}
    assert declared.on_wire(checked) == {"id": "x", "for": "me", "n": 2}
    assert declared.check(declared.on_wire(checked)) == checked


def test_a_text_instead_of_a_list_of_texts_is_shown_as_a_list() -> None:
    of = {
        "properties": {
            "may": {"type": "array", "items": {"enum": ["act", "watch"]}},
            "n": {"type": "array", "items": {"type": "integer"}},
        }
    }
    said = [in_words(Exception(f"Expected `array` - at `$.{name}`"), {name: "act"}, of) for name in ("may", "n")]
    assert said == ["may must be a list, not 'act'; write [\"act\"]", "n must be a list, not 'act'"]
