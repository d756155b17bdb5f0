"""Tools: getting a workspace, and choosing one."""

import os
from pathlib import Path
from typing import Annotated

from cohabit.errors import BadArgs, CohabitError, Conflict, UnknownAsset
from cohabit.workspace import driver
from cohabit.workspace.answers import Answer
from cohabit.workspace.clone import refs, remotes, setup
from cohabit.workspace.limits import LONGEST_PATH
from cohabit.workspace.person import config, registry
from cohabit.workspace.person.registry import Place
from cohabit.workspace.session import Session
from cohabit.workspace.tool import tool
from cohabit.workspace.workspace import Workspace


@tool(on="session", writes=True)
def workspace_init(
    session: Session,
    name: Annotated[str, "A short name for it, such as sif-pitch."],
    remote_url: Annotated[str, "Address of the git repository: https, ssh, user@host:path, or an absolute path."],
    local_path: Annotated[str, "Where the clone goes; ~ is your person's home."],
    create: Annotated[bool, "Make the repository first, where remote_url is a path with nothing at it."] = False,
) -> Answer:
    """Clone a shared repository and register it under a name.

    A clone that is there already is only registered, if it comes from remote_url. An empty remote gets the template
    (journal, inbox, folders) as its first commit. The workspace becomes active if none was; the answer says which is
    active, and workspace_switch changes it.
    """
    known = session.registry
    registry.checked(name)
    who = session.identity()
    url = _url(remote_url, session)
    root = _root(local_path, session)
    _must_be_free(name, root, session)
    existed = _has_content(root, local_path)
    if existed:
        _verify(Workspace(name, root, remotes.shown(url), who, session.now), url)
    else:
        _must_be_a_place_for_a_clone(root, session)
        if setup.is_nothing(url):
            if not create:
                raise UnknownAsset("there is nothing at remote_url; with create a repository is made there")
            setup.create(url)
        setup.clone(url, root, who, name, session.now)
    place = Place(name=name, remote=remotes.shown(url), local_path=str(root))
    known.add(place)
    return {
        "name": name,
        "local_path": place.local_path,
        "remote": place.remote,
        "already_existed": existed,
        "active_workspace": session.active,
    }


@tool(on="session")
def workspace_list(session: Session) -> Answer:
    """All registered workspaces, and which is active here."""
    active = session.active
    places = [
        {"name": p.name, "remote": remotes.shown(p.remote), "local_path": p.local_path, "active": p.name == active}
        for p in session.registry.places().values()
    ]
    return {"active_workspace": active, "workspaces": places}


@tool(on="session", writes=True)
def workspace_switch(session: Session, name: Annotated[str, "A registered workspace."]) -> Answer:
    """Make another workspace active, here and in clients that start later. Clients that run already keep theirs."""
    session.switch(name)
    return {"active_workspace": name}


@tool(on="session")
def workspace_info(session: Session) -> Answer:
    """The active workspace: its name, folder, remote, branch and commit, and who you are in it."""
    workspace = session.workspace()
    with workspace.held():
        head, branch = refs.head(workspace) or "", refs.branch(workspace)
    who, trouble = _who(session)
    return {
        "name": workspace.name,
        "local_path": str(workspace.root),
        "remote": remotes.shown(workspace.remote),
        "head": head,
        "branch": branch if head else "",
        "agent_id": who,
    } | ({"note": trouble} if trouble else {})


def _who(session: Session) -> tuple[str, str]:
    """The agent's id; where nobody knows it, why."""
    try:
        return session.identity().agent_id, ""
    except CohabitError as wrong:
        return "", wrong.message


def _url(given: str, session: Session) -> str:
    """The address as git gets it: a path of this machine is made absolute, as ``git clone`` does."""
    url = remotes.checked(given)
    return str(config.expanded(url, session.environ)) if url.startswith(("./", "../", "~/", "/")) else url


def _root(given: str, session: Session) -> Path:
    if not given.strip() or len(given) > LONGEST_PATH or not given.isprintable():
        raise BadArgs(f"local_path must be a path of at most {LONGEST_PATH} characters")
    return Path(os.path.realpath(config.expanded(given, session.environ)))


def _must_be_free(name: str, root: Path, session: Session) -> None:
    """A name goes on meaning the clone it means, as long as that is there."""
    place = session.registry.places().get(name)
    if place is None:
        return
    other = Path(os.path.realpath(config.expanded(place.local_path, session.environ)))
    if other != root and other.exists():
        raise Conflict(f'"{name}" is the name of another clone; choose another name')


def _has_content(root: Path, given: str) -> bool:
    if not root.exists():
        return False
    if not root.is_dir():
        raise Conflict(f"{given} is a file; choose another local_path")
    if not any(root.iterdir()):
        return False
    if not os.path.lexists(root / ".git"):
        raise Conflict(f"{given} exists and is non-empty but not a git repo; choose another local_path")
    return True


def _verify(workspace: Workspace, url: str) -> None:
    """A clone that is there must be one of the given remote; it gets our merge too."""
    try:
        with workspace.held():
            found = setup.origin(workspace)
            if not setup.same_remote(found, url):
                raise Conflict(
                    f"there is a clone already, of {remotes.shown(found) or 'no remote'}; give that as remote_url, or "
                    "choose another local_path"
                )
            driver.install(workspace)
    finally:
        workspace.close()


def _must_be_a_place_for_a_clone(root: Path, session: Session) -> None:
    """Files of strangers do not belong among a person's settings, nor into another workspace."""
    home = Path(os.path.realpath(config.person(session.environ)))
    below = root.relative_to(home) if root.is_relative_to(home) else root
    if any(part.startswith(".") for part in below.parts):
        raise BadArgs("local_path leads into a hidden folder; choose a visible one")
    for place in session.registry.places().values():
        other = Path(os.path.realpath(config.expanded(place.local_path, session.environ)))
        if other in root.parents or root in other.parents:
            raise BadArgs(f"local_path and the workspace {place.name} would lie in each other; choose another")
