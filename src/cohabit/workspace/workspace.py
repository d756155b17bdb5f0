"""One clone of a shared repository, opened for one agent."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from cohabit.errors import BadArgs
from cohabit.workspace import driver
from cohabit.workspace.clone import plain_git, recovery, trust
from cohabit.workspace.clone.git import Git
from cohabit.workspace.clone.lock import Lock
from cohabit.workspace.clone.signing import Signing
from cohabit.workspace.clone.tree import Tree
from cohabit.workspace.person.identity import Identity

Now = Callable[[], datetime]
Who = Identity | Callable[[], Identity] | None
"""Known, to be asked at every call (it may change while a server runs), or nobody."""


def utc_now() -> datetime:
    return datetime.now(UTC)


class Workspace:
    """The tools get one of these. ``tree`` has the files, ``git`` the history; whoever uses either holds the lock."""

    def __init__(self, name: str, root: Path, remote: str, who: Who = None, now: Now = utc_now) -> None:
        if not (root / ".git").is_dir() or (root / ".git").is_symlink():
            if (root / ".git").is_file():
                raise BadArgs(
                    f'the folder of workspace "{name}" is no clone of its own (.git is a file there, as in a linked '
                    "worktree or a submodule); call workspace_init with another local_path"
                )
            raise BadArgs(
                f'the folder of workspace "{name}" is no clone of its own (no folder .git); call workspace_init'
            )
        self.name = name
        self.root = root
        self.remote = remote
        self.now = now
        """The time, with its zone."""
        self._who = who
        self.own = root / ".git" / "cohabit"
        """What this program keeps beside git's things: locks and decisions. Never shared."""
        self.tree = Tree(root)
        self.lock = Lock(self.own / "lock", self._clear_up)
        self.git = Git(root, lock_fd=self.lock.fd)
        self.signing = Signing()
        """With which key commits are signed and by which file they are checked; the session sets it up."""
        self._trusted = trust.Trust(root)
        self._merges = False

    @property
    def who(self) -> Identity:
        """Whose commits and entries these are; raises BadArgs where nobody said."""
        if self._who is None:
            raise BadArgs("nobody said who you are")
        return self._who if isinstance(self._who, Identity) else self._who()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Alone in this clone, and its configuration is known to start nothing."""
        while True:
            with self.lock.held():
                if not self.lock.outermost or not plain_git.merge_is_running(self.root):
                    yield from self._trusted_and_ready()
                    return
            plain_git.wait_for_merge(self.root)  # without the lock, which our merge driver waits for

    def _trusted_and_ready(self) -> Iterator[None]:
        self._trusted.check(self.git)
        if not self._merges:  # a clone that was made by another installation, or by hand
            driver.install(self)
            self._merges = True
        try:
            yield
        finally:
            self.lock.hurt |= self.git.killed
            self.git.killed = False

    def _clear_up(self, began: float) -> None:
        self._trusted.check(self.git)
        recovery.clear_up(self, began)

    def close(self) -> None:
        self.lock.close()
