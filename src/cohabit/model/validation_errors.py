"""Validation errors as sentences: which argument is wrong, what it must be, and what was given."""

import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
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
"""The number of characters of a wrong value that a message shows."""


def in_words(
    wrong: Exception, given: Any, schema: Mapping[str, Any], validate: Callable[[Any], Any] | None = None
) -> str:
    """A validation error of msgspec as a sentence: which argument, what it must be, and what was given.

    msgspec says where the value is; what it must be comes from the schema. In an object with any keys it does not say
    which one is wrong; that is found by validating less of it, with ``validate``.
    """
    text, whole = str(wrong), given
    place = _PLACE.search(text)
    steps = [name or index for name, index in _STEP.findall(place[2])] if place else []
    spec: Mapping[str, Any] = schema
    where = ""
    for i, step in enumerate(steps):
        if step == SOME_VALUE and isinstance(given, dict) and given and validate is not None:
            whole, step = _until_wrong_key(whole, steps[:i], given, validate, text)
            steps[i] = step
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
    return f"{where} must be {_expected(spec, schema)}{shown}{_in_a_list(spec, given, schema)}"


def _in_a_list(spec: Mapping[str, Any], given: Any, schema: Mapping[str, Any]) -> str:
    """A text that was given instead of a list of texts, as it must be written."""
    of = [item for option in alternatives(spec, schema) for item in alternatives(option.get("items") or {}, schema)]
    is_text = isinstance(given, str) and len(given) <= MAX_SHOWN
    return (
        f"; write {_encode([given]).decode()}"
        if is_text and any(i.get("type") == "string" or "enum" in i for i in of)
        else ""
    )


def _inside(where: str, step: str, given: Any) -> str:
    """The path of a field or of an item."""
    if step == SOME_VALUE:
        return f"a value of {where}"
    if isinstance(given, list):
        return f"{where}[{step}]"
    name = step if step.isprintable() and len(step) <= MAX_SHOWN else _quoted(step)
    return f"{where}.{name}" if where else name


def _until_wrong_key(
    whole: Any, path: Sequence[str], given: dict[str, Any], validate: Callable[[Any], Any], refusal: str
) -> tuple[Any, str]:
    """The first key of the object at a path whose value is refused, and the whole without the keys after it."""
    items = list(given.items())

    def until(count: int) -> Any:
        return _replaced(whole, path, dict(items[:count]))

    def is_refused(count: int) -> bool:
        try:
            validate(until(count))
        except msgspec.ValidationError as wrong:
            return str(wrong) == refusal
        return False

    count = bisect_left(range(len(items)), True, lo=1, key=is_refused)
    return until(count), items[count - 1][0]


def _replaced(given: Any, path: Sequence[str], value: Any) -> Any:
    """A copy with another value at this path."""
    if not path:
        return value
    key: Any = int(path[0]) if isinstance(given, list) else path[0]
    copied = given.copy()
    copied[key] = _replaced(given[key], path[1:], value)
    return copied


def known_arguments(spec: Mapping[str, Any], where: str = "") -> str:
    """The arguments that are known, as the end of a message."""
    known = ", ".join(spec.get("properties", ()))
    return f"; {where or 'it'} takes {known or ('no fields' if where else 'no arguments')}"


def alternatives(spec: Mapping[str, Any], schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The alternatives of a schema, with references followed."""
    if "$ref" in spec:
        return alternatives(schema.get("$defs", {}).get(spec["$ref"].rpartition("/")[2], {}), schema)
    if "anyOf" in spec:
        return [option for below in spec["anyOf"] for option in alternatives(below, schema)]
    return [spec]


def _object(spec: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The alternative that is an object; of several, the first."""
    return next((option for option in alternatives(spec, schema) if "properties" in option), {})


def _below(spec: Mapping[str, Any], step: str, given: Any, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema of a field or of an item of what was given."""
    kind = "array" if isinstance(given, list) else "object"
    for option in alternatives(spec, schema):
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
    """The expected kinds of a value, in words."""
    found = list(dict.fromkeys(_kind(option) for option in alternatives(spec, schema)))
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
