"""Files as tools show them: a piece that fits an answer, text as text, bytes as base64."""

import base64
import os
from typing import Literal

from cohabit.errors import BadArgs, UnknownAsset
from cohabit.workspace.clone.tree import Tree
from cohabit.workspace.limits import MOST_ENTRIES, MOST_READ
from cohabit.workspace.tool import Answer

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
        tree.write(path, data)
    return {"path": path, "mode": mode, "bytes": len(data)}


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
        found = [entry for entry in tree.entries(folder) if readable(entry.name) > cursor]
    except FileNotFoundError:
        raise UnknownAsset(f"there is no folder {folder}; call list with the folder above it") from None
    shown = found[: min(limit, MOST_ENTRIES)]
    answer: Answer = {
        "dir": folder,
        "entries": [{"name": readable(entry.name), "type": entry.type, "size": entry.size} for entry in shown],
        "truncated": len(shown) < len(found),
    }
    if answer["truncated"]:
        answer["cursor"] = readable(shown[-1].name)
    return answer


def readable(name: str) -> str:
    """A name that is no UTF-8 cannot be said in JSON: it is shown with marks for what is wrong."""
    return os.fsencode(name).decode(errors="replace")
