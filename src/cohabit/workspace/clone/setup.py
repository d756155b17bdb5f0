"""Making a clone of an existing remote, or the first clone of a new workspace.

``git clone`` is not used, because it would copy the person's templates, including hooks, into the clone. Instead there
is an empty repository with a fixed configuration, a fetch, and a checkout that runs nothing. The clone is made in a
temporary folder next to its final path and moved there when it is complete, so a failure leaves nothing behind.
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
from cohabit.workspace.clone import commits, lfs, remotes, template
from cohabit.workspace.clone.git import Git
from cohabit.workspace.formats.quoting import listed
from cohabit.workspace.person.identity import Identity
from cohabit.workspace.workspace import Now, Workspace, utc_now

DEFAULT_BRANCH: Final = "main"
ATTEMPTS: Final = 3
MAX_DRAFT_AGE: Final = 3600.0
"""Seconds after which an incomplete clone is taken for abandoned."""


def open_for(root: Path, name: str, remote: str, identity: Identity, now: Now = utc_now) -> Workspace:
    """The clone at ``root``, which is made if it does not exist; so is a remote at a path of this machine."""
    if not (root / ".git").exists():
        if is_nothing(remote):
            create(remote)
        clone(remote, root, identity, name, now)
    return Workspace(name, root, remotes.shown(remote), identity, now)


def clone(url: str, path: Path, identity: Identity, name: str = "", now: Now = utc_now) -> None:
    """Clone ``url`` to ``path``, which must not exist yet. An empty remote gets the template as its first commit."""
    local = local_path(remotes.checked(url))
    if local is not None:
        _refuse_inside_clone(local)
    _refuse_inside_repository(path)
    try:
        with _made_atomically(path) as draft:
            _clone_into(draft, url, identity, name or path.name, now)
    except CohabitError as error:
        raise answers.cleaned(error, [(url, "the remote"), (str(local or ""), "the remote")]) from None


def create(url: str) -> None:
    """Make an empty bare repository at an unused path of this machine. Its history cannot be rewritten."""
    path = local_path(remotes.checked(url))
    if path is None:
        raise BadArgs("create works for a path of this machine only; create an empty repository at the host instead")
    _refuse_inside_clone(path)
    with _made_atomically(path) as draft:
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
    """True if ``url`` is a path of this machine that does not exist or is an empty folder."""
    path = local_path(url)
    return path is not None and (not os.path.lexists(path) or (path.is_dir() and not any(path.iterdir())))


def local_path(url: str) -> Path | None:
    """The path of an address on this machine, None for any other address."""
    if url.startswith("file://"):
        return Path(unquote(url.removeprefix("file://")))
    return Path(url) if url.startswith("/") else None


def origin(workspace: Workspace) -> str:
    """The remote that a clone is configured with; "" if there is none."""
    return workspace.git.run("config", "--get", "remote.origin.url", ok=(0, 1)).line


def same_remote(one: str, other: str) -> bool:
    """True if two addresses are the same except for credentials, a ``.git`` or a slash at the end."""
    plain = [remotes.shown(url).removeprefix("file://").rstrip("/").removesuffix(".git") for url in (one, other)]
    return plain[0] == plain[1]


# -- the steps of a clone -------------------------------------------------------------------------
def _clone_into(draft: Path, url: str, identity: Identity, name: str, now: Now) -> None:
    git = Git(draft)
    git.run("init", "--quiet", "--template=")
    configuration = {
        "remote.origin.url": url,
        "remote.origin.fetch": "+refs/heads/*:refs/remotes/origin/*",
        "user.name": identity.agent_name,  # for people who use plain git in it: tools set the author of each commit
        "user.email": identity.agent_email,
    }
    for key, value in configuration.items():
        git.run("config", key, value)
    workspace = Workspace(name, draft, remotes.shown(url), identity, now)
    try:
        with workspace.held():
            _fill(workspace)
            driver.install(workspace.git)
    finally:
        workspace.close()


def _fill(workspace: Workspace) -> None:
    """Fetch and check out. If the remote is empty, push the first commit, unless another clone does so first."""
    for left in reversed(range(ATTEMPTS)):
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
    """Fetch all branches. Returns the one to work on, None if the remote is empty."""
    git = workspace.git
    symrefs = git.run("ls-remote", "--symref", "origin", "HEAD", network=True).text
    git.run("fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "origin", network=True)
    found = git.run("for-each-ref", "--format=%(refname:lstrip=3)", "refs/remotes/origin/").text.splitlines()
    head = next(
        (line.split("\t")[0][len("ref: refs/heads/") :] for line in symrefs.splitlines() if line[:5] == "ref: "), ""
    )
    if not found:
        return None
    branch = head or (DEFAULT_BRANCH if DEFAULT_BRANCH in found or len(found) > 1 else found[0])
    if branch not in found or branch.startswith("-") or not branch.isprintable():
        raise BadArgs("the remote has no branch main and no HEAD that names another one; set its HEAD")
    return branch


def refuse_lfs(workspace: Workspace, commit: str) -> None:
    """Raises Conflict if a commit keeps files in Git LFS: agents would read and overwrite the pointers."""
    if used := lfs.attributes_with_lfs(workspace, commit):
        raise Conflict(
            f"this repository keeps files in Git LFS ({listed(used)}), which a workspace does not support: use "
            "another repository, or turn them into ordinary files with `git lfs migrate export`"
        )


def _check_out(workspace: Workspace, branch: str) -> None:
    git = workspace.git
    refuse_lfs(workspace, f"refs/remotes/origin/{branch}")
    _track(git, branch)
    git.run("update-ref", f"refs/heads/{branch}", f"refs/remotes/origin/{branch}")
    git.run("read-tree", "--reset", "-u", f"refs/heads/{branch}")


def _begin(workspace: Workspace) -> None:
    """Push the template as the first commit of the remote."""
    git = workspace.git
    for path, text in template.files(workspace.name).items():
        workspace.tree.write(path, text.encode())
    git.run("add", "--all")
    tree = git.run("write-tree").line
    commit = commits.commit_tree(workspace, tree, [], f"Begin the workspace {workspace.name}")
    git.run("push", "--quiet", "--no-verify", "origin", f"{commit}:refs/heads/{DEFAULT_BRANCH}", network=True)
    _track(git, DEFAULT_BRANCH)
    git.run("update-ref", f"refs/heads/{DEFAULT_BRANCH}", commit)
    git.run("update-ref", f"refs/remotes/origin/{DEFAULT_BRANCH}", commit)


def _track(git: Git, branch: str) -> None:
    git.run("symbolic-ref", "HEAD", f"refs/heads/{branch}")
    git.run("config", f"branch.{branch}.remote", "origin")
    git.run("config", f"branch.{branch}.merge", f"refs/heads/{branch}")


# -- folders --------------------------------------------------------------------------------------
@contextmanager
def _made_atomically(path: Path) -> Iterator[Path]:
    """A new folder that is renamed to ``path`` if the block succeeds, and removed if it fails."""
    _remove_old_drafts(path)
    created = [parent for parent in path.parents if not parent.exists()]
    draft = path.with_name(f".{path.name[:80]}.{secrets.token_hex(4)}.new")
    try:
        draft.mkdir(parents=True)
        yield draft
        os.rename(draft, path)  # replaces an empty folder
    except BaseException as error:
        shutil.rmtree(draft, ignore_errors=True)
        for parent in created:
            if parent.is_dir() and not any(parent.iterdir()):
                parent.rmdir()
        if isinstance(error, OSError):
            raise Conflict(f"the folder could not be created: {error.strerror}; choose another local_path") from None
        raise


def _remove_old_drafts(path: Path) -> None:
    """Remove what earlier processes left that were killed while they made this folder."""
    name = re.compile(rf"\.{re.escape(path.name[:80])}\.[0-9a-f]{{8}}\.new")
    before = time.time() - MAX_DRAFT_AGE
    with suppress(OSError), os.scandir(path.parent) as entries:  # the parent may not exist yet
        for entry in entries:
            ours = name.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
            if ours and entry.stat(follow_symlinks=False).st_mtime < before:
                shutil.rmtree(entry.path, ignore_errors=True)


def _refuse_inside_clone(path: Path) -> None:
    """A repository in the work tree of another could have been pulled or written there, with hooks in it."""
    real = Path(os.path.realpath(path))
    if any(os.path.lexists(parent / ".git") for parent in real.parents):
        raise BadArgs("the remote lies inside another clone, so its files cannot be trusted; choose another path")


def _refuse_inside_repository(path: Path) -> None:
    """A clone in the ``hooks`` folder of a bare repository would give that repository programs to run."""
    real = Path(os.path.realpath(path))
    if any((parent / "HEAD").is_file() and (parent / "objects").is_dir() for parent in real.parents):
        raise BadArgs("local_path lies inside a git repository, among its own files; choose a folder outside of it")
