"""Who a person is at the command line: what was said for agents holds for them too, else what git knows of them."""

import os
import re
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from cohabit.workspace.clone.git import Git
from cohabit.workspace.person import config, identity
from cohabit.workspace.person.client import VARIABLES, client
from cohabit.workspace.session import Session


@contextmanager
def session_of_a_person() -> Iterator[Session]:
    """The session of this command line, for the client ``cli``."""
    environ = as_a_person(os.environ)
    session = Session(config.folder(environ), environ)
    try:
        yield session
    finally:
        session.close()


def as_a_person(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment, and in it who this is: Ann Smith is ann-cli, where nobody said anything else."""
    found = dict(environ)
    if not any(environ.get(name, "").strip() for name in VARIABLES):
        found["COHABIT_CLIENT"] = "cli"
    where = client(found, None, os.getcwd())
    if identity.find(config.folder(found), found, where) is None:
        name, email = (_of_git(found, key) for key in ("user.name", "user.email"))
        if name and email and (slug := _slug(name) or _slug(found.get("USER", ""))):
            said = {"ID": f"{slug}-{where}", "NAME": name, "EMAIL": email}
            found |= {f"COHABIT_AGENT_{field}": text for field, text in said.items()}
    return found


def _of_git(environ: Mapping[str, str], key: str) -> str:
    """What the person told git about themselves; nothing that a repository says."""
    # Of all commands only those that may use the network read the person's own configuration.
    return Git(config.person(environ), environ).run("config", "--global", "--get", key, ok=(0, 1), network=True).line


def _slug(name: str) -> str:
    """The first word of a name, as an agent id begins with it."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "", (plain.split() or [""])[0])[:24]
