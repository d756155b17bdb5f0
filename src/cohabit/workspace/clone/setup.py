"""Getting a clone: from a remote that is there, or as the first one of a new workspace.

``git clone`` is not used: it would copy the person's templates, with hooks, into the clone. Ours is an empty
repository with our own configuration, a fetch, and a checkout that runs nothing. It is made in a folder beside its
place and moved there when it is whole, so a failure leaves nothing behind.
"""

import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from cohabit.errors import BadArgs, CohabitError, Conflict, GitFailed
from cohabit.workspace import answers, driver
from cohabit.workspace.clone import commits, remotes
from cohabit.workspace.clone.git import Git
from cohabit.workspace.formats import template
from cohabit.workspace.person.identity import Identity
from cohabit.workspace.workspace import Now, Workspace, utc_now

USUAL_BRANCH: Final = "main"
TRIES: Final = 3
OLD_DRAFT: Final = 3600.0
"""Seconds after which nobody is at work any more on a clone that is not whole."""


def open_for(root: Path, name: str, remote: str, who: Identity, now: Now = utc_now) -> Workspace:
    """The clone at ``root``, made first where it is not there; so is a remote that is a path with nothing at it."""
    if not (root / ".git").exists():
        if is_nothing(remote):
            create(remote)
        clone(remote, root, who, name, now)
    return Workspace(name, root, remotes.shown(remote), who, now)


def clone(url: str, path: Path, who: Identity, name: str = "", now: Now = utc_now) -> None:
    """A clone of ``url`` at ``path``, where nothing may be yet. An empty remote gets the template as first commit."""
    local = local_path(remotes.checked(url))
    if local is not None:
        _must_stand_alone(local)
    _must_be_no_part_of_a_repository(path)
    try:
        with _made_beside(path) as draft:
            _clone_into(draft, url, who, name or path.name, now)
    except CohabitError as wrong:
        raise answers.cleaned(wrong, [(url, "the remote"), (str(local or ""), "the remote")]) from None


def create(url: str) -> None:
    """An empty bare repository at a path of this machine where nothing is. Its history cannot be rewritten."""
    path = local_path(remotes.checked(url))
    if path is None:
        raise BadArgs("create makes a repository at a path of this machine; elsewhere make an empty one there first")
    _must_stand_alone(path)
    with _made_beside(path) as draft:
        git = Git(draft)
        git.run("init", "--quiet", "--template=")
        for key, value in (
            ("core.bare", "true"),
            ("receive.denyNonFastForwards", "true"),
            ("receive.denyDeletes", "true"),
        ):
            git.run("config", key, value)
        for part in (draft / ".git").iterdir():
            part.rename(draft / part.name)
        (draft / ".git").rmdir()


def is_nothing(url: str) -> bool:
    """Whether ``url`` is a path of this machine with nothing at it."""
    path = local_path(url)
    return path is not None and (not os.path.lexists(path) or (path.is_dir() and not any(path.iterdir())))


def local_path(url: str) -> Path | None:
    """The path that an address on this machine means, None for any other address."""
    if url.startswith("file://"):
        return Path(unquote(url.removeprefix("file://")))
    return Path(url) if url.startswith("/") else None


def origin(workspace: Workspace) -> str:
    """Where a clone says that it comes from; empty where it does not say."""
    return workspace.git.run("config", "--get", "remote.origin.url", ok=(0, 1)).line


def same_remote(one: str, other: str) -> bool:
    """Whether two addresses are the same but for a password, a ``.git`` or a slash at the end."""
    plain = [remotes.shown(url).removeprefix("file://").rstrip("/").removesuffix(".git") for url in (one, other)]
    return plain[0] == plain[1]


# -- the steps of a clone -------------------------------------------------------------------------
def _clone_into(draft: Path, url: str, who: Identity, name: str, now: Now) -> None:
    git = Git(draft)
    git.run("init", "--quiet", "--template=")
    for key, value in _configuration(url, who).items():
        git.run("config", key, value)
    workspace = Workspace(name, draft, remotes.shown(url), who, now)
    try:
        with workspace.held():
            _fill(workspace)
            driver.install(workspace)
    finally:
        workspace.close()


def _configuration(url: str, who: Identity) -> dict[str, str]:
    """What the clone says of itself. The name is for people who use plain git in it: tools say the author each time."""
    return {
        "remote.origin.url": url,
        "remote.origin.fetch": "+refs/heads/*:refs/remotes/origin/*",
        "user.name": who.agent_name,
        "user.email": who.agent_email,
    }


