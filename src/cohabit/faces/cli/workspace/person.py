"""The identity of a person at the command line: the settings for agents, else git's user name and address."""

import os
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from cohabit.errors import BadArgs, CohabitError, Conflict
from cohabit.workspace.clone import remotes
from cohabit.workspace.clone.git import Git
from cohabit.workspace.clone.tree import SET_UP_AGAIN
from cohabit.workspace.formats import INBOX, JOURNAL
from cohabit.workspace.person import config, git_user, identity
from cohabit.workspace.room import PERSONAL_TOOLS
from cohabit.workspace.session import Session

EXAMPLES = {"user.name": '"Ann Smith"', "user.email": "ann@example.org"}
OTHER_SETTINGS = (
    "set COHABIT_AGENT_ID (such as ann-cli), _NAME and _EMAIL, or write identity.json in ~/.multisphere "
    "(docs/workspace.md)"
)


@contextmanager
def person_session(tool: str) -> Iterator[Session]:
    """The session of this command line, for the client ``cli``, to call a tool. In a folder of a clone, that workspace
    is active."""
    environ = person_environment(os.environ)
    session = Session(config.folder(environ), environ)
    try:
        if tool not in PERSONAL_TOOLS:
            refuse_unregistered_clone(session)
        if name := workspace_of_folder(session):
            session.use(name)
        yield session
    except CohabitError as error:
        if SET_UP_AGAIN in error.message:
            message = error.message.replace(SET_UP_AGAIN, _how_to_set_up_again(session))
            raise type(error)(message, did_you_mean=error.did_you_mean, **error.details) from None
        if not error.message.startswith(identity.UNKNOWN):
            raise
        raise BadArgs(_how_to_set_identity(environ)) from None
    finally:
        session.close()


def refuse_unregistered_clone(session: Session) -> None:
    """Raises Conflict in a clone of a board that is not registered: what is typed there must not happen elsewhere."""
    root = _repository_of_folder()
    if root is None or root in _roots(session).values() or not any((root / name).exists() for name in (JOURNAL, INBOX)):
        return
    active = f' The active workspace, "{session.active}", is another folder.' if session.active else ""
    raise Conflict(
        f"this folder belongs to a clone that is not registered, so nothing was done.{active} Register it with "
        f"`cohabit workspace init NAME {_address(session, root)} {shlex.quote(str(root))}`, or change to a folder "
        "outside of it"
    )


def _address(session: Session, root: Path) -> str:
    """The remote of a repository, in the form of an argument."""
    if (root / ".git").is_dir():
        found = Git(root, session.environ).run("config", "--get", "remote.origin.url", ok=(0, 1, 128)).line
        if found:
            return shlex.quote(remotes.shown(found))
    return "URL"


def _repository_of_folder() -> Path | None:
    """The root of the innermost git repository around the current folder."""
    cwd = Path(os.path.realpath(config.cwd() or "/"))
    return next((folder for folder in (cwd, *cwd.parents) if os.path.lexists(folder / ".git")), None)


def _roots(session: Session) -> dict[str, Path]:
    """The folders of the workspaces, by name."""
    places = session.registry.places().values()
    return {place.name: Path(os.path.realpath(config.expanded(place.local_path, session.environ))) for place in places}


def workspace_of_folder(session: Session) -> str | None:
    """The workspace whose clone contains the current folder; of nested clones the inner one."""
    cwd, found = Path(os.path.realpath(config.cwd() or "/")), _roots(session)
    around = [name for name, root in found.items() if cwd.is_relative_to(root)]
    return max(around, key=lambda name: len(found[name].parts), default=None)


def person_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment with an identity: Ann Smith is ann-cli, if nothing else is set."""
    found = dict(environ)
    if not any(environ.get(name, "").strip() for name in identity.CLIENT_VARIABLES):
        found["COHABIT_CLIENT"] = "cli"
    client = identity.client_name(found, None, config.cwd())
    if identity.find(config.folder(found), found, client) is None and (who := git_user.from_git(found, client)):
        values = {"ID": who.agent_id, "NAME": who.agent_name, "EMAIL": who.agent_email}
        found |= {f"COHABIT_AGENT_{field}": text for field, text in values.items()}
    return found


def _how_to_set_up_again(session: Session) -> str:
    place = session.registry.place(session.active or "")
    words = shlex.join((place.name, remotes.shown(place.remote), place.local_path))
    return f"run `cohabit workspace init {words}`"


def _how_to_set_identity(environ: Mapping[str, str]) -> str:
    missing = [
        f"`git config --global {key} {example}`"
        for key, example in EXAMPLES.items()
        if not git_user.setting(environ, key)
    ]
    if missing:
        commands = " and ".join(missing)
        return f"git has no user name or email address for you: run {commands}, then try again. Or {OTHER_SETTINGS}"
    return f"cannot derive an agent id from your git user name: {OTHER_SETTINGS}"
