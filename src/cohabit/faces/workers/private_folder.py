"""A folder for the Unix sockets of a house, which is removed even if its process is killed: by the next one.

It is locked for as long as its process lives. The operating system releases the lock, so a folder that can be locked
belongs to nobody any more.
"""

import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = "cohabit-front-"


@contextmanager
def private_folder() -> Iterator[Path]:
    """A new folder that only this user can enter."""
    remove_abandoned()
    folder, lock = _made()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def remove_abandoned() -> None:
    """Remove the folders of this user whose processes are gone."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            found = folder.lstat()
            if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
                continue  # another user may have made it, perhaps as a link to something else
            lock = _locked(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            try:
                shutil.rmtree(folder)
            finally:
                os.close(lock)


def _made() -> tuple[Path, int]:
    """A folder, and the file that holds its lock."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        with suppress(FileNotFoundError):  # another process took it for abandoned before it was locked
            lock = _locked(folder, fcntl.LOCK_EX)
            if folder.exists():
                return folder, lock
            os.close(lock)


def _locked(folder: Path, how: int) -> int:
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, how)
    except OSError:
        os.close(lock)
        raise
    return lock