def _fill(workspace: Workspace) -> None:
    """Fetch and check out; where the remote is empty, be the first, unless somebody else is faster."""
    for left in reversed(range(TRIES)):
        branch = _fetched(workspace)
        if branch is not None:
            return _check_out(workspace, branch)
        try:
            return _begin(workspace)
        except GitFailed:
            if not left:
                raise
    return None


def _fetched(workspace: Workspace) -> str | None:
    """Fetch all branches; the name of the one to work on, None where there is none."""
    git = workspace.git
    said = git.run("ls-remote", "--symref", "origin", "HEAD", network=True).text
    git.run("fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "origin", network=True)
    found = git.run("for-each-ref", "--format=%(refname:lstrip=3)", "refs/remotes/origin/").text.splitlines()
    head = next(
        (line.split("\t")[0][len("ref: refs/heads/") :] for line in said.splitlines() if line[:5] == "ref: "), ""
    )
    if not found:
        return None
    branch = head or (USUAL_BRANCH if USUAL_BRANCH in found or len(found) > 1 else found[0])
    if branch not in found or branch.startswith("-") or not branch.isprintable():
        raise BadArgs("the remote has no branch main, and does not say which branch to work on; set its HEAD")
    return branch


def _check_out(workspace: Workspace, branch: str) -> None:
    git = workspace.git
    _track(git, branch)
    git.run("update-ref", f"refs/heads/{branch}", f"refs/remotes/origin/{branch}")
    git.run("read-tree", "--reset", "-u", f"refs/heads/{branch}")


def _begin(workspace: Workspace) -> None:
    """The template as first commit of the remote."""
    git = workspace.git
    for path, text in template.files(workspace.name).items():
        workspace.tree.write(path, text.encode())
    git.run("add", "--all")
    tree = git.run("write-tree").line
    commit = commits.commit_tree(workspace, tree, [], f"Begin the workspace {workspace.name}")
    git.run("push", "--quiet", "--no-verify", "origin", f"{commit}:refs/heads/{USUAL_BRANCH}", network=True)
    _track(git, USUAL_BRANCH)
    git.run("update-ref", f"refs/heads/{USUAL_BRANCH}", commit)
    git.run("update-ref", f"refs/remotes/origin/{USUAL_BRANCH}", commit)


def _track(git: Git, branch: str) -> None:
    git.run("symbolic-ref", "HEAD", f"refs/heads/{branch}")
    git.run("config", f"branch.{branch}.remote", "origin")
    git.run("config", f"branch.{branch}.merge", f"refs/heads/{branch}")


# -- places ---------------------------------------------------------------------------------------
@contextmanager
def _made_beside(path: Path) -> Iterator[Path]:
    """A new folder that becomes ``path`` when the block ends well, and is taken away when it does not."""
    _take_away_old_drafts(path)
    made = [parent for parent in path.parents if not parent.exists()]
    draft = path.with_name(f".{path.name[:80]}.{secrets.token_hex(4)}.new")
    try:
        draft.mkdir(parents=True)
        yield draft
        os.rename(draft, path)  # an empty folder may be there
    except BaseException as wrong:
        shutil.rmtree(draft, ignore_errors=True)
        for parent in made:
            if parent.is_dir() and not any(parent.iterdir()):
                parent.rmdir()
        if isinstance(wrong, OSError):
            raise Conflict(f"the folder could not be made: {wrong.strerror}; choose another local_path") from None
        raise


def _take_away_old_drafts(path: Path) -> None:
    """What was killed while it made this folder has left one beside it."""
    name = re.compile(rf"\.{re.escape(path.name[:80])}\.[0-9a-f]{{8}}\.new")
    before = time.time() - OLD_DRAFT
    with suppress(OSError), os.scandir(path.parent) as beside:  # there may be no such folder yet
        for entry in beside:
            ours = name.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
            if ours and entry.stat(follow_symlinks=False).st_mtime < before:
                shutil.rmtree(entry.path, ignore_errors=True)


def _must_stand_alone(path: Path) -> None:
    """A repository that lies among the files of another could have been pulled or written there, with hooks in it."""
    real = Path(os.path.realpath(path))
    if any(os.path.lexists(parent / ".git") for parent in real.parents):
        raise BadArgs("the remote lies inside another clone, where its files are not to be trusted; put it elsewhere")


def _must_be_no_part_of_a_repository(path: Path) -> None:
    """A clone in a bare repository's ``hooks`` would give that one programs to run."""
    real = Path(os.path.realpath(path))
    if any((parent / "HEAD").is_file() and (parent / "objects").is_dir() for parent in real.parents):
        raise BadArgs("local_path lies inside a git repository, among its own files; choose a folder outside of it")
