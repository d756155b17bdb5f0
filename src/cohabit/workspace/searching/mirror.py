"""The index kept equal to the tree, whoever changes a file: we, git, a person's editor, another process.

Where the kernel tells what changes, it is asked before every search; elsewhere the stamps of all files are compared.
A stamp is believed only if the file was older than our look at it, by the clock of the file system itself: whatever
changes after the look has another stamp then.
"""

import os
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Final

from cohabit.errors import CohabitError, StorageFailed, TooLarge
from cohabit.workspace.clone.tree import Tree, is_git, is_ordinary
from cohabit.workspace.limits import LONGEST_PATH
from cohabit.workspace.searching.index import Index, Kind
from cohabit.workspace.searching.search import Found, Match, in_order, is_within, match, reachable
from cohabit.workspace.searching.watch import Watch, is_local

SNIFFED: Final = 8_000
"""Bytes in which a NUL says that a file is binary; git's own number."""
LARGEST: Final = 1024 * 1024
"""Bytes of a file that the index holds; a larger one is read at every search."""
MOST_FILES: Final = 100_000
FEW: Final = 32
"""Files that a search may read anew before it answers."""
STAMP: Final = struct.Struct("<qqqQ")
UNSURE: Final = b""


class Mirror:
    """The files of a tree, as the index has them. Use it under the lock of the clone. Where it raises a CohabitError,
    throw it away."""

    def __init__(self, tree: Tree, database: Path) -> None:
        self._tree = tree
        self._mark = database.with_suffix(".mark")
        with _told():
            self._index = Index(database)
        self._watch: Watch | None = None
        self._stale: set[str] = set()
        self._twins: set[str] = set()
        """Files with another name somewhere, through which they change unseen."""

    def close(self) -> None:
        self._unwatch()
        self._index.close()

    # -- searching ----------------------------------------------------------------------------------
    def find(self, wanted: bytes, within: list[str] | None, limit: int) -> Found | None:
        """What the index finds; None while it is behind the tree by more than a few files."""
        self.notice()
        if len(self._stale) > FEW:
            return None
        self.read_some(FEW)
        with _told():
            return self._find(wanted, within, limit)

    def _find(self, wanted: bytes, within: list[str] | None, limit: int) -> Found:
        found: list[Match] = []
        for path, number, line in chain(self._index.find(wanted), self._large(wanted)):
            if within is None or is_within(path, within):
                if len(found) == limit:
                    return Found(in_order(found), more=True)
                found.append(match(path, number, line, wanted))
        return Found(in_order(found), more=False)

    def _large(self, wanted: bytes) -> Iterator[tuple[str, int, bytes]]:
        """Lines of files that are too large for the index."""
        for path in sorted(self._index.large):
            try:
                content = self._tree.read(path)
            except (CohabitError, OSError):  # it went away just now
                continue
            if wanted in content:
                lines = enumerate(content.split(b"\n"), 1)
                yield from ((path, number, line) for number, line in lines if wanted in line)

    # -- what has changed ---------------------------------------------------------------------------
    def notice(self) -> None:
        """Find out which files are not what the index says."""
        with _told():
            self._index.refresh()
            changed = None if self._watch is None else self._watch.changed()
            if changed is None or len(changed) > FEW or any(map(self._has_twin, changed - self._twins)):
                self._look()
            else:
                self._stale |= {path for path in changed if reachable(path)} | self._twins

    def _has_twin(self, path: str) -> bool:
        """Whether a file that just changed has another name, of which we do not know that it changed with it."""
        try:
            with self._tree.opened(path) as fd:
                return os.fstat(fd).st_nlink > 1
        except (CohabitError, OSError):
            return False

    def _look(self) -> None:
        """Compare all files, and watch all folders where that can be done."""
        self._watch_anew()
        mark, found = self._now(), {}
        for path, info in self._walk():
            found[path] = _stamp(info, mark)
            if info.st_nlink > 1:
                self._twins.add(path)
            if len(found) > MOST_FILES:
                raise TooLarge(f"more than {MOST_FILES} files are too many for an index")
        if len(self._twins) > FEW:
            self._unwatch()
        known = self._index.files
        self._stale = {
            path for path, stamp in found.items() if path not in known or known[path].stamp != stamp or not stamp
        }
        self._drop(known.keys() - found.keys())

    def _walk(self) -> Iterator[tuple[str, os.stat_result]]:
        """Every plain file that ``read`` would take. A folder is watched before it is read: nothing falls between."""
        folders = [""]
        while folders:
            prefix = folders.pop()
            try:
                with self._tree.folder(prefix.split("/")[:-1]) as fd:
                    self._watch_folder(fd, prefix)
                    with os.scandir(fd) as entries:
                        for entry in entries:
                            path = prefix + entry.name
                            if not _is_ours(path, entry.name):
                                continue
                            if entry.is_dir(follow_symlinks=False):
                                folders.append(f"{path}/")
                            elif entry.is_file(follow_symlinks=False):
                                yield path, entry.stat(follow_symlinks=False)
            except (CohabitError, FileNotFoundError):  # gone, or closed to us
                continue

    def _watch_anew(self) -> None:
        self._unwatch()
        self._twins = set()
        try:
            self._watch = Watch() if is_local(self._tree.root) else None
        except OSError:
            self._watch = None
        self._device: int | None = None

    def _watch_folder(self, fd: int, prefix: str) -> None:
        device = os.fstat(fd).st_dev
        self._device = self._device or device
        if self._watch is None:
            return
        try:
            if device != self._device:
                raise OSError("another file system, of which the kernel may not know all")
            self._watch.add(fd, prefix)
        except OSError:
            self._unwatch()

    def _unwatch(self) -> None:
        if self._watch is not None:
            self._watch.close()
            self._watch = None

    def _now(self) -> int:
        """The time, by the clock that stamps the files."""
        self._mark.touch()
        return self._mark.stat().st_ctime_ns

    # -- bringing the index up to date --------------------------------------------------------------
    def read_some(self, most: int) -> int:
        """Read up to so many of the files that have changed; how many are left."""
        if not self._stale:
            return 0
        some = sorted(self._stale)[:most]
        with _told():
            self._index.refresh()
            mark = self._now()
            with self._index.changing():
                for path in some:
                    self._read(path, mark)
        self._stale.difference_update(some)
        return len(self._stale)

    def _read(self, path: str, mark: int) -> None:
        try:
            with self._tree.opened(path) as fd:
                stamp = _stamp(os.fstat(fd), mark)
                known = self._index.files.get(path)
                if stamp and known is not None and known.stamp == stamp:
                    return
                body = os.pread(fd, max(LARGEST + 1, SNIFFED), 0)
        except (CohabitError, OSError):
            self._index.drop(path)
            return
        kind = Kind.BINARY if b"\0" in body[:SNIFFED] else Kind.LARGE if len(body) > LARGEST else Kind.TEXT
        self._index.put(path, stamp, kind, body)

    def _drop(self, paths: set[str]) -> None:
        if paths:
            with self._index.changing():
                for path in paths:
                    self._index.drop(path)


def discard(database: Path) -> None:
    """Take away what a mirror has left there."""
    for suffix in ("", "-wal", "-shm"):
        database.with_name(database.name + suffix).unlink(missing_ok=True)


@contextmanager
def _told() -> Iterator[None]:
    """Trouble with the database or the disk, as one of our errors."""
    try:
        yield
    except (sqlite3.Error, OSError) as wrong:
        raise StorageFailed(f"the search index is of no use: {type(wrong).__name__}") from wrong


def _is_ours(path: str, name: str) -> bool:
    """Whether ``names_of`` takes this path, of which all but the last name is known to be fine."""
    if path == name:
        return reachable(path)
    return len(path) <= LONGEST_PATH and is_ordinary(name) and not is_git(name)


def _stamp(info: os.stat_result, mark: int) -> bytes:
    """By which a file is known to be the same; nothing for one that may change once more without changing its stamp."""
    if info.st_ctime_ns >= mark:
        return UNSURE
    return STAMP.pack(info.st_mtime_ns, info.st_ctime_ns, info.st_size, info.st_ino)
