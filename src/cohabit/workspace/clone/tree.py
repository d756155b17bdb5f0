"""The files of a workspace, and no others.

A path is opened name by name from the root with ``openat`` and ``O_NOFOLLOW``. A link, ``..`` or any name that a file
system could take for ``.git`` is refused. Nothing can change between checking and opening.
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
from typing import Final, Literal

from cohabit.errors import BadArgs, PermissionDenied, StorageFailed, TooLarge
from cohabit.workspace.limits import MAX_FILE_BYTES, MAX_PATH_CHARS, MAX_PATHS, MAX_WRITE_BYTES

SET_UP_AGAIN: Final = "call workspace_init with the name, remote and local_path that workspace_list shows"
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # opening a FIFO must not block
CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
APPEND = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
DRAFTS = (".git", "cohabit")
"""The folder in which a file is written before it is moved to its place, so that no ``git add`` sees it incomplete."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in a folder. A link is ``other``."""

    name: str
    type: Literal["file", "dir", "other"]
    size: int


def names_of(path: str) -> tuple[str, ...]:
    """The names from the root to ``path``; raises BadArgs for a path that could lead out of the workspace."""
    if len(path) > MAX_PATH_CHARS:
        raise BadArgs(f"the path is longer than {MAX_PATH_CHARS} characters")
    if path.startswith(("/", "\\", "~/")) or path == "~" or path[1:2] == ":":
        raise BadArgs(f"absolute paths are not allowed: {path}", hint="use a path from the root of the workspace")
    if not is_ordinary(path):
        raise BadArgs(f"the path has characters that are not allowed in file names here: {path!r}")
    names = tuple(name for name in path.split("/") if name not in ("", "."))
    if ".." in names:
        raise BadArgs(f"path escapes workspace root: {path}")
    if any(is_git(name) for name in names):
        raise BadArgs(f"git's own folder cannot be accessed: {path}")
    return names


def pathspecs(paths: Sequence[str] | None) -> list[str]:
    """Paths of an agent, checked, for git, which takes them literally."""
    if paths and len(paths) > MAX_PATHS:
        raise TooLarge(f"{len(paths)} paths; the limit for one call is {MAX_PATHS}. Name their folder instead")
    return ["/".join(names_of(path)) or "." for path in paths or ()]


