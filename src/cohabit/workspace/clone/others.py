"""Git that others run in a clone: people, and processes of ours that were killed.

A merge by hand is waited for before anything is written, and any other command where somebody has to clear up.
"""

import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from cohabit.errors import Busy
from cohabit.workspace.clone import processes
from cohabit.workspace.clone.git import OWNER
from cohabit.workspace.driver import MERGING

ONLY_READ: Final = frozenset(("blame", "diff", "grep", "help", "log", "shortlog", "show"))
"""Commands that somebody may be reading in a pager for hours."""
WITH_A_VALUE: Final = frozenset(("-c", "-C", "--git-dir", "--work-tree", "--namespace", "--config-env"))
JUST_NOW: Final = 2.0
"""Seconds in which a merge that has begun surely comes to our merge driver, and is known by its mark from then on."""
PATIENCE: Final = 10.0
"""How long a git that somebody else runs in this clone is waited for."""


def wait_for_others(root: Path) -> None:
    """Until no git runs in this clone; raises Busy when that takes too long."""
    _wait_while(lambda: _is_at_work(root), "a git command runs in this clone; try again when it has ended")


def wait_for_a_merge(root: Path) -> None:
    """Until no merge by plain git is at the files of this clone; raises Busy when that takes too long.

    Before it merges, git puts aside what is not committed. Should the merge fail, git puts that back over whatever is
    there, and an entry written meanwhile would be lost.
    """
    _wait_while(
        lambda: merges(root),
        "a person's `git pull`, `git merge` or `git rebase` runs in this clone, and what is written meanwhile could "
        "get lost; try again when it has ended",
    )


def _wait_while(busy: Callable[[], bool], told: str) -> None:
    """By looking again and again: a process of somebody else tells nobody when it ends."""
    wait, deadline = 0.005, time.monotonic() + PATIENCE
    while busy():
        if time.monotonic() > deadline:
            raise Busy(told)
        time.sleep(wait)
        wait = min(wait * 2, 0.1)


def merges(root: Path) -> bool:
    """Whether a merge is under way: our merge driver has left its mark, or will in a moment. Costs two looks at files
    that are mostly old or not there."""
    place = f"{root}/.git"
    marked = os.path.exists(f"{place}/cohabit/{MERGING}") and _is_marked(Path(place, "cohabit", MERGING))
    if not marked and not _is_young(f"{place}/ORIG_HEAD"):  # git writes it first
        return False
    if os.path.lexists(f"{place}/MERGE_HEAD"):  # the files are merged, and a person writes the message or settles them
        return False
    return marked or _is_at_work(root)


def _is_at_work(root: Path) -> bool:
    return any(_is_in_the_way(pid) for pid in _gits_in(root))


def _is_young(path: str) -> bool:
    try:
        return os.lstat(path).st_mtime >= time.time() - JUST_NOW
    except FileNotFoundError:
        return False


def _is_marked(place: Path) -> bool:
    try:
        mark = place.read_text(errors="replace")
    except FileNotFoundError:
        return False
    if not processes.runs(mark):
        place.unlink(missing_ok=True)
        return False
    return True


def _is_in_the_way(pid: int) -> bool:
    """Whether this git may be changing the clone, and is not just shown in a pager. One of ours whose owner has ended
    is killed: its time limit ended with the owner, and a remote can hang forever."""
    try:
        environ = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        args = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[1:-1]
    except OSError:
        return processes.look(pid) is not None  # somebody else's, or ended meanwhile
    owner = next((os.fsdecode(one).partition("=")[2] for one in environ if one.startswith(OWNER.encode() + b"=")), None)
    if owner is not None and not processes.runs(owner):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(os.getpgid(pid), signal.SIGKILL)
        return True  # until it is gone
    return _command(args) not in ONLY_READ or not _is_shown_in_a_pager(pid)


def _is_shown_in_a_pager(pid: int) -> bool:
    try:
        return os.readlink(f"/proc/{pid}/fd/1").startswith("pipe:")
    except OSError:
        return True  # all is said, and git waits for the pager to end


def _command(args: Sequence[bytes]) -> str:
    """The word of a git command line that says what to do."""
    words = iter(os.fsdecode(arg) for arg in args)
    for word in words:
        if word in WITH_A_VALUE:
            next(words, None)
        elif not word.startswith("-"):
            return word
    return ""


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
