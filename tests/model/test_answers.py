"""Parsing the answer of a model."""

import json
import time
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cohabit.model.action import Action, ActionDef, ActionSpace, ParamDef
from cohabit.model.answers import AnswerProblem, parse_action

MOVE = Action("move", {"direction": "left", "deep": {"a": {}}}, "because")
MOVE_JSON = '{"action": "move", "params": {"direction": "left", "deep": {"a": {}}}, "reasoning": "because"}'


@pytest.mark.parametrize(
    "text",
    [
        MOVE_JSON,
        MOVE_JSON.replace("action", "name").replace("params", "parameters"),
        MOVE_JSON.replace("action", "name").replace("params", "arguments"),
        f'<think>{{"action": "noop"}}</think>\n{MOVE_JSON}',
        f"I go {{left}}.\n```json\n{MOVE_JSON}\n```\nThat is all.",
        f'I see {{"name": "zombie"}}. {MOVE_JSON}',
        f"{{So: {MOVE_JSON}}}",
        f"<THINKING>left or right? {{}}</THINKING>{MOVE_JSON}",
        f"<think>a</think>no: <think>b</think>{MOVE_JSON}<think>and now",
        f"我向左走。{MOVE_JSON} 完毕。",
        f"Ich gehe nach links:\n\n{MOVE_JSON}\n\nFertig.",
        f"<tool_call>{MOVE_JSON.replace('action', 'name').replace('params', 'arguments')}</tool_call>",
        MOVE_JSON.replace("action", "Action").replace("params", "PARAMS"),
        '{"action": "move", "arguments": "{\\"direction\\": \\"left\\", \\"deep\\": {\\"a\\": {}}}", "reasoning": "because"}',
        '{"reasoning": "because", "action": {"name": "move", "params": {"direction": "left", "deep": {"a": {}}}}}',
    ],
)
def test_the_action_is_found_in_every_format_that_models_use(text: str) -> None:
    assert parse_action(text) == MOVE


@pytest.mark.parametrize("text", ["noop", " noop\n", "`noop`", '"noop"', "```\nnoop\n```", "<think>hm</think>noop"])
def test_a_name_alone_is_an_answer(text: str) -> None:
    assert parse_action(text) == Action("noop")


@pytest.mark.parametrize("text", ['take {"n":2}', '`take {"n": 2}`', '```\ntake {"n":2}\n```', 'take{"n":2}'])
def test_an_action_as_it_stands_in_the_list_of_legal_actions_is_an_answer(text: str) -> None:
    assert parse_action(text) == Action("take", {"n": 2})


def test_parameters_beside_the_name_are_read_if_the_action_has_them() -> None:
    space = ActionSpace([ActionDef("take", parameters=[ParamDef("n", type="integer")])])
    text = '{"action": "take", "n": 2, "confidence": 1}'
    assert parse_action(text, space) == Action("take", {"n": 2})
    assert parse_action(text) == Action("take")


def test_a_line_break_in_the_reasoning_is_accepted() -> None:
    assert parse_action('{"action": "noop", "params": null, "reasoning": "one\ntwo"}').reasoning == "one\ntwo"


def test_a_repeated_action_is_one_answer() -> None:
    assert parse_action('{"action": "noop"} I repeat: {"action": "noop"}') == Action("noop")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("<think>I could noop", "empty"),
        ("I think I will noop now.", "no JSON"),
        ('{"direction": "left"}', 'no "action"'),
        ('{"action": "attack", "params": {"name": "zombie"}, "reasoning": "It is', "incomplete"),
        ('{"action": "a"} or {"action": "b"}', "only one"),
        ('{"action": "take", "params": {"n": 1}} {"action": "take", "params": {"n": 2}}', "only one"),
        ('take {"n": 1} or take {"n": 2}', 'no "action"'),
        ('{"action": "take", "params": "two"}', "by name"),
        ('<think>{"action": "noop"}', "empty"),
        ("Ich nehme zwei.", "no JSON"),
        ("我拿两个。", "no JSON"),
        ("<!DOCTYPE html><html><body>Bad gateway</body></html>", "no JSON"),
        ('{"action": 3}', "must be a string"),
        ('{"action": "move", "params": ["left"]}', "by name"),
        ('{"action": "move", "params": {"n": NaN}}', "invalid"),
        ('{"action": "move", "params": {"n": 1e999}}', "invalid"),
        ('{"action": "say", "params": {"words": "\\ud800"}}', "escape"),
        ('{"a":' * 5000, "invalid"),
        ('{"a" x}' * 100, "invalid"),
        ('{"a" x}' * 10_000, "more than 100 JSON objects"),
        ("{" * 100_000, "invalid"),
        ("{" * 100_001, "too long"),
    ],
)
def test_an_invalid_answer_is_refused_with_a_message_that_says_what_to_send(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason) as refusal:
        parse_action(text)
    assert '{"action": "name", "params": {}, "reasoning": "why"}' in str(refusal.value)


prose = st.text().filter(lambda text: not {"{", "}"} & set(text) and "think>" not in text)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    max_leaves=8,
)
names = st.from_regex(r"[a-z_]{1,50}", fullmatch=True)
parameters = st.dictionaries(st.text(max_size=50), json_values, max_size=10)


@given(prose, prose, names, parameters, st.none() | prose, st.booleans())
def test_an_action_within_any_prose_without_braces_is_found(
    before: str, after: str, name: str, params: dict[str, Any], reasoning: str | None, escaped: bool
) -> None:
    answer = json.dumps({"action": name, "params": params, "reasoning": reasoning}, ensure_ascii=escaped)
    assume("think>" not in answer)
    assert parse_action(before + answer + after) == Action(name, params, reasoning)


@given(
    prose,
    names,
    st.dictionaries(names, st.integers(), max_size=3),
    names,
    st.dictionaries(names, st.integers(), max_size=3),
)
def test_two_different_actions_are_never_an_answer(
    between: str, one: str, params: dict[str, int], other: str, others: dict[str, int]
) -> None:
    answers = [json.dumps({"action": one, "params": params}), json.dumps({"action": other, "params": others})]
    text = between.join(answers)
    if (one, params) == (other, others):
        assert parse_action(text) == Action(one, params)
    else:
        with pytest.raises(ValueError, match="only one is allowed"):
            parse_action(text)


@given(names, st.dictionaries(names, json_values, min_size=1, max_size=3), st.data())
def test_an_answer_that_is_cut_off_is_never_read_as_another_action(
    name: str, params: dict[str, Any], data: st.DataObject
) -> None:
    answer = json.dumps({"action": name, "params": params})
    cut = answer[: data.draw(st.integers(0, len(answer) - 1))]
    with pytest.raises(ValueError, match="Send one JSON object"):
        parse_action(cut)


def test_quotes_that_never_end_are_read_once() -> None:
    began = time.process_time()
    with pytest.raises(AnswerProblem):
        parse_action("{" + '"\\' * 49_000)
    assert time.process_time() - began < 10  # minutes, if each quote is read to the end of the text


@given(st.text())
def test_any_text_gives_an_action_or_a_value_error(text: str) -> None:
    try:
        outcome = parse_action(text).name
    except ValueError as refusal:
        outcome = str(refusal)
    assert outcome in text or "Send one JSON object" in outcome
