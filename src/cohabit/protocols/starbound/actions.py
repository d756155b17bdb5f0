"""The actions of Starbound, read from one table that rooms and ``StarboundAdapter`` share."""

from typing import Annotated, Any, Literal

import msgspec

from cohabit.model.action import ActionDef, ActionSpace, ParamDef
from cohabit.model.table_files import read_table


def _read_actions(actions: list[dict[str, Any]], parameters: dict[str, Any]) -> ActionSpace:
    known = {name: ParamDef(**fields) for name, fields in parameters.items()}
    return ActionSpace(
        [ActionDef(**{**fields, "parameters": [known[n] for n in fields.get("parameters", ())]}) for fields in actions]
    )


ACTIONS = _read_actions(**read_table(__file__, dict[str, Any]))
MAX_TEXT_ARGUMENT = 500


def type_of(parameter: ParamDef) -> Any:
    """The type of an argument."""
    if parameter.options is not None:
        return Literal[tuple(parameter.options)]
    if parameter.type == "string":
        return Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_TEXT_ARGUMENT)]
    kind = int if parameter.type == "integer" else float
    return Annotated[kind, msgspec.Meta(ge=parameter.minimum, le=parameter.maximum)]
