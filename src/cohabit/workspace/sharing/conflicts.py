"""Resolving conflicts: showing them, deciding file by file, or giving up our side.

Nothing here changes a file or the branch. Decisions are kept with the clone, and the next push applies them.
"""

import os
import re
import tempfile
from pathlib import Path
from typing import Annotated, Final, Literal, NamedTuple

from cohabit.errors import BadArgs, CohabitError, Conflict, TooLarge, UnknownAsset
from cohabit.workspace.answers import Answer, sendable
from cohabit.workspace.clone import objects, protocol_files, refs
from cohabit.workspace.clone.objects import Entry
from cohabit.workspace.formats import INBOX
from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.markers import first_conflict
from cohabit.workspace.formats.stamps import new_uid
from cohabit.workspace.limits import MAX_WRITE_BYTES
from cohabit.workspace.merging import merge
from cohabit.workspace.merging.ownership import differing, foreign_changes
from cohabit.workspace.sharing import integrate, rewritten
from cohabit.workspace.sharing.integrate import FileConflict
from cohabit.workspace.workspace import Workspace

Take = Literal["ours", "theirs", "both"]
MAX_SHOWN: Final = 20
"""Conflicts in one answer."""
EXCERPT_CHARS: Final = 2_000
"""Of one version of a file."""
MAX_EXCERPT_BYTES: Final = 256 * 1024
"""Bytes of a file that are read for an excerpt."""
MARKER: Final = re.compile(r"^(?:(<{7,})|>{7,}) [0-9a-f]{40}\b", re.MULTILINE)
"""A git conflict marker, which names the commit of the side."""
ABANDONED: Final = "refs/cohabit/abandoned/"


def _show(ws: Workspace) -> Answer:
    """The open conflicts, each with its versions."""
    conflicts = _open_conflicts(ws)
    rows = [_shown(ws, conflict) for conflict in conflicts[:MAX_SHOWN]]
    answer: Answer = {"open": len(conflicts), "conflicts": rows, "next": _next_step(len(conflicts))}
    return answer | ({"truncated": True} if len(conflicts) > MAX_SHOWN else {})


def resolve(
    ws: Workspace,
    path: Annotated[str | None, "the file; without it, all open conflicts are shown"] = None,
    take: Annotated[Take | None, "which version to take"] = None,
    content: Annotated[str | None, "or the whole new text of the file"] = None,
) -> Answer:
    """Show conflicts, or resolve one file. When all are resolved, push succeeds."""
    if path is None:
        return _show(ws)
    if (take is None) == (content is None):
        raise BadArgs('resolve needs either take ("ours", "theirs" or "both") or content, the whole text of the file')
    conflicts = _open_conflicts(ws)
    # An answer shows a name that is not UTF-8 with replacement characters, so that is how an agent can give it.
    conflict = next((each for each in conflicts if path in (each.path, sendable(each.path))), None)
    if conflict is None:
        raise UnknownAsset(
            f"{path} is not in conflict; call resolve without path to see the conflicts",
            did_you_mean=[other.path for other in conflicts[:3]],
        )
    integrate.save_decisions(ws, [(conflict, _decision(ws, conflict, take, content))])
    left = len(conflicts) - 1
    return {"resolved": path, "take": take or "content", "open": left, "next": _next_step(left)}


def abandon(ws: Workspace) -> Answer:
    """Take the others' version in every conflict: the whole file, or in journal and inbox the conflicting entries.

    Your versions stay in a commit that the answer names. If the remote's history was rewritten, this accepts the loss
    of the removed commits; the next push carries over what only you have.
    """
    kept, theirs = refs.head(ws), refs.upstream(ws)
    gone = rewritten.lost_commit(ws, kept, theirs)
    if gone and not rewritten.is_accepted(ws, gone):
        rewritten.accept(ws, gone)
        paths = rewritten.files(ws, gone, str(theirs))
    else:
        conflicts = _open_conflicts(ws)
        if not conflicts:
            raise Conflict("there is no conflict here; push shares your commits")
        integrate.save_decisions(ws, [(each, _decision(ws, each, "theirs", None)) for each in conflicts])
        paths = [conflict.path for conflict in conflicts]
    ref = ABANDONED + new_uid()
    ws.git.run("update-ref", ref, str(kept))
    return {"abandoned": paths, "kept": kept, "ref": ref, "next": _next_step(0)}


def _open_conflicts(ws: Workspace) -> list[FileConflict]:
    """The conflicts of the next push, as far as the remote's commits are fetched."""
    ours, theirs = refs.head(ws), refs.upstream(ws)
    ahead, behind = integrate.ahead_behind(ws, ours, theirs)
    if not ahead or ours is None or theirs is None:
        return []
    if not behind and rewritten.lost_commit(ws, ours, theirs) is None:
        return []
    return list(integrate.integrate(ws, ours, theirs, f"Merge of {refs.on_branch(ws)}").conflicts)


def _next_step(left: int) -> str:
    if left:
        return "resolve each (take ours, theirs or both, or give content), or abandon all of yours; then push"
    return "all conflicts are resolved: call push, which succeeds unless others change these files again"


