"""The way to a shared git repository: a clone for each member who works there, and one of the house's own.

Git runs on threads, never on the event loop, and every call has a time limit. A member works in its clone under the
name it has in the room; who only looks is shown the house's own clone, which follows the remote.
"""

import asyncio
import logging
import shutil
import tempfile
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from cohabit.errors import CohabitError, OutcomeUnknown, UnknownCommand
from cohabit.house.clock import Clock, in_time
from cohabit.house.crew import Crew
from cohabit.workspace import answers
from cohabit.workspace.clone import refs, remotes, setup
from cohabit.workspace.clone.hangup import HANGUP, Hangup
from cohabit.workspace.looking import board
from cohabit.workspace.offered import identity_of, offered
from cohabit.workspace.person.identity import Identity
from cohabit.workspace.session import Session
from cohabit.workspace.sharing import origin
from cohabit.workspace.workspace import Workspace
from cohabit.world import Ask

log = logging.getLogger("cohabit")
AT_ONCE: Final = 4
"""Calls that change something, of one room; and as many that look."""
TIMEOUT_MS: Final = 10 * 60_000
"""Longer than any git command may take; a sync has several of them."""
LOOK_MS, LOOK_FAR_MS = 5_000, 30_000
"""How often the remote is looked at: one on this machine, and one elsewhere."""
CLOSING_S: Final = 5.0
SPEAK_OF_THE_REMOTE: Final = ("fetch", "pull", "push", "sync")
OWN: Final = ".board"
"""The folder of the house's own clone; no member can be called that."""


