"""The files of a workspace, and nothing else.

A path is walked name by name from the root with ``openat`` and ``O_NOFOLLOW``: a link on the way, ``..`` or anything
that a file system could take for ``.git`` ends the walk. There is no moment between checking and opening.
"""

import contextlib
import errno
import os
import secrets
import stat
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from cohabit.errors import BadArgs, PermissionDenied, StorageFailed, TooLarge
from cohabit.workspace.limits import LARGEST_TEXT, LARGEST_WRITE, LONGEST_PATH, MOST_PATHS

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a FIFO must not make us wait
MAKE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
APPEND = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
DRAFTS = (".git", "cohabit")
"""Where a file is written before it is moved to its place: no ``git add`` can see it half done."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in a folder. A link is ``other``, wherever it leads."""

    name: str
    type: Literal["file", "dir", "other"]
    size: int


def names_of(path: str) -> tuple[str, ...]:
    """The names that lead from the root to ``path``; raises BadArgs for a path that could lead out of it."""
    if len(path) > LONGEST_PATH:
        raise BadArgs(f"the path is longer than {LONGEST_PATH} characters")
    if path.startswith(("/", "\\", "~/")) or path == "~" or path[1:2] == ":":
        raise BadArgs(f"absolute paths are not allowed: {path}", hint="begin at the root of the workspace: drafts/x.md")
    if not is_ordinary(path):
        raise BadArgs(f"the path has characters that a file name here may not have: {path!r}")
    names = tuple(name for name in path.split("/") if name not in ("", "."))
    if ".." in names:
        raise BadArgs(f"path escapes workspace root: {path}")
    if any(is_git(name) for name in names):
        raise BadArgs(f"git's own folder is out of reach: {path}")
    return names


def pathspecs(paths: Sequence[str] | None) -> list[str]:
    """Paths as an agent gives them, checked; git takes them literally. The root itself limits nothing."""
    if paths and len(paths) > MOST_PATHS:
        raise TooLarge(f"{len(paths)} paths; at most {MOST_PATHS} fit in one call, or name their folder")
    return ["/".join(names_of(path)) or "." for path in paths or ()]


