"""Git's objects, many at a time: texts out of one process, and new blobs and trees without any.

A merge needs a few dozen small objects. Reading them through one ``cat-file --batch`` and writing them as loose
objects by hand costs a millisecond; a git process for each would cost as much as the whole merge.
"""

import contextlib
import hashlib
import os
import secrets
import zlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from cohabit.errors import GitFailed

if TYPE_CHECKING:
    from cohabit.workspace.workspace import Workspace

FOLDER_MODE = "40000"


class Entry(NamedTuple):
    """What a tree says of one name: ``100644`` and the sha of a blob, ``40000`` and the sha of a tree."""

    mode: str
    sha: str

    @property
    def is_file(self) -> bool:
        """A plain file: no link, no folder, no submodule."""
        return self.mode.startswith("100")


def read(ws: "Workspace", names: Iterable[str]) -> dict[str, bytes]:
    """The objects by the names that git knows (a sha, ``commit:path``); what is not there is left out."""
    wanted = list(dict.fromkeys(names))
    if not wanted:
        return {}
    asked = [os.fsencode(name) for name in wanted]  # each ended by NUL: a path may have a newline in it
    out = memoryview(ws.git.run("cat-file", "--batch", "-z", stdin=b"".join(b"%s\0" % name for name in asked)).out)
    found, at = {}, 0
    for name, raw in zip(wanted, asked, strict=True):
        repeated = out[at : at + len(raw)] == raw  # of what is missing git says the name again, newlines and all
        end = _line_end(out, at + len(raw) * repeated)
        size = bytes(out[at:end]).rpartition(b" ")[2]
        at = end + 1
        if not size.isdigit():  # missing, ambiguous, a submodule: a word stands in its place
            continue
        found[name] = bytes(out[at : at + int(size)])
        at += int(size) + 1
    return found


def texts(ws: "Workspace", names: Iterable[str]) -> dict[str, str]:
    """The same as text. Bytes that are no UTF-8 keep their place."""
    return {name: text_of(data) for name, data in read(ws, names).items()}


def text_of(data: bytes) -> str:
    return data.decode(errors="surrogateescape")


def bytes_of(text: str) -> bytes:
    return text.encode(errors="surrogateescape")


def sha_of(kind: str, data: bytes) -> str:
    return hashlib.sha1(b"%s %d\0%s" % (kind.encode(), len(data), data), usedforsecurity=False).hexdigest()


def write(ws: "Workspace", kind: str, data: bytes) -> str:
    """Store one object, as git does: beside its place first, so that it is there whole or not at all."""
    sha = sha_of(kind, data)
    folder = ws.root / ".git" / "objects" / sha[:2]
    place = folder / sha[2:]
    if place.exists():
        return sha
    folder.mkdir(exist_ok=True)
    draft = folder / f"tmp_obj_{secrets.token_hex(6)}"
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o444), "wb") as file:
            file.write(zlib.compress(b"%s %d\0%s" % (kind.encode(), len(data), data), 1))
            file.flush()
            os.fsync(file.fileno())
        draft.rename(place)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            draft.unlink()
        raise
    return sha


def write_text(ws: "Workspace", text: str) -> str:
    return write(ws, "blob", bytes_of(text))


def with_entries(ws: "Workspace", tree: str, changes: Mapping[str, Entry | None]) -> str:
    """A tree like ``tree`` in which each path of ``changes`` is that entry, or is not there. Returns its sha."""
    if not changes:
        return tree
    found = read(ws, [tree, *(f"{tree}:{folder}" for folder in _folders(changes))])  # at once, most likely all
    known = {sha_of("tree", data): data for data in found.values()}
    top = sha_of("tree", found[tree]) if tree in found else tree
    return _rebuilt(ws, known, top, changes) or write(ws, "tree", b"")


def _rebuilt(
    ws: "Workspace", known: Mapping[str, bytes], folder: str | None, changes: Mapping[str, Entry | None]
) -> str | None:
    """The tree ``folder`` (None: a new one) with its changes, None where nothing is left in it."""
    entries = parse_tree(_tree(ws, known, folder)) if folder else {}
    below: dict[str, dict[str, Entry | None]] = {}
    for path, entry in changes.items():
        name, _, rest = path.partition("/")
        if rest:
            below.setdefault(name, {})[rest] = entry
        elif entry is None:
            entries.pop(name, None)
        else:
            entries[name] = entry
    for name, inner in below.items():
        here = entries.get(name)
        if here and here.mode != FOLDER_MODE and not any(inner.values()):
            continue  # a file where a folder was: there is nothing below it to take away
        sha = _rebuilt(ws, known, here.sha if here and here.mode == FOLDER_MODE else None, inner)
        if sha is None:
            entries.pop(name, None)
        else:
            entries[name] = Entry(FOLDER_MODE, sha)
    return write(ws, "tree", format_tree(entries)) if entries else None


def _tree(ws: "Workspace", known: Mapping[str, bytes], sha: str) -> bytes:
    """A tree by its sha. One that is missing is never taken for an empty one: all its files would be lost."""
    data = known[sha] if sha in known else read(ws, [sha]).get(sha)
    if data is None:
        raise GitFailed(f"this clone has lost a part of its history, {sha}: your person can look with `git fsck`")
    return data


def parse_tree(data: bytes) -> dict[str, Entry]:
    entries, at = {}, 0
    while at < len(data):
        space = data.index(b" ", at)
        zero = data.index(b"\0", space)
        name = os.fsdecode(data[space + 1 : zero])
        entries[name] = Entry(data[at:space].decode().lstrip("0"), data[zero + 1 : zero + 21].hex())
        at = zero + 21
    return entries


def format_tree(entries: Mapping[str, Entry]) -> bytes:
    # git sorts a folder as if its name ended with a slash
    rows = [(os.fsencode(name) + (b"/" if entry.mode == FOLDER_MODE else b""), name) for name, entry in entries.items()]
    return b"".join(
        b"%s %s\0%s" % (entries[name].mode.encode(), os.fsencode(name), bytes.fromhex(entries[name].sha))
        for _, name in sorted(rows)
    )


def _folders(paths: Iterable[str]) -> Iterable[str]:
    for path in paths:
        names = path.split("/")[:-1]
        for i in range(len(names)):
            yield "/".join(names[: i + 1])


def _line_end(out: memoryview, at: int) -> int:
    step = 512
    while True:
        found = bytes(out[at : at + step]).find(b"\n")
        if found >= 0:
            return at + found
        step *= 4
