"""Files as tools show them: a piece that fits an answer, text as text, bytes as base64."""

import base64
import os
from typing import Literal

from cohabit.errors import BadArgs, UnknownAsset
from cohabit.workspace.answers import Answer
from cohabit.workspace.clone.tree import Tree, names_of
from cohabit.workspace.limits import MOST_ENTRIES, MOST_READ
from cohabit.workspace.merging.merge import is_protocol, said_in

Encoding = Literal["utf-8", "base64"]
Mode = Literal["overwrite", "append"]
LONGEST_CHARACTER = 4


def read(tree: Tree, path: str, offset: int, limit: int, encoding: Encoding | None) -> Answer:
    """The part of a file that begins at the byte ``offset``. Without an ``encoding``, what is no UTF-8 is base64."""
    start = max(0, offset - LONGEST_CHARACTER + 1)  # the character at `offset` may have begun before it
    limit = min(limit, MOST_READ)
    try:
        with tree.opened(path) as fd:
            size = os.fstat(fd).st_size
            found = os.pread(fd, offset - start + limit + LONGEST_CHARACTER, start)
    except FileNotFoundError:
        raise UnknownAsset(f"there is no file {path}; call list to see what is there") from None
    first, last = offset - start, min(offset - start + limit, len(found))
    text = None
    if encoding != "base64":
        whole = _whole(found, first, last)
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


def _whole(found: bytes, first: int, last: int) -> tuple[int, int]:
    """The same piece in whole characters of UTF-8: each end moves back to where one begins, unless nothing is left."""
    end = _begin(found, last)
    if end <= first < last:
        end = next((at for at in range(last, len(found)) if not _inside(found, at)), len(found))
    return _begin(found, first), end


def _begin(found: bytes, at: int) -> int:
    back = at
    while back > max(0, at - LONGEST_CHARACTER + 1) and _inside(found, back):
        back -= 1
    return at if _inside(found, back) else back


def _inside(found: bytes, at: int) -> bool:
    """Whether the byte there goes on with a character of UTF-8 that began before it."""
    return at < len(found) and found[at] & 0b1100_0000 == 0b1000_0000


def _text(piece: bytes, *, strict: bool) -> str | None:
    if not strict:
        return piece.decode(errors="replace")
    if b"\0" in piece:
        return None
    try:
        return piece.decode()
    except UnicodeDecodeError:
        return None


def write(tree: Tree, path: str, content: str, mode: Mode, encoding: Encoding) -> Answer:
    """Replace a file or add to it; folders on the way are made."""
    data = _bytes(content, encoding)
    if mode == "append":
        tree.append(path, data)
    else:
        _must_keep_what_was_said(tree, path, data)
        tree.write(path, data)
    return {"path": path, "mode": mode, "bytes": len(data)}


def _must_keep_what_was_said(tree: Tree, path: str, data: bytes) -> None:
    """The journal and the inbox are everybody's: replacing them by a summary would take entries from all."""
    name = "/".join(names_of(path))
    if not is_protocol(name) or not (before := said_in(name, tree.text(name))):
        return
    gone = before - said_in(name, data.decode(errors="surrogateescape"))
    if gone:
        raise BadArgs(
            f"{len(gone)} of the {len(before)} entries of {name} would be gone, for everybody: nothing was "
            "written. journal_append, inbox_add and inbox_close change these files; a write has to keep every entry"
        )


def _bytes(content: str, encoding: Encoding) -> bytes:
    if encoding == "utf-8":
        return content.encode()
    try:
        return base64.b64decode("".join(content.split()), validate=True)
    except ValueError:
        raise BadArgs("content is not base64; encode it with the alphabet of RFC 4648, or send it as utf-8") from None


def entries(tree: Tree, folder: str, limit: int, cursor: str) -> Answer:
    """What is in a folder, by name, from behind ``cursor`` on."""
    try:
        every = sorted(tree.entries(folder), key=lambda entry: _order(entry.name))
    except FileNotFoundError:
        raise UnknownAsset(f"there is no folder {folder}; call list with the folder above it") from None
    found = [entry for entry in every if _order(entry.name) > cursor]
    shown = found[: min(limit, MOST_ENTRIES)]
    answer: Answer = {
        "dir": folder,
        "entries": [{"name": readable(entry.name), "type": entry.type, "size": entry.size} for entry in shown],
        "truncated": len(shown) < len(found),
    }
    if answer["truncated"]:
        answer["cursor"] = _order(shown[-1].name)
    return answer


def _order(name: str) -> str:
    """The name as a cursor has it: another one for each, also for two that are shown alike."""
    return os.fsencode(name).replace(b"\\", b"\\\\").decode(errors="backslashreplace")


def readable(name: str) -> str:
    """A name that is no UTF-8 cannot be said in JSON: it is shown with marks for what is wrong."""
    return os.fsencode(name).decode(errors="replace")
