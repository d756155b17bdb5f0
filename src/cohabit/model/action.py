"""What a participant can do, what it does, and what comes of it."""

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

    `required=False` and `optional=True` say the same thing; whichever was written,
    both fields agree afterwards.
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
            raise ValueError("a parameter's name must not be empty")
        if self.options is not None and not self.options:
            raise ValueError(f"parameter {self.name!r} has no option left; leave options out if anything goes")
        if self.minimum is not None and self.maximum is not None and self.minimum > self.maximum:
            raise ValueError(f"parameter {self.name!r} has a minimum above its maximum")
        may_be_left_out = self.optional or not self.required
        msgspec.structs.force_setattr(self, "optional", may_be_left_out)
        msgspec.structs.force_setattr(self, "required", not may_be_left_out)

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
    """One thing that can be done. Preconditions are sentences for the reader; the world enforces them."""

    name: str
    description: str = ""
    parameters: list[ParamDef] = []
    preconditions: list[str] = []
    category: str = "general"

    def __post_init__(self) -> None:
        if not self.name or self.name != one_line(self.name):
            raise ValueError(f"an action needs a name on one line without blanks around it, not {self.name!r}")
        names = [parameter.name for parameter in self.parameters]
        _refuse_twins(names, f"action {self.name!r} has two parameters")

    def to_text(self) -> str:
        lines = [one_line(f"- {self.name} [{self.category}]: {self.description}").removesuffix(":")]
        if self.parameters:
            lines.append("    params:")
            lines += [f"      {parameter.to_text()}" for parameter in self.parameters]
        lines += [f"    only if: {one_line(condition)}" for condition in self.preconditions]
        return "\n".join(lines)


class ActionSpace(msgspec.Struct, frozen=True, omit_defaults=True):
    """All actions there are, in the order the world lists them."""

    actions: list[ActionDef] = []

    def __post_init__(self) -> None:
        _refuse_twins(self.names(), "an action space has two actions")

    def names(self) -> list[str]:
        return [action.name for action in self.actions]

    def get(self, name: str) -> ActionDef | None:
        return next((action for action in self.actions if action.name == name), None)

    def to_text(self) -> str:
        """A list that a model can act on: names, parameters with their limits, and preconditions."""
        return "\n".join(action.to_text() for action in self.actions)


class Action(msgspec.Struct, frozen=True, omit_defaults=True, dict=True):
    """What a participant sends. `reasoning` is for the log; the world never reads it."""

    name: str
    parameters: dict[str, Any] = {}
    reasoning: str | None = None

    def __post_init__(self) -> None:
        if not self.name:
            raise ValueError("an action's name must not be empty")

    @cached_property
    def text(self) -> str:
        """The action as a line to read. Kept, because worlds list the same actions at every step."""
        return f"{self.name} {_sorted_json(self.parameters).decode()}"

    @cached_property
    def choice(self) -> dict[str, Any]:
        """The action as it would be sent."""
        return {"action": self.name, "params": self.parameters}


