"""The identity of an agent: an id for its files, and a name and an address for its commits.

The id is usually made of the person and the *client*, the program that the agent runs in. The client is named by the
environment or by the MCP handshake.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from cohabit.errors import BadArgs
from cohabit.workspace.person import config

SLUG = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?")
"""An agent id. It is used in file names, commit messages and mentions, so it has no special characters."""
FIELDS: Final = ("agent_id", "agent_name", "agent_email")
ENVIRONMENT_PREFIXES: Final = ("COHABIT", "MULTISPHERE")
CLIENT_VARIABLES: Final = ("COHABIT_CLIENT", "MULTISPHERE_CLIENT")
CLIENT_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
"""A client name from the environment that is used unchanged; it becomes part of a file name."""
COWORK_NAMES: Final = ("claude-ai", "claude-app", "claude-desktop")
"""Names that Cowork uses in the handshake."""
COWORK_FOLDERS: Final = ("claude-hostloop-plugins", "local-agent-mode-sessions")
"""Folders that only Cowork has. Its engine calls itself Claude Code in the handshake."""
COWORK_VARIABLES: Final = ("CLAUDE_PLUGIN_ROOT", "CLAUDE_PLUGIN_DATA", "CLAUDE_PROJECT_DIR")
UNKNOWN: Final = "your identity is not set"
"""The beginning of the message if there is no identity."""


@dataclass(frozen=True, slots=True)
class Identity:
    """One agent of one person. It is validated here, because an error would be in every commit."""

    agent_id: str
    agent_name: str
    agent_email: str

    def __post_init__(self) -> None:
        if not is_slug(self.agent_id):
            raise BadArgs(
                f"agent_id {self.agent_id[:80]!r} is not valid: use lower-case letters, digits, '-', '_' and '.', "
                "for example ann-claude-code"
            )
        for what, text in (("agent_name", self.agent_name), ("agent_email", self.agent_email)):
            if not text.strip() or len(text) > 200 or any(c in "<>" or not c.isprintable() for c in text):
                raise BadArgs(f"{what} must be one line of at most 200 characters without < and >")


def find(home: Path, environ: Mapping[str, str], client: str | None) -> Identity | None:
    """The identity of the first source that has all three fields: the environment, the client's own file,
    ``identity.json`` (where ``user_slug`` can replace the id), Multisphere's ``config.json``."""
    for prefix in ENVIRONMENT_PREFIXES:
        values = [environ.get(f"{prefix}_{field.upper()}", "").strip() for field in FIELDS]
        if all(values):
            return _checked(f"the environment ({prefix}_AGENT_ID, _NAME, _EMAIL)", *values)
    for name in [*client_files(client), "identity.json", "config.json"]:
        found = config.read(home, name)
        values = _values(found, name, client) if found else []
        if all(values) and values:
            return _checked(f"{name} in the settings folder", *values)
    return None


def client_files(client: str | None) -> list[str]:
    """The identity files of this client only, in order. ``Cursor`` also reads that of ``cursor``; a slug reads only its
    own, since ``claude-code-work`` is meant to differ from ``claude-code``."""
    if not client:
        return []
    names = [client] if is_slug(client) else [client, normalised(client)]
    return [f"identity.{name}.json" for name in names]


def missing(client: str | None) -> BadArgs:
    """The error that says how to set an identity."""
    own = f"identity.{client}.json" if client else "identity.<client>.json"
    return BadArgs(
        f"{UNKNOWN} (client: {client or 'unknown'}). Set COHABIT_AGENT_ID, COHABIT_AGENT_NAME and "
        f"COHABIT_AGENT_EMAIL, or write {own} with agent_id, agent_name and agent_email, or identity.json with "
        "user_slug, agent_name and agent_email, in the settings folder (~/.multisphere)"
    )


def _values(found: Mapping[str, Any], name: str, client: str | None) -> list[str]:
    """The three fields of a file."""
    agent_id, *rest = (config.text(found, field, name) for field in FIELDS)
    if not agent_id and name == "identity.json" and client:
        slug = config.text(found, "user_slug", name)
        agent_id = derived_id(slug, client) if slug else ""
    return [agent_id, *rest]


def derived_id(slug: str, client: str) -> str:
    """The agent id of a person's client. The client's name is normalised only if the id would not be valid."""
    given = f"{slug}-{client}"
    return given if is_slug(given) else f"{slug}-{normalised(client)}"


def is_slug(text: str) -> bool:
    return SLUG.fullmatch(text) is not None and ".." not in text


def _checked(source: str, agent_id: str, agent_name: str, agent_email: str) -> Identity:
    try:
        return Identity(agent_id, agent_name, agent_email)
    except BadArgs as error:
        raise BadArgs(f"{source}: {error.message}") from None


# -- the client -----------------------------------------------------------------------------------
def client_name(environ: Mapping[str, str], handshake: str | None, cwd: str) -> str | None:
    """The short name of the client, None if it is unknown. ``handshake`` is the name that it gave in the handshake.

    Multisphere accepts any name in the environment. One that cannot be part of a file name is normalised.
    """
    for variable in CLIENT_VARIABLES:
        if given := environ.get(variable, "").strip():
            if name := given if CLIENT_NAME.fullmatch(given) else normalised(given):
                return name
            raise BadArgs(f"{variable} must contain a letter or a digit; use a short name such as claude-code")
    name = normalised(handshake or "")
    places = [cwd, *(environ.get(variable, "") for variable in COWORK_VARIABLES)]
    if name == "claude-code" and any(folder in place for place in places for folder in COWORK_FOLDERS):
        return "cowork"
    return name or None


def normalised(name: str) -> str:
    """``Claude Code 2.x`` and ``claude-code`` are the same client, ``claude-ai`` is Cowork; others become a slug."""
    slug = re.sub(r"[^a-z0-9]+", "-", name[:200].lower()).strip("-")[:40].rstrip("-")
    if slug in COWORK_NAMES:
        return "cowork"
    return "claude-code" if slug.startswith("claude-code") else slug