def is_ordinary(path: str) -> bool:
    """No control character, no line break, no half of a character, and not the other system's slash."""
    if "\\" in path:
        return False
    return path.isprintable() or not any(unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") for c in path)


def is_git(name: str) -> bool:
    """Whether some file system takes ``name`` for ``.git``: case, ignored code points, short names, streams."""
    if name.isascii() and name[:1] not in ".gG":
        return False  # nearly every name, and this is asked of every file there is
    plain = "".join(c for c in unicodedata.normalize("NFKC", name) if not _ignored(c))
    plain = plain.casefold().partition(":")[0].rstrip(" .")
    return plain == ".git" or (plain.startswith("git~") and plain[4:].isdigit())


def _ignored(c: str) -> bool:
    """Whether some file system does not see ``c``: HFS+ skips marks of direction, ext4 all that has no shape."""
    return unicodedata.category(c) in ("Cf", "Cc", "Mn", "Cn") or c in "\u115f\u1160"


class Tree:
    """The work tree under one root. Every method takes a path as an agent writes it."""

    def __init__(self, root: Path) -> None:
        self.root = root

    # -- reading ----------------------------------------------------------------------------------
    def read(self, path: str, offset: int = 0, most: int | None = None) -> bytes:
        """The bytes of a file; FileNotFoundError where it is not there, BadArgs where it is no plain file."""
        with self.opened(path) as fd, open(fd, "rb", closefd=False) as file:
            file.seek(offset)
            return file.read(-1 if most is None else most)

    def size(self, path: str) -> int:
        with self.opened(path) as fd:
            return os.fstat(fd).st_size

    def text(self, path: str) -> str | None:
        """A file's text, or None where it is not there. Bytes that are no UTF-8 keep their place (surrogateescape)."""
        try:
            content = self.read(path, most=LARGEST_TEXT + 1)
        except FileNotFoundError:
            return None
        if len(content) > LARGEST_TEXT:
            raise TooLarge(f"{path} is larger than {LARGEST_TEXT} bytes; move older parts of it to another file")
        return content.decode(errors="surrogateescape")

    def entries(self, folder: str) -> list[Entry]:
        """What is in a folder, by name, without git's own."""
        with self.folder(names_of(folder)) as fd, os.scandir(fd) as found:
            return sorted((_entry(each) for each in found if not is_git(each.name)), key=lambda entry: entry.name)

    @contextmanager
    def opened(self, path: str) -> Iterator[int]:
        """A file descriptor of a plain file, for reading."""
        with self._beside(path) as (folder, name):
            fd = _open(name, READ, folder, path)
        try:
            _plain_file(os.fstat(fd), path)
            yield fd
        finally:
            os.close(fd)

    # -- writing ----------------------------------------------------------------------------------
    def write(self, path: str, content: bytes, most: int | None = None) -> None:
        """Replace a file, or make it and its folders: whole or not at all, and on disk when this returns."""
        if len(content) > (most := most or LARGEST_WRITE):
            raise TooLarge(f"{len(content)} bytes; at most {most} fit in one write")
        with self._beside(path, make=True) as (folder, name), self.folder(DRAFTS, make=True) as drafts:
            mode = self._replaceable(folder, name, path)
            draft = f"{secrets.token_hex(8)}.draft"
            fd = _open(draft, MAKE, drafts, path)
            try:
                with open(fd, "wb") as file:
                    file.write(content)
                    file.flush()
                    if mode is not None:
                        os.fchmod(fd, mode)
                    os.fsync(fd)
                os.replace(draft, name, src_dir_fd=drafts, dst_dir_fd=folder)
            except OSError as wrong:
                raise _plain(wrong, path) from None
            finally:
                with contextlib.suppress(FileNotFoundError):  # where all went well it has moved
                    os.unlink(draft, dir_fd=drafts)

    def append(self, path: str, content: bytes) -> None:
        """Add to the end of a file: what others append at the same moment stays too. Makes it where it is not there."""
        if len(content) > LARGEST_WRITE:
            raise TooLarge(f"{len(content)} bytes; at most {LARGEST_WRITE} fit in one write")
        try:
            with self._beside(path) as (folder, name):
                fd = _open(name, APPEND, folder, path)
        except FileNotFoundError:
            return self.write(path, content)
        try:
            found = os.fstat(fd)
            _plain_file(found, path)
            if found.st_nlink > 1:  # its other name may be anywhere
                raise BadArgs(f"{path} is one file under two names (a hard link); write it whole, with mode overwrite")
            _add(fd, content, found.st_size, path)
        finally:
            os.close(fd)

    def remove(self, path: str) -> None:
        with self._beside(path) as (folder, name):
            try:
                os.unlink(name, dir_fd=folder)
            except OSError as wrong:
                raise _plain(wrong, path) from None

    @staticmethod
    def _replaceable(folder: int, name: str, path: str) -> int | None:
        """The mode of the file that is there, if one is; a link, a folder or a device is not written over."""
        try:
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return None
        _plain_file(found, path)
        return stat.S_IMODE(found.st_mode) & 0o777

    # -- folders ----------------------------------------------------------------------------------
    @contextmanager
    def _beside(self, path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
        """The folder that ``path`` is in, and its name there."""
        names = names_of(path)
        if not names:
            raise BadArgs("this is the root of the workspace, not a file")
        if make and path.endswith("/"):
            raise BadArgs(f"{path} names a folder; say the name of a file in it")
        with self.folder(names[:-1], make=make) as folder:
            yield folder, names[-1]

    @contextmanager
    def folder(self, names: Sequence[str], *, make: bool = False) -> Iterator[int]:
        """A file descriptor of the folder that ``names`` lead to, opened without following a link."""
        try:
            fd = os.open(self.root, FOLDER & ~os.O_NOFOLLOW)
        except OSError:
            raise StorageFailed("the folder of this workspace is gone; call workspace_init to clone it anew") from None
        try:
            for i, name in enumerate(names):
                so_far = "/".join(names[: i + 1])
                if make:
                    _make_folder(name, fd, so_far)
                below = _open(name, FOLDER, fd, so_far)
                os.close(fd)
                fd = below
            yield fd
        finally:
            os.close(fd)


def _entry(found: "os.DirEntry[str]") -> Entry:
    if found.is_dir(follow_symlinks=False):
        return Entry(found.name, "dir", 0)
    if not found.is_file(follow_symlinks=False):
        return Entry(found.name, "other", 0)
    try:
        return Entry(found.name, "file", found.stat(follow_symlinks=False).st_size)
    except FileNotFoundError:  # it was there a moment ago
        return Entry(found.name, "other", 0)


def _open(name: str, how: int, folder: int, path: str) -> int:
    try:
        return os.open(name, how, 0o666, dir_fd=folder)
    except OSError as wrong:
        raise _plain(wrong, path) from None


def _make_folder(name: str, folder: int, path: str) -> None:
    try:
        os.mkdir(name, dir_fd=folder)
    except FileExistsError:
        return
    except OSError as wrong:
        raise _plain(wrong, path) from None


def _add(fd: int, content: bytes, size: int, path: str) -> None:
    """All of it or nothing: what did not fit on the disk is taken back."""
    try:
        if os.write(fd, content) != len(content):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(fd)
    except OSError as wrong:
        os.ftruncate(fd, size)
        raise _plain(wrong, path) from None


def _plain_file(found: os.stat_result, path: str) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise BadArgs(f"{path} is {'a folder' if stat.S_ISDIR(found.st_mode) else 'not a plain file'}")


def _plain(wrong: OSError, path: str) -> Exception:
    """The same trouble, told with the path as it was given."""
    match wrong.errno:
        case errno.ELOOP | errno.EMLINK:
            return BadArgs(f"{path} is a link, and links are not followed")
        case errno.ENOTDIR:
            return BadArgs(f"{path} is not a folder, or a link to one, and links are not followed")
        case errno.EISDIR:
            return BadArgs(f"{path} is a folder")
        case errno.ENXIO | errno.ENODEV:
            return BadArgs(f"{path} is not a plain file")
        case errno.ENAMETOOLONG:
            return BadArgs(f"a name in {path} is too long")
        case errno.ENOENT:
            return FileNotFoundError(errno.ENOENT, "there is no such file", path)
        case errno.EACCES | errno.EPERM:
            return PermissionDenied(
                f"the file system does not allow that for {path}; ask the person to look at its mode"
            )
        case _:
            return StorageFailed(f"{path}: {wrong.strerror}; ask the person to look at the disk")
