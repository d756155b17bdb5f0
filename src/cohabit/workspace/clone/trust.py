"""What a clone's own configuration may say.

Much of git's configuration names programs that git starts, and some of it moves the work tree elsewhere. It cannot
be switched off in general (``filter.ANY.clean``), so a clone that says anything else than the few harmless things
below is not worked in. What we clone ourselves says nothing else.
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
"""What git clone, people, editors and forges write into a clone of their own accord. Where a key changes what git does
for us, the configuration that is fixed in ``git`` overrides it."""
DRIVER: Final = "merge.cohabit.driver"
"""Ours; see driver."""
REMOTE_NAME: Final = re.compile(r"\.|[A-Za-z0-9][A-Za-z0-9._-]*")
FOREIGN: Final = ("commondir", "config.worktree", "objects/info/alternates", "objects/info/http-alternates")
"""Files in ``.git`` by which a clone leans on another place."""


class Trust:
    """Checks a clone when it is opened, and again whenever its configuration has changed."""

    def __init__(self, root: Path) -> None:
        self._config = f"{root}/.git/config"
        self._foreign = {name: f"{root}/.git/{name}" for name in FOREIGN}
        self._seen: object = None

    def check(self, git: Git) -> None:
        """Raises PermissionDenied where the clone says something that could start a program or lead elsewhere."""
        for name, path in self._foreign.items():
            if os.path.lexists(path):
                raise PermissionDenied(f"this clone has a file .git/{name}, which leads out of it; clone it anew")
        state = self._state()
        if state == self._seen:
            return
        for field in git.run("config", "--file", self._config, "--no-includes", "--list", "-z").fields:
            key, _, value = field.partition("\n")
            if not _harmless(key, value):
                raise PermissionDenied(
                    f"the configuration of this clone sets {key}, which could make git start a program or leave the "
                    f"workspace; if it is yours, take it out with `git config --unset-all {key}`, else clone anew"
                )
        self._seen = state

    def _state(self) -> object:
        try:
            found = os.lstat(self._config)
        except FileNotFoundError:
            raise PermissionDenied("this clone has no .git/config any more; clone it anew") from None
        if not stat.S_ISREG(found.st_mode):
            raise PermissionDenied("the .git/config of this clone is no plain file; clone it anew")
        return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


def _harmless(key: str, value: str) -> bool:
    if key == DRIVER:
        from cohabit.workspace.driver import is_ours  # also as another installation wrote it; none is ever run by us

        return is_ours(value)
    if HARMLESS.fullmatch(key) is None:
        return False
    if key.startswith("remote.") and key.endswith("url"):
        from cohabit.workspace.clone.remotes import is_remote

        return is_remote(value)
    if key.startswith("branch.") and key.endswith(".remote"):  # an address or a path could stand there
        return REMOTE_NAME.fullmatch(value) is not None
    return True
