"""The JSON schema of an answer, made from the legal actions, and fitting an answer to them.

``answer_schema`` is exact: what it allows is legal. ``strict_schema`` says it within the limits of hosted services.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from cohabit.model.action import Action, ActionDef, ActionSpace, ParamDef
from cohabit.model.strict_json import sorted_json
from cohabit.model.suggest import distance

MAX_CHOICES = 200
"""With more legal actions the schema lists only their names and parameter types."""
MAX_REASONING = 300
"""Characters of reasoning that a schema allows."""
_TYPES = {"integer": "integer", "int": "integer", "number": "number", "float": "number", "boolean": "boolean"}
_PLAIN_TYPES = ("integer", "number", "boolean", "string", "object")
_LIMITS = ("minimum", "maximum", "maxLength", "minLength")


# -- the schema -------------------------------------------------------------------------------------
def answer_schema(
    space: ActionSpace,
    choices: Sequence[dict[str, Any]],
    reasoning: bool = True,
    *,
    listed: bool = False,
    tools: Sequence[ActionDef] = (),
) -> dict[str, Any]:
    """The schema of ``{"reasoning", "action", "params"}``: one of the listed choices, or any action of the space if the
    choices are examples and ``listed`` does not say otherwise.

    The reasoning comes first, so that a model thinks before it chooses.
    """
    if is_listed(space, choices, listed):
        cases = [(name, params) for name, params in _grouped(choices)]
    else:
        cases = [(a.name, _parameters(a)) for a in space.actions]
    cases += [(tool.name, _parameters(tool)) for tool in tools]
    objects = [_case(name, params, reasoning) for name, params in cases]
    return objects[0] if len(objects) == 1 else {"anyOf": objects}


def is_listed(space: ActionSpace, choices: Sequence[dict[str, Any]], listed: bool = False) -> bool:
    """True if an answer must be one of the choices."""
    return bool(choices) and len(choices) <= MAX_CHOICES and (listed or not space.examples)


def compact_answers(choices: Sequence[dict[str, Any]]) -> list[str]:
    """The answers without reasoning, as short as JSON can be."""
    return [f'{{"action":{_json(c["action"])},"params":{_json(c["params"])}}}' for c in choices]


def _json(value: Any) -> str:
    return sorted_json(value).decode()


def _grouped(choices: Sequence[dict[str, Any]]) -> Iterable[tuple[str, dict[str, Any]]]:
    """Choices that differ in one parameter only are one case with an enum."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for choice in choices:
        groups.setdefault((choice["action"], *sorted(choice["params"])), []).append(choice["params"])
    for (name, *keys), group in groups.items():
        varying = [key for key in keys if len(_different([params[key] for params in group])) > 1]
        if len(varying) <= 1 and all(_is_scalar(params[key]) for params in group for key in varying):
            yield name, _object({key: _one_of([params[key] for params in group]) for key in keys})
        else:
            for params in group:
                yield name, _object({key: _one_of([params[key]]) for key in keys})


def _one_of(values: Sequence[Any]) -> dict[str, Any]:
    if not _is_scalar(values[0]):
        return _exactly(values[0])
    different = _different(values)
    return {"const": different[0]} if len(different) == 1 else {"enum": different}


def _different(values: Sequence[Any]) -> list[Any]:
    """Each value once. In JSON, 0, 0.0 and false are not the same."""
    return list({_json(value): value for value in values}.values())


def _exactly(value: Any) -> dict[str, Any]:
    """A constant, spelled out: not every service accepts an object or a list as a constant."""
    if isinstance(value, dict):
        return _object({key: _exactly(inner) for key, inner in value.items()})
    if isinstance(value, list | tuple):
        scalars = all(_is_scalar(item) for item in value)
        items: dict[str, Any] = {"enum": _different(value)} if value and scalars else {}
        return {"type": "array", "items": items, "minItems": len(value), "maxItems": len(value)}
    return {"const": value}


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float | bool)


def _case(name: str, params: dict[str, Any], reasoning: bool) -> dict[str, Any]:
    properties: dict[str, Any] = {"action": {"const": name}, "params": params}
    if reasoning:
        properties = {"reasoning": {"type": "string", "maxLength": MAX_REASONING}, **properties}
    return _object(properties)


def _object(properties: dict[str, Any], required: Iterable[str] | None = None) -> dict[str, Any]:
    needed = list(properties if required is None else required)
    return {"type": "object", "properties": properties, "required": needed, "additionalProperties": False}


def _parameters(action: ActionDef) -> dict[str, Any]:
    """An optional parameter of any type is left out: it is another way to say what the others say."""
    taken = [p for p in action.parameters if p.required or p.type != "any"]
    return _object({p.name: _parameter(p) for p in taken}, [p.name for p in taken if p.required])


def _parameter(parameter: ParamDef) -> dict[str, Any]:
    if parameter.options is not None:
        return {"enum": parameter.options}
    kind = _TYPES.get(parameter.type, parameter.type)
    schema: dict[str, Any] = {"type": kind} if kind in _PLAIN_TYPES else {}
    if kind == "array":
        schema = {"type": "array", "items": {}}
    if parameter.minimum is not None:
        schema["minimum"] = parameter.minimum
    if parameter.maximum is not None:
        schema["maximum"] = parameter.maximum
    return schema


