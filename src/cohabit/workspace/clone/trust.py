"""The settings that the configuration of a clone may have.

Many git settings name programs that git starts, and some move the work tree elsewhere. They cannot be switched off in
general (``filter.ANY.clean``), so a clone with any setting that is not on the list below is refused. A clone that this
program made has only those.
"""

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from cohabit.errors import GitFailed, PermissionDenied
from cohabit.workspace.clone.git import Git
from cohabit.workspace.clone.remotes import is_remote

HARMLESS: Final = re.compile(
    r"core\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks)"
    r"|remote\.[^.]+\.(url|fetch|pushurl|tagopt|prune|gh-resolved)"
    r"|branch\..+\.(remote|merge|rebase|description|vscode-merge-base|gh-merge-base|github-pr-[a-z-]+)"
    r"|branch\.(autosetuprebase|autosetupmerge|sort)"
    r"|user\.(name|email|signingkey)|commit\.gpgsign|tag\.gpgsign"
    r"|pull\.(rebase|ff)|push\.(default|autosetupremote)|fetch\.prune|gui\..*"
    r"|merge\.(cohabit\.name|conflictstyle)|rerere\.(enabled|autoupdate)|gc\.auto|maintenance\.(auto|strategy)"
    r"|lfs\.repositoryformatversion"
)
"""The settings that ``git clone``, people, editors and forges write into a clone. The fixed configuration in ``git``
overrides those that would change the behaviour of our commands."""
DRIVER_KEY: Final = "merge.cohabit.driver"
"""Our merge driver; see ``driver``."""
REMOTE_NAME: Final = re.compile(r"\.|[A-Za-z0-9][A-Za-z0-9._-]*")
FOREIGN_FILES: Final = ("commondir", "objects/info/alternates", "objects/info/http-alternates")
"""Files in ``.git`` that make a clone depend on another folder."""
SPARSE: Final = ("core.sparsecheckout", "core.sparsecheckoutcone", "index.sparse")
"""Settings of a sparse checkout; ``git sparse-checkout disable`` leaves them in the clone as false."""
PARTIAL: Final = re.compile(r"extensions\.partialclone|remote\..+\.(promisor|partialclonefilter)")


class Trust:
    """Checks a clone when it is opened, and again after its configuration has changed."""

    def __init__(self, root: Path) -> None:
        self._config = f"{root}/.git/config"
        self._worktree = f"{root}/.git/config.worktree"
        self._foreign = {name: f"{root}/.git/{name}" for name in FOREIGN_FILES}
        self._checked: object = None

    def check(self, git: Git) -> None:
        """Raises PermissionDenied if the clone has a setting that could start a program or lead out of it, or if it
        lacks a part of the files or of the history."""
        for name, path in self._foreign.items():
            if os.path.lexists(path):
                raise PermissionDenied(f"this clone has a file .git/{name}, which leads out of it; make a new clone")
        files = [self._config, *([self._worktree] if os.path.lexists(self._worktree) else [])]
        state = [_state(path) for path in files]
        if state == self._checked:
            return
        for path in files:
            for key, value in _settings(git, path):
                _refuse_incomplete(key, value)
                if not _harmless(key, value):
                    raise PermissionDenied(
                        f"the configuration of this clone sets {key}, which could make git start a program or leave "
                        f"the workspace; if you set it, remove it with `git config --unset-all {key}`, else make a new "
                        "clone"
                    )
        self._checked = state


def _state(path: str) -> object:
    name = os.path.basename(path)
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        raise PermissionDenied(f"this clone no longer has a .git/{name}; make a new clone") from None
    if not stat.S_ISREG(found.st_mode):
        raise PermissionDenied(f"the .git/{name} of this clone is not a plain file; make a new clone")
    return path, found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


def _settings(git: Git, path: str) -> Iterator[tuple[str, str]]:
    try:
        result = git.run("config", "--file", path, "--no-includes", "--list", "-z")
    except GitFailed as error:
        raise PermissionDenied(f"the configuration of this clone cannot be read: {error.message}") from None
    for field in result.fields:
        key, equals, value = field.partition("\n")
        yield key, value if equals else "true"


def _refuse_incomplete(key: str, value: str) -> None:
    """Raises PermissionDenied for a clone that lacks files or history on purpose: others' files would look deleted."""
    if key in SPARSE[:1] and value.lower() in ("true", "yes", "on", "1"):
        raise PermissionDenied(
            "this clone is a sparse checkout, so its folder has only some of the files, and a workspace needs all of "
            "them: run `git sparse-checkout disable` in it, or make a new clone"
        )
    if PARTIAL.fullmatch(key):
        raise PermissionDenied(
            f"the configuration of this clone sets {key}: it is a partial clone, which downloads files when they are "
            "needed, and a workspace needs all of them; make a new clone"
        )


def _harmless(key: str, value: str) -> bool:
    if key == DRIVER_KEY:
        from cohabit.workspace.driver import is_ours  # of any installation; our own commands never run it

        return is_ours(value)
    if key in SPARSE:
        return value.lower() in ("false", "no", "off", "0")
    if key == "extensions.worktreeconfig":  # git then reads config.worktree too, which is checked as well
        return value.lower() == "true"
    if HARMLESS.fullmatch(key) is None:
        return False
    if key.startswith("remote.") and key.endswith("url"):
        return is_remote(value)
    if key.startswith("branch.") and key.endswith(".remote"):  # it could also be an address or a path
        return REMOTE_NAME.fullmatch(value) is not None
    return True
