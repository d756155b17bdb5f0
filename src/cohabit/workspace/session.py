"""A session: the state that one process keeps between calls, which is its identity and its active workspace."""

import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cohabit.errors import BadArgs, CohabitError, PermissionDenied
from cohabit.workspace import answers
from cohabit.workspace.answers import Answer
from cohabit.workspace.call_log import Call, CallLog, sizes
from cohabit.workspace.clone import signing
from cohabit.workspace.person import config, git_user, identity
from cohabit.workspace.person.identity import Identity
from cohabit.workspace.person.registry import Place, Registry
from cohabit.workspace.tool import Profile, Tool, find
from cohabit.workspace.workspace import Workspace

NONE_ACTIVE = "No active workspace. Call workspace_switch or workspace_init first."


def local_now() -> datetime:
    """The current time in the time zone of this machine."""
    return datetime.now(UTC).astimezone()


class Session:
    """The session of one server, one command line or one member of a house. Closing it closes its workspaces.

    Each process has its own active workspace: it is read from the file when it is first needed, and after that only
    ``switch`` and ``use`` change it.
    """

    def __init__(
        self,
        home: Path,
        environ: Mapping[str, str],
        *,
        profile: Profile = "full",
        now: Callable[[], datetime] = local_now,
    ) -> None:
        self.home = home
        self.environ = dict(environ)  # ``os.environ`` would decode a value whenever it is read
        self.profile: Profile = profile
        self.now = now
        self.client: str | None = None
        """The name that the client gave in its handshake; the identity depends on it."""
        self._active: str | None = None
        self._only: Workspace | None = None
        self._open: dict[Place, Workspace] = {}
        self._guard = threading.RLock()
        self._git_identities: dict[str | None, Identity] = {}
        self._call_log = CallLog(home / "logs")
        self._cwd = config.cwd()

    @classmethod
    def of(cls, workspace: Workspace, profile: Profile = "full") -> "Session":
        """A session for an open workspace and no other. Closing the session does not close the workspace."""
        session = cls(workspace.state_folder, {}, profile=profile, now=workspace.now)
        session._only = workspace
        session._active = workspace.name
        return session

    def call(self, name: str, args: Mapping[str, Any]) -> Answer:
        """Call a tool and log the call. Raises CohabitError (``as_answer`` in ``answers`` turns it into JSON).
        May be called from several threads at once."""
        began, tool, failure = time.perf_counter(), None, None
        try:
            tool = find(name, self.profile)
            answer: Answer = answers.sendable(tool.call(self, args))
            return answer
        except Exception as error:
            failure = error
            raise answers.cleaned(answers.as_error(error), self._private_paths()) from error
        finally:
            self._log(tool, args, time.perf_counter() - began, failure)

    # -- the active workspace ---------------------------------------------------------------------
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
        return found or identity.required(self.home, self.environ, client)

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

    # -- errors and the log -----------------------------------------------------------------------
    def _private_paths(self) -> list[tuple[str, str]]:
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

    def _log(self, tool: Tool | None, args: Mapping[str, Any], seconds: float, error: BaseException | None) -> None:
        self._call_log.write(
            Call(
                at=self.now(),
                tool=tool.name if tool else "unknown",
                workspace=self._active,
                agent=self.agent_id(),
                ms=seconds * 1000,
                sizes=sizes(args, tool.arguments if tool else ()),
                error=error,
            )
        )
