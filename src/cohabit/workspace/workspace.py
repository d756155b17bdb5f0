"""One clone of a shared repository, opened for one agent."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from cohabit.errors import BadArgs
from cohabit.workspace import driver
from cohabit.workspace.clone import plain_git, trust
from cohabit.workspace.clone.cancellation import remote_begins
from cohabit.workspace.clone.clone import Clone
from cohabit.workspace.clone.signing import Signing
from cohabit.workspace.clone.tree import SET_UP_AGAIN
from cohabit.workspace.person.identity import UNKNOWN, Identity
from cohabit.workspace.sharing import recovery
from cohabit.workspace.sharing.fairness import LastPush

Now = Callable[[], datetime]
IdentitySource = Identity | Callable[[], Identity] | None
"""A fixed identity, a function that is called each time (it may change while a server runs), or none."""


def utc_now() -> datetime:
    return datetime.now(UTC)


class Workspace(Clone):
    """The first argument of the tools. Its files and its history are used under ``held``."""

    def __init__(self, name: str, root: Path, remote: str, identity: IdentitySource = None, now: Now = utc_now) -> None:
        if not (root / ".git").is_dir() or (root / ".git").is_symlink():
            if (root / ".git").is_file():
                raise BadArgs(
                    f'the folder of workspace "{name}" is not a clone of its own (.git is a file, as in a linked '
                    "worktree or a submodule); call workspace_init with another local_path"
                )
            if not root.exists():
                raise BadArgs(f'the folder of workspace "{name}" no longer exists; {SET_UP_AGAIN}')
            raise BadArgs(
                f'the folder of workspace "{name}" is not a clone of its own (it has no folder .git); move it away, '
                f"then {SET_UP_AGAIN}"
            )
        super().__init__(root, self._recover)
        self.name = name
        self.remote = remote
        self.now = now
        """The current time, with its time zone."""
        self._identity = identity
        self.signing = Signing()
        """The settings for signing and verifying commits; the session sets them."""
        self.made_by: Callable[[str, str], bool] = lambda sha, agent: True
        """True if a commit that names an agent can be one of that agent; a house knows the commits of its members."""
        self.tracked_pointers: set[str] = set()
        """Pointer files that git was seen to track. Asking git again before every commit would cost a process."""
        self.committed_pointers: dict[str, object] = {}
        """The version of each pointer file when a commit last included it; including it again would cost a process."""
        self.last_push: LastPush | None = None
        """The last push of this process, after which others have their turn."""
        self._trust = trust.Trust(root)
        self._has_driver = False

    @property
    def identity(self) -> Identity:
        """The author of commits and entries; raises BadArgs if it is unknown."""
        if self._identity is None:
            raise BadArgs(UNKNOWN)
        return self._identity if isinstance(self._identity, Identity) else self._identity()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Within the block this call has the clone to itself, and the clone's configuration is safe."""
        while True:
            with self.lock.held():
                if not self.lock.outermost or not plain_git.merge_is_running(self.root):
                    yield from self._checked()
                    return
            plain_git.wait_for_merge(self.root)  # without the lock, which our merge driver waits for

    @contextmanager
    def released(self) -> Iterator[None]:
        """Within the block other calls may have the clone: for a command that waits for the remote."""
        began = time.time()
        remote_begins()
        try:
            with self.lock.released():
                yield
        finally:
            if self.git.killed and self.lock.mine:  # git may have left locks of refs
                self.git.killed = False
                recovery.recover(self, began)

    def _checked(self) -> Iterator[None]:
        self._trust.check(self.git)
        if not self._has_driver:  # the clone may have been made by hand or by another installation
            driver.install(self.git)
            self._has_driver = True
        try:
            yield
        finally:
            self.lock.needs_recovery |= self.git.killed
            self.git.killed = False

    def _recover(self, began: float) -> None:
        self._trust.check(self.git)
        recovery.recover(self, began)
