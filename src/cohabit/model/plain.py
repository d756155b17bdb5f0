"""An exact, canonical codec for the plain state of a world.

`dump` encodes a value as bytes and `load` decodes them exactly: a tuple stays a tuple, an int key an int, 1.0 a
float. The same value gives the same bytes in every process, so the bytes can be hashed; the order of a dict is
part of the value. Values that cannot be encoded this way are refused, with their path and what to use instead.

The bytes are JSON. None, booleans, strings, 64-bit ints, floats, lists and dicts with string keys are
encoded directly; everything else is an object with one key:

    {"$t": [items]}               tuple
    {"$d": [[keys], [values]]}    dict with other keys (or one that could be mistaken for a tag)
    {"$i": "-ff"}                 int beyond 64 bits, hexadecimal
    {"$b": "base64"}              bytes
    {"$s": [seed, purpose, counter]}   Stream
    {"$c": ["Name", {field: value}]}   dataclass or msgspec.Struct
"""

from __future__ import annotations

import dataclasses
import math
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from functools import lru_cache
from types import MappingProxyType, NoneType
from typing import Any, NoReturn

import msgspec

from cohabit.model.stream import Stream

Classes = Mapping[str, type]

_NO_CLASSES: Classes = MappingProxyType({})
_MIN_INT, _MAX_INT = -(1 << 63), (1 << 64) - 1
_DIRECT = frozenset({NoneType, bool, str})
_TEXT = frozenset({str})
_SCALARS = _DIRECT | {int, float}
_DECODED_CONTAINERS = frozenset({list, dict})
_BUILTINS = (int, float, str, bytes, bytearray, list, tuple, dict, set, frozenset)

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


def dump(value: Any) -> bytes:
    """Encode a value as bytes; TypeError names the path to a value that cannot be encoded.

    Every dataclass and Struct is encoded under its `__name__`.
    """
    try:
        return _encode(_pack(value))
    except RecursionError:
        raise TypeError("state: contains itself or is nested too deeply; use ids for references") from None
    except (TypeError, ValueError, AttributeError):
        path, invalid = _find_invalid(value, "state")
        raise TypeError(f"{path}: {_advice(invalid)}") from None


def load(data: bytes, classes: Classes = _NO_CLASSES) -> Any:
    """Decode a value; ValueError if the bytes are damaged or name a class that is not in `classes`."""
    reader = _Reader(classes)
    try:
        return reader.unpack(_decode(data))
    except (LookupError, TypeError, AttributeError, RecursionError, msgspec.DecodeError) as error:
        raise ValueError(f"not a dumped state: {error}") from error


# --- values as JSON types. Paths are not tracked; they are searched only after a failure ---


def _pack(value: Any) -> Any:
    kind = type(value)
    if kind in _DIRECT:
        return value
    if kind is int:
        return value if _MIN_INT <= value <= _MAX_INT else {"$i": f"{value:x}"}
    if kind is list:
        return _pack_list(value)
    if kind is tuple:
        return {"$t": _pack_list(list(value))}
    if kind is dict:
        return _pack_dict(value)
    if kind is float:
        return value if math.isfinite(value) else _refuse()
    if kind is bytes:
        return {"$b": b64encode(value).decode()}
    if kind is Stream:
        return {"$s": _pack_list([value.seed, value.purpose, value.counter])}
    return _pack_instance(value)


def _pack_list(items: list[Any]) -> list[Any]:
    kinds = set(map(type, items))
    # Long lists of scalars are common, and these checks run in C.
    if kinds <= _DIRECT or (kinds <= _SCALARS and _scalars_fit(items, kinds)):
        return items
    return [item if type(item) in _DIRECT else _pack(item) for item in items]


def _pack_dict(items: dict[Any, Any]) -> dict[str, Any]:
    values = list(items.values())
    packed = _pack_list(values)
    if not _TEXT.issuperset(map(type, items)) or (len(items) == 1 and _is_tag(items)):
        return {"$d": [_pack_list(list(items)), packed]}
    return items if packed is values else dict(zip(items, packed, strict=True))


def _pack_instance(value: Any) -> dict[str, Any]:
    fields = _fields(type(value))
    if fields is None or _extras(value, fields):
        return _refuse()
    packed = _pack_list([getattr(value, field) for field in fields])
    return {"$c": [type(value).__name__, dict(zip(fields, packed, strict=True))]}


