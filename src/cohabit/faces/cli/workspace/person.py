"""Who a person is at the command line: what was said for agents holds for them too, else what git knows of them."""

import os
import re
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from cohabit.errors import BadArgs
from cohabit.workspace.clone.git import Git
from cohabit.workspace.person import config, identity
from cohabit.workspace.person.client import VARIABLES, client
from cohabit.workspace.session import Session

SUCH_AS = {"user.name": '"Ann Smith"', "user.email": "ann@example.org"}
AS_AGENTS = (
    "Or as agents say it: COHABIT_AGENT_ID, _NAME and _EMAIL, or identity.json in ~/.multisphere (docs/workspace.md)"
)


@contextmanager
def session_of_a_person() -> Iterator[Session]:
    """The session of this command line, for the client ``cli``. In a folder of a clone, that workspace is meant."""
    environ = as_a_person(os.environ)
    session = Session(config.folder(environ), environ)
    try:
        if name := standing_in(session):
            session.use(name)
        yield session
    except BadArgs as refusal:
        if not refusal.message.startswith("nobody said who you are"):
            raise
        raise BadArgs(f"{_what_helps(environ)}. {AS_AGENTS}") from None
    finally:
        session.close()


def standing_in(session: Session) -> str | None:
    """The workspace in whose clone the current folder lies; of clones in each other the inner one."""
    cwd = Path(os.path.realpath(config.cwd() or "/"))
    found = {
        place.name: Path(os.path.realpath(config.expanded(place.local_path, session.environ)))
        for place in session.registry.places().values()
    }
    around = [name for name, root in found.items() if cwd.is_relative_to(root)]
    return max(around, key=lambda name: len(found[name].parts), default=None)


def as_a_person(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment, and in it who this is: Ann Smith is ann-cli, where nobody said anything else."""
    found = dict(environ)
    if not any(environ.get(name, "").strip() for name in VARIABLES):
        found["COHABIT_CLIENT"] = "cli"
    where = client(found, None, config.cwd())
    if identity.find(config.folder(found), found, where) is None:
        name, email = (_of_git(found, key) for key in ("user.name", "user.email"))
        if name and email and (slug := _slug(name) or _slug(found.get("USER", ""))):
            said = {"ID": identity.derived(slug, where or ""), "NAME": name, "EMAIL": email}
            found |= {f"COHABIT_AGENT_{field}": text for field, text in said.items()}
    return found


def _of_git(environ: Mapping[str, str], key: str) -> str:
    """What the person told git about themselves; nothing that a repository says."""
    # Of all commands only those that may use the network read the person's own configuration.
    return Git(config.person(environ), environ).run("config", "--global", "--get", key, ok=(0, 1), network=True).line


def _what_helps(environ: Mapping[str, str]) -> str:
    """What a person can do who is nobody here."""
    missing = [f"`git config --global {key} {such}`" for key, such in SUCH_AS.items() if not _of_git(environ, key)]
    if missing:
        return f"git does not know you: {' and '.join(missing)}, then again"
    return (
        "no agent id can be made of the name that git knows: set COHABIT_AGENT_ID (such as ann-cli), "
        "COHABIT_AGENT_NAME and COHABIT_AGENT_EMAIL, then again"
    )


def _slug(name: str) -> str:
    """The first word of a name, as an agent id begins with it."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "", (plain.split() or [""])[0])[:24]
