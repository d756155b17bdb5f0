"""What differs: between two commits, and between a commit and the files that are there."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from cohabit.errors import Conflict
from cohabit.workspace.clone.objects import Entry

if TYPE_CHECKING:
    from cohabit.workspace.workspace import Workspace

EMPTY_TREE: Final = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
NOTHING: Final = "000000"


@dataclass(frozen=True, slots=True)
class Change:
    """One path, as it was and as it is; None where it is not there."""

    path: str
    before: Entry | None
    after: Entry | None


@dataclass(frozen=True, slots=True)
class Dirty:
    """A tracked file with uncommitted work: what the index has of it, and where it differs."""

    index: Entry | None
    staged: bool
    unstaged: bool


def changes(ws: "Workspace", before: str, after: str) -> dict[str, Change]:
    """By path, what changed from one commit (or tree) to another. A rename is a file less and a file more."""
    fields = iter(ws.git.run("diff-tree", "-r", "-z", "--no-renames", "--raw", before, after).fields)
    return {change.path: change for change in _parsed(fields)}


def _parsed(fields: Iterator[str]) -> Iterator[Change]:
    for row in fields:
        old_mode, new_mode, old, new, _ = row.removeprefix(":").split(" ")
        yield Change(next(fields), _entry(old_mode, old), _entry(new_mode, new))


def dirty_files(ws: "Workspace") -> dict[str, Dirty]:
    """Tracked files with uncommitted work. Raises Conflict in the middle of a merge by hand."""
    options = ("--porcelain=v2", "-z", "--untracked-files=no", "--no-renames", "--ignore-submodules=all")
    found = {}
    for row in ws.git.run("status", *options).fields:
        if row.startswith("u "):
            raise Conflict("files of a merge by hand are unsettled in this clone; settle and commit them first")
        if row.startswith("1 "):
            _, xy, _, _, mode, _, _, sha, path = row.split(" ", 8)
            found[path] = Dirty(_entry(mode, sha), staged=xy[0] != ".", unstaged=xy[1] != ".")
    return found


def untracked_files(ws: "Workspace") -> list[str]:
    return ws.git.run("ls-files", "--others", "--exclude-standard", "-z").fields


def _entry(mode: str, sha: str) -> Entry | None:
    return None if mode == NOTHING else Entry(mode, sha)
