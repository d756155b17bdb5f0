"""Actions: definitions, calls and results."""

from __future__ import annotations

import json
import math
import re
from functools import cached_property
from typing import Any, NoReturn

import msgspec

from cohabit.model.observation import Observation, one_line

_sorted_json = msgspec.json.Encoder(order="sorted").encode


class ParamDef(msgspec.Struct, frozen=True, omit_defaults=True):
    """One parameter of an action.

    `required=False` and `optional=True` mean the same. Either can be given, and both are set.
    """

    name: str
    description: str = ""
    type: str = "string"
    required: bool = True
    options: list[Any] | None = None
    optional: bool = False
    minimum: float | None = None
    maximum: float | None = None

    def __post_init__(self) -> None:
        if not self.name:
            raise ValueError("a parameter name must not be empty")
        if self.options is not None and not self.options:
            raise ValueError(f"parameter {self.name!r} has an empty list of options; omit it to allow any value")
        if self.minimum is not None and self.maximum is not None and self.minimum > self.maximum:
            raise ValueError(f"parameter {self.name!r} has a minimum above its maximum")
        optional = self.optional or not self.required
        msgspec.structs.force_setattr(self, "optional", optional)
        msgspec.structs.force_setattr(self, "required", not optional)

    def to_text(self) -> str:
        kind = ", ".join([self.type, *self._limits(), "required" if self.required else "optional"])
        return one_line(f"{self.name} ({kind}): {self.description}").removesuffix(":")

    def _limits(self) -> list[str]:
        limits = []
        if self.minimum is not None and self.maximum is not None:
            limits.append(f"{self.minimum} to {self.maximum}")
        elif self.minimum is not None:
            limits.append(f"at least {self.minimum}")
        elif self.maximum is not None:
            limits.append(f"at most {self.maximum}")
        if self.options is not None:
            limits.append("one of " + " | ".join(str(option) for option in self.options))
        return limits


class ActionDef(msgspec.Struct, frozen=True, omit_defaults=True):
    """An available action. Preconditions are informational sentences; the world enforces them."""

    name: str
    description: str = ""
    parameters: list[ParamDef] = []
    preconditions: list[str] = []
    category: str = "general"

    def __post_init__(self) -> None:
        if not self.name or self.name != one_line(self.name):
            raise ValueError(f"an action name must be one line without surrounding spaces, not {self.name!r}")
        names = [parameter.name for parameter in self.parameters]
        _refuse_duplicates(names, f"action {self.name!r} has two parameters")

    def to_text(self) -> str:
        lines = [one_line(f"- {self.name} [{self.category}]: {self.description}").removesuffix(":")]
        if self.parameters:
            lines.append("    params:")
            lines += [f"      {parameter.to_text()}" for parameter in self.parameters]
        lines += [f"    requires: {one_line(condition)}" for condition in self.preconditions]
        return "\n".join(lines)


class ActionSpace(msgspec.Struct, frozen=True, omit_defaults=True):
    """All actions of a world, in declaration order."""

    actions: list[ActionDef] = []

    def __post_init__(self) -> None:
        _refuse_duplicates(self.names(), "an action space has two actions")

    def names(self) -> list[str]:
        return [action.name for action in self.actions]

    def get(self, name: str) -> ActionDef | None:
        return next((action for action in self.actions if action.name == name), None)

    def to_text(self) -> str:
        """A list for a model: names, parameters with their limits, and preconditions."""
        return "\n".join(action.to_text() for action in self.actions)


class Action(msgspec.Struct, frozen=True, omit_defaults=True, dict=True):
    """An action as sent by a participant. `reasoning` is for the log; the world does not read it."""

    name: str
    parameters: dict[str, Any] = {}
    reasoning: str | None = None

    def __post_init__(self) -> None:
        if not self.name:
            raise ValueError("an action name must not be empty")

    @cached_property
    def text(self) -> str:
        """The action as one line of text. Cached, because worlds list the same actions at every step."""
        return f"{self.name} {_sorted_json(self.parameters).decode()}"

    @cached_property
    def choice(self) -> dict[str, Any]:
        """The action as it would be sent."""
        return {"action": self.name, "params": self.parameters}


