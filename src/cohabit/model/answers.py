"""Reading the action in the answer of a language model."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import msgspec

from cohabit.model.action import Action, ActionSpace
from cohabit.model.limits import too_large
from cohabit.model.strict_json import finite_number

EXPECTED = 'Send one JSON object: {"action": "name", "params": {}, "reasoning": "why"}'
_NAME = r"[\w$.:-]{1,100}"
_BARE_NAME = re.compile(_NAME)
_NAME_AND_PARAMETERS = re.compile(rf"({_NAME})\s*(\{{.*\}})", re.DOTALL)
_FENCED = re.compile(r"```\w*\n(.*?)\n?```", re.DOTALL)
_THINK_END = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_THINK_BEGIN = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
# An unterminated string runs to the end of the text, so each character is scanned once, whatever the text is.
STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)
_OPENING = re.compile(r'\{\s*+["}]')
_MAX_ANSWER_CHARS = 100_000  # without the <think> section
_MAX_OBJECTS = 100
_MAX_NAME, _MAX_PARAMETERS = 200, 200  # characters of a name; each name is compared with those of the world
_PARAMETER_KEYS = ("params", "parameters", "arguments", "args")


class AnswerProblem(ValueError):
    """There is no action in an answer. The text says what to send instead; ``cause`` names the kind of problem."""

    def __init__(self, problem: str, cause: str = "no_action") -> None:
        super().__init__(f"{problem} {EXPECTED}")
        self.cause = cause


def parse_action(text: str, space: ActionSpace | None = None) -> Action:
    """Parse the action in a model's answer. AnswerProblem, a ValueError, says what to send instead.

    The cost is linear in the length of the text.

    Accepts a JSON object anywhere in the text, or a text that consists of an action name, alone or with its parameters
    as in a list of legal actions. It does not guess: a name within a sentence is not an answer, and neither are two
    different actions. With ``space``, parameters may also be beside the name: ``{"action": "take", "n": 2}``.
    """
    answer = _THINK_BEGIN.split(_THINK_END.split(text)[-1])[0].strip()
    if not answer:
        raise AnswerProblem("The answer is empty.", "empty")
    if len(answer) > _MAX_ANSWER_CHARS:
        raise AnswerProblem(f"The answer is too long: {len(answer):,} characters.", "too_large")
    objects = _json_objects(answer)
    # If one object has "action", another one that has only "name" describes something else, such as an entity.
    found = [o for o in objects if "action" in o] or [o for o in objects if "name" in o]
    if not found:
        return _bare_action(answer, objects)
    actions = [_read_action(candidate, space) for candidate in found]
    if any((a.name, a.parameters) != (actions[0].name, actions[0].parameters) for a in actions):
        raise AnswerProblem(f"The answer contains {len(actions)} actions, but only one is allowed.")
    return actions[0]


def _bare_action(answer: str, objects: list[dict[str, Any]]) -> Action:
    fenced = _FENCED.fullmatch(answer)
    bare = (fenced[1] if fenced else answer).strip().strip("`\"'")
    if _BARE_NAME.fullmatch(bare):
        return Action(bare)
    listed = _NAME_AND_PARAMETERS.fullmatch(bare)
    if listed and len(objects) == 1 and _parsed(listed[2]) == objects[0]:
        return _checked(listed[1], objects[0], None)
    if objects:
        raise AnswerProblem('The JSON in the answer has no "action".')
    if "{" in answer:
        raise AnswerProblem("The JSON in the answer is invalid or incomplete.")
    raise AnswerProblem("There is no JSON in the answer.")


def _read_action(candidate: dict[str, Any], space: ActionSpace | None) -> Action:
    name = candidate["action"] if "action" in candidate else candidate["name"]
    if isinstance(name, dict) and ("action" in name or "name" in name):  # {"action": {"name": "take", "params": {}}}
        return _read_action({"reasoning": candidate.get("reasoning"), **name}, space)
    if not isinstance(name, str) or not name.strip():
        raise AnswerProblem("The action must be a string.")
    given: Any = next((candidate[key] for key in _PARAMETER_KEYS if candidate.get(key) is not None), None)
    if isinstance(given, str):  # as in the tool calls of some servers
        given = _parsed(given)
    if given is None:
        given = _parameters_beside(candidate, name.strip(), space)
    if not isinstance(given, dict):
        raise AnswerProblem('"params" must be an object with the parameters by name.')
    reasoning = candidate.get("reasoning")
    return _checked(name.strip(), given, None if reasoning is None else str(reasoning))


def _parameters_beside(candidate: dict[str, Any], name: str, space: ActionSpace | None) -> dict[str, Any]:
    action = space.get(name) if space is not None else None
    known = [p.name for p in action.parameters] if action is not None else []
    return {key: candidate[key] for key in known if key in candidate and key not in ("action", "name", "reasoning")}


def _checked(name: str, parameters: dict[str, Any], reasoning: str | None) -> Action:
    if len(name) > _MAX_NAME or len(parameters) > _MAX_PARAMETERS or any(len(key) > _MAX_NAME for key in parameters):
        raise AnswerProblem("The action has too many parameters, or too long names.", "too_large")
    if problem := too_large(parameters):
        raise AnswerProblem(f"The parameters are too large: {problem}.", "too_large")
    action = Action(name, parameters, reasoning)
    try:
        msgspec.json.encode(action)
    except ValueError:  # an unpaired surrogate is valid JSON, but cannot be encoded again
        raise AnswerProblem("The answer contains an invalid character escape.") from None
    except OverflowError:
        raise AnswerProblem("The answer contains a number that is too large.", "too_large") from None
    return action


def _parsed(text: str) -> Any:
    """A JSON text; the text itself if it is none."""
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        return text


def _json_objects(text: str) -> list[dict[str, Any]]:
    """Every outermost JSON object in the text, in order, with the keys that we read in lower case. Braces in prose are
    skipped."""
    objects = []
    for tried, found in enumerate(object_texts(text), 1):
        if tried > _MAX_OBJECTS:
            raise AnswerProblem(f"The answer contains more than {_MAX_OBJECTS} JSON objects.", "too_large")
        with suppress(ValueError, RecursionError):
            objects.append(_with_our_keys(_DECODER.raw_decode(found)[0]))
    return objects


_OUR_KEYS = {"action", "reasoning", *_PARAMETER_KEYS}


def _with_our_keys(found: dict[str, Any]) -> dict[str, Any]:
    """``Action`` and ``PARAMS`` as ``action`` and ``params``; nothing is replaced."""
    lower = {key: key.lower() for key in found if key.lower() in _OUR_KEYS and key.lower() not in found}
    return {lower.get(key, key): value for key, value in found.items()} if lower else found


def object_texts(text: str) -> Iterator[str]:
    """The outermost JSON objects in a text with prose or code fences, in order: each to its closing brace, or to the
    end of the text.

    An invalid object is also one, whole, because the parameters of an incomplete answer could be mistaken for the
    action.
    """
    opening = _OPENING.search(text)
    while opening:
        start, end, depth = opening.start(), len(text), 0
        for token in STRING_OR_BRACKET.finditer(text, start):
            depth += {"{": 1, "}": -1}.get(token[0], 0)
            if depth == 0:
                end = token.end()
                break
        yield text[start:end]
        opening = _OPENING.search(text, end)


# Not strict, because models write unescaped line breaks in their reasoning.
_DECODER = json.JSONDecoder(strict=False, parse_float=finite_number, parse_constant=finite_number)
