"""Atomic writes of this program's own files, outside the work tree."""

import os
import secrets
from contextlib import suppress
from pathlib import Path


def write_atomically(path: Path, data: bytes) -> None:
    """Create or replace a file that only its owner may read. A reader sees the old content or the new one, and the
    content is on disk when this returns."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.new")
    try:
        fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(fd)
        os.replace(draft, path)
    except BaseException:
        with suppress(FileNotFoundError):
            draft.unlink()
        raise
