"""The options in a brain's name: those of every language model, and those that only its backend has."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from cohabit.agents.brain import Brain
from cohabit.errors import BadArgs
from cohabit.model.suggest import nearest


class MindOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """Options of every language model, after the question mark in a brain's name; others go to the backend."""

    max_tokens: int = 512  # of an answer
    temperature: float | None = None
    seed: int | None = None
    memory: int = 400  # tokens of memory in a prompt; 0: none
    reasoning: bool = True  # ask for the reason of an action
    plan: bool = True  # where there are goals: ask for a plan at the start of a game, and when they change
    tools: int = 0  # how many calls of tools one decision may have
    retries: int = 3  # after a busy or unreachable server
    per_minute: int = 0  # requests of all agents of this process with the same service and key; 0: no limit
    persona: str = ""  # added to the system message
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
