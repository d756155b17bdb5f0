"""The base of all values of WSAP, with a form of plain dicts and lists."""

from __future__ import annotations

from typing import Any

import msgspec


class Value:
    """A value of the protocol. Each one also has ``to_text``, for a model."""

    __slots__ = ()

    def to_structured(self) -> dict[str, Any]:
        """This value as plain dicts and lists, with all fields, including empty ones."""
        structured: dict[str, Any] = _builtins(self)
        return structured


def _builtins(value: Any) -> Any:
    """Like `msgspec.to_builtins`, but with default values, so the shape is always the same."""
    match value:
        case msgspec.Struct():
            return {name: _builtins(getattr(value, name)) for name in value.__struct_fields__}
        case dict():
            return {key: _builtins(item) for key, item in value.items()}
        case list() | tuple():
            return [_builtins(item) for item in value]
    return msgspec.to_builtins(value)
