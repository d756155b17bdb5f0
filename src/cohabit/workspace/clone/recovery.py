"""Clearing up after a process that was killed in the middle of something.

This runs when the clone's lock was taken from a holder that did not get to the end. None of our own git processes is
alive then, except one that talks to the remote, which is waited for like a person's.
"""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cohabit.errors import BadArgs, Busy, GitFailed
from cohabit.workspace.clone.intent import Intent

if TYPE_CHECKING:
    from cohabit.workspace.workspace import Workspace

LEFT: Final = (
    "*.lock", "refs/**/*.lock", "info/*.lock", "logs/**/*.lock", "objects/info/**/*.lock",
    "cohabit/.*.new", "cohabit/*.draft",
)  # fmt: skip
"""What a killed git leaves in ``.git``, and would take for another git at work; and what we write before it moves to
its place (see ``tree`` and ``whole``)."""
PATIENCE: Final = 10.0
"""How long a git that somebody else runs in this clone is waited for."""


def clear_up(ws: "Workspace", died: float) -> None:
    """Take away what the dead left since ``died``, and finish what they had begun."""
    wait_for_others(ws.root)
    for path in _left_behind(ws.root, died):
        path.unlink(missing_ok=True)
    intent = Intent.read(ws)
    if intent is not None:
        _finish(ws, intent)


def wait_for_others(root: Path) -> None:
    """Until no git runs in this clone; raises Busy when that takes too long."""
    wait, deadline = 0.005, time.monotonic() + PATIENCE
    while any(_gits_in(root)):
        if time.monotonic() > deadline:
            raise Busy("a git command runs in this clone; try again when it has ended")
        time.sleep(wait)
        wait = min(wait * 2, 0.1)


def _finish(ws: "Workspace", intent: Intent) -> None:
    from cohabit.workspace.sharing import advance  # it needs the whole of merging, and most days nobody dies

    try:
        advance.finish(ws, intent)
    except (GitFailed, BadArgs, KeyError):  # a commit that is gone, a name that git refuses: the files stay as they are
        Intent.clear(ws)


def _left_behind(root: Path, died: float) -> Iterator[Path]:
    for pattern in LEFT:
        yield from (path for path in (root / ".git").glob(pattern) if _made_since(path, died))


def _made_since(path: Path, died: float) -> bool:
    try:
        return path.lstat().st_mtime >= died
    except FileNotFoundError:
        return False


def _gits_in(root: Path) -> Iterator[int]:
    """Git processes whose folder is in this clone. Where the system does not tell (no ``/proc``), none is known."""
    real = os.path.realpath(root)
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            where = os.readlink(entry / "cwd")
            name = (entry / "comm").read_text().strip()
        except OSError:  # ended meanwhile, or somebody else's
            continue
        if name.startswith("git") and (where == real or where.startswith(f"{real}/")):
            yield int(entry.name)
