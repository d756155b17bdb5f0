"""The same merge for people who use plain git in a clone: git calls this file for the protocol files.

Git is told so in the clone's own configuration and in ``.git/info/attributes``, which no pulled file can override.
``-P`` keeps Python from loading modules out of the work tree, where git starts it.
"""

import os
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from cohabit.workspace.workspace import Workspace

KEY: Final = "merge.cohabit.driver"
CALL: Final = "-P -m cohabit.workspace.driver %O %A %B %P"
COMMAND: Final = f"{shlex.quote(sys.executable)} {CALL}"
OURS: Final = re.compile(rf"(?:[\w./+@-]+|'[^'\n]+') {re.escape(CALL)}")
"""This command, also as another installation writes it."""
ATTRIBUTES: Final = """\
# Written by cohabit: these files are merged by entry, and no pulled .gitattributes chooses another merge.
* !merge
journal.md merge=cohabit
inbox.md merge=cohabit
journal-archive/*.md merge=cohabit
.pointers/*.json merge=cohabit
"""


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
    from cohabit.workspace.merging import merge

    base, ours, theirs = (Path(name).read_bytes().decode(errors="surrogateescape") for name in args[:3])
    path = args[3]
    if not merge.is_protocol(path):
        return 1
    merged = merge.merge_file(path, base or None, ours, theirs, _pushed(path))
    Path(args[1]).write_bytes((merged.text or "").encode(errors="surrogateescape"))
    for one in merged.renumbered:
        _say(f"{one.old} is now {one.new} ({one.title}): its number was taken. Mend it where you mention it.")
    for note in (*merged.notes, *merged.conflicts):
        _say(note)
    return 1 if merged.conflicts else 0


def _say(line: str) -> None:
    print(line, file=sys.stderr)  # noqa: T201  (git shows it to the person)


def _pushed(path: str) -> set[str]:
    """The items that the remote has, as far as this clone knows: in a rebase, "ours" are the others."""
    from cohabit.workspace.clone.git import Git
    from cohabit.workspace.merging import merge

    if path != "inbox.md" or not Path(".git").is_dir():
        return set()
    name = f"refs/remotes/origin/{_branch()}:{path}"
    return merge.item_keys(Git(Path.cwd()).run("cat-file", "blob", name, ok=(0, 128)).text)


def _branch() -> str:
    """The branch that is worked on, also in the middle of a rebase."""
    for name in ("rebase-merge/head-name", "rebase-apply/head-name", "HEAD"):
        place = Path(".git", name)
        if place.exists():
            return place.read_text().strip().removeprefix("ref: ").removeprefix("refs/heads/")
    return "main"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
