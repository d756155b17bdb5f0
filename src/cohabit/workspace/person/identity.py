"""Who an agent says it is: an id that names its files, a name and an address for its commits."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from cohabit.errors import BadArgs
from cohabit.workspace.person import config
from cohabit.workspace.person.client import normalised

SLUG = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?")
"""An agent id: it becomes a file name, a commit's prefix and a mention, so nothing in it means anything to those."""
FIELDS: Final = ("agent_id", "agent_name", "agent_email")
FAMILIES: Final = ("COHABIT", "MULTISPHERE")


@dataclass(frozen=True, slots=True)
class Identity:
    """One agent of one person. Checked at birth: what is wrong here would be wrong in every commit."""

    agent_id: str
    agent_name: str
    agent_email: str

    def __post_init__(self) -> None:
        if not _is_slug(self.agent_id):
            raise BadArgs(
                f"agent_id {self.agent_id[:80]!r} is not a slug: use lower-case letters, digits, '-', '_' and '.', "
                "for example ann-claude-code"
            )
        for what, text in (("agent_name", self.agent_name), ("agent_email", self.agent_email)):
            if not text.strip() or len(text) > 200 or any(c in "<>" or not c.isprintable() for c in text):
                raise BadArgs(f"{what} must be one line of at most 200 characters without < and >")


def find(home: Path, environ: Mapping[str, str], client: str | None) -> Identity | None:
    """The first source that says all three: the environment, the client's own file, the common file (whole, or with
    a ``user_slug`` to which the client is added), and the earlier tool's one file for everything."""
    for family in FAMILIES:
        said = [environ.get(f"{family}_{field.upper()}", "").strip() for field in FIELDS]
        if all(said):
            return _made(f"the environment ({family}_AGENT_ID, _NAME, _EMAIL)", *said)
    for name in [*own_files(client), "identity.json", "config.json"]:
        found = config.read(home, name)
        said = _said(found, name, client) if found else []
        if all(said) and said:
            return _made(f"{name} in the config folder", *said)
    return None


def own_files(client: str | None) -> list[str]:
    """The files that only this client reads, the first one first. ``Cursor`` has that of ``cursor`` too; a slug has its
    own alone, since ``claude-code-work`` is meant to be another than ``claude-code``."""
    if not client:
        return []
    names = [client] if _is_slug(client) else [client, normalised(client)]
    return [f"identity.{name}.json" for name in names]


def needed(home: Path, environ: Mapping[str, str], client: str | None) -> Identity:
    """As ``find``; where nobody said, the error names what would help."""
    who = find(home, environ, client)
    if who is None:
        own = f"identity.{client}.json" if client else "identity.<client>.json"
        raise BadArgs(
            f"nobody said who you are (client: {client or 'unknown'}). Set COHABIT_AGENT_ID, COHABIT_AGENT_NAME and "
            f"COHABIT_AGENT_EMAIL, or write {own} with agent_id, agent_name and agent_email, or identity.json with "
            "user_slug, agent_name and agent_email, in the config folder (~/.multisphere)"
        )
    return who


def _said(found: Mapping[str, Any], name: str, client: str | None) -> list[str]:
    """The three fields as a file says them; in the common file a ``user_slug`` may stand for the id."""
    agent_id, *rest = (config.text(found, field, name) for field in FIELDS)
    if not agent_id and name == "identity.json" and client:
        slug = config.text(found, "user_slug", name)
        agent_id = derived(slug, client) if slug else ""
    return [agent_id, *rest]


def derived(slug: str, client: str) -> str:
    """The id of a person's client. The client is made alike only where it would be no slug otherwise."""
    given = f"{slug}-{client}"
    return given if _is_slug(given) else f"{slug}-{normalised(client)}"


def _is_slug(text: str) -> bool:
    return SLUG.fullmatch(text) is not None and ".." not in text


def _made(source: str, agent_id: str, agent_name: str, agent_email: str) -> Identity:
    try:
        return Identity(agent_id, agent_name, agent_email)
    except BadArgs as wrong:
        raise BadArgs(f"{source}: {wrong.message}") from None
