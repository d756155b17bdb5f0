"""The JSON schema of an answer, and fitting an answer to the legal actions."""

import json
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from cohabit.agents.llm.local import grammar
from cohabit.agents.llm.schema import answer_schema, compact_answers, fit, strict_schema
from cohabit.lab.game import Game, GameSpec
from cohabit.model.action import Action, ActionDef, ActionSpace, ParamDef
from cohabit.model.answers import parse_action

TAKE = ActionDef("take", parameters=[ParamDef("n", type="integer", minimum=1, maximum=3)])
GO = ActionDef("go", parameters=[ParamDef("to"), ParamDef("speed", options=["slow", "fast"], required=False)])
SPACE = ActionSpace([TAKE, GO])
WORLDS = {"nim": 2, "tictactoe": 2, "lanterns": 2, "kingdoms": 2, "statecraft": 3}

scalars = st.text(max_size=8) | st.integers(-1000, 1000) | st.booleans()
values = scalars | st.lists(scalars, max_size=2) | st.dictionaries(st.text(max_size=4), scalars, max_size=2)
choices_lists = st.lists(
    st.fixed_dictionaries(
        {
            "action": st.sampled_from(["take", "go", "halt"]),
            "params": st.dictionaries(st.sampled_from("abc"), values, max_size=2),
        }
    ),
    min_size=1,
    max_size=12,
)


def valid(schema: dict[str, Any], answer: Any) -> bool:
    return validator(schema).is_valid(answer)


def validator(schema: dict[str, Any]) -> Draft202012Validator:
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def choice(name: str, **params: Any) -> dict[str, Any]:
    return {"action": name, "params": params}


# -- the schema -------------------------------------------------------------------------------------
def test_choices_that_differ_in_one_parameter_are_one_closed_object() -> None:
    assert answer_schema(SPACE, [choice("take", n=n) for n in (1, 2, 3)], reasoning=False) == {
        "type": "object",
        "properties": {
            "action": {"const": "take"},
            "params": {
                "type": "object",
                "properties": {"n": {"enum": [1, 2, 3]}},
                "required": ["n"],
                "additionalProperties": False,
            },
        },
        "required": ["action", "params"],
        "additionalProperties": False,
    }


@example([choice("take", a=[0, False]), choice("take", a=0), choice("take", a=False)], False)
@given(choices_lists, st.booleans())
def test_every_choice_is_allowed_by_every_form_of_the_schema(choices: list[dict[str, Any]], reasoning: bool) -> None:
    schema = answer_schema(SPACE, choices, reasoning)
    strict = strict_schema(schema)
    for listed in choices:
        answer = {**listed, "reasoning": "so"} if reasoning else listed
        assert valid(schema, answer)
        assert strict is None or valid(strict, answer)


@given(
    choices_lists, st.sampled_from(["take", "go", "halt"]), st.dictionaries(st.sampled_from("abc"), scalars, max_size=2)
)
def test_an_action_that_is_not_listed_is_not_allowed(
    choices: list[dict[str, Any]], name: str, params: dict[str, Any]
) -> None:
    def same(listed: dict[str, Any]) -> bool:  # 1 and True are equal in Python, not in JSON
        return json.dumps(listed, sort_keys=True) == json.dumps(choice(name, **params), sort_keys=True)

    assume(not any(same(listed) for listed in choices))
    assert not valid(answer_schema(SPACE, choices, reasoning=False), choice(name, **params))


@given(choices_lists)
def test_a_short_answer_means_its_choice(choices: list[dict[str, Any]]) -> None:
    short = compact_answers(choices)
    assert [(a.name, a.parameters) for a in map(parse_action, short)] == [(c["action"], c["params"]) for c in choices]
    assert grammar(short).startswith("root ::= ")


def every_object(schema: Any) -> list[dict[str, Any]]:
    if isinstance(schema, list):
        return [found for item in schema for found in every_object(item)]
    if not isinstance(schema, dict):
        return []
    return [schema, *(found for value in schema.values() for found in every_object(value))]


@given(choices_lists, st.booleans())
def test_the_strict_form_keeps_to_the_limits_of_hosted_services(choices: list[dict[str, Any]], reasoning: bool) -> None:
    strict = strict_schema(answer_schema(SPACE, choices, reasoning))
    assume(strict is not None)
    assert strict["type"] == "object"
    for part in every_object(strict):
        if part.get("type") == "object" and isinstance(part.get("properties"), dict):
            assert part["additionalProperties"] is False
            assert part["required"] == list(part["properties"])
        assert not {"const", "minimum", "maximum", "maxLength", "minItems", "maxItems"} & {
            key for key in part if not isinstance(part[key], dict)
        }


