"""What has changed in some folders, told by the kernel (inotify, Linux). An event is there as soon as the change is.

It misses two things, and whoever needs to know them looks for himself: a change through another name of the same file
(a hard link), and one through a memory map whose file was closed before.
"""

import ctypes
import errno
import os
import struct
from pathlib import Path
from typing import Final

from cohabit.workspace.clone.tree import is_git

MODIFY, ATTRIB, CLOSE_WRITE, MOVED_FROM, MOVED_TO, CREATE, DELETE = 0x2, 0x4, 0x8, 0x40, 0x80, 0x100, 0x200
DELETE_SELF, MOVE_SELF, UNMOUNT, OVERFLOW, IGNORED = 0x400, 0x800, 0x2000, 0x4000, 0x8000
ONLY_FOLDERS, IS_FOLDER = 0x0100_0000, 0x4000_0000
FILES: Final = MODIFY | ATTRIB | CLOSE_WRITE | MOVED_FROM | MOVED_TO | CREATE | DELETE
LOST: Final = DELETE_SELF | MOVE_SELF | UNMOUNT | OVERFLOW | IGNORED
"""The folders are not what they were."""
EVENT: Final = struct.Struct("iIII")
LOCAL: Final = {"bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "overlay", "ramfs", "tmpfs", "xfs", "zfs"}
"""File systems that nobody changes behind the kernel's back, as a server or a virtual machine's host could."""


class Watch:
    """Folders, and what happened in them since they were added or last asked about."""

    def __init__(self) -> None:
        """Raises OSError where there is no such thing."""
        libc = ctypes.CDLL(None, use_errno=True)
        if not hasattr(libc, "inotify_init1"):
            raise OSError(errno.ENOSYS, "no inotify here")
        self._add = libc.inotify_add_watch
        self._fd: int = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._fd < 0:
            raise OSError(ctypes.get_errno(), "no inotify to be had")
        self._folders: dict[int, str] = {}

    def close(self) -> None:
        os.close(self._fd)

    def add(self, folder: int, path: str) -> None:
        """Watch an open folder, of which ``path`` is said in front of its names. Raises OSError where it cannot be."""
        number = self._add(self._fd, b"/proc/self/fd/%d" % folder, FILES | LOST | ONLY_FOLDERS)
        if number < 0:
            raise OSError(ctypes.get_errno(), "too many folders to watch")
        self._folders[number] = path

    def changed(self) -> set[str] | None:
        """Paths of the files that are new, changed or gone; None where folders changed, and with them any path."""
        found: set[str] = set()
        while events := self._read():
            at = 0
            while at < len(events):
                number, kind, _, length = EVENT.unpack_from(events, at)
                at += EVENT.size + length
                name = os.fsdecode(events[at - length : at].rstrip(b"\0"))
                if is_git(name):
                    continue
                if kind & (LOST | IS_FOLDER):
                    return None
                found.add(self._folders[number] + name)
        return found

    def _read(self) -> bytes:
        try:
            return os.read(self._fd, 1 << 16)
        except BlockingIOError:
            return b""


def is_local(root: Path) -> bool:
    """Whether everything that happens under ``root`` happens in this kernel."""
    try:
        mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return False
    real, best, kind = os.path.realpath(root) + "/", "", ""
    for mount in mounts:
        fields = mount.split(" ")
        point = fields[4].replace("\\040", " ").rstrip("/") + "/"
        if real.startswith(point) and len(point) >= len(best):
            best, kind = point, fields[fields.index("-", 6) + 1]
    return kind in LOCAL
