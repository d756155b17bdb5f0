"""The connector of a workspace: a clone for each member who works there, and one for everybody who only reads.

Git runs on threads, never on the event loop, and every call has a time limit. A member works in its clone under the
name it has in the room. The clone for readers follows the shared repository.
"""

import asyncio
import logging
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from cohabit.errors import CohabitError, OutcomeUnknown, Unauthorized, UnknownCommand
from cohabit.house.clock import Clock, in_time
from cohabit.house.settings import Settings
from cohabit.house.threads import Pool
from cohabit.remote import Ask
from cohabit.room.state import handle_of
from cohabit.workspace import answers
from cohabit.workspace.clone import facts, refs, remotes, setup
from cohabit.workspace.clone.cancellation import CANCELLATION, Cancellation
from cohabit.workspace.person.identity import Identity, is_slug
from cohabit.workspace.reading import board
from cohabit.workspace.room import member_identity, room_tools
from cohabit.workspace.session import Session
from cohabit.workspace.sharing import origin
from cohabit.workspace.workspace import Workspace

if TYPE_CHECKING:
    from cohabit.house.calls.context import Services

log = logging.getLogger("cohabit")
MAX_RUNNING: Final = 4
"""Calls of one room that change something at the same time; and as many that read."""
TIMEOUT_MS: Final = 10 * 60_000
"""Longer than any git command may take; a sync has several of them."""
POLL_MS, POLL_NETWORK_MS = 5_000, 30_000
"""The intervals at which the shared repository is polled: one on this machine, and one elsewhere."""
CLOSING_S: Final = 5.0
NAME_THE_REMOTE: Final = ("fetch", "pull", "push", "sync", "claim", "release")
"""Tools whose answers may name the shared repository."""
BOARD: Final = ".board"
"""The folder of the clone for readers; no member's folder can be called that."""


class Job(msgspec.Struct, eq=False):
    """A call that waits for a thread or runs on one. ``member``: in whose clone; None: in the one for readers."""

    member: str | None
    cancellation: Cancellation = msgspec.field(default_factory=Cancellation)
    removed: bool = False  # the member was removed meanwhile