def test_an_optional_parameter_may_be_null_in_the_strict_form_and_is_then_left_out() -> None:
    strict = strict_schema(answer_schema(SPACE, [], reasoning=False))
    assert strict is not None
    assert valid(strict, choice("go", to="T1", speed=None))
    assert fit(Action("go", {"to": "T1", "speed": None}), SPACE, []) == Action("go", {"to": "T1"})


def test_an_object_with_any_keys_has_no_strict_form() -> None:
    space = ActionSpace([ActionDef("submit", parameters=[ParamDef("grants", type="object")])])
    assert strict_schema(answer_schema(space, [])) is None


def test_choices_that_are_examples_do_not_restrict_a_model_unless_it_is_told_so() -> None:
    space = ActionSpace([TAKE], examples=True)
    examples = [choice("take", n=1)]
    assert valid(answer_schema(space, examples, reasoning=False), choice("take", n=2))
    assert not valid(answer_schema(space, examples, reasoning=False, listed=True), choice("take", n=2))


@pytest.mark.parametrize(("world", "players"), WORLDS.items())
def test_the_schema_of_a_built_in_world_is_valid_and_small(world: str, players: int) -> None:
    game = Game(GameSpec("g", world, ["random"] * players, seed="1"))
    space = game._actions_of(game.members[0])
    choices = game.room.view(game.members[0]).observation.choices
    assert choices
    for listed in (False, True):
        schema = answer_schema(space, choices, listed=listed)
        assert all(valid(schema, {"reasoning": "", **listed_choice}) for listed_choice in choices)
        assert len(json.dumps(schema)) < 6000


# -- fitting ----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (Action("Take", {"n": 2}), Action("take", {"n": 2})),
        (Action("TAKE", {"N": "2"}), Action("take", {"n": 2})),
        (Action("take", {"n": 2.0}), Action("take", {"n": 2})),
        (Action("take", {"n": "+2"}), Action("take", {"n": 2})),
        (Action("GO", {"to": "t-1"}), Action("go", {"to": "T1"})),
        (Action("go", {"to": "T1", "speed": "FAST"}), Action("go", {"to": "T1", "speed": "fast"})),
    ],
)
def test_wrong_case_and_numbers_in_quotes_are_repaired(said: Action, meant: Action) -> None:
    choices = [choice("take", n=1), choice("take", n=2), choice("go", to="T1"), choice("go", to="T2")]
    assert fit(said, SPACE, choices) == meant


@pytest.mark.parametrize(
    "said",
    [
        Action("take", {"n": -1}),
        Action("take", {"n": 1.5}),
        Action("take", {"n": "15"}),
        Action("take", {"n": True}),
        Action("take"),
        Action("tape", {"n": 1}),
        Action("do", {"to": "T1"}),
        Action("go", {"to": "T3"}),
        Action("!", {"to": "T1"}),
    ],
)
def test_an_answer_is_never_turned_into_another_one(said: Action) -> None:
    choices = [choice("take", n=1), choice("take", n=2), choice("go", to="T1"), choice("go", to="T2")]
    fitted = fit(said, SPACE, choices)
    assert choice(fitted.name, **fitted.parameters) not in choices or said.parameters == fitted.parameters
    assert fitted.name == said.name


def test_a_slip_is_repaired_only_if_one_name_is_near() -> None:
    one = ActionSpace([ActionDef("declare_war"), ActionDef("fortify")])
    assert fit(Action("declare_wat"), one, []).name == "declare_war"
    assert fit(Action("fortity"), one, []).name == "fortify"
    two = ActionSpace([ActionDef("move_north"), ActionDef("move_norts")])
    assert fit(Action("move_nortk"), two, []).name == "move_nortk"
    numbered = ActionSpace([ActionDef("take_item_1"), ActionDef("drop_item_1")])
    assert fit(Action("take_item_2"), numbered, []).name == "take_item_2"


@given(choices_lists, st.data())
def test_a_choice_fits_itself(choices: list[dict[str, Any]], data: st.DataObject) -> None:
    chosen = data.draw(st.sampled_from(choices))
    action = Action(chosen["action"], chosen["params"])
    assert fit(action, ActionSpace(), choices) == action


@given(st.text(min_size=1, max_size=12), st.dictionaries(st.text(max_size=5), values, max_size=3))
def test_any_answer_can_be_fitted(name: str, params: dict[str, Any]) -> None:
    choices = [choice("take", n=1), choice("take", n=2), choice("go", to="T1")]
    fitted = fit(Action(name, params, "why"), SPACE, choices)
    assert fitted.reasoning == "why"
    assert fitted.name in ("take", "go", name)
