"""Files of our own, beside the workspace: written whole or not at all, and on disk when that is said."""

import os
import secrets
from contextlib import suppress
from pathlib import Path


def write_whole(path: Path, data: bytes) -> None:
    """Replace a file, or make it, for its owner alone. Whoever reads it meanwhile reads the old one or the new one."""
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
