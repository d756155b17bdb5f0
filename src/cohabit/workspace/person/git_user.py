"""The identity of somebody without settings of ours: the user of git, and the client."""

import re
import unicodedata
from collections.abc import Mapping

from cohabit.workspace.clone.git import Git
from cohabit.workspace.person import config
from cohabit.workspace.person.identity import Identity, derived_id, is_slug

UNNAMED_CLIENT = "agent"
"""The client in the id of an agent whose client gives no name."""


def from_git(environ: Mapping[str, str], client: str | None) -> Identity | None:
    """Ann Smith is ann-claude-code in Claude Code; None if git has no user, or no id can be made of the name."""
    name, email = (setting(environ, key) for key in ("user.name", "user.email"))
    slug = _slug(name) or _slug(environ.get("USER", ""))
    agent_id = derived_id(slug, client or UNNAMED_CLIENT) if slug else ""
    return Identity(agent_id, name, email) if name and email and is_slug(agent_id) else None


def setting(environ: Mapping[str, str], key: str) -> str:
    """A setting of the person's own git configuration, not of a repository."""
    # Only network commands read the person's own configuration.
    git = Git(config.home_folder(environ), environ)
    return git.run("config", "--global", "--get", key, ok=(0, 1), network=True).line


def _slug(name: str) -> str:
    """The first word of a name as the beginning of an agent id."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "", (plain.split() or [""])[0])[:24]
