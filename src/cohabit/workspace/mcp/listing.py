"""The tools as ``tools/list`` shows them, written down once.

Clients start every server they know and ask for its tools, whether anybody will call one or not. To tell them needs
every tool, and through them the whole engine: more than half of a start. So the list lies beside this file, made by
``python tools/plugin.py`` and held to the code by a test, and the engine is loaded with the first call.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

if TYPE_CHECKING:
    from cohabit.workspace.tool import Profile, Tool

FILE: Final = Path(__file__).with_name("listing.json")
REMOTE: Final = frozenset({"workspace_init", "fetch", "pull", "push", "sync", "claim", "release"})
"""Tools that talk to the remote."""
DESTRUCTIVE: Final = frozenset({"write", "resolve", "abandon"})
"""Tools after which something that was not committed can be gone."""
REPEATABLE: Final = frozenset({"workspace_switch", "fetch", "pull", "push", "add", "ack", "sync", "claim", "release"})
"""Writing tools that do no more when they are called once more with the same arguments."""


def listed(profile: "Profile") -> list[dict[str, Any]]:
    """The tools of a profile, from the file."""
    entries = msgspec.json.decode(FILE.read_bytes())
    return [entry["tool"] for entry in entries if profile == "full" or entry["profile"] == "compat"]


def made() -> str:
    """What the file must hold."""
    from cohabit.workspace.tool import tools

    entries = [{"profile": tool.profile, "tool": described(tool)} for tool in tools().values()]
    return msgspec.json.format(msgspec.json.encode(entries), indent=1).decode() + "\n"


def described(tool: "Tool") -> dict[str, Any]:
    """One tool as MCP shows it."""
    return {
        "name": tool.name,
        "description": " ".join(tool.description.split()),
        "inputSchema": tool.schema(),
        "annotations": hints(tool),
    }


def hints(tool: "Tool") -> dict[str, bool]:
    """What a client would not assume anyway: unless told, it takes a tool to write, to destroy and to reach out."""
    known = {
        "readOnlyHint": (not tool.writes, False),
        "destructiveHint": (tool.name in DESTRUCTIVE or not tool.writes, True),  # says nothing of one that only reads
        "idempotentHint": (tool.name in REPEATABLE, False),
        "openWorldHint": (tool.name in REMOTE, True),
    }
    return {hint: value for hint, (value, assumed) in known.items() if value != assumed}
