"""Choosing what the next commit takes: ``git add`` for named paths, and nothing that leads elsewhere."""

import os
import re
import stat
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from cohabit.errors import BadArgs, CohabitError, Conflict, PermissionDenied, UnknownAsset
from cohabit.workspace.clone import plain_git
from cohabit.workspace.clone.git import Done, failure
from cohabit.workspace.clone.tree import pathspecs

if TYPE_CHECKING:
    from cohabit.workspace.workspace import Workspace

MARKED: Final = re.compile(rb"^<{7} .*^>{7} ", re.MULTILINE | re.DOTALL)


def add(ws: "Workspace", paths: Sequence[str]) -> None:
    """Stage files and folders, and the removal of files that are gone. A wrong path stops them all; one that is only
    ignored does not."""
    wanted = pathspecs(paths)
    if not wanted:
        return
    folders = [path for path in wanted if _is_folder(ws, path)]
    _refuse_unsettled(ws, wanted)
    if folders:
        _refuse_repositories(ws, folders)
        _add(ws, "--dry-run", "--", *wanted)
    _add(ws, "--", *wanted)


def _refuse_repositories(ws: "Workspace", folders: list[str]) -> None:
    """A folder may hold a repository that is known as a submodule: git would start a git in it, with whatever that
    one's configuration says. One that is not known yet is seen by the dry run: git would take it in as a link to a
    commit that nobody else has."""
    for field in ws.git.run("ls-files", "--stage", "-z", "--", *folders).fields:
        entry, _, path = field.partition("\t")
        if entry.startswith("160000 ") and os.path.lexists(ws.root / path / ".git"):
            raise _another(path)


def _refuse_unsettled(ws: "Workspace", wanted: list[str]) -> None:
    """A file that a merge by hand left with both sides in it: to add it would say that it is settled."""
    if plain_git.unfinished(ws) is None and not os.path.lexists(ws.root / ".git" / "AUTO_MERGE"):  # that: a stash
        return
    unmerged = ws.git.run("ls-files", "--unmerged", "-z", "--", *wanted).fields
    paths = sorted({field.partition("\t")[2] for field in unmerged})
    if open_ := [path for path in paths if _has_markers(ws, path)]:
        what = plain_git.unfinished(ws)
        abort = f", or end that with `git {what} --abort`" if what else ""
        raise Conflict(
            f"nothing was added: {', '.join(open_[:5])} still has both sides of a {what or 'merge'} by hand in it, "
            f"between <<<<<<< and >>>>>>>; settle it first{abort}"
        )


def _has_markers(ws: "Workspace", path: str) -> bool:
    try:
        text = ws.tree.read(path)
    except (FileNotFoundError, BadArgs):
        return False
    return MARKED.search(text) is not None


def _add(ws: "Workspace", *args: str) -> None:
    done = ws.git.run("add", *args, ok=(0, 1, 128))
    if done.code != 0 or "embedded git repository" in done.err:
        raise _refused(ws, done)


def _is_folder(ws: "Workspace", path: str) -> bool:
    """Walks there without following a link; raises BadArgs where there is one on the way."""
    *folders, name = path.split("/")
    try:
        with ws.tree.folder(folders) as fd:
            return stat.S_ISDIR(os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return False  # removed, or never there: git knows which


def _refused(ws: "Workspace", done: Done) -> CohabitError:
    said = "\n".join(line for line in done.err.splitlines() if not line.startswith("hint:"))
    first = said.partition("\n")[0].removeprefix("warning: ").removeprefix("fatal: ").removeprefix("error: ")
    if "did not match any files" in said:
        return UnknownAsset(f"nothing was added: {first}; status shows what there is to add")
    if "embedded git repository" in said or "does not have a commit checked out" in said:
        return _another(first)
    if "in submodule" in said:
        return PermissionDenied(f"nothing was added: {first}; what is in a submodule belongs to another repository")
    if "ignored by one of your .gitignore" in said:
        ignored = ", ".join(said.splitlines()[1:])
        return BadArgs(f"a .gitignore file says that these are not shared: {ignored}; add the others without them")
    return failure("add", Done(done.code, b"", said), ws.root, network=False)


def _another(where: str) -> PermissionDenied:
    return PermissionDenied(
        f"nothing was added: there is another git repository inside ({where}); a workspace holds files only, so take "
        "its .git folder away or leave it out"
    )