class Desks:
    """See the module. ``folder``: the data folder of the house; None: nothing is kept."""

    def __init__(self, folder: Path | None, room: str, remote: str | None, clock: Clock) -> None:
        self._passing: tempfile.TemporaryDirectory[str] | None = None
        if folder is None:
            self._passing = tempfile.TemporaryDirectory(prefix="cohabit-", ignore_cleanup_errors=True)
            folder = Path(self._passing.name)
        self._folder = folder.resolve()
        self._home = self._folder / "workspaces" / room
        self._room = room
        self._remote = remote or str(self._folder / "workspaces" / f"{room}.git")
        self._clock = clock
        self._open: dict[str, Session] = {}
        self._opening: dict[str, threading.Lock] = {}
        self._left: list[Session] = []  # of members who are none any more; something may still run there
        self._calls: set[Hangup] = set()  # those that are at work
        self._acting, self._looking = Crew("cohabit-git", AT_ONCE), Crew("cohabit-git-look", AT_ONCE)
        self._glance: dict[str, Any] = {}
        path = setup.local_path(self._remote)
        self.look_ms = LOOK_MS if path is not None else LOOK_FAR_MS
        self._shown = path.name if path is not None else remotes.shown(self._remote)

    def __repr__(self) -> str:
        return f"<Desks {self._shown}>"

    # -- the way -----------------------------------------------------------------------------------
    async def about(self) -> dict[str, str]:
        await self._do(self._looking, self._follow)
        return {"repository": self._shown}

    def must_know(self, ask: Ask) -> None:
        if ask.name not in offered() and ask.name not in ("look", "board", "board_read"):
            raise UnknownCommand(f"the workspace of this house has no {ask.name}")

    async def ask(self, ask: Ask, by: str | None = None) -> dict[str, Any]:
        """A tool, at the desk of ``by``; or a look at the board."""
        if ask.name == "look":
            return await self._do(self._looking, self._look)
        if ask.name == "board":
            return await self._do(self._looking, self._overview)
        if ask.name == "board_read":
            return await self._do(self._looking, lambda: self._board().call("read", ask.args))
        tool = offered()[ask.name]
        args = msgspec.to_builtins(ask.args)
        crew = self._acting if tool.writes else self._looking
        return await self._do(crew, lambda: self._told(ask.name, by, self._desk(by).call(tool.name, args)))

    async def _do(self, crew: Crew, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        hangup = Hangup()

        def job() -> dict[str, Any]:
            HANGUP.set(hangup)
            self._calls.add(hangup)
            try:
                return work()
            finally:
                self._calls.discard(hangup)

        try:
            return await in_time(self._clock, TIMEOUT_MS, crew.do(job))
        except TimeoutError:
            hangup.now()
            raise OutcomeUnknown("git did not come to an end in time") from None
        except Exception as wrong:
            if not isinstance(wrong, CohabitError | OSError):
                log.exception("a bug of ours in a workspace")
            raise answers.cleaned(answers.as_error(wrong), self._places()) from None

    def removed(self, member: str) -> None:
        """Unpushed work stays, under another name. What is under way in the clone fails: its folder is gone."""
        name = identity_of(member, self._room).agent_id
        with suppress(FileNotFoundError):
            (self._home / name).rename(self._home / f".left-{self._clock.now()}-{name}")
        session = self._open.pop(name, None)
        if session is not None:
            self._left.append(session)

    async def close(self, for_good: bool = False) -> None:
        for hangup in list(self._calls):
            hangup.now()
        idle = await asyncio.gather(*(crew.rest(CLOSING_S) for crew in (self._acting, self._looking)))
        if all(idle):
            for session in [*self._open.values(), *self._left]:
                session.workspace().close()
            self._open, self._left = {}, []
        if for_good:
            await self._looking.do(lambda: shutil.rmtree(self._home, ignore_errors=True))
        if self._passing is not None:
            self._passing.cleanup()

    # -- clones ------------------------------------------------------------------------------------
    def _desk(self, by: str | None) -> Session:
        """The house's own clone comes first: with it the shared repository is made, where it was not there."""
        board = self._board()
        return board if by is None else self._opened(identity_of(by, self._room))

    def _board(self) -> Session:
        return self._opened(Identity("board", f"The board of {self._room}", f"board@{self._room}.invalid"), OWN)

    def _opened(self, who: Identity, folder: str | None = None) -> Session:
        """The clone of somebody, made when it is first needed."""
        name = folder or who.agent_id
        session = self._open.get(name)  # asked once: whoever is removed meanwhile is not there any more
        if session is None:
            with self._opening.setdefault(name, threading.Lock()):
                session = self._open.get(name)
                if session is None:
                    session = self._open[name] = Session.of(self._clone(who, self._home / name))
        return session

    def _clone(self, who: Identity, root: Path) -> Workspace:
        self._home.mkdir(mode=0o700, parents=True, exist_ok=True)
        if root.name == OWN:
            return setup.open_for(root, self._room, self._remote, who, self._now)
        if not root.exists():  # not with open_for: a repository that is gone is not to be replaced by an empty one
            setup.clone(self._remote, root, who, self._room, self._now)
        return Workspace(self._room, root, self._shown, who, self._now)

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._clock.now() / 1000, UTC).astimezone()

    # -- the shared board --------------------------------------------------------------------------
    def _follow(self) -> dict[str, Any]:
        """Bring the house's clone to where the remote is, also after its history was rewritten: nobody works here."""
        workspace = self._board().workspace()
        with workspace.held():
            pass  # the clone is as it should be
        there = origin.fetch(workspace)  # without the lock: a slow remote must not keep anybody from reading
        with workspace.held():
            if there is not None and there != refs.head(workspace):
                workspace.git.run("read-tree", "--reset", "-u", there)
                workspace.git.run("update-ref", f"refs/heads/{refs.branch(workspace)}", there)
        return {"head": there}

    def _look(self) -> dict[str, Any]:
        self._follow()
        workspace = self._board().workspace()
        with workspace.held():
            if self._glance.get("head") != refs.head(workspace):
                self._glance = board.glance(workspace, [path.name for path in self._home.iterdir()])
        return self._glance

    def _overview(self) -> dict[str, Any]:
        workspace = self._board().workspace()
        with workspace.held():
            return board.overview(workspace)

    # -- what leaves -------------------------------------------------------------------------------
    def _told(self, name: str, by: str | None, answer: Mapping[str, Any]) -> dict[str, Any]:
        """The answer of a tool without places of this machine."""
        if name == "workspace_info":
            nobody = {"agent_id": ""} if by is None else {}  # who only looks, through the house's own clone
            return {**answer, "local_path": "", "remote": self._shown, **nobody}
        if name in SPEAK_OF_THE_REMOTE:
            return {key: self._clean(value) for key, value in answer.items()}
        return dict(answer)

    def _clean(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._clean(each) for each in value]
        return answers.clean(value, self._places()) if isinstance(value, str) else value

    def _places(self) -> list[tuple[str, str]]:
        path = setup.local_path(self._remote)
        return [(str(self._home), "."), (str(self._folder), "the house"), *([(str(path), self._shown)] if path else [])]
