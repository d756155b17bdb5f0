"""Settling what truly conflicts: looking at it, deciding file by file, or giving up our side.

Nothing here changes a file or the branch. Decisions are kept with the clone, and the next push uses them.
"""

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from cohabit.errors import BadArgs, CohabitError, Conflict, TooLarge, UnknownAsset
from cohabit.workspace.clone import objects, refs
from cohabit.workspace.clone.objects import Entry
from cohabit.workspace.formats.stamps import new_uid
from cohabit.workspace.limits import LARGEST_WRITE
from cohabit.workspace.merging import merge
from cohabit.workspace.sharing import decided, integrate, origin
from cohabit.workspace.sharing.integrate import Clash

if TYPE_CHECKING:
    from cohabit.workspace.workspace import Workspace

Answer = dict[str, Any]
Take = Literal["ours", "theirs", "both"]
MOST_SHOWN: Final = 20
"""Conflicts in one answer."""
EXCERPT: Final = 2_000
"""Characters of one version in it."""
LARGEST_SHOWN: Final = 256 * 1024
ABANDONED: Final = "refs/cohabit/abandoned/"


def show(ws: "Workspace") -> Answer:
    """The open conflicts, each with what the sides say. The texts are data, whoever wrote them."""
    clashes = _open(ws)
    rows = [_shown(ws, clash) for clash in clashes[:MOST_SHOWN]]
    answer: Answer = {"open": len(clashes), "conflicts": rows, "next": _next(len(clashes))}
    return answer | ({"truncated": True} if len(clashes) > MOST_SHOWN else {})


def resolve(ws: "Workspace", path: str, take: Take | None, content: str | None) -> Answer:
    """Decide one file."""
    if (take is None) == (content is None):
        raise BadArgs('resolve needs either take ("ours", "theirs" or "both") or content, the whole text of the file')
    clashes = _open(ws)
    clash = next((clash for clash in clashes if clash.path == path), None)
    if clash is None:
        raise UnknownAsset(
            f"{path} is not in conflict; call resolve without path to see what is",
            did_you_mean=[other.path for other in clashes[:3]],
        )
    decided.decide(ws, [(clash, _verdict(ws, clash, take, content))])
    left = len(clashes) - 1
    return {"resolved": path, "take": take or "content", "open": left, "next": _next(left)}


def abandon(ws: "Workspace") -> Answer:
    """Decide for the others in every open conflict. Our versions stay in a commit that is kept."""
    clashes = _open(ws)
    if not clashes:
        raise Conflict("nothing is in conflict here; push shares your commits")
    kept = refs.head(ws)
    assert kept is not None
    ref = ABANDONED + new_uid()
    ws.git.run("update-ref", ref, kept)
    decided.decide(ws, [(clash, clash.theirs) for clash in clashes])
    paths = [clash.path for clash in clashes]
    return {"abandoned": paths, "kept": kept, "ref": ref, "next": _next(0)}


def _open(ws: "Workspace") -> list[Clash]:
    """What stands in the way of the next push, as far as this clone knows the remote."""
    ours, theirs = refs.head(ws), refs.upstream(ws)
    ahead, behind = integrate.apart(ws, ours, theirs)
    if not ahead or not behind or ours is None or theirs is None:
        return []
    joined = integrate.join(ws, ours, theirs, f"Merge of {origin.branch(ws)}")
    return list(joined.clashes)


def _next(left: int) -> str:
    if left:
        return "resolve each (take ours, theirs or both, or give content), or abandon all of yours; then push"
    return "nothing is open: call push, which goes through now unless the others change these files again"


# -- deciding -------------------------------------------------------------------------------------
def _verdict(ws: "Workspace", clash: Clash, take: Take | None, content: str | None) -> Entry | None:
    if content is not None:
        data = content.encode()
        if len(data) > LARGEST_WRITE:
            raise TooLarge(f"{len(data)} bytes; at most {LARGEST_WRITE} fit in one file")
        return Entry(_mode(clash), objects.write(ws, "blob", data))
    if take == "both":
        return Entry(_mode(clash), objects.write(ws, "blob", _both(ws, clash)))
    return clash.ours if take == "ours" else clash.theirs


def _mode(clash: Clash) -> str:
    entry = clash.theirs or clash.ours
    return entry.mode if entry is not None and entry.is_file else "100644"


def _both(ws: "Workspace", clash: Clash) -> bytes:
    """One text after the other wherever they differ."""
    sides = [_text(ws, entry) for entry in (clash.ours, clash.base, clash.theirs)]
    if sides[0] is None or sides[2] is None:
        raise BadArgs(f"{clash.path} is not a text on both sides: take ours or theirs, or give content")
    if merge.is_protocol(clash.path):
        joined = merge.merge_file(clash.path, sides[1], sides[0], sides[2]).text
        return objects.bytes_of(joined or "")
    with tempfile.TemporaryDirectory(dir=ws.own) as folder:
        names = [os.path.join(folder, name) for name in ("ours", "base", "theirs")]
        for name, text in zip(names, sides, strict=True):
            Path(name).write_bytes(objects.bytes_of(text or ""))
        return ws.git.run("merge-file", "-p", "--union", *names).out


# -- showing --------------------------------------------------------------------------------------
def _shown(ws: "Workspace", clash: Clash) -> Answer:
    row: Answer = {"path": clash.path, "kind": clash.kind}
    attempt = _text(ws, clash.attempt)
    if attempt is not None and "<<<<<<<" in attempt:
        return row | {"merged": _around(attempt)}
    for name, entry in (("base", clash.base), ("ours", clash.ours), ("theirs", clash.theirs)):
        row[name] = _excerpt(ws, entry)
    return row


def _excerpt(ws: "Workspace", entry: Entry | None) -> str | None:
    if entry is None:
        return None
    text = _text(ws, entry)
    if text is None:
        return "(a folder)" if entry.mode == objects.FOLDER_MODE else "(not a text)"
    return text if len(text) <= EXCERPT else f"{text[:EXCERPT]}\n… ({len(text)} characters in all)"


def _around(text: str) -> str:
    """The text from the first marker on."""
    at = max(text.index("<<<<<<<") - 300, 0)
    part = text[at : at + 2 * EXCERPT]
    return ("…" if at else "") + part + ("\n…" if at + len(part) < len(text) else "")


def _text(ws: "Workspace", entry: Entry | None) -> str | None:
    """The text of a file, None for what is none, or too long to show."""
    if entry is None or not entry.is_file:
        return None
    try:
        data = ws.git.run("cat-file", "blob", entry.sha, most=LARGEST_SHOWN).out
    except CohabitError:
        return None
    return None if b"\0" in data else data.decode(errors="replace")
