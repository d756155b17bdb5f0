"""Validation errors as sentences: which argument is wrong, what it must be, and what was given."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from cohabit.model.suggest import nearest

_encode = msgspec.json.Encoder().encode
_PLACE = re.compile(r" - at `(key in )?\$(.*)`$", re.DOTALL)
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+|\.\.\.)\]")
_UNKNOWN = object()
SOME_VALUE = "..."
"""In a place of msgspec: any value of an object."""
MAX_SHOWN = 60
"""How many characters of a wrong value a message shows."""


def in_words(wrong: Exception, given: Any, schema: Mapping[str, Any]) -> str:
    """A validation error of msgspec as a sentence: which argument, what it must be, and what was given.

    msgspec says where the value is; what it must be comes from the schema.
    """
    text = str(wrong)
    place = _PLACE.search(text)
    steps = [name or index for name, index in _STEP.findall(place[2])] if place else []
    spec: Mapping[str, Any] = schema
    where = ""
    for step in steps:
        if step == SOME_VALUE:  # of an object with any keys; msgspec does not say which
            step = _wrong_key(spec, given, schema)
        where = _inside(where, step, given)
        spec, given = _below(spec, step, given, schema), _item(given, step)
    if place is not None and place[1]:
        return f"{where} has an invalid key"
    problem = text[: place.start()] if place is not None else text
    field = problem.partition("`")[2].removesuffix("`")
    if problem.startswith("Object missing"):
        return f"{where + '.' if where else ''}{field} is missing{known_arguments(_object(spec, schema), where)}"
    if problem.startswith("Object contains"):
        known = _object(spec, schema)
        near = " or ".join(nearest(field, known.get("properties", ()), 2))
        what = (
            f"unknown {'field' if where else 'argument'} {_quoted(field)}{f' (did you mean {near}?)' if near else ''}"
        )
        return what + known_arguments(known, where)
    if not where:
        return f"the arguments must be an object{known_arguments(spec)}"
    shown = "" if given is _UNKNOWN else f", not {_shown(given)}"
    return f"{where} must be {_expected(spec, schema)}{shown}"


def _inside(where: str, step: str, given: Any) -> str:
    """The path of a field or of an item."""
    if step == SOME_VALUE:
        return f"a value of {where}"
    if isinstance(given, list):
        return f"{where}[{step}]"
    name = step if step.isprintable() and len(step) <= MAX_SHOWN else _quoted(step)
    return f"{where}.{name}" if where else name


def _wrong_key(spec: Mapping[str, Any], given: Any, schema: Mapping[str, Any]) -> str:
    """The first key of an object whose value does not fit the schema. If none is found, some value."""
    for key, value in given.items() if isinstance(given, Mapping) else ():
        if not _fits(value, _below(spec, key, given, schema), schema):
            return str(key)
    return SOME_VALUE


def known_arguments(spec: Mapping[str, Any], where: str = "") -> str:
    """The arguments that are known, as the end of a message."""
    known = ", ".join(spec.get("properties", ()))
    return f"; {where or 'it'} takes {known or ('no fields' if where else 'no arguments')}"


def _options(spec: Mapping[str, Any], schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The alternatives of a schema, with references followed."""
    if "$ref" in spec:
        return _options(schema.get("$defs", {}).get(spec["$ref"].rpartition("/")[2], {}), schema)
    if "anyOf" in spec:
        return [option for below in spec["anyOf"] for option in _options(below, schema)]
    return [spec]


