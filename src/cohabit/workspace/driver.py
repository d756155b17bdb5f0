"""The merge driver: merging by entry for people who use plain git in a clone. Git runs this file for protocol files.

The configuration of the clone and ``.git/info/attributes``, which no pulled file can override, name it as the driver.
``-P`` keeps Python from loading modules of the work tree, in which git starts it.
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

from cohabit.errors import TooLarge
from cohabit.workspace.formats import INBOX, JOURNAL

if TYPE_CHECKING:
    from cohabit.workspace.clone.git import Git, Result

KEY: Final = "merge.cohabit.driver"
CONFLICT: Final = 99
"""Exit code for a conflict, which no failure of Python itself has."""
PYTHON: Final = shlex.quote(sys.executable)
MERGE: Final = "-P -m cohabit.workspace.driver %O %A %B %P"
FALLBACK: Final = "git merge-file -L ours -L base -L theirs %A %O %B"
CALL: Final = f"{MERGE}; case $? in 0) true;; {CONFLICT}) false;; *) {FALLBACK};; esac"
"""If this program is gone, git would take a failed driver for a conflict and leave our side alone in the file, without
a trace of theirs. The fallback is git's own merge, which leaves both sides with markers."""
COMMAND: Final = f"{PYTHON} {CALL}"
PROGRAM: Final = r"(?:[\w./+@-]+|'[^'\n]+')"
OURS: Final = re.compile(rf"{PROGRAM} {re.escape(CALL)}")
"""This command, of any installation."""
EARLIER: Final = re.compile(rf"{PROGRAM} {re.escape(MERGE)}")
"""The command without the fallback, which is replaced."""
ORIGIN: Final = "refs/remotes/origin/"
CALL_WAIT_SECONDS: Final = 3.0
"""The time that a merge waits for a running call."""
MAX_BRANCHES: Final = 100
"""Branches of the remote in which pushed items are looked up, latest first."""
MAX_ITEMS: Final = 50_000
"""Items after which no further branch is read."""
PROTOCOL_FILES: Final = (JOURNAL, INBOX, "journal-archive/*.md", ".pointers/*.json")
ATTRIBUTES: Final = "".join(
    (
        "# Written by cohabit: merged by entry, and kept as they are, whatever a pulled .gitattributes says.\n",
        "* !merge !working-tree-encoding\n",
        *(f"{path} merge=cohabit !ident !filter\n" for path in PROTOCOL_FILES),
    )
)


# -- installing -----------------------------------------------------------------------------------
def install(git: "Git") -> None:
    """Make plain git in this clone merge protocol files by entry. It can be repeated."""
    path = git.root / ".git" / "config"
    found = git.run("config", "--file", str(path), "--get-all", KEY, ok=(0, 1)).text.splitlines()
    if len(found) != 1 or not works(found[0]):
        git.run("config", "--file", str(path), "--replace-all", "merge.cohabit.name", "merge by entry")
        git.run("config", "--file", str(path), "--replace-all", KEY, COMMAND)
    _write_attributes(git.root / ".git" / "info" / "attributes")


def problems(git: "Git") -> list[str]:
    """Why plain git in this clone would not merge protocol files by entry; empty if it would."""
    path, found = git.root / ".git" / "config", []
    drivers = git.run("config", "--file", str(path), "--get-all", KEY, ok=(0, 1)).text.splitlines()
    if len(drivers) != 1:
        found.append(f"{len(drivers)} merge drivers in .git/config instead of one")
    elif not works(drivers[0]):
        found.append("the merge driver in .git/config names a program that does not exist any more, or is out of date")
    paths = (JOURNAL, INBOX, "journal-archive/2000-01.md", ".pointers/x.json")
    fields = git.run("check-attr", "-z", "merge", "--", *paths).fields
    found += [
        f"{path} is merged by {value!r} and not by entry: see .git/info/attributes"
        for path, value in zip(fields[::3], fields[2::3], strict=False)
        if value != "cohabit"
    ]
    return found


def is_ours(value: str) -> bool:
    """True if a configuration value is this driver, of any installation. Our own git commands never run it: their
    fixed configuration replaces it."""
    return OURS.fullmatch(value) is not None or EARLIER.fullmatch(value) is not None


def works(value: str) -> bool:
    """True if it is up to date, and the Python that it names still exists."""
    return OURS.fullmatch(value) is not None and os.access(shlex.split(value)[0], os.X_OK)


