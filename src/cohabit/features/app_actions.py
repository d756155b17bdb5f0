"""The actions of an app: read from a schema that it has published, and checked against it.

A schema whose name is ``action``, or ends with ``.action``, describes actions: an object, or a list of alternatives
(``oneOf``, ``anyOf``). Each has one required property with a constant, which is the name of the action; the others are
its parameters. An app gets an action in the form that it has described. An alternative with the properties ``action``
and ``params`` alone, as WSAP has it, has its parameters in ``params``.

Tool lists of models show only names, types, values and limits: an app's sentences never become the description of a
tool. Arguments are checked against what is shown; the rest of a schema is for the app to check.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from cohabit.model.suggest import nearest

NAMES = ("action", "actions")
MAX_ACTIONS, MAX_DEPTH, MAX_SCHEMA, MAX_VALUES, MAX_VALUE = 32, 6, 4_000, 64, 80
"""Of an app; of the schema of an action, and how many characters of JSON it has; of an enum, and of one value of it."""
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_COUNTS = ("minLength", "maxLength", "minItems", "maxItems")
_LIMITS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "string": str, "integer": int, "number": (int, float), "boolean": bool, "array": list, "object": dict,
    "null": type(None),
}  # fmt: skip


class AppAction(Struct, frozen=True):
    name: str
    tag: str  # the property that has the name
    schema: dict[str, Any]  # of the parameters
    nested: bool = False  # the parameters are in `params`

    def filled(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """The action as the app gets it."""
        return {self.tag: self.name, "params": params} if self.nested else {**params, self.tag: self.name}

    def problem(self, action: Mapping[str, Any]) -> str:
        """The problem with the parameters of an action; empty if there is none."""
        given = action.get("params") if self.nested else {k: v for k, v in action.items() if k != self.tag}
        return problem(given, self.schema)


def is_of_actions(name: str) -> bool:
    """True if the schema with this name describes actions."""
    return name.rpartition(".")[2] in NAMES


def actions_in(schema: Any) -> list[AppAction]:
    """The actions that a schema describes. What cannot be shown as an action is left out."""
    if not isinstance(schema, dict):
        return []
    forms = schema.get("oneOf", schema.get("anyOf", [schema]))
    found: dict[str, AppAction] = {}
    for form in forms[:MAX_ACTIONS] if isinstance(forms, list) else []:
        made = _action_of(form)
        if made is not None:
            found.setdefault(made.name, made)
    return list(found.values())


def _action_of(form: Any) -> AppAction | None:
    properties = form.get("properties") if isinstance(form, dict) else None
    if not isinstance(properties, dict):
        return None
    required = form.get("required") if isinstance(form.get("required"), list) else []
    tags = [(key, name) for key in properties if key in required and (name := _constant(properties[key]))]
    if len(tags) != 1:
        return None
    tag, name = tags[0]
    rest = {key: value for key, value in properties.items() if key != tag}
    nested = list(rest) == ["params"] and isinstance(rest["params"], dict) and "properties" in rest["params"]
    whole = rest["params"] if nested else {**form, "properties": rest, "required": [k for k in required if k != tag]}
    schema = _shown({**whole, "type": "object"})
    if not all(map(_NAME.fullmatch, [name, *schema.get("properties", {})])):
        return None
    return AppAction(name, tag, schema, nested) if len(msgspec.json.encode(schema)) <= MAX_SCHEMA else None


def _constant(schema: Any) -> str:
    """The one text that a schema allows; empty if it allows others."""
    if not isinstance(schema, dict):
        return ""
    values = schema["enum"] if "enum" in schema else [schema.get("const")]
    return values[0] if isinstance(values, list) and len(values) == 1 and isinstance(values[0], str) else ""


# -- what is shown of a schema ------------------------------------------------------------------
def _shown(schema: Any, depth: int = 0) -> dict[str, Any]:
    """The part of a schema that says which values are allowed, without sentences. Any value, if it is too deep."""
    if not isinstance(schema, dict) or depth > MAX_DEPTH:
        return {}
    shown = {key: schema[key] for key in (*_COUNTS, *_LIMITS) if _is_number(schema.get(key))}
    kind = schema.get("type")
    kinds = kind if isinstance(kind, list) else [kind]
    if kind and all(isinstance(known, str) and known in _TYPES for known in kinds):
        shown["type"] = kind
    values = schema["enum"] if "enum" in schema else [schema["const"]] if "const" in schema else None
    if isinstance(values, list) and 0 < len(values) <= MAX_VALUES and all(map(_is_short, values)):
        shown["enum"] = values
    if isinstance(schema.get("properties"), dict):
        shown["properties"] = {str(key): _shown(of, depth + 1) for key, of in schema["properties"].items()}
        required = schema.get("required")
        shown["required"] = [k for k in required if k in shown["properties"]] if isinstance(required, list) else []
        if schema.get("additionalProperties") is False:
            shown["additionalProperties"] = False
    if isinstance(schema.get("items"), dict):
        shown["items"] = _shown(schema["items"], depth + 1)
    options = schema.get("anyOf", schema.get("oneOf"))
    if isinstance(options, list) and options and depth:
        shown["anyOf"] = [_shown(option, depth + 1) for option in options]
    return shown


def _is_short(value: Any) -> bool:
    is_text = isinstance(value, str) and len(value) <= MAX_VALUE and value.isprintable()
    return is_text or value is None or isinstance(value, bool | int | float)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


# -- checking -----------------------------------------------------------------------------------
def problem(value: Any, schema: Mapping[str, Any], where: str = "") -> str:
    """Why a value does not match a schema, in words; empty if it does."""
    return next(_problems(value, schema, where), "")


def _problems(value: Any, schema: Mapping[str, Any], where: str) -> Iterator[str]:
    what = where or "the parameters"
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_is_a(value, kind) for kind in kinds):
        yield f"{what} must be {' or '.join(kinds)}, not {_kind_of(value)}"
        return
    if "enum" in schema and not any(_equal(value, allowed) for allowed in schema["enum"]):
        yield f"{what} must be {' or '.join(msgspec.json.encode(allowed).decode() for allowed in schema['enum'])}"
    if "anyOf" in schema and not any(not problem(value, option, where) for option in schema["anyOf"]):
        yield f"{what} has none of the forms that are allowed: {problem(value, schema['anyOf'][0], where)}"
    yield from _limits(value, schema, what)
    if isinstance(value, dict):
        yield from _fields(value, schema, where)
    if isinstance(value, list) and "items" in schema:
        for number, item in enumerate(value):
            yield from _problems(item, schema["items"], f"{what}[{number}]")


def _limits(value: Any, schema: Mapping[str, Any], what: str) -> Iterator[str]:
    if isinstance(value, str | list):
        least, most, of = (
            ("minLength", "maxLength", "characters") if isinstance(value, str) else ("minItems", "maxItems", "items")
        )
        if len(value) < schema.get(least, 0):
            yield f"{what} needs at least {schema[least]} {of}"
        if most in schema and len(value) > schema[most]:
            yield f"{what} may have at most {schema[most]} {of}; it has {len(value)}"
    if _is_number(value):
        if "minimum" in schema and value < schema["minimum"]:
            yield f"{what} must be at least {schema['minimum']}"
        if "maximum" in schema and value > schema["maximum"]:
            yield f"{what} must be at most {schema['maximum']}"
        if "exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"]:
            yield f"{what} must be more than {schema['exclusiveMinimum']}"
        if "exclusiveMaximum" in schema and value >= schema["exclusiveMaximum"]:
            yield f"{what} must be less than {schema['exclusiveMaximum']}"


def _fields(value: Mapping[str, Any], schema: Mapping[str, Any], where: str) -> Iterator[str]:
    known = schema.get("properties", {})
    before = f"{where}." if where else ""
    for key in schema.get("required", ()):
        if key not in value:
            yield f"{before}{key} is missing"
    if schema.get("additionalProperties") is False:
        for key in value:
            if key not in known:
                near = nearest(str(key)[:80], list(known), 1)
                hint = f"did you mean {near[0]}?" if near else f"parameters: {', '.join(known) or 'none'}"
                yield f"{before}{str(key)[:80]} is unknown; {hint}"
    for key, of in known.items():
        if key in value:
            yield from _problems(value[key], of, f"{before}{key}")


def _is_a(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[kind])


def _kind_of(value: Any) -> str:
    return next(kind for kind in ("boolean", *_TYPES) if _is_a(value, kind))


def _equal(value: Any, allowed: Any) -> bool:
    """As JSON has it: true is not 1."""
    return value == allowed and isinstance(value, bool) == isinstance(allowed, bool)
