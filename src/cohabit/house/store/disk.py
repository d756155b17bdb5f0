"""Making changes in a folder durable."""

import os
from pathlib import Path


def sync_folder(folder: Path) -> None:
    """Sync the names in a folder. Syncing a new file does not include its name."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
