"""Extensions: a game protocol that adds its own commands and names to rooms whose world requests it.

A world names its extension in its spec. The registry imports extensions, and each registers itself on import.
"""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from msgspec import Struct

from cohabit.room.commands import Command

SPEEDS: Mapping[str, int] = MappingProxyType(
    {"x0.5": 500, "x1": 1000, "x2": 2000, "x5": 5000, "x10": 10_000, "x20": 20_000}
)
"""Speeds of real-time worlds, in thousandths."""
_QUOTED = re.compile(r"`(\w+)`")


class Extension(Struct, frozen=True, eq=False):
    """What a protocol adds to a room."""

    name: str
    room_commands: tuple[Command, ...] = ()  # added; they replace standard room commands with the same name
    house_commands: tuple[Command, ...] = ()
    tool_prefix: str = ""  # a prefix of MCP tool names
    prefixed: frozenset[str] = frozenset()  # the commands whose tools have the prefix
    speeds: Mapping[str, int] = SPEEDS

    def named(self, commands: Iterable[Command]) -> Iterable[Command]:
        """These commands, with this protocol's MCP tool names."""
        for made in commands:
            yield made.renamed(self.tool_name(made.name), self.as_called) if self.prefixed else made

    def as_called(self, text: str) -> str:
        """A text with the names of commands, quoted as `name`, replaced by their tool names."""
        return _QUOTED.sub(lambda found: f"`{self.tool_name(found[1])}`", text)

    def tool_name(self, name: str) -> str:
        """The name of a command's MCP tool. It can be called by that name over every interface."""
        return self.tool_prefix + name if name in self.prefixed else name


NO_EXTENSION = Extension("")
_registered: dict[str, Extension] = {}


def register(extension: Extension) -> None:
    _registered[extension.name] = extension


def extension_named(name: str) -> Extension:
    """The extension with that name; an empty one if it is not installed."""
    return _registered.get(name, NO_EXTENSION)
