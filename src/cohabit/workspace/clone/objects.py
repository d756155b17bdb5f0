"""Git's objects: reading and writing many at once, differences between them, and packing.

A merge needs a few dozen small objects. Reading them through one ``cat-file --batch`` and writing them as loose
objects from here costs a millisecond; one git process for each would cost as much as the whole merge.
"""

import contextlib
import hashlib
import os
import secrets
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from cohabit.errors import BadArgs, CohabitError, Conflict, GitFailed
from cohabit.workspace.clone.clone import Clone
from cohabit.workspace.clone.refs import SHA
from cohabit.workspace.formats.recent import Recent

FOLDER_MODE: Final = "40000"
NO_MODE: Final = "000000"
EMPTY_TREE: Final = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
MAX_LOOSE: Final = 27
"""Objects in one of the 256 folders, from which git estimates that there are 6,700 in all; git's own limit."""
MAX_PACKS: Final = 50


LARGE: Final = 64 * 1024
"""Size from which on the text of a blob is kept."""
TEXTS: Final = Recent[str, str](16 * 1024 * 1024)
"""Texts by the sha of their blob; weights are characters."""


class Entry(NamedTuple):
    """An entry of a tree: ``100644`` and the sha of a blob, ``40000`` and the sha of a tree."""

    mode: str
    sha: str

    @property
    def is_file(self) -> bool:
        """True if it is a plain file: not a link, a folder or a submodule."""
        return self.mode.startswith("100")


# -- reading --------------------------------------------------------------------------------------
def read(ws: Clone, names: Iterable[str]) -> dict[str, bytes]:
    """Objects by name (a sha, ``commit:path``); missing ones are left out."""
    wanted = list(dict.fromkeys(names))
    if not wanted:
        return {}
    asked = [os.fsencode(name) for name in wanted]  # terminated by NUL, because a path may contain a newline
    out = memoryview(ws.git.run("cat-file", "--batch", "-z", stdin=b"".join(b"%s\0" % name for name in asked)).out)
    found, at = {}, 0
    for name, raw in zip(wanted, asked, strict=True):
        repeated = out[at : at + len(raw)] == raw  # for a missing object git repeats the name, including newlines
        end = _line_end(out, at + len(raw) * repeated)
        size = bytes(out[at:end]).rpartition(b" ")[2]
        at = end + 1
        if not size.isdigit():  # a word instead: missing, ambiguous, a submodule
            continue
        found[name] = bytes(out[at : at + int(size)])
        at += int(size) + 1
    return found


def _line_end(out: memoryview, at: int) -> int:
    step = 512
    while True:
        found = bytes(out[at : at + step]).find(b"\n")
        if found >= 0:
            return at + found
        step *= 4


def text_at(ws: Clone, commit: str | None, path: str) -> str | None:
    """The text of a file in a commit; None if there is no such file."""
    return texts(ws, [f"{commit}:{path}"]).get(f"{commit}:{path}") if commit else None


def texts(ws: Clone, names: Iterable[str]) -> dict[str, str]:
    """Blobs as text. Bytes that are not UTF-8 are kept (surrogateescape). A large one is kept for a while, because git
    needs long to put together a version of a large file."""
    wanted = list(dict.fromkeys(names))
    blobs = _large_blobs(ws, wanted)
    kept = {name: text for name, (sha, size) in blobs.items() if (text := _kept_text(ws, name, sha, size)) is not None}
    for name, data in read(ws, [name for name in wanted if name not in kept]).items():
        kept[name] = text_of(data)
        if len(data) >= LARGE:
            _keep_text(sha_of("blob", data), kept[name])
    return {name: kept[name] for name in wanted if name in kept}


def _large_blobs(ws: Clone, names: Sequence[str]) -> dict[str, tuple[str, int]]:
    """The sha and the size of blobs whose text may be known. If none can be, git is not asked."""
    known = {name: (name, 0) for name in names if SHA.fullmatch(name)}
    others = [name for name in names if name not in known]
    if not others or not (TEXTS or any(_size_here(ws, name) >= LARGE for name in others)):
        return known
    others = [name for name in others if "\n" not in name]  # for a missing object git repeats the name
    asked = b"".join(b"%s\0" % os.fsencode(name) for name in others)
    rows = ws.git.run("cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)", "-z", stdin=asked).text
    for name, row in zip(others, rows.split("\n"), strict=False):  # not splitlines: a name may contain U+2028
        sha, _, rest = row.partition(" ")
        if rest.startswith("blob ") and int(rest[5:]) >= LARGE:
            known[name] = sha, int(rest[5:])
    return known


def _kept_text(ws: Clone, name: str, sha: str, size: int) -> str | None:
    """The text of a blob, if it was read before or if the file in the work tree has exactly this content."""
    text = TEXTS.get(sha)
    if text is None and size and _size_here(ws, name) == size:
        with contextlib.suppress(BadArgs, OSError):
            data = ws.tree.read(name.partition(":")[2])
            if sha_of("blob", data) == sha:
                _keep_text(sha, text := text_of(data))
    return text


def _size_here(ws: Clone, name: str) -> int:
    """The size of the file in the work tree with the path in ``commit:path``; -1 if there is none."""
    try:
        return os.lstat(f"{ws.root}/{name.partition(':')[2]}").st_size
    except (OSError, ValueError):
        return -1


def _keep_text(sha: str, text: str) -> None:
    TEXTS.put(sha, text, len(text))


