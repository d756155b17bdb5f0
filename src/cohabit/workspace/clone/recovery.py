"""Recovery after a call that was killed.

It runs when a call takes the lock of the clone and finds that the last holder did not finish. The git commands of that
holder have ended, because they inherit the lock. Only a fetch or a push may still be running; it changes no file here,
and git does not let it move a ref that somebody else has moved.
"""

import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cohabit.errors import BadArgs, GitFailed
from cohabit.workspace.clone import plain_git
from cohabit.workspace.clone.intent import Intent
from cohabit.workspace.limits import GIT_LOCK_SECONDS

if TYPE_CHECKING:
    from cohabit.workspace.workspace import Workspace

LOCKS: Final = tuple(
    f".git/{name}" for name in ("*.lock", "refs/**/*.lock", "info/*.lock", "logs/**/*.lock", "objects/info/**/*.lock")
)
"""Files that a killed git leaves, and that make the next git believe that another one is running."""
DRAFTS: Final = (".git/cohabit/.*.new", ".git/cohabit/*.draft", ".git/refs/cohabit/*/.*.new")
"""Files that we write before we move them to their place; see ``tree`` and ``whole``."""
MERGE_FILES: Final = (".merge_file_??????",)
"""Files that a git killed in a merge leaves in the work tree, where they would be shared."""
LONGEST_CALL: Final = 600.0
"""Seconds; a lock that is newer than this after the start of the killed call belongs to a person's git."""


def clear_up(ws: "Workspace", began: float) -> None:
    """Remove what the killed call left and finish what it had begun. ``began`` is the time at which it took the lock
    of the clone."""
    plain_git.wait_for_merge(ws.root)
    _wait_for_locks(ws.root, began)
    for path in _left_behind(ws.root, began):
        path.unlink(missing_ok=True)
    intent = Intent.read(ws)
    if intent is not None:
        _finish(ws, intent)


def _wait_for_locks(root: Path, began: float) -> None:
    """Let a git that a person runs remove its own locks. A lock that stays was left by the killed call."""
    while any(0 <= time.time() - changed < GIT_LOCK_SECONDS for _, changed in _left(root, LOCKS, began)):
        time.sleep(0.02)


def _finish(ws: "Workspace", intent: Intent) -> None:
    from cohabit.workspace.sharing import advance  # it needs the whole of merging, and most days nobody dies

    try:
        advance.finish(ws, intent)
    except (GitFailed, BadArgs, KeyError):  # a commit that is gone, a name that git refuses: the files stay as they are
        Intent.clear(ws)


def _left_behind(root: Path, began: float) -> Iterator[Path]:
    for patterns in (LOCKS, DRAFTS, MERGE_FILES):
        yield from (path for path, _ in _left(root, patterns, began))


def _left(root: Path, patterns: Sequence[str], began: float) -> Iterator[tuple[Path, float]]:
    """Files that the killed call can have made, and when they were changed."""
    for pattern in patterns:
        for path in root.glob(pattern):
            with suppress(FileNotFoundError):
                found = path.lstat()
                if stat.S_ISREG(found.st_mode) and began <= found.st_mtime <= began + LONGEST_CALL:
                    yield path, found.st_mtime
