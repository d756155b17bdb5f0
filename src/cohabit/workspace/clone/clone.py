"""A clone on this machine, with what reads and changes it."""

from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from cohabit.workspace.atomic import write_atomically
from cohabit.workspace.clone.git import Git
from cohabit.workspace.clone.lock import Lock
from cohabit.workspace.clone.tree import Tree

T = TypeVar("T")


class Clone:
    """``tree`` has the files and ``git`` the history; use both while the lock is held.

    ``recover`` is called with the time at which the last holder took the lock, if that holder did not finish.
    """

    def __init__(self, root: Path, recover: Callable[[float], None]) -> None:
        self.root = root
        self.state_folder = root / ".git" / "cohabit"
        """Files of this program, such as its lock; they are never shared."""
        self.tree = Tree(root)
        self.lock = Lock(self.state_folder / "lock", recover)
        self.git = Git(root, lock_fd=self.lock.fd)

    def close(self) -> None:
        self.lock.close()


class StateFile(Generic[T]):
    """A JSON file in the state folder of a clone. A damaged one counts as missing."""

    def __init__(self, name: str, kind: type[T]) -> None:
        self._name, self._kind = name, kind

    def read(self, ws: Clone) -> T | None:
        try:
            return msgspec.json.decode(self._path(ws).read_bytes(), type=self._kind)
        except (FileNotFoundError, msgspec.DecodeError):
            return None

    def write(self, ws: Clone, content: T) -> None:
        write_atomically(self._path(ws), msgspec.json.encode(content))

    def clear(self, ws: Clone) -> None:
        self._path(ws).unlink(missing_ok=True)

    def _path(self, ws: Clone) -> Path:
        return ws.state_folder / self._name
