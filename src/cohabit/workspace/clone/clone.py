"""A clone on this machine, with what reads and changes it."""

from collections.abc import Callable
from pathlib import Path

from cohabit.workspace.clone.git import Git
from cohabit.workspace.clone.lock import Lock
from cohabit.workspace.clone.tree import Tree


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