class _Reader:
    """Converts JSON types back to values."""

    def __init__(self, classes: Classes) -> None:
        self._classes = classes

    def unpack(self, value: Any) -> Any:
        kind = type(value)
        if kind is list:
            return self._unpack_list(value)
        if kind is dict:
            if _is_tag(value):
                return self._unpack_tag(*value.popitem())
            values = list(value.values())
            unpacked = self._unpack_list(values)
            return value if unpacked is values else dict(zip(value, unpacked, strict=True))
        return value

    def _unpack_list(self, items: list[Any]) -> list[Any]:
        if _DECODED_CONTAINERS.isdisjoint(map(type, items)):
            return items
        return [self.unpack(item) for item in items]

    def _unpack_tag(self, tag: str, content: Any) -> Any:
        match tag:
            case "$t":
                return tuple(self._unpack_list(content))
            case "$d":
                keys, values = content
                return dict(zip(self._unpack_list(keys), self._unpack_list(values), strict=True))
            case "$i":
                return int(content, 16)
            case "$b":
                return b64decode(content, validate=True)
            case "$s":
                return Stream(*self._unpack_list(content))
            case "$c":
                name, fields = content
                values = self._unpack_list(list(fields.values()))
                return self._instance(name, dict(zip(fields, values, strict=True)))
        raise ValueError(f"not a dumped state: unknown tag {tag!r}")

    def _instance(self, name: str, values: dict[str, Any]) -> Any:
        cls = self._classes.get(name)
        if cls is None:
            known = ", ".join(self._classes) or "none"
            raise ValueError(f"the state contains a {name!r}, which is not a known class; known: {known}")
        fields = _fields(cls)
        if fields is None or list(values) != list(fields):
            raise ValueError(f"the state contains a {name!r} with the fields {', '.join(values)}; "
                             f"{cls.__name__} has {', '.join(fields or ())}")  # fmt: skip
        return _rebuild(cls, values)


def _rebuild(cls: type, values: dict[str, Any]) -> Any:
    """An instance with exactly these values, unchanged by `__init__` and `__post_init__`."""
    if issubclass(cls, msgspec.Struct):
        struct = cls(**values)
        for field, value in values.items() if hasattr(cls, "__post_init__") else ():
            msgspec.structs.force_setattr(struct, field, value)
        return struct
    instance = object.__new__(cls)
    for field, value in values.items():
        object.__setattr__(instance, field, value)
    return instance


def _find_fields(cls: type) -> tuple[str, ...] | None:
    """The fields of a dataclass or Struct in order; None for any other class."""
    if issubclass(cls, _BUILTINS):  # it has content besides its fields
        return None
    if issubclass(cls, msgspec.Struct):
        return cls.__struct_fields__
    if dataclasses.is_dataclass(cls):
        return tuple(field.name for field in dataclasses.fields(cls))
    return None


_fields: Callable[[type], tuple[str, ...] | None] = lru_cache(maxsize=1024)(_find_fields)


def _extras(value: object, fields: tuple[str, ...]) -> list[str]:
    """Attributes of the instance that are not fields and would be lost."""
    return [name for name in getattr(value, "__dict__", ()) if name not in fields]


def _scalars_fit(items: list[Any], kinds: set[type]) -> bool:
    if int in kinds:
        ints = items if len(kinds) == 1 else [item for item in items if type(item) is int]
        if min(ints) < _MIN_INT or max(ints) > _MAX_INT:
            return False
    if float in kinds:
        floats = items if len(kinds) == 1 else [item for item in items if type(item) is float]
        return all(map(math.isfinite, floats))
    return True


def _is_tag(items: dict[str, Any]) -> bool:
    return len(items) == 1 and next(iter(items)).startswith("$")


def _refuse() -> NoReturn:
    raise TypeError  # without a message: `_advice` adds the message


# --- error messages: only after a failure, so they may be slow ---


def _find_invalid(value: Any, path: str) -> tuple[str, Any]:
    """The path of the innermost value that cannot be dumped, and the value."""
    for step, child in _children(value):
        try:
            _encode(_pack(child))
        except (TypeError, ValueError, AttributeError):
            return _find_invalid(child, path + step)
        except RecursionError:
            continue
    return path, value


def _children(value: Any) -> Iterator[tuple[str, Any]]:
    kind = type(value)
    if kind is list or kind is tuple:
        yield from ((f"[{index}]", item) for index, item in enumerate(value))
    elif kind is dict:
        for key, item in value.items():
            yield f" key {key!r}", key
            yield f"[{key!r}]", item
    else:
        fields = [name for name in _fields(kind) or () if hasattr(value, name)]
        yield from ((f".{name}", getattr(value, name)) for name in fields)


def _advice(value: Any) -> str:
    name = type(value).__name__
    fields = _fields(type(value))
    if fields is not None:
        missing = [field for field in fields if not hasattr(value, field)]
        if missing:
            return f"this {name} has no value for its field {missing[0]!r}"
        if extras := _extras(value, fields):
            return f"this {name} has an attribute {extras[0]!r} that is not one of its fields; declare it"
    match value:
        case set() | frozenset():
            return f"a {name} has no fixed order; use a list, or a dict with None values"
        case float() if type(value) is float:
            return f"{value!r} is not a finite number; use None for an unknown value"
        case Enum():
            return f"an enum member must be stored as its value; use {name}.{value.name}.value"
        case str() if type(value) is str:
            return "this text has an unpaired surrogate, which cannot be encoded; use bytes"
        case bytearray() | memoryview():
            return f"a {name} must be stored as bytes; use bytes(…)"
        case int() | float() | str() | bytes() | list() | tuple() | dict():
            plain = next(base for base in _BUILTINS if isinstance(value, base)).__name__
            return f"a {name} must be stored as a plain {plain}; use {plain}(…)"
    if callable(value):
        return f"a {name} is code, not state; store a name instead"
    return (f"a {name} is not plain; use None, bool, int, float, str, bytes, list, tuple, dict, Stream, "
            "a dataclass or a msgspec.Struct")  # fmt: skip