def _write_attributes(path: Path) -> None:
    """Put our lines first, so that a person's own lines in this file still apply."""
    known = path.read_text(errors="surrogateescape") if path.exists() else ""
    if known.startswith(ATTRIBUTES):
        return
    path.parent.mkdir(exist_ok=True)
    draft = path.with_name("attributes.lock")
    draft.write_text(ATTRIBUTES + known.replace(ATTRIBUTES, ""), errors="surrogateescape")
    draft.replace(path)


# -- run by git -----------------------------------------------------------------------------------
def main(args: Sequence[str]) -> int:
    """``%O %A %B %P``: files with the common, our and their version, and the path. The result is written to ``%A``.

    The exit code ``CONFLICT`` says that there is a conflict; the file then holds both sides.
    """
    from cohabit.workspace.clone import plain_git
    from cohabit.workspace.formats.quoting import quoted
    from cohabit.workspace.merging import merge

    state_folder = Path(os.environ.get("GIT_DIR", ".git")) / "cohabit"
    shared = state_folder.is_dir()  # not in a linked worktree, where no tool works
    if shared:
        plain_git.leave_mark(state_folder)
        _wait_for_call(state_folder / "lock")
    base, ours, theirs = (Path(name).read_bytes().decode(errors="surrogateescape") for name in args[:3])
    path = args[3]
    if not merge.is_protocol(path):
        return 1
    try:
        merged = merge.merge_file(path, base or None, ours, theirs, _pushed_ids() if path == INBOX else {})
    except TooLarge as error:  # git merges it by line
        _print(error.message)
        return 1
    Path(args[1]).write_bytes((merged.text or "").encode(errors="surrogateescape"))
    for one in merged.renumbered:
        _print(
            f"{one.old} is now {one.new} ({quoted(one.title)}): its number was taken. Update it where you mention it."
        )
    for note in (*merged.notes, *merged.conflicts):
        _print(note)
    if shared:
        plain_git.leave_mark(state_folder)  # if the merge fails, git restores the files now
    return CONFLICT if merged.conflicts else 0


def _wait_for_call(path: Path) -> None:
    """Wait for a call that began before the mark was left: if the merge fails while the call holds git's index, git
    cannot restore the files. A call that talks to the remote may take longer than this waits."""
    deadline = time.monotonic() + CALL_WAIT_SECONDS
    with suppress(OSError), path.open() as lock:
        while time.monotonic() < deadline:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                time.sleep(0.005)


def _print(line: str) -> None:
    print(line, file=sys.stderr)  # noqa: T201  (git shows it to the person)


def _pushed_ids() -> dict[str, str]:
    """The ids of all items on any branch of the remote, as far as they are fetched, by key.

    Which side comes from the remote is unknown: in a rebase "ours" are the others, in a stash neither side is. If two
    branches have the same id for different items, the branch that the clone was made for is right.
    """
    from cohabit.workspace.merging import merge

    pushed, read = dict[str, str](), 0
    for text in _remote_inboxes():
        taken, ids = set(pushed.values()), merge.item_ids(text)
        pushed |= {key: id_ for key, id_ in ids.items() if key not in pushed and id_ not in taken}
        read += len(ids)
        if read > MAX_ITEMS:
            break
    return pushed


def _remote_inboxes() -> Iterator[str]:
    """The inboxes of all branches of the remote, that of the clone's own branch first."""
    known = _git("config", "--get-regexp", r"^branch\..*\.merge$").text.splitlines()
    recent = _git(
        "for-each-ref", f"--count={MAX_BRANCHES}", "--sort=-committerdate", "--format=%(refname)", ORIGIN
    ).text.split()
    own = [line.rpartition(" ")[2].replace("refs/heads/", ORIGIN, 1) for line in known[:1]]
    names = "".join(f"{name}:{INBOX}\n" for name in (*own, *recent))
    found = _git("cat-file", "--batch-check=%(objecttype) %(objectname)", stdin=names.encode()).text
    for blob in dict.fromkeys(re.findall("^blob ([0-9a-f]+)$", found, re.MULTILINE)):
        yield _git("cat-file", "blob", blob).out.decode(errors="surrogateescape")


def _git(*args: str, stdin: bytes = b"") -> "Result":
    """Run git in the current folder, the top of a work tree, whose ``.git`` may be a file or elsewhere."""
    from cohabit.workspace.clone.git import Git

    environ = {"GIT_DIR": os.environ["GIT_DIR"]} if "GIT_DIR" in os.environ else None
    return Git(Path.cwd()).run(*args, stdin=stdin, ok=(0, 1, 128), environ=environ)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
