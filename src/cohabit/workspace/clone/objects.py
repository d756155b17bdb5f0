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
    wanted = list(dict.fromkeys(name for name in names if "\n" not in name))
    if not wanted:
        return {}
    asked = "".join(f"{name}\n" for name in wanted)
    out = memoryview(ws.git.run("cat-file", "--batch", stdin=os.fsencode(asked)).out)
    found, at = {}, 0
    for name in wanted:
        end = _line_end(out, at)
        head = bytes(out[at:end]).split(b" ")
        at = end + 1
        if head[-1] in (b"missing", b"ambiguous"):
            continue
        size = int(head[-1])
        found[name] = bytes(out[at : at + size])
        at += size + 1
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
    known = read(ws, [tree, *(f"{tree}:{folder}" for folder in _folders(changes))])
    return _rebuilt(ws, known, tree, "", changes) or write(ws, "tree", b"")


def _rebuilt(
    ws: "Workspace", known: Mapping[str, bytes], tree: str, folder: str, changes: Mapping[str, Entry | None]
) -> str | None:
    """The folder with its changes, None where nothing is left in it."""
    entries = parse_tree(known.get(f"{tree}:{folder}" if folder else tree, b""))
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
        inside = f"{folder}/{name}" if folder else name
        if name in entries and entries[name].mode != FOLDER_MODE and not any(inner.values()):
            continue  # a file where a folder was: there is nothing below it to take away
        sha = _rebuilt(ws, known, tree, inside, inner)
        if sha is None:
            entries.pop(name, None)
        else:
            entries[name] = Entry(FOLDER_MODE, sha)
    return write(ws, "tree", format_tree(entries)) if entries else None


def parse_tree(data: bytes) -> dict[str, Entry]:
    entries, at = {}, 0
    while at < len(data):
        space = data.index(b" ", at)
        zero = data.index(b"\0", space)
        name = os.fsdecode(data[space + 1 : zero])
        entries[name] = Entry(data[at:space].decode(), data[zero + 1 : zero + 21].hex())
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
