"""Moving a clone on to a commit that its work is in: branch, index and files, with uncommitted work kept.

Nothing of an agent's own is ever out of its file: a text that has to change is made beside it, and replaces it whole
at the end. What is about to happen is written down first (``intent``), so that whoever comes after a killed process
can finish it; finishing twice changes nothing.
"""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from cohabit.errors import BadArgs, Busy, CohabitError, GitFailed, StorageFailed
from cohabit.workspace.clone import objects, refs
from cohabit.workspace.clone.deltas import EMPTY_TREE, Change, changes
from cohabit.workspace.clone.git import Done, failure
from cohabit.workspace.clone.intent import Carried, Intent
from cohabit.workspace.clone.objects import Entry
from cohabit.workspace.limits import LARGEST_TEXT
from cohabit.workspace.merging import merge
from cohabit.workspace.sharing.route import Move

if TYPE_CHECKING:
    from cohabit.workspace.workspace import Workspace

MOVED: Final = "somebody else moved this branch in the same moment; call again"


def carry_out(ws: "Workspace", move: Move) -> tuple[str, ...]:
    """Go the way that was planned. Returns notes: files that could not be written."""
    assert not move.in_the_way
    if refs.head(ws) != move.start:
        raise Busy(MOVED)
    intent = Intent(move.start, move.goal, move.carried)
    intent.write(ws)
    try:
        _stage(ws, move.changes, move.carried)
    except CohabitError:  # git changed nothing: another git is at work, or a name in the commit is not allowed
        Intent.clear(ws)
        raise
    try:
        return _finish(ws, intent, move.changes, keep=frozenset())
    except BaseException:
        ws.lock.hurt = True  # a full disk, say: the next call finishes it, as it would after a process that was killed
        raise


def finish(ws: "Workspace", intent: Intent) -> None:
    """What a killed process left half done. Files that a person changed since then stay as they are."""
    if refs.head(ws) != intent.start:  # done, or a person went on from there
        Intent.clear(ws)
        return
    coming = changes(ws, intent.start or EMPTY_TREE, intent.goal)
    keep = _changed_since(ws, coming, {carried.path for carried in intent.carried})
    _stage(ws, coming, intent.carried)
    _finish(ws, intent, coming, keep)


def _finish(ws: "Workspace", intent: Intent, coming: Mapping[str, Change], keep: frozenset[str]) -> tuple[str, ...]:
    stay = keep | {carried.path for carried in intent.carried}
    notes = _update_files(ws, [change for path, change in coming.items() if path not in stay])
    for carried in intent.carried:
        _write_carried(ws, carried)
    try:
        ws.git.run("update-ref", "-m", "integrate", "HEAD", intent.goal, intent.start or "0" * 40)
    except GitFailed as wrong:
        if refs.head(ws) == intent.start:  # nobody moved it: what is written down stays, to be finished
            raise
        Intent.clear(ws)
        raise Busy(MOVED) from wrong
    Intent.clear(ws)
    return notes


def _stage(ws: "Workspace", coming: Mapping[str, Change], carried: Sequence[Carried]) -> None:
    """The index becomes the goal's wherever something changes; what else is staged stays staged."""
    entries: dict[str, Entry | None] = {path: change.after for path, change in coming.items()}
    for one in carried:
        if one.staged is not None:
            entry = entries.get(one.path)
            entries[one.path] = Entry(entry.mode if entry else "100644", one.staged)
    if not entries:
        return
    gone = [f"0 {'0' * 40}\t{path}" for path, entry in entries.items() if entry is None]
    there = [f"{entry.mode} {entry.sha}\t{path}" for path, entry in entries.items() if entry is not None]
    ws.git.run("update-index", "-z", "--index-info", stdin=_listed([*gone, *there]))


def _update_files(ws: "Workspace", coming: Sequence[Change]) -> tuple[str, ...]:
    for change in coming:
        if change.after is None and change.before is not None and change.before.mode != "160000":
            _remove(ws, change.path)
    written = [change.path for change in coming if change.after is not None and change.after.mode != "160000"]
    if not written:
        return ()
    done = ws.git.run("checkout-index", "-f", "-u", "-q", "-z", "--stdin", stdin=_listed(written), ok=(0, 1, 128))
    return () if done.code == 0 else _left_unwritten(ws, done, written)