class ActionResult(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """The result of an action. The observation is optional. ``to_move``: whose turn it is now, if there are turns."""

    success: bool
    message: str = ""
    reward: float = 0.0
    achievements: list[str] = []
    done: bool = False
    observation: Observation | None = None
    data: Any = None
    to_move: list[str] = []


def _refuse_duplicates(names: list[str], message: str) -> None:
    if len(set(names)) < len(names):
        duplicate = next(name for position, name in enumerate(names) if name in names[:position])
        raise ValueError(f"{message} named {duplicate!r}")


# --- parsing the answer of a model ---

_EXPECTED = 'Send one JSON object: {"action": "name", "params": {}, "reasoning": "why"}'
_BARE_NAME = re.compile(r"[\w$.:-]{1,100}")
_FENCED = re.compile(r"```\w*\n(.*?)\n?```", re.DOTALL)
_STRING_OR_BRACE = re.compile(r'"(?:[^"\\]|\\.)*"|[{}]', re.DOTALL)
_OPENING = re.compile(r'\{\s*["}]')
_MAX_ANSWER_CHARS = 100_000  # without the <think> section
_PARAMETER_KEYS = ("params", "parameters", "arguments", "args")


def parse_action(text: str) -> Action:
    """Parse the action in a model's answer; ValueError says what to send instead.

    Accepts a JSON object anywhere in the text, or a text that consists of an action name. It does not guess: a name
    within a sentence is not an answer, and neither are two different actions.
    """
    answer = text.rpartition("</think>")[2].partition("<think>")[0].strip()
    if not answer:
        raise ValueError(f"The answer is empty. {_EXPECTED}")
    if len(answer) > _MAX_ANSWER_CHARS:
        raise ValueError(f"The answer is too long. {_EXPECTED}")
    objects = _json_objects(answer)
    # If one object has "action", another one that has only "name" describes something else, such as an entity.
    found = [o for o in objects if "action" in o] or [o for o in objects if "name" in o]
    if not found:
        return _bare_action(answer, objects)
    actions = [_read_action(candidate) for candidate in found]
    if any((a.name, a.parameters) != (actions[0].name, actions[0].parameters) for a in actions):
        raise ValueError(f"The answer contains {len(actions)} actions, but only one is allowed. {_EXPECTED}")
    return actions[0]


def _bare_action(answer: str, objects: list[dict[str, Any]]) -> Action:
    fenced = _FENCED.fullmatch(answer)
    bare = (fenced[1] if fenced else answer).strip().strip("`\"'")
    if _BARE_NAME.fullmatch(bare):
        return Action(bare)
    if objects:
        raise ValueError(f'The JSON in the answer has no "action". {_EXPECTED}')
    if "{" in answer:
        raise ValueError(f"The JSON in the answer is invalid or incomplete. {_EXPECTED}")
    raise ValueError(f"There is no JSON in the answer. {_EXPECTED}")


def _read_action(candidate: dict[str, Any]) -> Action:
    name = candidate["action"] if "action" in candidate else candidate["name"]
    if not isinstance(name, str) or not name.strip():
        raise ValueError(f"The action must be a string. {_EXPECTED}")
    given: Any = next((candidate[key] for key in _PARAMETER_KEYS if candidate.get(key) is not None), {})
    if not isinstance(given, dict):
        raise ValueError(f'"params" must be an object with the parameters by name. {_EXPECTED}')
    reasoning = candidate.get("reasoning")
    action = Action(name.strip(), given, None if reasoning is None else str(reasoning))
    try:
        msgspec.json.encode(action)
    except ValueError:  # an unpaired surrogate is valid JSON, but cannot be encoded again
        raise ValueError(f"The answer contains an invalid character escape. {_EXPECTED}") from None
    return action


def _json_objects(text: str) -> list[dict[str, Any]]:
    """Every outermost JSON object in the text, in order. Braces in prose are skipped."""
    objects = []
    opening = _OPENING.search(text)
    while opening:
        start = opening.start()
        try:
            # A slice, because an error counts the lines before it, which is slow if there are many errors.
            value, length = _DECODER.raw_decode(text[start:])
            objects.append(value)
            end = start + length
        except (ValueError, RecursionError):
            end = _end_of_invalid_object(text, start)
        opening = _OPENING.search(text, end)
    return objects


def _end_of_invalid_object(text: str, start: int) -> int:
    """The end of an invalid object: its closing brace, or the end of the text.

    The whole object is skipped, because the parameters of an incomplete answer could be mistaken for the action.
    """
    depth = 0
    for token in _STRING_OR_BRACE.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(token[0], 0)
        if depth == 0:
            return token.end()
    return len(text)


def _finite(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else _not_a_number(digits)


def _not_a_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON number")


# Not strict, because models write unescaped line breaks in their reasoning.
_DECODER = json.JSONDecoder(strict=False, parse_float=_finite, parse_constant=_not_a_number)