class WorkspaceConnector:
    """See the module. Without a data folder nothing is kept."""

    def __init__(self, room: str, config: Mapping[str, Any], settings: Settings, clock: Clock) -> None:
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        if settings.data:
            folder = settings.folder
        else:
            self._temporary = tempfile.TemporaryDirectory(prefix="cohabit-", ignore_cleanup_errors=True)
            folder = Path(self._temporary.name)
        self._folder = folder.resolve()
        self._clones = self._folder / "workspaces" / room
        self._room = room
        self._remote: str = config.get("remote") or str(self._folder / "workspaces" / f"{room}.git")
        self._clock = clock
        self._sessions: dict[str, Session] = {}  # by folder
        self._opening: dict[str, threading.Lock] = {}
        self._guard = threading.Lock()  # of jobs and sessions; held for moments only
        self._jobs: set[Job] = set()
        self._read_locks: dict[str, asyncio.Lock] = {}
        self._writing, self._reading = Pool("git-write", MAX_RUNNING), Pool("git-read", MAX_RUNNING)
        self._state: dict[str, Any] = {}  # of the board, as it was last polled
        self._state_between: tuple[str, str | None] | None = None  # from which commit to which
        path = setup.local_path(self._remote)
        self.poll_ms = POLL_MS if path is not None else POLL_NETWORK_MS
        self._shown = path.name if path is not None else remotes.shown(self._remote)

    @classmethod
    def for_room(cls, house: "Services", room: str, config: Mapping[str, Any]) -> "WorkspaceConnector":
        return cls(room, config, house.settings, house.clock)

    def __repr__(self) -> str:
        return f"<WorkspaceConnector {self._shown}>"

    # -- the connector -----------------------------------------------------------------------------
    async def about(self) -> dict[str, str]:
        await self._run(self._reading, self._follow_remote)
        return {"repository": self._shown}

    def check(self, ask: Ask) -> None:
        if ask.name not in room_tools() and ask.name not in ("poll", "board", "board_read"):
            raise UnknownCommand(f"the workspace of this house has no {ask.name}")

    async def ask(self, ask: Ask, by: str | None = None) -> dict[str, Any]:
        """Run a tool in the clone of ``by``, or read the board."""
        if ask.name == "poll":
            return await self._run(self._reading, lambda: self._polled(ask.args["since"]))
        if ask.name == "board":
            return await self._run(self._reading, self._overview)
        if ask.name == "board_read":
            return await self._run(self._reading, lambda: self._board().call("read", ask.args))
        tool = room_tools()[ask.name]
        args = msgspec.to_builtins(ask.args)
        pool = self._writing if tool.writes else self._reading
        return await self._run(pool, lambda: self._sendable(ask.name, by, self._session(by).call(tool.name, args)), by)

    async def _run(self, pool: Pool, work: Callable[[], dict[str, Any]], by: str | None = None) -> dict[str, Any]:
        job = Job(by)
        started = False

        def run() -> dict[str, Any]:
            nonlocal started
            started = True
            CANCELLATION.set(job.cancellation)
            try:
                if job.removed:
                    raise Unauthorized("you are no longer a member of this room")
                return work()
            finally:
                self._ended(job)

        self._jobs.add(job)
        try:
            return await in_time(self._clock, TIMEOUT_MS, self._in_turn(pool, run, by))
        except TimeoutError:
            job.cancellation.cancel()
            raise OutcomeUnknown("git did not finish in time") from None
        except Exception as wrong:
            if job.cancellation.cancelled and not isinstance(wrong, Unauthorized):
                raise OutcomeUnknown("the call was ended before git had finished") from None
            if not isinstance(wrong, CohabitError | OSError):
                log.exception("a bug in a workspace")
            raise answers.cleaned(answers.as_error(wrong), self._places()) from None
        finally:
            if not started:
                self._ended(job)

    async def _in_turn(self, pool: Pool, run: Callable[[], dict[str, Any]], by: str | None) -> dict[str, Any]:
        """Reads of one member run one after another, as they must in a clone anyhow: while a push takes long there,
        they would take all threads from those who read elsewhere."""
        if by is None or pool is not self._reading:
            return await pool.run(run)
        async with self._read_locks.setdefault(by, asyncio.Lock()):
            return await pool.run(run)

    def _ended(self, job: Job) -> None:
        with self._guard:
            self._jobs.discard(job)
        if job.removed and job.member is not None:
            self._close_clone_of(job.member)

    def member_removed(self, member: str) -> None:
        """End what runs in the member's clone. Its files stay, with work that was not pushed: no other member ever
        gets that folder."""
        with self._guard:
            for job in self._jobs:
                if job.member == member:
                    job.removed = True
                    job.cancellation.cancel()
        self._read_locks.pop(member, None)
        self._close_clone_of(member)

    def _close_clone_of(self, member: str) -> None:
        """Close a clone that nobody will use any more, once nothing runs in it."""
        with self._guard:
            if any(job.member == member for job in self._jobs):
                return
            session = self._sessions.pop(self._identity(member).agent_id, None)
        if session is not None:
            session.workspace().close()

    async def close(self, delete: bool = False) -> None:
        with self._guard:
            for job in self._jobs:
                job.cancellation.cancel()
        idle = await asyncio.gather(*(pool.drain(CLOSING_S) for pool in (self._writing, self._reading)))
        if all(idle):
            for session in self._sessions.values():
                session.workspace().close()
            self._sessions = {}
        if delete:
            await self._reading.run(lambda: shutil.rmtree(self._clones, ignore_errors=True))
        if self._temporary is not None:
            self._temporary.cleanup()

    # -- clones ------------------------------------------------------------------------------------
    def _session(self, by: str | None) -> Session:
        """The board comes first: with it the shared repository is created, where there is none."""
        board = self._board()
        return board if by is None else self._opened(self._identity(by))

    def _board(self) -> Session:
        return self._opened(Identity("board", f"The board of {self._room}", f"board@{self._room}.invalid"), BOARD)

    def _opened(self, who: Identity, folder: str | None = None) -> Session:
        """The clone of somebody, made when it is first needed."""
        name = folder or who.agent_id
        session = self._sessions.get(name)
        if session is None:
            with self._opening.setdefault(name, threading.Lock()):
                session = self._sessions.get(name)
                if session is None:
                    session = self._sessions[name] = Session.of(self._clone(who, self._clones / name))
        return session

    def _clone(self, who: Identity, root: Path) -> Workspace:
        self._clones.mkdir(mode=0o700, parents=True, exist_ok=True)
        if root.name == BOARD:
            opened = setup.open_for(root, self._room, self._remote, who, self._now)
        else:
            if not root.exists():  # not with open_for: a repository that is gone must not be replaced by an empty one
                setup.clone(self._remote, root, who, self._room, self._now)
            opened = Workspace(self._room, root, self._remote, who, self._now)
        opened.made_by = self._made_by
        return opened

    def _made_by(self, sha: str, agent: str) -> bool:
        """True if a commit in the name of an agent can be one of that agent: a member commits in its own clone only."""
        clone = self._clones / agent
        return not is_slug(agent) or not clone.exists() or sha in facts.commits_made(clone)

    def _identity(self, member: str) -> Identity:
        """As whom a member works: under an id that no other member of the room ever has, and shown by its handle."""
        own, shown = member_identity(member, self._room), member_identity(handle_of(member), self._room)
        return Identity(own.agent_id, shown.agent_name, own.agent_email)

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._clock.now() / 1000, UTC).astimezone()

    # -- the shared board --------------------------------------------------------------------------
    def _follow_remote(self) -> dict[str, Any]:
        """Bring the clone for readers to where the remote is, also after its history was rewritten: nobody works
        there."""
        workspace = self._board().workspace()
        with workspace.held():
            pass  # what an interrupted call left behind is cleared up
        there = origin.fetch(workspace)  # without the lock: a slow remote must not keep anybody from reading
        with workspace.held():
            if there is not None and there != refs.head(workspace):
                workspace.git.run("read-tree", "--reset", "-u", there)
                workspace.git.run("update-ref", f"refs/heads/{refs.branch(workspace)}", there)
        return {"head": there}

    def _polled(self, since: str) -> dict[str, Any]:
        """The board, and what is new on it since that commit."""
        self._follow_remote()
        workspace = self._board().workspace()
        with workspace.held():
            if self._state_between != (since, refs.head(workspace)):
                self._state = board.glance(workspace, [path.name for path in self._clones.iterdir()], since)
                self._state_between = since, refs.head(workspace)
        return self._state

    def _overview(self) -> dict[str, Any]:
        workspace = self._board().workspace()
        with workspace.held():
            return board.overview(workspace)

    # -- what is sent ------------------------------------------------------------------------------
    def _sendable(self, name: str, by: str | None, answer: Mapping[str, Any]) -> dict[str, Any]:
        """The answer of a tool without paths of this machine."""
        if name == "workspace_info":
            nobody = {"agent_id": ""} if by is None else {}
            return {**answer, "local_path": "", "remote": self._shown, **nobody}
        if name in NAME_THE_REMOTE:
            return {key: self._clean(value) for key, value in answer.items()}
        return dict(answer)

    def _clean(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._clean(each) for each in value]
        if isinstance(value, dict):
            return {key: self._clean(each) for key, each in value.items()}
        return answers.clean(value, self._places()) if isinstance(value, str) else value

    def _places(self) -> list[tuple[str, str]]:
        """Paths that are not shown, and what is shown instead. Each comes before those it may lie in."""
        path = setup.local_path(self._remote)
        shared = [(str(path), self._shown), (os.path.realpath(path), self._shown)] if path else []
        return [*shared, (str(self._clones), "."), (str(self._folder), "the house")]
