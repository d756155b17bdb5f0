"""What a value means of which a field is left out."""

import pkgutil
from importlib import import_module
from types import ModuleType
from typing import Any

import msgspec


def structs_in(package: ModuleType) -> dict[str, type[msgspec.Struct]]:
    """The types of the values that a package sends, stores or hands on."""
    modules = [import_module(found.name) for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")]
    return {
        kind.__name__: kind
        for module in modules
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct)
        if kind.__module__ == module.__name__
    }


def meanings(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """The fields that mean something else than false, zero or nothing when they are left out."""
    defaults = dict(zip(reversed(kind.__struct_fields__), reversed(kind.__struct_defaults__), strict=False))
    return {name: value for name, value in defaults.items() if isinstance(value, bool | int | float | str) and value}
