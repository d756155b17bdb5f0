"""The state that one process keeps between calls: its identity and its active workspace."""

import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from cohabit.errors import BadArgs, CohabitError, PermissionDenied
from cohabit.workspace.clone import signing
from cohabit.workspace.person import config, git_user, identity
from cohabit.workspace.person.identity import Identity
from cohabit.workspace.person.registry import Place, Registry
from cohabit.workspace.workspace import Workspace

NONE_ACTIVE = "No active workspace. Call workspace_switch or workspace_init first."


def local_now() -> datetime:
    """The current time in the time zone of this machine."""
    return datetime.now(UTC).astimezone()


class SessionState:
    """The workspaces that a process has opened, and the agent that calls. Closing it closes the workspaces.

    Each process has its own active workspace: it is read from the file when it is first needed, and after that only
    ``switch`` and ``use`` change it. If there is an ``only`` workspace, it is active, there are no others, and closing
    does not close it.
    """

    def __init__(
        self, home: Path, environ: Mapping[str, str], now: Callable[[], datetime], only: Workspace | None = None
    ) -> None:
        self.home = home
        self.environ = dict(environ)  # ``os.environ`` would decode a value whenever it is read
        self.now = now
        self.client: str | None = None
        """The name that the client gave in its handshake; the identity depends on it."""
        self._only = only
        self._active = only.name if only else None
        self._open: dict[Place, Workspace] = {}
        self._guard = threading.RLock()
        self._git_identities: dict[str | None, Identity] = {}
        self._cwd = config.cwd()

    @property
    def registry(self) -> Registry:
        """The person's workspaces; a member of a house has only one."""
        if self._only is not None:
            raise PermissionDenied(f"there is only one workspace here, {self._only.name}")
        return Registry(self.home)

    @property
    def active(self) -> str | None:
        """The name of the active workspace of this process."""
        with self._guard:
            if self._active is None:
                self._active = self.registry.default()
            return self._active

    def switch(self, name: str) -> None:
        """Make ``name`` active here and in processes that start later."""
        with self._guard:
            self.registry.place(name)
            self.registry.set_default(name)
            self._active = name

    def use(self, name: str) -> None:
        """Make ``name`` active in this process only."""
        with self._guard:
            self.registry.place(name)
            self._active = name

    def workspace(self) -> Workspace:
        """The active workspace, opened."""
        if self._only is not None:
            return self._only
        with self._guard:
            if self.active is None:
                raise BadArgs(NONE_ACTIVE)
            place = self.registry.place(self.active)
            if place not in self._open:
                root = config.expanded(place.local_path, self.environ)
                self._open[place] = Workspace(place.name, root, place.remote, self.identity, self.now)
            opened = self._open[place]
            opened.signing = signing.configured(self.home, self.environ, self._client())
            return opened

    # -- identity ---------------------------------------------------------------------------------
    def identity(self) -> Identity:
        """The identity of this agent; raises BadArgs that says how to set it."""
        if self._only is not None:
            return self._only.identity
        client = self._client()
        found = identity.find(self.home, self.environ, client) or self._from_git(client)
        if found is None:
            raise identity.missing(client)
        return found

    def _from_git(self, client: str | None) -> Identity | None:
        """The identity from git's user, who is asked for once."""
        if client not in self._git_identities and (found := git_user.from_git(self.environ, client)):
            self._git_identities[client] = found
        return self._git_identities.get(client)

    def agent_id(self) -> str | None:
        """The id of this agent, None if it is unknown."""
        try:
            return self.identity().agent_id
        except CohabitError:
            return None

    def _client(self) -> str | None:
        return identity.client_name(self.environ, self.client, self._cwd)

    def close(self) -> None:
        with self._guard:
            while self._open:
                self._open.popitem()[1].close()

    def private_paths(self) -> list[tuple[str, str]]:
        """Paths of this machine that errors must not contain, each with its replacement."""
        with self._guard:
            used = [*self._open.values(), *([self._only] if self._only else [])]
        paths = [
            (str(self.home), "the settings folder"),
            (str(config.home_folder(self.environ)), "~"),
            (self._cwd, "."),
        ]
        for workspace in used:
            paths.append((str(workspace.root), "."))
            if workspace.remote.startswith("/") or ":" in workspace.remote:  # a bare name could be part of other paths
                paths.append((workspace.remote, "the remote"))
        return paths
