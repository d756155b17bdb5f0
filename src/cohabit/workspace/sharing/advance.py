"""Moving a clone to a commit that contains its work: branch, index and files, keeping uncommitted work.

A file of an agent is never missing or incomplete: a text that has to change is replaced atomically at the end. The
intent is written down first, so that the next call can finish the move of a killed one; finishing twice changes
nothing.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from cohabit.errors import BadArgs, Busy, CohabitError, GitFailed, StorageFailed, TooLarge
from cohabit.workspace.clone import objects, refs
from cohabit.workspace.clone.clone import Clone, StateFile
from cohabit.workspace.clone.git import Result, failure
from cohabit.workspace.clone.objects import EMPTY_TREE, Change, Entry, changes
from cohabit.workspace.formats.quoting import listed, quoted
from cohabit.workspace.limits import MAX_FILE_BYTES
from cohabit.workspace.merging import merge
from cohabit.workspace.sharing.plan import Carried, Move

MAX_REASON: Final = 120
"""Characters of git's message in a note."""
SUBMODULE: Final = "160000"
BRANCH_MOVED: Final = "this branch was moved by somebody else at the same time; call again"


@dataclass(frozen=True, slots=True)
class Intent:
    """A move of the clone from the commit ``start`` (None: from no commit) to ``goal``."""

    start: str | None
    goal: str
    carried: tuple[Carried, ...] = ()


INTENT: Final = StateFile("advance.json", Intent)
"""The intent of the call that is moving the clone, or of one that did not finish."""


def carry_out(ws: Clone, move: Move) -> tuple[str, ...]:
    """Carry out a planned move. Returns notes about files that could not be written."""
    assert not move.blocking
    if refs.head(ws) != move.start:
        raise Busy(BRANCH_MOVED)
    intent = Intent(move.start, move.goal, move.carried)
    INTENT.write(ws, intent)
    try:
        _stage(ws, move.changes, move.carried)
    except CohabitError:  # git changed nothing: another git is running, or the commit contains an invalid name
        INTENT.clear(ws)
        raise
    try:
        return _finish(ws, intent, move.changes, keep=frozenset())
    except BaseException:
        ws.lock.needs_recovery = True  # for example, the disk is full: the next call finishes the move
        raise


def finish(ws: Clone, intent: Intent) -> None:
    """Finish the move of a killed call. Files that a person changed since then stay as they are."""
    if refs.head(ws) != intent.start:  # it is complete, or a person has moved the branch
        INTENT.clear(ws)
        return
    coming = changes(ws, intent.start or EMPTY_TREE, intent.goal)
    keep = _changed_since(ws, coming, {carried.path for carried in intent.carried})
    _stage(ws, coming, intent.carried)
    _finish(ws, intent, coming, keep)


def _finish(ws: Clone, intent: Intent, coming: Mapping[str, Change], keep: frozenset[str]) -> tuple[str, ...]:
    skipped = keep | {carried.path for carried in intent.carried}
    notes = _update_files(ws, [change for path, change in coming.items() if path not in skipped])
    for carried in intent.carried:
        _write_carried(ws, carried)
    try:
        ws.git.run("update-ref", "-m", "integrate", "HEAD", intent.goal, intent.start or "0" * 40)
    except GitFailed as error:
        if refs.head(ws) == intent.start:  # nobody moved it: the intent stays, and the next call finishes it
            raise
        INTENT.clear(ws)
        raise Busy(BRANCH_MOVED) from error
    INTENT.clear(ws)
    return notes


def _stage(ws: Clone, coming: Mapping[str, Change], carried: Sequence[Carried]) -> None:
    """Set the index to the goal for all changed paths; what else is staged stays staged."""
    entries: dict[str, Entry | None] = {path: change.after for path, change in coming.items()}
    for one in carried:
        if one.staged is not None:
            entry = entries.get(one.path)
            entries[one.path] = Entry(entry.mode if entry else "100644", one.staged)
    if not entries:
        return
    removed = [f"0 {'0' * 40}\t{path}" for path, entry in entries.items() if entry is None]
    present = [f"{entry.mode} {entry.sha}\t{path}" for path, entry in entries.items() if entry is not None]
    ws.git.run("update-index", "-z", "--index-info", stdin=_nul_terminated([*removed, *present]))