def is_ordinary(path: str) -> bool:
    """True if a path has no control character, line break, lone surrogate or backslash."""
    if "\\" in path:
        return False
    return path.isprintable() or not any(unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") for c in path)


def is_git(name: str) -> bool:
    """True if some file system takes ``name`` for ``.git``: case, ignored code points, short names, streams."""
    if name.isascii() and name[:1] not in ".gG":
        return False  # nearly every name, and this runs for every file
    plain = "".join(c for c in unicodedata.normalize("NFKC", name) if not _is_ignored(c))
    plain = plain.casefold().partition(":")[0].rstrip(" .")
    return plain == ".git" or (plain.startswith("git~") and plain[4:].isdigit())


def _is_ignored(c: str) -> bool:
    """True if some file system ignores ``c`` in names: HFS+ ignores direction marks, ext4 all default-ignorables."""
    return unicodedata.category(c) in ("Cf", "Cc", "Mn", "Cn") or c in "\u115f\u1160"


class Tree:
    """The work tree below one root. Every method takes a path of an agent, unchecked."""

    def __init__(self, root: Path) -> None:
        self.root = root

    # -- reading ----------------------------------------------------------------------------------
    def read(self, path: str, offset: int = 0, max_bytes: int | None = None) -> bytes:
        """The bytes of a file; FileNotFoundError if it does not exist, BadArgs if it is not a plain file."""
        with self.opened(path) as fd, open(fd, "rb", closefd=False) as file:
            file.seek(offset)
            return file.read(-1 if max_bytes is None else max_bytes)

    def size(self, path: str) -> int:
        with self.opened(path) as fd:
            return os.fstat(fd).st_size

    def text(self, path: str) -> str | None:
        """The text of a file, or None if it does not exist. Bytes that are not UTF-8 are kept (surrogateescape)."""
        try:
            content = self.read(path, max_bytes=MAX_FILE_BYTES + 1)
        except FileNotFoundError:
            return None
        if len(content) > MAX_FILE_BYTES:
            raise TooLarge(f"{path} is larger than {MAX_FILE_BYTES} bytes; move older parts of it to another file")
        return content.decode(errors="surrogateescape")

    def entries(self, folder: str) -> list[Entry]:
        """The entries of a folder by name, without ``.git``."""
        with self.folder(names_of(folder)) as fd, os.scandir(fd) as found:
            return sorted((_entry(each) for each in found if not is_git(each.name)), key=lambda entry: entry.name)

    @contextmanager
    def opened(self, path: str) -> Iterator[int]:
        """The file descriptor of a plain file, opened for reading."""
        with self._parent(path) as (folder, name):
            fd = _open(name, READ, folder, path)
        try:
            _plain_file(os.fstat(fd), path)
            yield fd
        finally:
            os.close(fd)

    # -- writing ----------------------------------------------------------------------------------
    def write(self, path: str, content: bytes, max_bytes: int | None = None) -> None:
        """Replace or create a file, and create its folders. The write is atomic, and on disk when this returns."""
        if len(content) > (max_bytes := max_bytes or MAX_WRITE_BYTES):
            raise TooLarge(f"{len(content)} bytes; the limit for one write is {max_bytes}")
        with self._parent(path, create=True) as (folder, name), self.folder(DRAFTS, create=True) as drafts:
            mode = self._replaceable(folder, name, path)
            if mode is None:
                _refuse_twin(name, folder, path)
            draft = f"{secrets.token_hex(8)}.draft"
            fd = _open(draft, CREATE, drafts, path)
            try:
                with open(fd, "wb") as file:
                    file.write(content)
                    file.flush()
                    if mode is not None:
                        os.fchmod(fd, mode)
                    os.fsync(fd)
                os.replace(draft, name, src_dir_fd=drafts, dst_dir_fd=folder)
            except OSError as error:
                raise _translated(error, path) from None
            finally:
                with contextlib.suppress(FileNotFoundError):  # after success it has moved
                    os.unlink(draft, dir_fd=drafts)

    def append(self, path: str, content: bytes) -> None:
        """Append to a file without losing what others append at the same time; create it if it does not exist."""
        if len(content) > MAX_WRITE_BYTES:
            raise TooLarge(f"{len(content)} bytes; the limit for one write is {MAX_WRITE_BYTES}")
        try:
            with self._parent(path) as (folder, name):
                fd = _open(name, APPEND, folder, path)
        except FileNotFoundError:
            return self.write(path, content)
        try:
            found = os.fstat(fd)
            _plain_file(found, path)
            if found.st_nlink > 1:  # its other name may be outside of the workspace
                raise BadArgs(f"{path} is a hard link; write the whole file, with mode overwrite")
            _append(fd, content, found.st_size, path)
        finally:
            os.close(fd)

    def remove(self, path: str) -> None:
        with self._parent(path) as (folder, name):
            try:
                os.unlink(name, dir_fd=folder)
            except OSError as error:
                raise _translated(error, path) from None

    def rename(self, path: str, to: str) -> None:
        """Move a plain file to a path where nothing is, and create its folders."""
        with self._parent(path) as (folder, name), self._parent(to, create=True) as (target, new):
            if self._replaceable(folder, name, path) is None:
                raise FileNotFoundError(errno.ENOENT, "there is no such file", path)
            if self._replaceable(target, new, to) is not None:
                raise BadArgs(f"{to} exists already; delete it first, or choose another name")
            _refuse_twin(new, target, to, moved=name if os.path.samestat(os.fstat(folder), os.fstat(target)) else "")
            try:
                os.rename(name, new, src_dir_fd=folder, dst_dir_fd=target)
            except OSError as error:
                raise _translated(error, path) from None

    @staticmethod
    def _replaceable(folder: int, name: str, path: str) -> int | None:
        """The mode of an existing file; raises BadArgs for a link, a folder or a device, which are not replaced."""
        try:
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _translated(error, path) from None
        _plain_file(found, path)
        return stat.S_IMODE(found.st_mode) & 0o777

    # -- folders ----------------------------------------------------------------------------------
    @contextmanager
    def _parent(self, path: str, *, create: bool = False) -> Iterator[tuple[int, str]]:
        """The folder of a file, and the name of the file in it."""
        names = names_of(path)
        if not names:
            raise BadArgs("this is the root of the workspace, not a file")
        if create and path.endswith("/"):
            raise BadArgs(f"{path} is a folder; add the name of a file")
        with self.folder(names[:-1], create=create) as folder:
            yield folder, names[-1]

    @contextmanager
    def folder(self, names: Sequence[str], *, create: bool = False) -> Iterator[int]:
        """The file descriptor of a folder, opened without following links."""
        try:
            fd = os.open(self.root, FOLDER & ~os.O_NOFOLLOW)
        except OSError:
            raise StorageFailed(f"the folder of this workspace no longer exists; {SET_UP_AGAIN}") from None
        try:
            for i, name in enumerate(names):
                path = "/".join(names[: i + 1])
                if create:
                    _create_folder(name, fd, path)
                below = _open(name, FOLDER, fd, path)
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
    except FileNotFoundError:  # removed a moment ago
        return Entry(found.name, "other", 0)


def _open(name: str, flags: int, folder: int, path: str) -> int:
    try:
        return os.open(name, flags, 0o666, dir_fd=folder)
    except OSError as error:
        raise _translated(error, path) from None


def _refuse_twin(name: str, folder: int, path: str, moved: str = "") -> None:
    """Refuse a new name that some file systems, as of macOS, take for one that is there. ``moved``: it goes away."""
    twin = next(
        (each for each in os.listdir(folder) if each not in (name, moved) and _folded(each) == _folded(name)), ""
    )
    if twin:
        raise BadArgs(f"{path} would be the same as {twin} on a Mac; use {twin}, or choose another name")


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _create_folder(name: str, folder: int, path: str) -> None:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
        return  # _open says what is wrong with it
    except FileNotFoundError:
        _refuse_twin(name, folder, path)
    except OSError as error:
        raise _translated(error, path) from None
    try:
        os.mkdir(name, dir_fd=folder)
    except FileExistsError:
        return
    except OSError as error:
        raise _translated(error, path) from None


def _append(fd: int, content: bytes, size: int, path: str) -> None:
    """Append all of it or nothing: an incomplete write is undone."""
    try:
        if os.write(fd, content) != len(content):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(fd)
    except OSError as error:
        os.ftruncate(fd, size)
        raise _translated(error, path) from None


def _plain_file(found: os.stat_result, path: str) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise BadArgs(f"{path} is {'a folder' if stat.S_ISDIR(found.st_mode) else 'not a plain file'}")


def _translated(error: OSError, path: str) -> Exception:
    """The error for an agent, with the path as the agent gave it."""
    match error.errno:
        case errno.ELOOP | errno.EMLINK:
            return BadArgs(f"{path} is a link, and links are not followed")
        case errno.ENOTDIR:
            return BadArgs(f"{path} is not a folder, or is a link to one, and links are not followed")
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
                f"the file system does not permit access to {path}; ask the person to check its permissions"
            )
        case errno.ENOSPC | errno.EDQUOT:
            return StorageFailed(f"{path}: {error.strerror}; free some space, then call again")
        case _:
            return StorageFailed(f"{path}: {error.strerror}; ask the person to check the disk")
