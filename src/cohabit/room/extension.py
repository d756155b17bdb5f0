"""Extensions: a protocol of some game that brings commands and names of its own to the rooms whose world asks for it.

A world names its extension in its spec. The extension registers itself when it is imported, which the registry does.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from msgspec import Struct

from cohabit.room.commands import Command

SPEEDS: Mapping[str, int] = MappingProxyType(
    {"x0.5": 500, "x1": 1000, "x2": 2000, "x5": 5000, "x10": 10_000, "x20": 20_000}
)
"""How fast time may run in a world with a clock, and the factors in thousandths."""


class Extension(Struct, frozen=True):
    """What a protocol adds to a room."""

    name: str
    room_commands: tuple[Command, ...] = ()  # added; a command of every room with the same name is replaced
    house_commands: tuple[Command, ...] = ()
    tool_prefix: str = ""  # put before the names of the world's commands on MCP
    prefixed: frozenset[str] = frozenset()  # commands of every room that get the prefix too
    speeds: Mapping[str, int] = SPEEDS

    def named(self, commands: Iterable[Command]) -> Iterable[Command]:
        """These commands, under the names this protocol gives them on MCP."""
        for made in commands:
            if self.tool_prefix and (made.where == "world" or made.name in self.prefixed):
                yield made.with_tool_name(self.tool_prefix + made.name)
            else:
                yield made


NONE = Extension("")
_registered: dict[str, Extension] = {}


def register(extension: Extension) -> None:
    _registered[extension.name] = extension


def extension_named(name: str) -> Extension:
    """The extension of that name; one that adds nothing where it is not installed."""
    return _registered.get(name, NONE)
