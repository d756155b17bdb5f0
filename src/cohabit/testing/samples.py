"""Random arguments from a JSON Schema as msgspec writes it: mostly valid, never meaningful."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cohabit.model.stream import Stream

WORDS = ("", "a", "north", "T1", "no such thing", "*", "Ω")
Schema = Mapping[str, Any]


def sample_args(schema: Schema, stream: Stream, words: Sequence[str] = WORDS) -> dict[str, Any]:
    """Random arguments for a command with this schema. Optional ones are sometimes left out."""
    required = schema.get("required", ())
    return {
        name: sample(part, stream, words, schema.get("$defs", {}))
        for name, part in schema.get("properties", {}).items()
        if name in required or stream.chance(1, 2)
    }


def sample(schema: Schema, stream: Stream, words: Sequence[str], defs: Mapping[str, Schema]) -> Any:
    """A random value that matches the schema."""
    if "$ref" in schema:
        return sample(defs[schema["$ref"].rsplit("/", 1)[1]], stream, words, defs)
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return sample(stream.choice(schema[key]), stream, words, defs)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return stream.choice(schema["enum"])
    match schema.get("type"):
        case "integer":
            return _number(schema, stream)
        case "number":
            return float(_number(schema, stream))
        case "boolean":
            return stream.chance(1, 2)
        case "null":
            return None
        case "array":
            return _array(schema, stream, words, defs)
        case "object":
            return sample_args({**schema, "$defs": defs}, stream, words)
        case "string":
            return _text(schema, stream, words)
    return stream.choice((0, 1, "a", None, [], {}))  # any value is allowed


def texts_in(value: Any) -> Iterator[str]:
    """All texts in a plain value: words for arguments."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for pair in value.items():
            yield from texts_in(pair)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from texts_in(part)


def _number(schema: Schema, stream: Stream) -> int:
    lo = int(schema.get("minimum", schema.get("exclusiveMinimum", -2) + 1))
    hi = int(schema.get("maximum", schema.get("exclusiveMaximum", max(lo, 0) + 21) - 1))
    if stream.chance(1, 4):
        return stream.choice((lo, hi))
    return stream.between(lo, max(lo, hi))


def _text(schema: Schema, stream: Stream, words: Sequence[str]) -> str:
    text = stream.choice(words)
    shortest, longest = int(schema.get("minLength", 0)), schema.get("maxLength")
    return (text + "a" * max(0, shortest - len(text)))[:longest]


def _array(schema: Schema, stream: Stream, words: Sequence[str], defs: Mapping[str, Schema]) -> list[Any]:
    if "prefixItems" in schema:
        return [sample(part, stream, words, defs) for part in schema["prefixItems"]]
    fewest = int(schema.get("minItems", 0))
    items = schema.get("items") or {}
    count = stream.between(fewest, max(fewest, min(int(schema.get("maxItems", fewest + 3)), fewest + 3)))
    return [sample(items, stream, words, defs) for _ in range(count)]
