"""Detects a person's own use of git in a clone: commands that are unfinished, and merges that are running.

Before a merge, git saves uncommitted changes. If the merge fails, git resets the files and restores what it saved, so
an entry that a tool wrote in between would be lost. A call therefore waits until no merge is running. Git has no
command for that; the files it writes tell: ``ORIG_HEAD`` when it begins, ``index.lock`` while it works. Our merge
driver leaves a mark as well, because git does not write ``ORIG_HEAD`` again when its value stays the same.
"""

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from cohabit.errors import Busy, Conflict

STATE_FILES: Final = {
    "rebase-merge": "rebase", "rebase-apply": "rebase", "MERGE_HEAD": "merge", "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
}  # fmt: skip
"""Files in ``.git`` that exist while a command is unfinished."""
MERGE_MARK: Final = "merging"
"""The merge driver's mark, a file in ``.git/cohabit``."""
SETTLE_SECONDS: Final = 1.0
"""Time after the last sign of a merge in which git may still change files."""
START_SECONDS: Final = 5.0
"""Longest time between ``ORIG_HEAD`` and the ``index.lock`` of the same merge."""
LONGEST_MERGE: Final = 60.0
"""Seconds after which an ``index.lock`` is not taken for a running merge: git was killed and left it."""
WAIT_SECONDS: Final = 10.0
"""The time that a call waits for a merge."""


def unfinished(root: Path) -> str | None:
    """The git command that a person began in this clone and has not finished, such as ``rebase``."""
    return next((what for name, what in STATE_FILES.items() if os.path.lexists(root / ".git" / name)), None)


def finish_first(command: str) -> str:
    """The message that asks to finish this command."""
    return (
        f"a {command} that was started by hand is unfinished in this clone: finish it or end it with "
        f"`git {command} --abort`, then call again"
    )


def refuse_rebase(root: Path) -> None:
    """Raises Conflict during a rebase: ending it resets every tracked file, so what is written now would be lost."""
    if unfinished(root) == "rebase":
        raise Conflict(finish_first("rebase"))


def leave_mark(state_folder: Path) -> None:
    """Leave the mark of a running merge in ``.git/cohabit``."""
    with suppress(OSError):  # a full disk must not stop the merge
        (state_folder / MERGE_MARK).touch()


def merge_is_running(root: Path) -> bool:
    """True if a person's merge may be changing files now."""
    folder = f"{root}/.git"
    began = max(_changed(f"{folder}/ORIG_HEAD"), _changed(f"{folder}/cohabit/{MERGE_MARK}"))
    locked = _changed(f"{folder}/index.lock")
    now = time.time()
    if abs(now - began) > SETTLE_SECONDS and not locked:
        return False
    if os.path.lexists(f"{folder}/MERGE_HEAD"):  # the files are merged; the person resolves conflicts or writes
        return False
    settling = abs(now - max(began, locked)) <= SETTLE_SECONDS
    return settling or (locked - began <= START_SECONDS and abs(now - locked) <= LONGEST_MERGE)


def wait_for_merge(root: Path) -> None:
    """Wait until no merge is running; raises Busy if that takes too long."""
    pause, deadline = 0.005, time.monotonic() + WAIT_SECONDS
    while merge_is_running(root):
        if time.monotonic() > deadline:
            raise Busy(
                "a person's `git pull`, `git merge` or `git rebase` is running in this clone, and anything written "
                "now could be lost; try again when it has ended"
            )
        time.sleep(pause)
        pause = min(pause * 2, 0.1)


def _changed(path: str) -> float:
    """When a file was changed last, in seconds; 0 if it does not exist."""
    try:
        return os.lstat(path).st_mtime
    except OSError:
        return 0.0
