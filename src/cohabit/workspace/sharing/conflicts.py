"""Settling what truly conflicts: looking at it, deciding file by file, or giving up our side.

Nothing here changes a file or the branch. Decisions are kept with the clone, and the next push uses them.
"""

import os
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from cohabit.errors import BadArgs, CohabitError, Conflict, TooLarge, UnknownAsset
from cohabit.workspace.answers import Answer, sendable
from cohabit.workspace.clone import objects, refs
from cohabit.workspace.clone.objects import Entry
from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.paths import INBOX
from cohabit.workspace.formats.stamps import new_uid
from cohabit.workspace.limits import LARGEST_WRITE
from cohabit.workspace.merging import merge
from cohabit.workspace.sharing import decided, integrate, rewritten
from cohabit.workspace.sharing.integrate import Clash

if TYPE_CHECKING:
    from cohabit.workspace.workspace import Workspace

Take = Literal["ours", "theirs", "both"]
MOST_SHOWN: Final = 20
"""Conflicts in one answer."""
EXCERPT: Final = 2_000
"""Characters of one version in it."""
LARGEST_SHOWN: Final = 256 * 1024
"""Bytes of a file that are looked at for it."""
MARKER: Final = re.compile(r"^(?:(<{7,})|>{7,}) [0-9a-f]{40}\b", re.MULTILINE)
"""Where git marks a side; it calls it by its commit."""
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
    # A name that is no UTF-8 is sent with replacement characters, so that is how an agent can write it.
    clash = next((clash for clash in clashes if path in (clash.path, sendable(clash.path))), None)
    if clash is None:
        raise UnknownAsset(
            f"{path} is not in conflict; call resolve without path to see what is",
            did_you_mean=[other.path for other in clashes[:3]],
        )
    decided.decide(ws, [(clash, _verdict(ws, clash, take, content))])
    left = len(clashes) - 1
    return {"resolved": path, "take": take or "content", "open": left, "next": _next(left)}


def abandon(ws: "Workspace") -> Answer:
    """Decide for the others in every open conflict. Our versions stay in a commit that is kept. Where the remote's
    history was rewritten, this decides that what it lost stays away, and nothing else."""
    kept, theirs = refs.head(ws), refs.upstream(ws)
    gone = rewritten.lost(ws, kept, theirs)
    if gone and not rewritten.is_let_go(ws, gone):
        rewritten.let_go(ws, gone)
        paths = rewritten.files(ws, gone, str(theirs))
    else:
        clashes = _open(ws)
        if not clashes:
            raise Conflict("nothing is in conflict here; push shares your commits")
        decided.decide(ws, [(clash, _verdict(ws, clash, "theirs", None)) for clash in clashes])
        paths = [clash.path for clash in clashes]
    ref = ABANDONED + new_uid()
    ws.git.run("update-ref", ref, str(kept))
    return {"abandoned": paths, "kept": kept, "ref": ref, "next": _next(0)}


def _open(ws: "Workspace") -> list[Clash]:
    """What stands in the way of the next push, as far as this clone knows the remote."""
    ours, theirs = refs.head(ws), refs.upstream(ws)
    ahead, behind = integrate.apart(ws, ours, theirs)
    if not ahead or ours is None or theirs is None:
        return []
    if not behind and rewritten.lost(ws, ours, theirs) is None:
        return []
    joined = integrate.join(ws, ours, theirs, f"Merge of {refs.on_branch(ws)}")
    return list(joined.clashes)


def _next(left: int) -> str:
    if left:
        return "resolve each (take ours, theirs or both, or give content), or abandon all of yours; then push"
    return "nothing is open: call push, which goes through now unless the others change these files again"


# -- deciding -------------------------------------------------------------------------------------
def _verdict(ws: "Workspace", clash: Clash, take: Take | None, content: str | None) -> Entry | None:
    if content is not None:
        data = _numbered(ws, clash, content).encode()
        if len(data) > LARGEST_WRITE:
            raise TooLarge(f"{len(data)} bytes; at most {LARGEST_WRITE} fit in one file")
        return Entry(_mode(clash), objects.write(ws, "blob", data))
    if clash.kind == integrate.ENTRIES:
        return Entry(_mode(clash), objects.write_text(ws, _by_entry(ws, clash, None if take == "both" else take)))
    if take == "both":
        return Entry(_mode(clash), objects.write(ws, "blob", _both(ws, clash)))
    return clash.ours if take == "ours" else clash.theirs


