"""Tools to set up, list and choose workspaces."""

import os
from pathlib import Path
from typing import Annotated

from cohabit.errors import BadArgs, CohabitError, Conflict, UnknownAsset
from cohabit.workspace import driver
from cohabit.workspace.answers import Answer
from cohabit.workspace.clone import lfs, refs, remotes, setup
from cohabit.workspace.limits import MAX_PATH_CHARS
from cohabit.workspace.person import config, registry
from cohabit.workspace.person.registry import Place
from cohabit.workspace.session_state import SessionState
from cohabit.workspace.workspace import Workspace


def workspace_init(
    session: SessionState,
    name: Annotated[str, "A short name, such as sif-pitch."],
    remote_url: Annotated[str, "Address of the git repository: https, ssh, user@host:path, or an absolute path."],
    local_path: Annotated[str, "Folder of the clone; ~ is your user's home folder."],
    create: Annotated[bool, "Create the repository first, if remote_url is a path that does not exist."] = False,
) -> Answer:
    """Clone a shared repository and register it under a name.

    An existing clone of remote_url is only registered. An empty remote gets the template (journal, inbox, folders) as
    its first commit. The workspace becomes active if none was; the answer says which one is active, and
    workspace_switch changes it.
    """
    known = session.registry
    registry.checked(name)
    identity = session.identity()
    url = _url(remote_url, session)
    root = _root(local_path, session)
    _refuse_used_name(name, root, session)
    existed = _has_content(root, local_path)
    if existed:
        _verify(Workspace(name, root, remotes.shown(url), identity, session.now), url)
    else:
        _refuse_unsuitable_folder(root, session)
        if setup.is_nothing(url):
            if not create:
                given = remotes.shown(remote_url)
                raise UnknownAsset(f"there is nothing at {given}; with create a repository is created there")
            setup.create(url)
        setup.clone(url, root, identity, name, session.now)
    place = Place(name=name, remote=remotes.shown(url), local_path=str(root))
    known.add(place)
    return {
        "name": name,
        "local_path": place.local_path,
        "remote": place.remote,
        "already_existed": existed,
        "active_workspace": session.active,
    }


def workspace_list(session: SessionState) -> Answer:
    """List all registered workspaces, and which one is active here."""
    active = session.active
    places = [
        {"name": p.name, "remote": remotes.shown(p.remote), "local_path": p.local_path, "active": p.name == active}
        for p in session.registry.places().values()
    ]
    return {"active_workspace": active, "workspaces": places}


def workspace_switch(session: SessionState, name: Annotated[str, "A registered workspace."]) -> Answer:
    """Make another workspace active, here and in clients that start later. Running clients keep theirs."""
    session.switch(name)
    return {"active_workspace": name}


def workspace_info(session: SessionState) -> Answer:
    """The active workspace: its name, folder, remote, branch and commit, and your agent id in it."""
    workspace = session.workspace()
    with workspace.held():
        head, branch = refs.head(workspace) or "", refs.branch(workspace)
        attributes = lfs.attributes_with_lfs(workspace, head) if head else []
    agent_id, problem = _agent_id(session)
    notes = [note for note in (problem, lfs.note(attributes) if attributes else "") if note]
    return {
        "name": workspace.name,
        "local_path": str(workspace.root),
        "remote": remotes.shown(workspace.remote),
        "head": head,
        "branch": branch if head else "",
        "agent_id": agent_id,
    } | ({"note": " ".join(notes)} if notes else {})


def _agent_id(session: SessionState) -> tuple[str, str]:
    """The agent's id, or the reason why it is unknown."""
    try:
        return session.identity().agent_id, ""
    except CohabitError as error:
        return "", error.message


def _url(given: str, session: SessionState) -> str:
    """The address for git; a path of this machine is made absolute, as in ``git clone``."""
    url = remotes.checked(given)
    return str(config.expanded(url, session.environ)) if url.startswith(("./", "../", "~/", "/")) else url


def _root(given: str, session: SessionState) -> Path:
    if not given.strip() or len(given) > MAX_PATH_CHARS or not given.isprintable():
        raise BadArgs(f"local_path must be a path of at most {MAX_PATH_CHARS} characters")
    return Path(os.path.realpath(config.expanded(given, session.environ)))


def _refuse_used_name(name: str, root: Path, session: SessionState) -> None:
    """A name keeps its clone as long as that exists."""
    place = session.registry.places().get(name)
    if place is None:
        return
    other = Path(os.path.realpath(config.expanded(place.local_path, session.environ)))
    if other != root and other.exists():
        raise Conflict(f'"{name}" is the name of another workspace; choose another name')


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
    """An existing clone must be one of the given remote; our merge driver is installed in it."""
    try:
        with workspace.held():
            found = setup.origin(workspace)
            if not setup.same_remote(found, url):
                raise Conflict(
                    f"there already is a clone of {remotes.shown(found) or 'no remote'}; use that as remote_url, or "
                    "choose another local_path"
                )
            if head := refs.head(workspace):
                setup.refuse_lfs(workspace, head)
            driver.install(workspace.git)
    finally:
        workspace.close()


def _refuse_unsuitable_folder(root: Path, session: SessionState) -> None:
    """A clone must not be among a person's settings or inside another workspace."""
    home = Path(os.path.realpath(config.home_folder(session.environ)))
    below = root.relative_to(home) if root.is_relative_to(home) else root
    if any(part.startswith(".") for part in below.parts):
        raise BadArgs("local_path leads into a hidden folder; choose a visible one")
    for place in session.registry.places().values():
        other = Path(os.path.realpath(config.expanded(place.local_path, session.environ)))
        if other in root.parents or root in other.parents:
            raise BadArgs(f"local_path overlaps with the folder of workspace {place.name}; choose another")
