"""Who asks, and which workspace is meant: what one process knows from call to call."""

import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cohabit.errors import BadArgs, CohabitError, PermissionDenied
from cohabit.workspace import answers
from cohabit.workspace.answers import Answer
from cohabit.workspace.calls import Call, Calls, sizes
from cohabit.workspace.clone import signing
from cohabit.workspace.person import config, identity
from cohabit.workspace.person.client import client
from cohabit.workspace.person.identity import Identity
from cohabit.workspace.person.registry import Place, Registry
from cohabit.workspace.tool import Profile, Tool, find
from cohabit.workspace.workspace import Workspace

NONE_ACTIVE = "No active workspace. Call workspace_switch or workspace_init first."


def local_now() -> datetime:
    """The time, in the zone of this machine."""
    return datetime.now(UTC).astimezone()


class Session:
    """One server, one command line, one member of a house. Closing it closes what it opened.

    The active workspace is this process's own: it is taken from the file when it is first needed, and from then on
    only ``switch`` and ``use`` change it.
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
        self.environ = environ
        self.profile: Profile = profile
        self.now = now
        self.client: str | None = None
        """The name the client gave in its handshake; identity depends on it."""
        self._active: str | None = None
        self._only: Workspace | None = None
        self._open: dict[Place, Workspace] = {}
        self._guard = threading.RLock()
        self._calls = Calls(home / "logs")
        self._cwd = config.cwd()

    @classmethod
    def of(cls, workspace: Workspace, profile: Profile = "full") -> "Session":
        """A session that has its workspace already and knows no other. Whoever opened the workspace closes it."""
        session = cls(workspace.own, {}, profile=profile, now=workspace.now)
        session._only = workspace
        session._active = workspace.name
        return session

    def call(self, name: str, args: Mapping[str, Any]) -> Answer:
        """One tool call, logged. The answer, or a CohabitError (``as_answer`` in ``answers`` turns it into JSON).
        May be called from several threads at once."""
        began, tool, error = time.perf_counter(), None, None
        try:
            tool = find(name, self.profile)
            answer: Answer = answers.sendable(tool.call(self, args))
            return answer
        except Exception as wrong:
            error = wrong
            raise answers.cleaned(answers.as_error(wrong), self._places()) from wrong
        finally:
            self._log(tool, args, time.perf_counter() - began, error)

    # -- which workspace --------------------------------------------------------------------------
    @property
    def registry(self) -> Registry:
        """The person's workspaces; a member of a house has none to look through."""
        if self._only is not None:
            raise PermissionDenied(f"here is one workspace only, {self._only.name}; others cannot be reached from it")
        return Registry(self.home)

    @property
    def active(self) -> str | None:
        """The name of this process's active workspace. Asked for once, it stays until ``switch`` or ``use``."""
        with self._guard:
            if self._active is None:
                self._active = self.registry.default()
            return self._active

    def switch(self, name: str) -> None:
        """Make ``name`` active here, and in processes that start later."""
        with self._guard:
            self.registry.place(name)
            self.registry.set_default(name)
            self._active = name

    def use(self, name: str) -> None:
        """Make ``name`` active here, and nowhere else."""
        with self._guard:
            self.registry.place(name)
            self._active = name

    def workspace(self) -> Workspace:
        """The active workspace of this process, opened."""
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

    # -- who --------------------------------------------------------------------------------------
    def identity(self) -> Identity:
        """Who this agent is; raises BadArgs that names the client and the files that would help."""
        if self._only is not None:
            return self._only.who
        return identity.needed(self.home, self.environ, self._client())

    def agent_id(self) -> str | None:
        """The agent's id where it is known; never fails."""
        try:
            return self.identity().agent_id
        except CohabitError:
            return None

    def _client(self) -> str | None:
        return client(self.environ, self.client, self._cwd)

    def close(self) -> None:
        with self._guard:
            while self._open:
                self._open.popitem()[1].close()

    # -- what is told -----------------------------------------------------------------------------
    def _places(self) -> list[tuple[str, str]]:
        """Folders of this machine that no error may name, each with the word for it."""
        with self._guard:
            used = [*self._open.values(), *([self._only] if self._only else [])]
        places = [(str(self.home), "the config folder"), (str(config.person(self.environ)), "~"), (self._cwd, ".")]
        for workspace in used:
            places.append((str(workspace.root), "."))
            if workspace.remote.startswith("/") or ":" in workspace.remote:  # a mere name may be part of other places
                places.append((workspace.remote, "the remote"))
        return places

    def _log(self, tool: Tool | None, args: Mapping[str, Any], seconds: float, error: BaseException | None) -> None:
        self._calls.write(
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
