"""Actions: definitions, calls and results."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import msgspec

from cohabit.model.observation import Observation, one_line
from cohabit.model.strict_json import sorted_json
from cohabit.model.value import Value

OPTIONS_IN_SHORT = 10
"""The number of options of a parameter that its short form lists. It leaves out longer lists."""


class ParamDef(msgspec.Struct, Value, frozen=True, omit_defaults=True):
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

    def in_short(self) -> str:
        """The name; `?` marks a parameter that can be left out."""
        options = self.options if self.options is not None and len(self.options) <= OPTIONS_IN_SHORT else ()
        choice = f": {'|'.join(map(str, options))}" if options else ""
        return one_line(f"{self.name}{'?' if self.optional else ''}{choice}")

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


class ActionDef(msgspec.Struct, Value, frozen=True, omit_defaults=True):
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

    def in_short(self) -> str:
        """The call in a few words: `jack_out(mode?: despawn|dormant|suspend)`."""
        return f"{self.name}({', '.join(parameter.in_short() for parameter in self.parameters)})"

    def to_text(self) -> str:
        lines = [one_line(f"- {self.name} [{self.category}]: {self.description}").removesuffix(":")]
        if self.parameters:
            lines.append("    params:")
            lines += [f"      {parameter.to_text()}" for parameter in self.parameters]
        lines += [f"    requires: {one_line(condition)}" for condition in self.preconditions]
        return "\n".join(lines)


class ActionSpace(msgspec.Struct, Value, frozen=True, omit_defaults=True):
    """All actions of a world, in declaration order. ``examples``: an observation lists only some legal actions."""

    actions: list[ActionDef] = []
    examples: bool = False

    def __post_init__(self) -> None:
        _refuse_duplicates(self.names(), "an action space has two actions")

    def names(self) -> list[str]:
        return [action.name for action in self.actions]

    def get(self, name: str) -> ActionDef | None:
        return next((action for action in self.actions if action.name == name), None)

    def to_text(self) -> str:
        """A list for a model: names, parameters with their limits, and preconditions."""
        return "\n".join(action.to_text() for action in self.actions)


class Action(msgspec.Struct, Value, frozen=True, omit_defaults=True, dict=True):
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
        return f"{self.name} {sorted_json(self.parameters).decode()}"

    def to_text(self) -> str:
        return f"{self.text}: {one_line(self.reasoning)}" if self.reasoning else self.text

    @cached_property
    def choice(self) -> dict[str, Any]:
        """The action as it would be sent."""
        return {"action": self.name, "params": self.parameters}


class ActionResult(msgspec.Struct, Value, frozen=True, omit_defaults=True, gc=False):
    """The result of an action. The observation is optional. ``to_move``: whose turn it is now, if there are turns.

    ``view_id``: of a long observation; ``view`` with it as ``since`` returns only what has changed. ``pending``: in a
    world of rounds, the action was chosen and happens when the round ends. Then `last_action` of the observation says
    its outcome; until then ``success`` says that it was accepted.
    """

    success: bool
    message: str = ""
    reward: float = 0.0
    achievements: list[str] = []
    done: bool = False
    observation: Observation | None = None
    data: Any = None
    to_move: list[str] = []
    view_id: str = ""
    pending: bool = False

    def to_text(self) -> str:
        """The outcome of the action, and what is seen now."""
        lines = self.summary()
        if self.done:
            lines.append("The game is over.")
        if self.observation is not None:
            lines += ["", self.seen_text()]
        return "\n".join(lines)

    def seen_text(self) -> str:
        """The text of the observation, without the words of ``summary`` about the action."""
        if self.observation is None:
            return ""
        last = self.observation.last_action
        said = last.message if last is not None and last.message in self.message else self.message
        seen = msgspec.structs.replace(self.observation, last_action=None) if last is not None else self.observation
        known = (said, f"{last.name} failed: {said}") if last is not None else (said,)
        return "\n".join(line for line in seen.to_text().split("\n") if not line or line not in known)

    def summary(self) -> list[str]:
        """The lines about the action itself."""
        done = self.message or "Done."
        lines = [done if self.success else f"Failed: {self.message}" if self.message else "Failed."]
        if self.reward:
            lines.append(f"Reward: {self.reward:g}")
        achieved = ", ".join(self.achievements)
        if achieved and f"chieved {achieved}" not in done:
            lines.append(f"Achieved: {achieved}")
        return lines


def _refuse_duplicates(names: list[str], message: str) -> None:
    if len(set(names)) < len(names):
        duplicate = next(name for position, name in enumerate(names) if name in names[:position])
        raise ValueError(f"{message} named {duplicate!r}")