# -- the schema for hosted services -----------------------------------------------------------------
def strict_schema(schema: dict[str, Any]) -> dict[str, Any] | None:
    """The schema within the limits of OpenAI's strict mode and Anthropic's structured output; None if it cannot be.

    There the root is an object, every property is required (an optional one may be null), objects are closed, and
    ranges and lengths are not enforced. The action and its parameters are then chosen separately; the world refuses an
    action with the parameters of another.
    """
    cases = schema.get("anyOf", [schema])
    params = [_strict(case["properties"]["params"]) for case in cases]
    if any(made is None for made in params):
        return None
    different = list({_json(made): made for made in params}.values())
    names = list(dict.fromkeys(case["properties"]["action"]["const"] for case in cases))
    properties: dict[str, Any] = {"reasoning": {"type": "string"}} if "reasoning" in cases[0]["properties"] else {}
    properties["action"] = {"type": "string", "enum": names}
    properties["params"] = different[0] if len(different) == 1 else {"anyOf": different}
    return _object(properties)


def _strict(schema: dict[str, Any]) -> dict[str, Any] | None:
    if schema.get("type") == "object":
        if "properties" not in schema:
            return None  # an object with any keys
        made: dict[str, Any] = {}
        for key, value in schema["properties"].items():
            inner = _strict(value)
            if inner is None:
                return None
            made[key] = inner if key in schema["required"] else {"anyOf": [inner, {"type": "null"}]}
        return _object(made)
    if schema.get("type") == "array":
        items = _strict(schema["items"])
        return None if items is None else {"type": "array", "items": items}
    if "const" in schema:
        return {"type": _type_name(schema["const"]), "enum": [schema["const"]]}
    if "enum" in schema:
        kinds = {_type_name(value) for value in schema["enum"]}
        return {"type": kinds.pop(), "enum": schema["enum"]} if len(kinds) == 1 else {"enum": schema["enum"]}
    return {key: value for key, value in schema.items() if key not in _LIMITS} if "type" in schema else None


def _type_name(value: Any) -> str:
    names = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}
    return names.get(type(value), "string")


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
        alike = [c for c in listed if _same_params(c["params"], params)] or (listed if not params else [])
        if len(alike) == 1:
            params = alike[0]["params"]
    return Action(name, params, action.reasoning)


def _only_similar(name: str, names: Sequence[str]) -> str | None:
    """The name, or the only one with the same letters and digits, or the only one within a slip of the pen."""
    if name in names:
        return name
    plain = _plain(name)
    if not plain:
        return None
    same = [known for known in names if _plain(known) == plain]
    if same:
        return same[0] if len(same) == 1 else None
    near = [known for known in names if _is_slip(plain, _plain(known))]
    return near[0] if len(near) == 1 else None


def _is_slip(one: str, other: str) -> bool:
    """One wrong character from six on, two from twelve on: among short names another word is as near as a slip. A
    different digit is a different name."""
    if not other or one[:1] != other[:1] or re.findall(r"\d+", one) != re.findall(r"\d+", other):
        return False
    return distance(one, other) <= min(len(one), len(other)) // 6


def _plain(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def _typed(params: dict[str, Any], defined: ActionDef) -> dict[str, Any]:
    """Parameters under their right names, with numbers as numbers and options in their spelling. An optional one that
    is null is left out."""
    known = {p.name: p for p in defined.parameters}
    fitted: dict[str, Any] = {}
    for key, value in params.items():
        name = _only_similar(key, list(known))
        if name is None or (name in params and name != key):
            fitted[key] = value
        elif value is not None or known[name].required:
            fitted[name] = _value(value, known[name])
    return fitted


def _value(value: Any, parameter: ParamDef) -> Any:
    if parameter.options is not None and value not in parameter.options:
        alike = [o for o in parameter.options if _same_value(o, value)]
        return alike[0] if len(alike) == 1 else value
    kind = _TYPES.get(parameter.type)
    if kind == "boolean" and isinstance(value, str) and value.casefold() in ("true", "false", "yes", "no"):
        return value.casefold() in ("true", "yes")
    number = _number(value)
    if number is None or kind not in ("integer", "number"):
        return value
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _number(value: Any) -> int | float | None:
    """A number, also in quotes; None if it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str):
        if not re.fullmatch(r"\s*[+-]?\d{1,15}(\.\d{1,15})?\s*", value, re.ASCII):
            return None
        return float(value) if "." in value else int(value)
    return value


def _same_params(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return one.keys() == other.keys() and all(_same_value(one[key], other[key]) for key in one)


def _same_value(one: Any, other: Any) -> bool:
    """Equal numbers, or texts with the same letters and digits."""
    if one == other and type(one) is type(other):
        return True
    numbers = _number(one), _number(other)
    if None not in numbers:
        return numbers[0] == numbers[1]
    return isinstance(one, str) and isinstance(other, str) and _plain(one) == _plain(other) != ""