def _object(spec: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The alternative that is an object; of several, the first."""
    return next((option for option in _options(spec, schema) if "properties" in option), {})


def _below(spec: Mapping[str, Any], step: str, given: Any, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema of a field or of an item of what was given."""
    kind = "array" if isinstance(given, list) else "object"
    for option in _options(spec, schema):
        if option.get("type", kind) != kind:
            continue
        if kind == "array":
            first = option.get("prefixItems", ())
            index = int(step) if step.isdecimal() else len(first)
            found = first[index] if index < len(first) else option.get("items")
        else:
            found = option.get("properties", {}).get(step, option.get("additionalProperties"))
        if isinstance(found, Mapping):
            return found
    return {}


def _item(given: Any, step: str) -> Any:
    if isinstance(given, Mapping):
        return given.get(step, _UNKNOWN)
    if isinstance(given, list) and step.isdecimal() and int(step) < len(given):
        return given[int(step)]
    return _UNKNOWN


_KINDS = {
    "integer": "a whole number", "number": "a number", "boolean": "true or false", "string": "text", "array": "a list",
    "object": "an object", "null": "null",
}  # fmt: skip


def _expected(spec: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """What a value must be."""
    found = list(dict.fromkeys(_kind(option) for option in _options(spec, schema)))
    return f"{', '.join(found[:-1])} or {found[-1]}" if len(found) > 1 else found[0]


def _kind(spec: Mapping[str, Any]) -> str:
    if "const" in spec or "enum" in spec:
        values = [spec["const"]] if "const" in spec else list(spec["enum"])
        return ("one of " if len(values) > 1 else "") + ", ".join(map(_shown, values))
    kind = spec.get("type")
    words = _KINDS.get(kind, "a valid value") if isinstance(kind, str) else "a valid value"
    if kind in ("integer", "number"):
        words += _limits(spec.get("minimum"), spec.get("maximum"))
        words += f" above {spec['exclusiveMinimum']:g}" if "exclusiveMinimum" in spec else ""
        words += f" below {spec['exclusiveMaximum']:g}" if "exclusiveMaximum" in spec else ""
        words += f" that is a multiple of {spec['multipleOf']:g}" if "multipleOf" in spec else ""
    elif kind == "string":
        words = _FORMATS.get(spec.get("format") or spec.get("contentEncoding") or "", words)
        words += _limits(spec.get("minLength"), spec.get("maxLength"), "character")
        words += " of the right form" if "pattern" in spec else ""
    elif kind == "array":
        words += _limits(spec.get("minItems"), spec.get("maxItems"), "item")
    elif kind == "object":
        words += _limits(spec.get("minProperties"), spec.get("maxProperties"), "field")
    return words


_FORMATS = {
    "date-time": "a date and time such as 2030-01-31T12:00:00Z", "uuid": "a UUID", "base64": "text in base64",
}  # fmt: skip


def _limits(least: float | None, most: float | None, unit: str = "") -> str:
    """The bounds of a number, or of a length."""
    if least is None and most is None:
        return ""
    last = most if most is not None else least
    units = f" {unit}{'' if last == 1 else 's'}" if unit else ""
    if least is not None and most is not None:
        return f" of {least}{units}" if least == most else f" {'of' if unit else 'from'} {least} to {most}{units}"
    return f" of at least {least}{units}" if least is not None else f" of at most {most}{units}"


def _shown(value: Any) -> str:
    """A wrong value, short and on one line."""
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    return _quoted(value) if isinstance(value, str) else _encode(value).decode()[:MAX_SHOWN]


def _quoted(text: str) -> str:
    return repr(text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + "…")


# -- whether a value fits ---------------------------------------------------------------------------
def _fits(value: Any, spec: Mapping[str, Any], schema: Mapping[str, Any]) -> bool:
    """Whether a value fits a schema, as far as can be said: formats of texts are not checked."""
    return any(_fits_option(value, option, schema) for option in _options(spec, schema))


def _fits_option(value: Any, spec: Mapping[str, Any], schema: Mapping[str, Any]) -> bool:
    if "const" in spec or "enum" in spec:
        return value in ([spec["const"]] if "const" in spec else spec["enum"])
    match spec.get("type"):
        case "integer" | "number" as kind:
            return _is_number(value, kind) and _number_fits(value, spec)
        case "string":
            return (
                isinstance(value, str)
                and _within(len(value), spec.get("minLength"), spec.get("maxLength"))
                and re.search(spec.get("pattern", ""), value) is not None
            )
        case "boolean":
            return isinstance(value, bool)
        case "null":
            return value is None
        case "array":
            return (
                isinstance(value, list)
                and _within(len(value), spec.get("minItems"), spec.get("maxItems"))
                and all(_fits(item, _below(spec, str(i), value, schema), schema) for i, item in enumerate(value))
            )
        case "object":
            return isinstance(value, Mapping) and _object_fits(value, spec, schema)
    return True


def _is_number(value: Any, kind: str) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return kind == "number" or value == value // 1


def _number_fits(value: float, spec: Mapping[str, Any]) -> bool:
    above, below, of = (spec.get(name) for name in ("exclusiveMinimum", "exclusiveMaximum", "multipleOf"))
    return (
        _within(value, spec.get("minimum"), spec.get("maximum"))
        and (above is None or value > above)
        and (below is None or value < below)
        and (of is None or value % of == 0)
    )


def _within(number: float, least: float | None, most: float | None) -> bool:
    return (least is None or number >= least) and (most is None or number <= most)


def _object_fits(value: Mapping[str, Any], spec: Mapping[str, Any], schema: Mapping[str, Any]) -> bool:
    if any(name not in value for name in spec.get("required", ())):
        return False
    if spec.get("additionalProperties") is False and any(name not in spec.get("properties", {}) for name in value):
        return False
    return _within(len(value), spec.get("minProperties"), spec.get("maxProperties")) and all(
        _fits(item, _below(spec, name, value, schema), schema) for name, item in value.items()
    )