def _update_files(ws: Clone, coming: Sequence[Change]) -> tuple[str, ...]:
    for change in coming:
        if change.after is None and change.before is not None and change.before.mode != SUBMODULE:
            _remove(ws, change.path)
    written = [change.path for change in coming if change.after is not None and change.after.mode != SUBMODULE]
    if not written:
        return ()
    result = ws.git.run(
        "checkout-index", "-f", "-u", "-q", "-z", "--stdin", stdin=_nul_terminated(written), ok=(0, 1, 128)
    )
    return () if result.code == 0 else _skip_unwritable(ws, result, written)


def _skip_unwritable(ws: Clone, result: Result, written: Sequence[str]) -> tuple[str, ...]:
    """Mark files that cannot be written here, because of permissions or their names, so that git does not look at them:
    otherwise the next ``add .`` would take their old content for a change and undo what others did."""
    error = failure("checkout-index", result, ws.root, network=False)
    if isinstance(error, StorageFailed):
        raise error
    ws.git.run("update-index", "-q", "--refresh", ok=(0, 1, 128))  # so that the written ones count as unchanged
    different = set(ws.git.run("diff-files", "--name-only", "-z", ok=(0, 1, 128)).fields)
    paths = [path for path in written if path in different or not os.path.lexists(ws.root / path)]
    ws.git.run("update-index", "--skip-worktree", "-z", "--stdin", stdin=_nul_terminated(paths))
    commands = "`git update-index --no-skip-worktree` and `git checkout`"
    note = (
        f"these files could not be written and are unchanged: {listed(paths)}. When the cause is fixed, run {commands} "
        f"({quoted(result.err.strip(), MAX_REASON)})"
    )
    return (note,)


def _remove(ws: Clone, path: str) -> None:
    """Remove a file and the folders that are empty without it, never through a link."""
    *folders, name = path.split("/")
    try:
        with ws.tree.folder(folders) as fd:
            os.unlink(name, dir_fd=fd)
        while folders:
            name = folders.pop()
            with ws.tree.folder(folders) as fd:
                os.rmdir(name, dir_fd=fd)
    except (BadArgs, OSError):  # it does not exist, or the folder is not empty
        return


def _write_carried(ws: Clone, carried: Carried) -> None:
    """Write the merged text unless it is already there; if a person has changed the file since, merge again."""
    data = objects.texts(ws, [carried.before, carried.after])
    before, after, here = data[carried.before], data[carried.after], ws.tree.text(carried.path)
    if here not in (before, after):
        if not merge.is_protocol(carried.path):
            return
        pushed = merge.pushed_ids(carried.path, after)
        try:
            after = merge.merge_file(carried.path, before, here, after, pushed).text or after
        except TooLarge:  # as for any other file
            return
    if here != after:
        ws.tree.write(carried.path, objects.bytes_of(after), max_bytes=MAX_FILE_BYTES)


def _changed_since(ws: Clone, coming: Mapping[str, Change], carried: set[str]) -> frozenset[str]:
    """Paths whose file is neither the old nor the new version, nor the beginning of the new one."""
    here = _shas_here(ws, [path for path in coming if path not in carried])
    known = {path: [side.sha for side in (coming[path].before, coming[path].after) if side] for path in here}
    other = [path for path, sha in here.items() if sha not in known[path]]
    return frozenset(path for path in other if not _is_incomplete(ws, path, coming[path].after))


def _shas_here(ws: Clone, paths: Sequence[str]) -> dict[str, str]:
    """The shas that git would give the files. (A name with a line break cannot be passed to git: it is left out, and
    the file is written again.)"""
    links = [path for path in paths if os.path.islink(ws.root / path)]
    plain = [path for path in paths if path not in links and os.path.isfile(ws.root / path) and "\n" not in path]
    found = {path: objects.sha_of("blob", os.fsencode(os.readlink(ws.root / path))) for path in links}
    names = "".join(f"{path}\n" for path in plain)
    shas = ws.git.run("hash-object", "--stdin-paths", stdin=os.fsencode(names)).text.split() if plain else []
    return found | dict(zip(plain, shas, strict=True))


def _is_incomplete(ws: Clone, path: str, after: Entry | None) -> bool:
    if after is None or not after.is_file:
        return False
    try:
        return objects.read(ws, [after.sha]).get(after.sha, b"").startswith(ws.tree.read(path))
    except (BadArgs, OSError):
        return False


def _nul_terminated(rows: Sequence[str]) -> bytes:
    return b"".join(os.fsencode(row) + b"\0" for row in rows)
