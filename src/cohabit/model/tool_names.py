"""The names of commands over MCP, where a protocol of another project has its own."""

import re

from msgspec import Struct

_QUOTED = re.compile(r"`(\w+)`")


class ToolNames(Struct, frozen=True):
    """The tools of these commands have a prefix. They can be called by that name over every interface."""

    prefix: str = ""
    prefixed: frozenset[str] = frozenset()

    def of(self, name: str) -> str:
        """The name of a command's tool."""
        return self.prefix + name if name in self.prefixed else name

    def in_text(self, text: str) -> str:
        """A text with the names of commands, quoted as `name`, replaced by their tool names."""
        return _QUOTED.sub(lambda found: f"`{self.of(found[1])}`", text) if self.prefixed else text
