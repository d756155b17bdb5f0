"""A data folder: making it, locking it, and making changes in it durable."""

import os
from pathlib import Path

from cohabit.errors import Conflict

ID_FILE = "store-id"
"""Of a house that keeps its data in PostgreSQL. If it starts again in this folder, it takes over the leases of the one
before at once."""


def sync_folder(folder: Path) -> None:
    """Sync the names in a folder. Syncing a new file does not include its name."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def make_folder(folder: Path) -> None:
    """Create the folder and sync its parents: SQLite syncs files, not directory entries of new folders."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for made in missing:
        sync_folder(made.parent)


def take_lock(folder: Path) -> int:
    """Lock the folder for this process. The lock ends with the process, however it ends."""
    import fcntl

    handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        owner = os.read(handle, 32).decode(errors="replace").strip()
        os.close(handle)
        raise Conflict(
            f"{folder} is in use by another house (process {owner or 'unknown'}). Stop it, or choose another folder "
            "with --data"
        ) from None
    os.truncate(handle, 0)
    os.write(handle, f"{os.getpid()}\n".encode())
    return handle


def unlock(handle: int | None) -> None:
    """Release the lock, if there is one."""
    if handle is not None:
        os.close(handle)
