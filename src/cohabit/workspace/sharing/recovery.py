"""Recovery after a call that was killed.

It runs when a call takes the lock of the clone and finds that the last holder did not finish. The git commands of that
holder have ended, because they inherit the lock. Only a fetch or a push may still be running; it changes no file here,
and git does not let it move a ref that somebody else has moved.

A call that is about to change files of the clone writes its *intent* down first, and recovery finishes that.
"""

import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from cohabit.errors import BadArgs, GitFailed
from cohabit.workspace.clone import plain_git
from cohabit.workspace.clone.clone import Clone
from cohabit.workspace.limits import GIT_LOCK_TIMEOUT
from cohabit.workspace.sharing import advance
from cohabit.workspace.sharing.advance import INTENT

LOCKS: Final = tuple(
    f".git/{name}" for name in ("*.lock", "refs/**/*.lock", "info/*.lock", "logs/**/*.lock", "objects/info/**/*.lock")
)
"""Files that a killed git leaves, and that make the next git believe that another one is running."""
DRAFTS: Final = (".git/cohabit/.*.new", ".git/cohabit/*.draft", ".git/refs/cohabit/*/.*.new")
"""Files of this program before they are moved to their place; see ``tree`` and ``atomic``."""
MERGE_FILES: Final = (".merge_file_??????",)
"""Files that a git killed in a merge leaves in the work tree, where they would be shared."""
MAX_CALL_SECONDS: Final = 600.0
"""A lock that was made later than this after the start of the killed call belongs to a person's git."""


def recover(ws: Clone, began: float) -> None:
    """Remove what the killed call left and finish what it had begun. ``began`` is the time at which it took the lock
    of the clone."""
    plain_git.wait_for_merge(ws.root)
    _wait_for_locks(ws.root, began)
    for path, _ in list(_left_behind(ws.root, (*LOCKS, *DRAFTS, *MERGE_FILES), began)):
        path.unlink(missing_ok=True)
    intent = INTENT.read(ws)
    if intent is None:
        return
    try:
        advance.finish(ws, intent)
    except (GitFailed, BadArgs, KeyError):  # a commit is gone, or git refuses a name: the files stay as they are
        INTENT.clear(ws)


def _wait_for_locks(root: Path, began: float) -> None:
    """Let a git that a person runs remove its own locks. A lock that stays was left by the killed call."""
    while any(0 <= time.time() - changed < GIT_LOCK_TIMEOUT for _, changed in _left_behind(root, LOCKS, began)):
        time.sleep(0.02)


def _left_behind(root: Path, patterns: Sequence[str], began: float) -> Iterator[tuple[Path, float]]:
    """Files that the killed call can have made, and when they were changed."""
    for pattern in patterns:
        for path in root.glob(pattern):
            with suppress(FileNotFoundError):
                found = path.lstat()
                if stat.S_ISREG(found.st_mode) and began <= found.st_mtime <= began + MAX_CALL_SECONDS:
                    yield path, found.st_mtime