def text_of(data: bytes) -> str:
    return data.decode(errors="surrogateescape")


def bytes_of(text: str) -> bytes:
    return text.encode(errors="surrogateescape")


# -- writing --------------------------------------------------------------------------------------
def sha_of(kind: str, data: bytes) -> str:
    return hashlib.sha1(b"%s %d\0%s" % (kind.encode(), len(data), data), usedforsecurity=False).hexdigest()


def write(ws: Clone, kind: str, data: bytes) -> str:
    """Store one object atomically, as git does, and return its sha."""
    sha = sha_of(kind, data)
    folder = ws.root / ".git" / "objects" / sha[:2]
    path = folder / sha[2:]
    if path.exists():
        return sha
    folder.mkdir(exist_ok=True)
    draft = folder / f"tmp_obj_{secrets.token_hex(6)}"
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o444), "wb") as file:
            file.write(zlib.compress(b"%s %d\0%s" % (kind.encode(), len(data), data), 1))
            file.flush()
            os.fsync(file.fileno())
        draft.rename(path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            draft.unlink()
        raise
    return sha


def write_text(ws: Clone, text: str) -> str:
    sha = write(ws, "blob", bytes_of(text))
    if len(text) >= LARGE:
        _keep_text(sha, text)
    return sha


def with_entries(ws: Clone, tree: str, changes: Mapping[str, Entry | None]) -> str:
    """The sha of a tree like ``tree`` in which each path of ``changes`` has that entry, or does not exist (None)."""
    if not changes:
        return tree
    found = read(ws, [tree, *(f"{tree}:{folder}" for folder in _folders(changes))])
    known = {sha_of("tree", data): data for data in found.values()}
    top = sha_of("tree", found[tree]) if tree in found else tree
    return _rebuilt(ws, known, top, changes) or write(ws, "tree", b"")


def _rebuilt(
    ws: Clone, known: Mapping[str, bytes], folder: str | None, changes: Mapping[str, Entry | None]
) -> str | None:
    """The tree ``folder`` (None: a new one) with its changes; None if it would be empty."""
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
            continue  # a file took the place of the folder: there is nothing below it to remove
        sha = _rebuilt(ws, known, here.sha if here and here.mode == FOLDER_MODE else None, inner)
        if sha is None:
            entries.pop(name, None)
        else:
            entries[name] = Entry(FOLDER_MODE, sha)
    return write(ws, "tree", format_tree(entries)) if entries else None


def _tree(ws: Clone, known: Mapping[str, bytes], sha: str) -> bytes:
    """A tree by its sha. A missing one is an error: as an empty tree, it would remove all its files."""
    data = known[sha] if sha in known else read(ws, [sha]).get(sha)
    if data is None:
        raise GitFailed(f"this clone lacks a part of its history, {sha}: your user can check it with `git fsck`")
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


# -- differences ----------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Change:
    """One path before and after; None where it does not exist."""

    path: str
    before: Entry | None
    after: Entry | None


@dataclass(frozen=True, slots=True)
class Dirty:
    """A tracked file with uncommitted changes: its entry in the index, and what differs."""

    index: Entry | None
    staged: bool
    unstaged: bool


def changes(ws: Clone, before: str, after: str) -> dict[str, Change]:
    """The changes from one commit or tree to another, by path. A rename is a removed and an added file."""
    fields = iter(ws.git.run("diff-tree", "-r", "-z", "--no-renames", "--raw", before, after).fields)
    found = {}
    for row in fields:
        old_mode, new_mode, old, new, _ = row.removeprefix(":").split(" ")
        path = next(fields)
        found[path] = Change(path, _entry(old_mode, old), _entry(new_mode, new))
    return found


def dirty_files(ws: Clone) -> dict[str, Dirty]:
    """Tracked files with uncommitted changes. Raises Conflict if a person's merge has unresolved files."""
    options = ("--porcelain=v2", "-z", "--untracked-files=no", "--no-renames", "--ignore-submodules=all")
    found = {}
    for row in ws.git.run("status", *options).fields:
        if row.startswith("u "):
            raise Conflict("a merge by hand has unresolved files in this clone; resolve and commit them first")
        if row.startswith("1 "):
            _, xy, _, _, mode, _, _, sha, path = row.split(" ", 8)
            found[path] = Dirty(_entry(mode, sha), staged=xy[0] != ".", unstaged=xy[1] != ".")
    return found


def untracked_files(ws: Clone) -> list[str]:
    return ws.git.run("ls-files", "--others", "--exclude-standard", "-z").fields


def _entry(mode: str, sha: str) -> Entry | None:
    return None if mode == NO_MODE else Entry(mode, sha)


# -- packing --------------------------------------------------------------------------------------
def pack_if_needed(ws: Clone) -> None:
    """Run ``git gc`` if there are many loose objects. Git's own background gc is off, because it could run while a
    call works on the objects. A failure does not matter: a later call tries again."""
    folder = ws.root / ".git" / "objects"
    if _count(folder / "17") > MAX_LOOSE or _count(folder / "pack", ".pack") > MAX_PACKS:
        with contextlib.suppress(CohabitError):
            ws.git.run("gc", "--quiet")


def _count(folder: "os.PathLike[str]", ending: str = "") -> int:
    try:
        return sum(name.endswith(ending) for name in os.listdir(folder))
    except FileNotFoundError:
        return 0
