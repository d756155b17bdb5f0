"""The answer of ``tools/list``, generated in advance.

Clients start every configured server and ask for its tools, even if none is called. Building the list needs all tools
and through them all other modules, which is more than half of the startup time. So the list is in a file next to this
one, written by ``python tools/plugin.py`` and compared with the code by a test; the rest is loaded with the first call.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

if TYPE_CHECKING:
    from cohabit.workspace.tool import Profile, Tool

FILE: Final = Path(__file__).with_name("listing.json")
DESTRUCTIVE: Final = frozenset({"write", "delete", "resolve", "abandon"})
"""Tools that can remove something that is not committed."""
IDEMPOTENT: Final = frozenset({"workspace_switch", "fetch", "pull", "push", "add", "ack", "sync", "claim", "release"})
"""Writing tools for which a second call with the same arguments has no further effect."""


def listed(profile: "Profile") -> list[dict[str, Any]]:
    """The tools of a profile, from the file."""
    entries = msgspec.json.decode(FILE.read_bytes())
    return [entry["tool"] for entry in entries if profile == "full" or entry["profile"] == "compat"]


def made() -> str:
    """The required content of the file."""
    from cohabit.workspace.tools import tools

    entries = [{"profile": tool.profile, "tool": described(tool)} for tool in tools().values()]
    return msgspec.json.format(msgspec.json.encode(entries), indent=1).decode() + "\n"


def described(tool: "Tool") -> dict[str, Any]:
    """One tool in the format of MCP."""
    return {
        "name": tool.name,
        "description": " ".join(tool.description.split()),
        "inputSchema": tool.schema(),
        "annotations": hints(tool),
    }


def hints(tool: "Tool") -> dict[str, bool]:
    """The hints that differ from MCP's defaults, which are: writes, destructive, not idempotent, open world."""
    known = {
        "readOnlyHint": (not tool.writes, False),
        "destructiveHint": (tool.name in DESTRUCTIVE or not tool.writes, True),  # has no meaning if a tool only reads
        "idempotentHint": (tool.name in IDEMPOTENT, False),
        "openWorldHint": (tool.remote, True),
    }
    return {hint: value for hint, (value, assumed) in known.items() if value != assumed}
