"""What the result of a command leaves out, by its schema."""

from typing import Any

from cohabit.room.commands import Command


def meanings(command: Command) -> dict[str, Any]:
    """The fields that are left out when they have another value than false, zero or nothing, with this value."""
    schema = command.output_schema or {}
    return {
        f"{kind.get('title', command.name)}.{name}": spec["default"]
        for kind in (schema, *schema.get("$defs", {}).values())
        for name, spec in kind.get("properties", {}).items()
        if name not in kind.get("required", ()) and spec["default"]
    }
