"""Which settings the configuration of a clone may have.

Many git settings name programs that git starts, and some move the work tree elsewhere. They cannot be switched off in
general (``filter.ANY.clean``), so a clone with any setting that is not on the list below is refused. A clone that this
program made has only those.
"""

import os
import re
import stat
from pathlib import Path
from typing import Final

from cohabit.errors import PermissionDenied
from cohabit.workspace.clone.git import Git

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
"""What ``git clone``, people, editors and forges write into a clone. The fixed configuration in ``git`` overrides those
that would change the behaviour of our commands."""
DRIVER_KEY: Final = "merge.cohabit.driver"
"""Our merge driver; see ``driver``."""
REMOTE_NAME: Final = re.compile(r"\.|[A-Za-z0-9][A-Za-z0-9._-]*")
FOREIGN_FILES: Final = ("commondir", "config.worktree", "objects/info/alternates", "objects/info/http-alternates")
"""Files in ``.git`` that make a clone depend on another folder."""


class Trust:
    """Checks a clone when it is opened, and again after its configuration has changed."""

    def __init__(self, root: Path) -> None:
        self._config = f"{root}/.git/config"
        self._foreign = {name: f"{root}/.git/{name}" for name in FOREIGN_FILES}
        self._checked: object = None

    def check(self, git: Git) -> None:
        """Raises PermissionDenied if the clone has a setting that could start a program or lead out of it."""
        for name, path in self._foreign.items():
            if os.path.lexists(path):
                raise PermissionDenied(f"this clone has a file .git/{name}, which leads out of it; make a new clone")
        state = self._state()
        if state == self._checked:
            return
        for field in git.run("config", "--file", self._config, "--no-includes", "--list", "-z").fields:
            key, _, value = field.partition("\n")
            if not _harmless(key, value):
                raise PermissionDenied(
                    f"the configuration of this clone sets {key}, which could make git start a program or leave the "
                    f"workspace; if you set it, remove it with `git config --unset-all {key}`, else make a new clone"
                )
        self._checked = state

    def _state(self) -> object:
        try:
            found = os.lstat(self._config)
        except FileNotFoundError:
            raise PermissionDenied("this clone no longer has a .git/config; make a new clone") from None
        if not stat.S_ISREG(found.st_mode):
            raise PermissionDenied("the .git/config of this clone is not a plain file; make a new clone")
        return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


def _harmless(key: str, value: str) -> bool:
    if key == DRIVER_KEY:
        from cohabit.workspace.driver import is_ours  # of any installation; our own commands never run it

        return is_ours(value)
    if HARMLESS.fullmatch(key) is None:
        return False
    if key.startswith("remote.") and key.endswith("url"):
        from cohabit.workspace.clone.remotes import is_remote

        return is_remote(value)
    if key.startswith("branch.") and key.endswith(".remote"):  # it could also be an address or a path
        return REMOTE_NAME.fullmatch(value) is not None
    return True