# -- deciding -------------------------------------------------------------------------------------
def _decision(ws: Workspace, conflict: FileConflict, take: Take | None, content: str | None) -> Entry | None:
    if content is not None:
        if line := first_conflict(content):
            raise BadArgs(f"the text still has a git conflict marker on line {line}; give the text as it should be")
        data = _with_merged_ids(ws, conflict, content).encode()
        if len(data) > MAX_WRITE_BYTES:
            raise TooLarge(f"{len(data)} bytes; the limit for one file is {MAX_WRITE_BYTES}")
        _refuse_forged(ws, conflict, data.decode())
        return Entry(_mode(conflict), objects.write(ws, "blob", data))
    if conflict.kind == integrate.BY_ENTRY:
        text = _merged_by_entry(ws, conflict, None if take == "both" else take)
        return Entry(_mode(conflict), objects.write_text(ws, text))
    if take == "both":
        return Entry(_mode(conflict), objects.write(ws, "blob", _union(ws, conflict)))
    return conflict.ours if take == "ours" else conflict.theirs


def _refuse_forged(ws: Workspace, conflict: FileConflict, text: str) -> None:
    """A given text may change the entries that conflict, but not add one in another agent's name."""
    sides = (conflict.base, conflict.ours, conflict.theirs)
    found = objects.texts(ws, [entry.sha for entry in sides if entry is not None])
    base, ours, theirs = (found.get(entry.sha, "") if entry else "" for entry in sides)
    free = differing(conflict.path, ours, theirs) if merge.is_protocol(conflict.path) else ()
    who = protocol_files.identity_of(ws)
    if wrong := foreign_changes(conflict.path, None, text, who, allowed=[base, ours, theirs], free=free):
        raise protocol_files.refusal(conflict.path, wrong, "resolved")


def _mode(conflict: FileConflict) -> str:
    entry = conflict.theirs or conflict.ours
    return entry.mode if entry is not None and entry.is_file else "100644"


def _merged_by_entry(ws: Workspace, conflict: FileConflict, prefer: merge.Prefer) -> str:
    """All entries of both sides. Only an entry that conflicts is taken from one side, or from both."""
    sides = (conflict.base, conflict.ours, conflict.theirs)
    known = objects.texts(ws, [entry.sha for entry in sides if entry is not None])
    base, ours, theirs = (None if entry is None else known[entry.sha] for entry in sides)
    pushed = merge.pushed_ids(conflict.path, theirs)
    return merge.merge_file(conflict.path, base, ours, theirs, pushed, prefer).text or ""


def _with_merged_ids(ws: Workspace, conflict: FileConflict, content: str) -> str:
    """A given text for the inbox, with the ids that merging gives its items: a pushed one never changes."""
    if conflict.kind != integrate.BY_ENTRY or conflict.path != INBOX:
        return content
    ids = merge.item_ids(_merged_by_entry(ws, conflict, None))
    return Inbox(content).renumbered(ids).text


def _union(ws: Workspace, conflict: FileConflict) -> bytes:
    """Both texts, one after the other wherever they differ."""
    entries = (conflict.ours, conflict.base, conflict.theirs)
    sides = [entry if entry is not None and entry.is_file else None for entry in entries]
    known = objects.read(ws, [entry.sha for entry in sides if entry is not None])
    whole = [None if entry is None or b"\0" in known[entry.sha] else known[entry.sha] for entry in sides]
    if whole[0] is None or whole[2] is None:
        raise BadArgs(f"{conflict.path} is not a text on both sides: take ours or theirs, or give content")
    with tempfile.TemporaryDirectory(dir=ws.state_folder) as folder:
        names = [os.path.join(folder, name) for name in ("ours", "base", "theirs")]
        for name, data in zip(names, whole, strict=True):
            Path(name).write_bytes(data or b"")
        return ws.git.run("merge-file", "-p", "--union", *names).out


# -- showing --------------------------------------------------------------------------------------
class _Text(NamedTuple):
    """The text of a file, or its beginning."""

    text: str
    truncated: bool


def _shown(ws: Workspace, conflict: FileConflict) -> Answer:
    row: Answer = {"path": conflict.path, "kind": conflict.kind}
    attempt = _text(ws, conflict.attempt) if conflict.ours and conflict.theirs else None
    if attempt is not None and (first := MARKER.search(attempt.text)):
        return row | {"merged": _around(attempt, first.start())}
    for name, entry in (("base", conflict.base), ("ours", conflict.ours), ("theirs", conflict.theirs)):
        row[name] = _excerpt(ws, entry)
    return row


def _excerpt(ws: Workspace, entry: Entry | None) -> str | None:
    if entry is None:
        return None
    found = _text(ws, entry)
    if found is None:
        return "(a folder)" if entry.mode == objects.FOLDER_MODE else "(not a text)"
    if len(found.text) <= EXCERPT_CHARS:
        return found.text
    size = f"more than {MAX_EXCERPT_BYTES} bytes" if found.truncated else f"{len(found.text)} characters"
    return f"{found.text[:EXCERPT_CHARS]}\n… ({size} in all)"


def _around(attempt: _Text, marker: int) -> str:
    """The text from shortly before the first marker on, with the sides named ours and theirs."""
    text, at = attempt.text, max(marker - 300, 0)
    part = text[at : at + 2 * EXCERPT_CHARS]
    more = attempt.truncated or at + len(part) < len(text)
    named = MARKER.sub(_named_marker, part)
    return ("…" if at else "") + named + ("\n…" if more else "")


def _named_marker(marker: re.Match[str]) -> str:
    sign, _, _ = marker[0].partition(" ")
    return f"{sign} ours" if marker[1] else f"{sign} theirs"


def _text(ws: Workspace, entry: Entry | None) -> _Text | None:
    """The text of a file, or its beginning; None if it is not a text."""
    if entry is None or not entry.is_file:
        return None
    try:
        result = ws.git.run("cat-file", "blob", entry.sha, max_bytes=MAX_EXCERPT_BYTES)
    except CohabitError:
        return None
    return None if b"\0" in result.out else _Text(result.out.decode(errors="replace"), result.truncated)
