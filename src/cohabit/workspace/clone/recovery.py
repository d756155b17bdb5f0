"""Clearing up after a process that was killed in the middle of something.

This runs when the clone's lock was taken from a holder that did not get to the end. None of our own git processes is
alive then, except one that talks to the remote: nobody watches its time any more, so it is killed. A person's git is
waited for.
"""

import os
import signal
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cohabit.errors import BadArgs, Busy, GitFailed
from cohabit.workspace.clone import processes
from cohabit.workspace.clone.git import OWNER
from cohabit.workspace.clone.intent import Intent
from cohabit.workspace.driver import MERGING

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
ONLY_READ: Final = frozenset(("blame", "diff", "grep", "help", "log", "shortlog", "show"))
"""Commands that somebody may be reading in a pager for hours."""
WITH_A_VALUE: Final = frozenset(("-c", "-C", "--git-dir", "--work-tree", "--namespace", "--config-env"))
JUST_NOW: Final = 2.0
"""Seconds in which a merge that has begun surely comes to our merge driver, and is known by its mark from then on."""
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
    while any(_is_in_the_way(pid) for pid in _gits_in(root)):
        if time.monotonic() > deadline:
            raise Busy("a git command runs in this clone; try again when it has ended")
        time.sleep(wait)
        wait = min(wait * 2, 0.1)


def wait_for_a_merge(root: Path) -> None:
    """Until no merge by plain git is at the files of this clone; raises Busy when that takes too long.

    Before it merges, git puts aside what is not committed. Should the merge fail, git puts that back over whatever is
    there, and an entry written meanwhile would be lost.
    """
    wait, deadline = 0.005, time.monotonic() + PATIENCE
    while merges(root):
        if time.monotonic() > deadline:
            raise Busy(
                "a person's `git pull`, `git merge` or `git rebase` runs in this clone, and what is written meanwhile "
                "could get lost; try again when it has ended"
            )
        time.sleep(wait)
        wait = min(wait * 2, 0.1)


def merges(root: Path) -> bool:
    """Whether a merge is under way: our merge driver has left its mark, or will in a moment. Costs two looks at files
    that are mostly old or not there."""
    place = root / ".git"
    marked = _is_marked(place / "cohabit" / MERGING)
    if not marked and not _made_since(place / "ORIG_HEAD", time.time() - JUST_NOW):  # git writes it first
        return False
    if os.path.lexists(place / "MERGE_HEAD"):  # the files are merged, and a person writes the message or settles them
        return False
    return marked or any(_is_in_the_way(pid) for pid in _gits_in(root))


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