class ActionResult(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What came of an action. The observation is added by whoever may look; a world can leave it out."""

    success: bool
    message: str = ""
    reward: float = 0.0
    achievements: list[str] = []
    done: bool = False
    observation: Observation | None = None
    data: Any = None

    def __post_init__(self) -> None:
        if not math.isfinite(self.reward):
            raise ValueError(f"a reward is a finite number, not {self.reward!r}")


def _refuse_twins(names: list[str], complaint: str) -> None:
    if len(set(names)) < len(names):
        twin = next(name for position, name in enumerate(names) if name in names[:position])
        raise ValueError(f"{complaint} named {twin!r}")


# --- reading a model's answer ---

_SEND = 'Send one JSON object: {"action": "name", "params": {}, "reasoning": "why"}'
_BARE_NAME = re.compile(r"[\w$.:-]{1,100}")
_FENCED = re.compile(r"```\w*\n(.*?)\n?```", re.DOTALL)
_STRING_OR_BRACE = re.compile(r'"(?:[^"\\]|\\.)*"|[{}]', re.DOTALL)
_OPENING = re.compile(r'\{\s*["}]')
_LONGEST_ANSWER = 100_000  # characters after the thinking; what takes long to read is no answer
_PARAMETER_KEYS = ("params", "parameters", "arguments", "args")


def parse_action(text: str) -> Action:
    """Read the action out of a model's answer; ValueError says what to send instead.

    Takes a JSON object anywhere in the text, or a text that is nothing but an action name. It never guesses:
    a name in the middle of a sentence is not an answer, and neither are two different actions.
    """
    answer = text.rpartition("</think>")[2].partition("<think>")[0].strip()
    if not answer:
        raise ValueError(f"The answer is empty. {_SEND}")
    if len(answer) > _LONGEST_ANSWER:
        raise ValueError(f"The answer is too long. {_SEND}")
    objects = _json_objects(answer)
    # An object with "name" alone may be about anything, a zombie for instance, if another one says "action".
    found = [o for o in objects if "action" in o] or [o for o in objects if "name" in o]
    if not found:
        return _bare_action(answer, objects)
    actions = [_read_action(candidate) for candidate in found]
    if any((a.name, a.parameters) != (actions[0].name, actions[0].parameters) for a in actions):
        raise ValueError(f"The answer holds {len(actions)} actions, and only one can be taken. {_SEND}")
    return actions[0]


def _bare_action(answer: str, objects: list[dict[str, Any]]) -> Action:
    fenced = _FENCED.fullmatch(answer)
    bare = (fenced[1] if fenced else answer).strip().strip("`\"'")
    if _BARE_NAME.fullmatch(bare):
        return Action(bare)
    if objects:
        raise ValueError(f'The JSON in the answer has no "action". {_SEND}')
    if "{" in answer:
        raise ValueError(f"The JSON in the answer is broken or cut off. {_SEND}")
    raise ValueError(f"There is no JSON in the answer. {_SEND}")


def _read_action(candidate: dict[str, Any]) -> Action:
    name = candidate["action"] if "action" in candidate else candidate["name"]
    if not isinstance(name, str) or not name.strip():
        raise ValueError(f"The action must be a name in quotes. {_SEND}")
    given: Any = next((candidate[key] for key in _PARAMETER_KEYS if candidate.get(key) is not None), {})
    if not isinstance(given, dict):
        raise ValueError(f'"params" must be an object with the parameters by name. {_SEND}')
    reasoning = candidate.get("reasoning")
    action = Action(name.strip(), given, None if reasoning is None else str(reasoning))
    try:
        msgspec.json.encode(action)
    except ValueError:  # half of a surrogate pair is legal JSON, yet no text that could be written down again
        raise ValueError(f"The answer holds a broken character escape. {_SEND}") from None
    return action


def _json_objects(text: str) -> list[dict[str, Any]]:
    """Every outermost JSON object in the text, in order. A brace in prose is stepped over."""
    objects = []
    opening = _OPENING.search(text)
    while opening:
        start = opening.start()
        try:
            # A slice, because an error counts the lines before it, and there may be many errors.
            value, length = _DECODER.raw_decode(text[start:])
            objects.append(value)
            end = start + length
        except (ValueError, RecursionError):
            end = _end_of_broken(text, start)
        opening = _OPENING.search(text, end)
    return objects


def _end_of_broken(text: str, start: int) -> int:
    """Where a broken object ends: at the brace that closes it, or with the text.

    It is stepped over whole: in an answer that was cut off, the parameters must not be taken for the action.
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
    raise ValueError(f"{word} is not a number that JSON knows")


# Not strict: models put real line breaks into their reasoning, and everybody can see what was meant.
_DECODER = json.JSONDecoder(strict=False, parse_float=_finite, parse_constant=_not_a_number)
