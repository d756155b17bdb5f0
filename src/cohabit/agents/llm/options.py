"""The options in a brain's name: those of every language model, and those that only its backend has."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from cohabit.agents.brain import Brain
from cohabit.errors import BadArgs
from cohabit.model.suggest import nearest


class MindOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """Options of every language model, after the question mark in a brain's name; others go to the backend.

    The comments are in docs/models.md, too.
    """

    max_tokens: int = 512  # of an answer
    temperature: float | None = None  # of the answers
    seed: int | None = None  # of the answers, where the service has one
    memory: int = 400  # tokens of memory in a prompt: plan, facts, latest actions; 0: none
    reasoning: bool = True  # ask for the reason of an action; it is shown to those who may see it
    plan: bool = True  # in worlds with goals: ask for a plan of three lines at the start, and when the goals change
    tools: int = 0  # how often it may use a calculator and its notes in one decision
    retries: int = 3  # after a busy or unreachable server, with growing waits
    per_minute: int = 0  # requests per minute of all agents of this process with the same service and key; 0: no limit
    persona: str = ""  # a text that is added to the system message
    view: int = 0  # tokens of a view; a longer one is shortened. 0: all of it
    brief: bool = False  # a short system message, for small models
    listed: bool = False  # allow only the listed actions, also where they are examples


def split_options(brain: Brain, defaults: dict[str, Any]) -> tuple[MindOptions, dict[str, Any]]:
    """Those of every model, and those for the backend."""
    known = set(MindOptions.__struct_fields__)
    ours = {**defaults, **{key: value for key, value in brain.options.items() if key in known}}
    try:
        options = msgspec.convert(ours, MindOptions, strict=False)
    except msgspec.ValidationError as wrong:
        raise BadArgs(f"{brain}: {wrong}") from None
    return options, {key: value for key, value in brain.options.items() if key not in known}


def known_options(brain: Brain, known: tuple[str, ...]) -> dict[str, Any]:
    """The options for a backend, which has these."""
    for name in brain.options:
        if name not in known:
            every = [*known, *MindOptions.__struct_fields__]
            raise BadArgs(
                f"{brain.kind} has no option {name!r}; it has {', '.join(every)}", did_you_mean=nearest(name, every, 2)
            )
    return dict(brain.options)


def without_none(options: Mapping[str, Any]) -> dict[str, Any]:
    """Those that are given."""
    return {name: value for name, value in options.items() if value is not None}
