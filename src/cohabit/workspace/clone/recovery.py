"""Clearing up after a process that was killed in the middle of something.

This runs when the clone's lock was taken from a holder that did not get to the end. None of our own git processes is
alive then, except one that talks to the remote: nobody watches its time any more, so it is killed. A person's git is
waited for.
"""

import stat
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cohabit.errors import BadArgs, GitFailed
from cohabit.workspace.clone import others
from cohabit.workspace.clone.intent import Intent

if TYPE_CHECKING:
    from cohabit.workspace.workspace import Workspace

LEFT: Final = (
    "*.lock", "refs/**/*.lock", "info/*.lock", "logs/**/*.lock", "objects/info/**/*.lock",
    "cohabit/.*.new", "cohabit/*.draft", "refs/cohabit/*/.*.new",
)  # fmt: skip
"""What a killed git leaves in ``.git``, and would take for another git at work; and what we write before it moves to
its place (see ``tree`` and ``whole``)."""
LEFT_IN_THE_TREE: Final = ".merge_file_??????"
"""What a git that is killed in a merge leaves beside the files, where it would be shared."""


def clear_up(ws: "Workspace", died: float) -> None:
    """Take away what the dead left since ``died``, and finish what they had begun."""
    others.wait_for_others(ws.root)
    for path in _left_behind(ws.root, died):
        path.unlink(missing_ok=True)
    intent = Intent.read(ws)
    if intent is not None:
        _finish(ws, intent)


def _finish(ws: "Workspace", intent: Intent) -> None:
    from cohabit.workspace.sharing import advance  # it needs the whole of merging, and most days nobody dies

    try:
        advance.finish(ws, intent)
    except (GitFailed, BadArgs, KeyError):  # a commit that is gone, a name that git refuses: the files stay as they are
        Intent.clear(ws)


def _left_behind(root: Path, died: float) -> Iterator[Path]:
    for pattern in LEFT:
        yield from (path for path in (root / ".git").glob(pattern) if _made_since(path, died))
    yield from (path for path in root.glob(LEFT_IN_THE_TREE) if _made_since(path, died))


def _made_since(path: Path, died: float) -> bool:
    try:
        found = path.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISREG(found.st_mode) and found.st_mtime >= died
