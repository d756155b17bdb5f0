"""Files in answers: a part that fits one answer, text as text, bytes as base64."""

import base64
import os
from typing import Annotated, Final, Literal

from msgspec import Meta

from cohabit.errors import BadArgs, PermissionDenied, UnknownAsset
from cohabit.workspace.answers import Answer
from cohabit.workspace.clone import plain_git, protocol_files
from cohabit.workspace.clone.clone import Clone
from cohabit.workspace.clone.tree import names_of
from cohabit.workspace.limits import MAX_ENTRIES, MAX_READ_BYTES
from cohabit.workspace.merging.merge import entry_keys, is_protocol
from cohabit.workspace.workspace import Workspace

Encoding = Literal["utf-8", "base64"]
Path = Annotated[str, "relative to the root of the workspace"]
MAX_CHARACTER_BYTES: Final = 4
"""Of one character in UTF-8."""


def read(
    ws: Clone,
    path: Path,
    offset: Annotated[int, Meta(ge=0), "byte to begin at"] = 0,
    limit: Annotated[int, Meta(ge=1), f"number of bytes, at most {MAX_READ_BYTES}"] = MAX_READ_BYTES,
    encoding: Annotated[Encoding | None, "base64: the bytes unchanged"] = None,
) -> Answer:
    """Read a file. A long one is truncated: continue at next_offset. A file that is not text comes in base64."""
    start = max(0, offset - MAX_CHARACTER_BYTES + 1)  # the character at `offset` may begin before it
    limit = min(limit, MAX_READ_BYTES)
    try:
        with ws.tree.opened(path) as fd:
            size = os.fstat(fd).st_size
            found = os.pread(fd, offset - start + limit + MAX_CHARACTER_BYTES, start)
    except FileNotFoundError:
        raise UnknownAsset(f"there is no file {path}; call list to see the files") from None
    first, last = offset - start, min(offset - start + limit, len(found))
    text = None
    if encoding != "base64":
        whole = _whole_characters(found, first, last)
        text = _text(found[slice(*whole)], strict=encoding is None)
        first, last = (first, last) if text is None else whole
    answer: Answer = {"path": path}
    answer |= (
        {"content": base64.b64encode(found[first:last]).decode(), "encoding": "base64"}
        if text is None
        else {"content": text}
    )
    answer |= {"size": size, "truncated": first < last and start + last < size}
    if start + first:
        answer["offset"] = start + first
    if answer["truncated"]:
        answer["next_offset"] = start + last
    return answer


def _whole_characters(found: bytes, first: int, last: int) -> tuple[int, int]:
    """The same part in whole characters of UTF-8: both ends move back to the start of a character, unless that leaves
    nothing."""
    end = _character_start(found, last)
    if end <= first < last:
        end = next((at for at in range(last, len(found)) if not _is_continuation(found, at)), len(found))
    return _character_start(found, first), end


def _character_start(found: bytes, at: int) -> int:
    back = at
    while back > max(0, at - MAX_CHARACTER_BYTES + 1) and _is_continuation(found, back):
        back -= 1
    return at if _is_continuation(found, back) else back


def _is_continuation(found: bytes, at: int) -> bool:
    """True if the byte continues a character of UTF-8 that began before it."""
    return at < len(found) and found[at] & 0b1100_0000 == 0b1000_0000


def _text(part: bytes, *, strict: bool) -> str | None:
    if not strict:
        return part.decode(errors="replace")
    if b"\0" in part:
        return None
    try:
        return part.decode()
    except UnicodeDecodeError:
        return None