def _mode(clash: Clash) -> str:
    entry = clash.theirs or clash.ours
    return entry.mode if entry is not None and entry.is_file else "100644"


def _by_entry(ws: "Workspace", clash: Clash, prefer: merge.Prefer) -> str:
    """All that either side says. Only of an entry that conflicts one version is taken, or both."""
    sides = (clash.base, clash.ours, clash.theirs)
    known = objects.texts(ws, [entry.sha for entry in sides if entry is not None])
    base, ours, theirs = (None if entry is None else known[entry.sha] for entry in sides)
    pushed = merge.pushed_in(clash.path, theirs)
    return merge.merge_file(clash.path, base, ours, theirs, pushed, prefer).text or ""


def _numbered(ws: "Workspace", clash: Clash, content: str) -> str:
    """A text for the inbox, with the numbers that its items get from merging: a pushed one never changes."""
    if clash.kind != integrate.ENTRIES or clash.path != INBOX:
        return content
    ids = merge.item_ids(_by_entry(ws, clash, None))
    for item in Inbox(content).items:
        if (new := ids.get(item.key, item.id)) != item.id:
            content = content.replace(item.text, item.text.replace(item.id, new, 1), 1)
    return content


def _both(ws: "Workspace", clash: Clash) -> bytes:
    """One text after the other wherever they differ."""
    sides = [entry if entry is not None and entry.is_file else None for entry in (clash.ours, clash.base, clash.theirs)]
    known = objects.read(ws, [entry.sha for entry in sides if entry is not None])
    whole = [None if entry is None or b"\0" in known[entry.sha] else known[entry.sha] for entry in sides]
    if whole[0] is None or whole[2] is None:
        raise BadArgs(f"{clash.path} is not a text on both sides: take ours or theirs, or give content")
    with tempfile.TemporaryDirectory(dir=ws.own) as folder:
        names = [os.path.join(folder, name) for name in ("ours", "base", "theirs")]
        for name, data in zip(names, whole, strict=True):
            Path(name).write_bytes(data or b"")
        return ws.git.run("merge-file", "-p", "--union", *names).out


# -- showing --------------------------------------------------------------------------------------
class _Text(NamedTuple):
    """What a file says, for showing it."""

    text: str
    cut: bool
    """Whether the file goes on."""


def _shown(ws: "Workspace", clash: Clash) -> Answer:
    row: Answer = {"path": clash.path, "kind": clash.kind}
    attempt = _text(ws, clash.attempt) if clash.ours and clash.theirs else None
    if attempt is not None and (first := MARKER.search(attempt.text)):
        return row | {"merged": _around(attempt, first.start())}
    for name, entry in (("base", clash.base), ("ours", clash.ours), ("theirs", clash.theirs)):
        row[name] = _excerpt(ws, entry)
    return row


def _excerpt(ws: "Workspace", entry: Entry | None) -> str | None:
    if entry is None:
        return None
    found = _text(ws, entry)
    if found is None:
        return "(a folder)" if entry.mode == objects.FOLDER_MODE else "(not a text)"
    if len(found.text) <= EXCERPT:
        return found.text
    size = f"more than {LARGEST_SHOWN} bytes" if found.cut else f"{len(found.text)} characters"
    return f"{found.text[:EXCERPT]}\n… ({size} in all)"


def _around(attempt: _Text, marker: int) -> str:
    """The text from shortly before the first marker on, with sides that are called ours and theirs."""
    text, at = attempt.text, max(marker - 300, 0)
    part = text[at : at + 2 * EXCERPT]
    more = attempt.cut or at + len(part) < len(text)
    named = MARKER.sub(_named, part)
    return ("…" if at else "") + named + ("\n…" if more else "")


def _named(marker: re.Match[str]) -> str:
    sign, _, _ = marker[0].partition(" ")
    return f"{sign} ours" if marker[1] else f"{sign} theirs"


def _text(ws: "Workspace", entry: Entry | None) -> _Text | None:
    """The text of a file, or its beginning; None for what is none."""
    if entry is None or not entry.is_file:
        return None
    try:
        done = ws.git.run("cat-file", "blob", entry.sha, most=LARGEST_SHOWN)
    except CohabitError:
        return None
    return None if b"\0" in done.out else _Text(done.out.decode(errors="replace"), done.cut)