def _left_unwritten(ws: "Workspace", done: Done, written: Sequence[str]) -> tuple[str, ...]:
    """Files that cannot be written here, as for want of rights or because of their names. Git is told not to look at
    them: the next ``add .`` would take what is here instead for somebody's work, and undo what others did."""
    wrong = failure("checkout-index", done, ws.root, network=False)
    if isinstance(wrong, StorageFailed):
        raise wrong
    ws.git.run("update-index", "-q", "--refresh", ok=(0, 1, 128))  # those that were written are known by their stamps
    other = set(ws.git.run("diff-files", "--name-only", "-z", ok=(0, 1, 128)).fields)
    paths = [path for path in written if path in other or not os.path.lexists(ws.root / path)]
    ws.git.run("update-index", "--skip-worktree", "-z", "--stdin", stdin=_listed(paths))
    names, why = ", ".join(paths[:10]), done.err.strip()[:300]
    mended = "`git update-index --no-skip-worktree` and `git checkout`"
    return (
        f"files that could not be written, and are left as they were: {names}. When that is mended: {mended} ({why})",
    )


def _remove(ws: "Workspace", path: str) -> None:
    """The file, and the folders that are empty without it. Never through a link."""
    *folders, name = path.split("/")
    try:
        with ws.tree.folder(folders) as fd:
            os.unlink(name, dir_fd=fd)
        while folders:
            name = folders.pop()
            with ws.tree.folder(folders) as fd:
                os.rmdir(name, dir_fd=fd)
    except (BadArgs, OSError):  # it is not there, or somebody's folder with something in it is
        return


def _write_carried(ws: "Workspace", carried: Carried) -> None:
    """The merged text, unless it is there already; what a person wrote since is merged once more."""
    data = objects.texts(ws, [carried.before, carried.after])
    before, after, here = data[carried.before], data[carried.after], ws.tree.text(carried.path)
    if here not in (before, after):
        if not merge.is_protocol(carried.path):
            return
        pushed = merge.pushed_in(carried.path, after)
        after = merge.merge_file(carried.path, before, here, after, pushed).text or after
    if here != after:
        ws.tree.write(carried.path, objects.bytes_of(after), most=LARGEST_TEXT)


def _changed_since(ws: "Workspace", coming: Mapping[str, Change], carried: set[str]) -> frozenset[str]:
    """Paths whose file is neither the old nor the new one, nor the beginning of the new one."""
    here = _shas_here(ws, [path for path in coming if path not in carried])
    odd = [path for path, sha in here.items() if sha not in _shas(coming[path])]
    return frozenset(path for path in odd if not _is_torn(ws, path, coming[path].after))


def _shas(change: Change) -> list[str]:
    return [entry.sha for entry in (change.before, change.after) if entry is not None]


def _shas_here(ws: "Workspace", paths: Sequence[str]) -> dict[str, str]:
    """What git would store for the files that are there. (A name with a line end cannot be asked for: it is left out,
    and written anew.)"""
    links = [path for path in paths if os.path.islink(ws.root / path)]
    plain = [path for path in paths if path not in links and os.path.isfile(ws.root / path) and "\n" not in path]
    found = {path: objects.sha_of("blob", os.fsencode(os.readlink(ws.root / path))) for path in links}
    asked = "".join(f"{path}\n" for path in plain)
    shas = ws.git.run("hash-object", "--stdin-paths", stdin=os.fsencode(asked)).text.split() if plain else []
    return found | dict(zip(plain, shas, strict=True))


def _is_torn(ws: "Workspace", path: str, after: Entry | None) -> bool:
    if after is None or not after.is_file:
        return False
    try:
        return objects.read(ws, [after.sha]).get(after.sha, b"").startswith(ws.tree.read(path))
    except (BadArgs, OSError):
        return False


def _listed(rows: Sequence[str]) -> bytes:
    return b"".join(os.fsencode(row) + b"\0" for row in rows)
