"""The same merge for people who use plain git in a clone: git calls this file for the protocol files.

Git is told so in the clone's own configuration and in ``.git/info/attributes``, which no pulled file can override.
``-P`` keeps Python from loading modules out of the work tree, where git starts it.
"""

import fcntl
import os
import re
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cohabit.workspace.formats.paths import INBOX, JOURNAL

if TYPE_CHECKING:
    from cohabit.workspace.clone.git import Done
    from cohabit.workspace.workspace import Workspace

KEY: Final = "merge.cohabit.driver"
CALL: Final = "-P -m cohabit.workspace.driver %O %A %B %P"
COMMAND: Final = f"{shlex.quote(sys.executable)} {CALL}"
OURS: Final = re.compile(rf"(?:[\w./+@-]+|'[^'\n]+') {re.escape(CALL)}")
"""This command, also as another installation writes it."""
ORIGIN: Final = "refs/remotes/origin/"
LONGEST_CALL: Final = 3.0
"""Seconds for which a merge waits for a call that has begun."""
MOST_BRANCHES: Final = 100
"""Of the remote, in which numbers are looked for: those that were worked on last."""
OUR_FILES: Final = (JOURNAL, INBOX, "journal-archive/*.md", ".pointers/*.json")
ATTRIBUTES: Final = "".join(
    (
        "# Written by cohabit: merged by entry, and kept as they are, whatever a pulled .gitattributes says.\n",
        "* !merge !working-tree-encoding\n",
        *(f"{path} merge=cohabit !ident !filter\n" for path in OUR_FILES),
    )
)


# -- setting up -----------------------------------------------------------------------------------
def install(ws: "Workspace") -> None:
    """Make this clone's git merge the protocol files by entry. Done already, it changes nothing."""
    place = ws.root / ".git" / "config"
    found = ws.git.run("config", "--file", str(place), "--get-all", KEY, ok=(0, 1)).text.splitlines()
    if len(found) != 1 or not works(found[0]):
        ws.git.run("config", "--file", str(place), "--replace-all", "merge.cohabit.name", "merge by entry")
        ws.git.run("config", "--file", str(place), "--replace-all", KEY, COMMAND)
    _write_attributes(ws.root / ".git" / "info" / "attributes")


def is_ours(value: str) -> bool:
    """Whether a clone's configuration names this driver, of this installation or another. Nothing here ever runs it:
    our own git commands are told of another driver, see git."""
    return OURS.fullmatch(value) is not None


def works(value: str) -> bool:
    """Whether the Python that it names is still there."""
    return is_ours(value) and os.access(shlex.split(value)[0], os.X_OK)


def _write_attributes(place: Path) -> None:
    """Our lines first, so that a person's own lines in this file still count."""
    known = place.read_text(errors="surrogateescape") if place.exists() else ""
    if known.startswith(ATTRIBUTES):
        return
    place.parent.mkdir(exist_ok=True)
    draft = place.with_name("attributes.lock")
    draft.write_text(ATTRIBUTES + known.replace(ATTRIBUTES, ""), errors="surrogateescape")
    draft.replace(place)


# -- called by git --------------------------------------------------------------------------------
def main(args: Sequence[str]) -> int:
    """``%O %A %B %P``: the common, our and their version in files, and the path they are of. The result goes to ``%A``.

    Exit code 1 tells git that there is something to settle; the file then holds both sides.
    """
    from cohabit.workspace.clone import plain_git
    from cohabit.workspace.merging import merge

    own = Path(os.environ.get("GIT_DIR", ".git")) / "cohabit"  # missing in a linked worktree, where no tool works
    if own.is_dir():
        plain_git.leave_mark(own)
        _wait_for_the_lock(own / "lock")
    base, ours, theirs = (Path(name).read_bytes().decode(errors="surrogateescape") for name in args[:3])
    path = args[3]
    if not merge.is_protocol(path):
        return 1
    merged = merge.merge_file(path, base or None, ours, theirs, _pushed() if path == INBOX else {})
    Path(args[1]).write_bytes((merged.text or "").encode(errors="surrogateescape"))
    for one in merged.renumbered:
        _say(f"{one.old} is now {one.new} ({one.title}): its number was taken. Mend it where you mention it.")
    for note in (*merged.notes, *merged.conflicts):
        _say(note)
    if own.is_dir():
        plain_git.leave_mark(own)  # if the merge fails, git restores the files now
    return 1 if merged.conflicts else 0


def _wait_for_the_lock(place: Path) -> None:
    """Until a call that had begun before the mark was there has ended: should git put back what it found while the call
    works in the index, it would fail at that too. A call that talks to the remote may take too long."""
    deadline = time.monotonic() + LONGEST_CALL
    with suppress(OSError), place.open() as lock:
        while time.monotonic() < deadline:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                time.sleep(0.005)


def _say(line: str) -> None:
    print(line, file=sys.stderr)  # noqa: T201  (git shows it to the person)


def _pushed() -> dict[str, str]:
    """The items that the remote has on any branch, as far as this clone knows, and their numbers.

    Which side comes from there cannot be told: in a rebase "ours" are the others, in a stash neither side is. Where two
    branches have one number for two items, the branch that the clone was made for is right: that is the board.
    """
    from cohabit.workspace.merging import merge

    pushed: dict[str, str] = {}
    for text in _inboxes_of_the_remote():
        taken = set(pushed.values())
        pushed |= {key: id_ for key, id_ in merge.item_ids(text).items() if key not in pushed and id_ not in taken}
    return pushed


def _inboxes_of_the_remote() -> Iterator[str]:
    """Each inbox that a branch of the remote has, the one of the board first."""
    known = _git("config", "--get-regexp", r"^branch\..*\.merge$").text.splitlines()
    recent = _git(
        "for-each-ref", f"--count={MOST_BRANCHES}", "--sort=-committerdate", "--format=%(refname)", ORIGIN
    ).text.split()
    board = [line.rpartition(" ")[2].replace("refs/heads/", ORIGIN, 1) for line in known[:1]]
    names = "".join(f"{name}:{INBOX}\n" for name in (*board, *recent))
    found = _git("cat-file", "--batch-check=%(objecttype) %(objectname)", stdin=names.encode()).text
    for blob in dict.fromkeys(re.findall("^blob ([0-9a-f]+)$", found, re.MULTILINE)):
        yield _git("cat-file", "blob", blob).out.decode(errors="surrogateescape")


def _git(*args: str, stdin: bytes = b"") -> "Done":
    """Git where it called us from: at the top of a work tree, whose ``.git`` may be a file or lie elsewhere."""
    from cohabit.workspace.clone.git import Git

    elsewhere = {"GIT_DIR": os.environ["GIT_DIR"]} if "GIT_DIR" in os.environ else None
    return Git(Path.cwd()).run(*args, stdin=stdin, ok=(0, 1, 128), extra=elsewhere)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
