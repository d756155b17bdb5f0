"""The list of actions for a model."""

import msgspec
import pytest

from cohabit.model.action import ActionDef, ActionSpace, ParamDef

SPACE = ActionSpace(
    [
        ActionDef("noop", "Do nothing", [], [], "wait"),
        ActionDef("move", "Move in direction", [ParamDef("direction", "left|right")], [], "movement"),
        ActionDef(
            "take",
            "Take stones",
            [
                ParamDef("n", "How many", "integer", minimum=1, maximum=3),
                ParamDef("hand", options=["left", "right"], optional=True),
            ],
            ["It is your turn"],
        ),
    ]
)


def test_the_action_list_has_this_format() -> None:
    assert SPACE.to_text() == (
        "- noop [wait]: Do nothing\n"
        "- move [movement]: Move in direction\n"
        "    params:\n"
        "      direction (string, required): left|right\n"
        "- take [general]: Take stones\n"
        "    params:\n"
        "      n (integer, 1 to 3, required): How many\n"
        "      hand (string, one of left | right, optional)\n"
        "    requires: It is your turn"
    )


def test_optional_and_not_required_mean_the_same() -> None:
    assert ParamDef("mode", optional=True) == ParamDef("mode", required=False)
    assert ParamDef("mode", optional=True).required is False
    assert ParamDef("mode").required is True


def test_an_action_space_can_be_encoded_and_decoded() -> None:
    assert msgspec.json.decode(msgspec.json.encode(SPACE), type=ActionSpace) == SPACE


def test_an_action_is_found_by_its_name() -> None:
    found = SPACE.get("move")
    assert found is not None
    assert found.category == "movement"
    assert SPACE.get("fly") is None


def test_two_actions_or_parameters_with_the_same_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two actions named 'noop'"):
        ActionSpace([ActionDef("noop"), ActionDef("noop")])
    with pytest.raises(ValueError, match="two parameters named 'n'"):
        ActionDef("take", parameters=[ParamDef("n"), ParamDef("n")])
