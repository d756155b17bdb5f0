"""The JSON schema of an answer, made from the legal actions, and fitting an answer to them."""

from collections.abc import Iterable, Sequence
from typing import Any

from cohabit.model.action import Action, ActionDef, ActionSpace, ParamDef
from cohabit.model.suggest import distance

MAX_CHOICES = 200
"""With more legal actions the schema lists only their names and parameter types."""
MAX_REASONING = 300
"""Characters of reasoning that a schema allows."""
_TYPES = {"integer": "integer", "int": "integer", "number": "number", "float": "number", "boolean": "boolean"}


# -- the schema -------------------------------------------------------------------------------------
def answer_schema(space: ActionSpace, choices: Sequence[dict[str, Any]], reasoning: bool = True) -> dict[str, Any]:
    """The schema of ``{"reasoning", "action", "params"}``: one of the listed choices, or any action of the space.

    The reasoning comes first, so that a model thinks before it chooses.
    """
    if choices and len(choices) <= MAX_CHOICES:
        cases = [_case({"const": c["action"]}, _exactly(c["params"]), reasoning) for c in choices]
    else:
        cases = [_case({"const": a.name}, _parameters(a), reasoning) for a in space.actions]
    return cases[0] if len(cases) == 1 else {"anyOf": cases}


def _case(name: dict[str, Any], params: dict[str, Any], reasoning: bool) -> dict[str, Any]:
    properties: dict[str, Any] = {"action": name, "params": params}
    if reasoning:
        properties = {"reasoning": {"type": "string", "maxLength": MAX_REASONING}, **properties}
    return _object(properties)


def _object(properties: dict[str, Any], required: Iterable[str] | None = None) -> dict[str, Any]:
    needed = list(properties if required is None else required)
    return {"type": "object", "properties": properties, "required": needed, "additionalProperties": False}


def _exactly(params: dict[str, Any]) -> dict[str, Any]:
    return _object({key: {"const": value} for key, value in params.items()})


def _parameters(action: ActionDef) -> dict[str, Any]:
    return _object(
        {p.name: _parameter(p) for p in action.parameters}, [p.name for p in action.parameters if p.required]
    )


def _parameter(parameter: ParamDef) -> dict[str, Any]:
    if parameter.options is not None:
        return {"enum": parameter.options}
    kind = _TYPES.get(parameter.type, parameter.type)
    schema: dict[str, Any] = {"type": kind} if kind in ("integer", "number", "boolean", "string", "array") else {}
    if kind == "object":
        schema = {"type": "object"}
    if parameter.minimum is not None:
        schema["minimum"] = parameter.minimum
    if parameter.maximum is not None:
        schema["maximum"] = parameter.maximum
    return schema


# -- fitting an answer ------------------------------------------------------------------------------
def fit(action: Action, space: ActionSpace, choices: Sequence[dict[str, Any]]) -> Action:
    """The action that an answer means: wrong case, small slips and numbers in quotes are repaired, if there is only
    one way to do so. An answer that fits nothing is returned as it is; the world refuses it with a reason."""
    names = list(dict.fromkeys([*(c["action"] for c in choices), *space.names()]))
    name = _only_similar(action.name, names)
    if name is None:
        return action
    defined = space.get(name)
    params = _typed(action.parameters, defined) if defined is not None else action.parameters
    listed = [c for c in choices if c["action"] == name]
    if listed and not any(c["params"] == params for c in listed):
        alike = [c for c in listed if _same_text(c["params"], params)] or (listed if not params else [])
        if len(alike) == 1:
            params = alike[0]["params"]
    return Action(name, params, action.reasoning)


def _only_similar(name: str, names: Sequence[str]) -> str | None:
    if name in names:
        return name
    plain = _plain(name)
    same = [known for known in names if _plain(known) == plain]
    if len(same) == 1:
        return same[0]
    near = [known for known in names if distance(_plain(known), plain) <= max(1, len(plain) // 6)]
    return near[0] if len(near) == 1 and not same else None


def _plain(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def _typed(params: dict[str, Any], defined: ActionDef) -> dict[str, Any]:
    """Parameters under their right names, with numbers as numbers and options in their spelling."""
    known = {p.name: p for p in defined.parameters}
    fitted: dict[str, Any] = {}
    for key, value in params.items():
        name = _only_similar(key, list(known))
        fitted[name or key] = _value(value, known[name]) if name is not None else value
    return fitted


def _value(value: Any, parameter: ParamDef) -> Any:
    if parameter.options is not None and value not in parameter.options:
        alike = [o for o in parameter.options if _plain(str(o)) == _plain(str(value))]
        return alike[0] if len(alike) == 1 else value
    kind = _TYPES.get(parameter.type)
    try:
        if kind == "integer" and not isinstance(value, bool | int):
            return int(value) if float(value).is_integer() else value
        if kind == "number" and isinstance(value, str):
            return float(value)
    except (TypeError, ValueError, OverflowError):
        return value
    if kind == "boolean" and isinstance(value, str) and value.casefold() in ("true", "false", "yes", "no"):
        return value.casefold() in ("true", "yes")
    return value


def _same_text(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return one.keys() == other.keys() and all(_plain(str(one[key])) == _plain(str(other[key])) for key in one)
