"""Which program an agent runs in: said by the environment, or heard in the handshake."""

import re
from collections.abc import Mapping
from typing import Final

from cohabit.errors import BadArgs

VARIABLES: Final = ("COHABIT_CLIENT", "MULTISPHERE_CLIENT")
NAMED: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
"""What is taken from the environment as it is: it becomes a part of a file name."""
COWORK: Final = ("claude-ai", "claude-app", "claude-desktop")
"""Names under which Cowork introduces itself."""
MARKS: Final = ("claude-hostloop-plugins", "local-agent-mode-sessions")
"""Folders that only Cowork has. Its engine introduces itself as Claude Code."""
PLACES: Final = ("CLAUDE_PLUGIN_ROOT", "CLAUDE_PLUGIN_DATA", "CLAUDE_PROJECT_DIR")


def client(environ: Mapping[str, str], heard: str | None, cwd: str) -> str | None:
    """The client's short name, None where nobody said. ``heard`` is the name from the handshake.

    The earlier tool takes any word of the environment. What would be no part of a file name is made alike, as if it
    had been heard.
    """
    for variable in VARIABLES:
        if said := environ.get(variable, "").strip():
            if name := said if NAMED.fullmatch(said) else normalised(said):
                return name
            raise BadArgs(f"{variable} has no letter or digit of a name in it: say a short one, such as claude-code")
    name = normalised(heard or "")
    if name == "claude-code" and any(mark in place for place in _places(environ, cwd) for mark in MARKS):
        return "cowork"
    return name or None


def normalised(name: str) -> str:
    """``Claude Code 2.x`` and ``claude-code`` are the same client, ``claude-ai`` is Cowork; others become a slug."""
    slug = re.sub(r"[^a-z0-9]+", "-", name[:200].lower()).strip("-")[:40].rstrip("-")
    if slug in COWORK:
        return "cowork"
    return "claude-code" if slug.startswith("claude-code") else slug


def _places(environ: Mapping[str, str], cwd: str) -> list[str]:
    return [cwd, *(environ.get(place, "") for place in PLACES)]
