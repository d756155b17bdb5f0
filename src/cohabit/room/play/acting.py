"""The command that runs an action of the world by name."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from cohabit.declare import object_schema
from cohabit.errors import BadArgs
from cohabit.model.action import Action
from cohabit.model.grant import Capability
from cohabit.model.message import MAX_MESSAGE
from cohabit.model.validation_errors import in_words
from cohabit.room.base import Context
from cohabit.room.commands import command

C = Capability


class NamedAction(Struct, forbid_unknown_fields=True):
    """An action as a model answers with it: the field names of WSAP's answers."""

    action: str
    params: dict[str, Any] = {}
    reasoning: str | None = None


OTHER_NAMES = {"name": "action", "parameters": "params"}
"""The field names of WSAP's type ``Action``, which is accepted too."""


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(NamedAction).decode


def unwrap(args: Any) -> tuple[str, dict[str, Any], str | None]:
    """The command named in a call of ``act``, with its arguments and reasoning. Callers in this process may pass an
    ``Action``."""
    name: Any
    params: Any
    why: Any
    if type(args) is Action:
        name, params, why = args.name, args.parameters, args.reasoning
    elif type(args) is dict and len(args) == 3:
        name, params, why = args.get("action"), args.get("params"), args.get("reasoning")
    else:
        name = params = why = None
    # The command checks its parameters, so a plain name and a plain text need no other check.
    if type(name) is str and name != "act" and type(params) is dict and type(why) is str and why.isascii():
        return name, params, why[:MAX_MESSAGE]
    if isinstance(args, Action):
        args = {"action": args.name, "params": args.parameters, "reasoning": args.reasoning}
    args = _with_usual_names(args)
    try:
        wrapped = _decode(_encode(args))  # through JSON, as all arguments
    except (TypeError, ValueError, OverflowError, RecursionError) as wrong:
        problem = in_words(wrong, args, object_schema(NamedAction))
        raise BadArgs(f'act: {problem}; send {{"action": name, "params": {{…}}, "reasoning": why}}') from None
    if wrapped.action == "act":
        raise BadArgs("act cannot call itself")
    return wrapped.action, wrapped.params, wrapped.reasoning and wrapped.reasoning[:MAX_MESSAGE]


def _with_usual_names(args: Any) -> Any:
    """The arguments with the field names of ``NamedAction``. Each field may have either of its names."""
    if not isinstance(args, dict) or OTHER_NAMES.keys().isdisjoint(args):
        return args
    for other, usual in OTHER_NAMES.items():
        if other in args and usual in args:
            raise BadArgs(f"act: {other!r} and {usual!r} are two names of the same field; send one of them")
    return {OTHER_NAMES.get(name, name): value for name, value in args.items()}


@command(
    category="action",
    records=True,
    unwrap=unwrap,
    hint="runs an action or another command by name, also one that is not listed as a tool.",
    listed=True,
    shows_world=True,
    sends="actions",
)
def act(
    ctx: Context,
    action: Annotated[str, Meta(description="its name (see `rules`)")],
    params: dict[str, Any] = {},  # noqa: B006 - never changed
    reasoning: Annotated[str | None, Meta(description="why, for the record")] = None,
) -> dict[str, Any]:
    """Run an action, or another command, by its name."""
    raise AssertionError("act is replaced by the named action before it runs")