def write(
    ws: Workspace,
    path: Path,
    content: str,
    mode: Literal["overwrite", "append"] = "overwrite",
    encoding: Annotated[Encoding, "base64: content is base64, of an image or another asset"] = "utf-8",
) -> Answer:
    """Write a file, and create missing folders. This does not commit.

    Do not use it for journal.md and inbox.md: journal_append, inbox_add and inbox_close keep their formats. Entries of
    other agents cannot be added, changed or removed.
    """
    plain_git.refuse_rebase(ws.root)
    tree, data = ws.tree, _bytes(content, encoding)
    name = "/".join(names_of(path))
    if is_protocol(name):
        text = data.decode(errors="surrogateescape")
        before = tree.text(name) or ""
        if mode == "overwrite":
            _refuse_lost_entries(name, before, text)
        whole = before + text if mode == "append" else text
        protocol_files.check_write(ws, name, whole)
        commented = protocol_files.with_comments(ws, name, before, whole)
        if commented != whole:
            tree.write(path, commented.encode(errors="surrogateescape"))
            return {"path": path, "mode": mode, "bytes": len(data)}
    if mode == "append":
        tree.append(path, data)
    else:
        tree.write(path, data)
    return {"path": path, "mode": mode, "bytes": len(data)}


def delete(ws: Clone, path: Path) -> Answer:
    """Delete a file. Then add it, commit and push; history keeps it."""
    plain_git.refuse_rebase(ws.root)
    _refuse_protocol_file(path)
    try:
        ws.tree.size(path)  # raises BadArgs for a folder or a link
        ws.tree.remove(path)
    except FileNotFoundError:
        raise UnknownAsset(f"there is no file {path}; call list to see the files") from None
    return {"path": path, "deleted": True}


def rename(ws: Clone, path: Path, to: Annotated[str, "the new path, where nothing is yet"]) -> Answer:
    """Rename or move a file. Then add both paths, commit and push."""
    plain_git.refuse_rebase(ws.root)
    for each in (path, to):
        _refuse_protocol_file(each)
    try:
        ws.tree.rename(path, to)
    except FileNotFoundError:
        raise UnknownAsset(f"there is no file {path}; call list to see the files") from None
    return {"path": path, "to": to}


def _refuse_protocol_file(path: str) -> None:
    name = "/".join(names_of(path))
    if is_protocol(name):
        raise PermissionDenied(f"{name} belongs to the board: it cannot be deleted, renamed or replaced")


def _refuse_lost_entries(name: str, before: str, after: str) -> None:
    """The journal and the inbox are shared: replacing them with a summary would remove entries for everybody."""
    known = entry_keys(name, before)
    lost = known - entry_keys(name, after)
    if lost:
        raise BadArgs(
            f"this would remove {len(lost)} of the {len(known)} entries of {name} for everybody, so nothing was "
            "written. Use journal_append, inbox_add and inbox_close; a write has to keep every entry"
        )


def _bytes(content: str, encoding: Encoding) -> bytes:
    if encoding == "utf-8":
        return content.encode()
    try:
        return base64.b64decode("".join(content.split()), validate=True)
    except ValueError:
        raise BadArgs("content is not base64; encode it with the alphabet of RFC 4648, or send it as utf-8") from None


def list_(
    ws: Clone,
    dir_: Annotated[str, "relative to the root of the workspace; . is the root"] = ".",
    limit: Annotated[int, Meta(ge=1), f"number of entries, at most {MAX_ENTRIES}"] = MAX_ENTRIES,
    cursor: Annotated[str | None, "cursor of the previous answer, for the next entries"] = None,
) -> Answer:
    """List a folder by name: {name, type: file, dir or other, size}."""
    try:
        every = sorted(ws.tree.entries(dir_), key=lambda entry: _cursor(entry.name))
    except FileNotFoundError:
        raise UnknownAsset(f"there is no folder {dir_}; call list with the folder above it") from None
    found = [entry for entry in every if _cursor(entry.name) > (cursor or "")]
    shown = found[: min(limit, MAX_ENTRIES)]
    answer: Answer = {
        "dir": dir_,
        "entries": [{"name": readable(entry.name), "type": entry.type, "size": entry.size} for entry in shown],
        "truncated": len(shown) < len(found),
    }
    if answer["truncated"]:
        answer["cursor"] = _cursor(shown[-1].name)
    return answer


def _cursor(name: str) -> str:
    """A name in a form that differs even for two names that look the same in an answer."""
    return os.fsencode(name).replace(b"\\", b"\\\\").decode(errors="backslashreplace")


def readable(text: str) -> str:
    """The text with replacement characters for bytes that are not UTF-8, which JSON cannot contain."""
    return text.encode(errors="surrogateescape").decode(errors="replace")
