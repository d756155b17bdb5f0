"""The way to a shared git repository: a clone for each member who works there, and one of the house's own.

Git runs on threads, never on the event loop, and every call has a time limit. A member works in its clone under the
name it has in the room; who only looks is shown the house's own clone, which follows the remote.
"""

import asyncio
import logging
import os
import secrets
import shutil
import tempfile
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from cohabit.errors import Busy, CohabitError, OutcomeUnknown, Unauthorized, UnknownCommand
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
ENDING_S: Final = 20.0
"""How long a namesake waits for what the last one began: it was ended, and git clears up."""
SPEAK_OF_THE_REMOTE: Final = ("fetch", "pull", "push", "sync", "claim", "release")
OWN: Final = ".board"
"""The folder of the house's own clone; no member can be called that."""


class Visit:
    """A call that waits or is at work: at whose desk (None: the house's own), and whether it has come to its end."""

    def __init__(self, name: str | None) -> None:
        self.name = name
        self.hangup = Hangup()
        self.over = threading.Event()


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
        self._guard = threading.Lock()  # whose clone is open, and who is removed; nobody waits with it
        self._left: list[Session] = []  # of members who are none any more; something may still run there
        self._visits: set[Visit] = set()
        self._ending: dict[str, list[Visit]] = {}  # those of members who were removed meanwhile
        self._asking: dict[str, asyncio.Lock] = {}
        self._acting, self._looking = Crew("cohabit-git", AT_ONCE), Crew("cohabit-git-look", AT_ONCE)
        self._glance: dict[str, Any] = {}
        self._glanced: tuple[str, str | None] | None = None  # from which commit to which
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
            return await self._do(self._looking, lambda: self._look(ask.args["since"]))
        if ask.name == "board":
            return await self._do(self._looking, self._overview)
        if ask.name == "board_read":
            return await self._do(self._looking, lambda: self._board().call("read", ask.args))
        tool = offered()[ask.name]
        args = msgspec.to_builtins(ask.args)
        crew = self._acting if tool.writes else self._looking
        return await self._do(crew, lambda: self._told(ask.name, by, self._desk(by).call(tool.name, args)), by)

    async def _do(self, crew: Crew, work: Callable[[], dict[str, Any]], by: str | None = None) -> dict[str, Any]:
        visit = Visit(self._name(by) if by is not None else None)
        begun = False

        def job() -> dict[str, Any]:
            nonlocal begun
            begun = True
            HANGUP.set(visit.hangup)
            try:
                if visit.name is not None:
                    self._must_be_a_member(visit.name)
                return work()
            finally:
                self._ended(visit)

        self._visits.add(visit)
        try:
            return await in_time(self._clock, TIMEOUT_MS, self._in_turn(crew, job, visit.name))
        except TimeoutError:
            visit.hangup.now()
            raise OutcomeUnknown("git did not come to an end in time") from None
        except Exception as wrong:
            if visit.hangup.happened and not isinstance(wrong, Unauthorized):
                raise OutcomeUnknown("the call was ended in the middle") from None
            if not isinstance(wrong, CohabitError | OSError):
                log.exception("a bug of ours in a workspace")
            raise answers.cleaned(answers.as_error(wrong), self._places()) from None
        finally:
            if not begun:
                self._ended(visit)

    async def _in_turn(self, crew: Crew, job: Callable[[], dict[str, Any]], name: str | None) -> dict[str, Any]:
        """Questions at one desk go one after the other, as they must in a clone anyhow: while a push takes long there,
        they would take all the places of those who look."""
        if name is None or crew is not self._looking:
            return await crew.do(job)
        async with self._asking.setdefault(name, asyncio.Lock()):
            return await crew.do(job)

    def _ended(self, visit: Visit) -> None:
        self._visits.discard(visit)
        visit.over.set()

    def removed(self, member: str) -> None:
        """Unpushed work stays, under another name. What is under way in the clone is ended, and a namesake's first call
        waits for that: git would write where the folder was."""
        name = self._name(member)
        with self._guard:
            ending = [visit for visit in list(self._visits) if visit.name == name]
            for visit in ending:
                visit.hangup.now()
            self._ending[name] = [*(visit for visit in self._ending.get(name, ()) if not visit.over.is_set()), *ending]
            self._put_aside(name)
            session = self._open.pop(name, None)
            if session is not None:
                self._left.append(session)

    async def close(self, for_good: bool = False) -> None:
        for visit in list(self._visits):
            visit.hangup.now()
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
                    session = self._keep(name, Session.of(self._clone(who, self._home / name)))
        return session

    def _keep(self, name: str, session: Session) -> Session:
        """For the next call; unless the member was removed while its clone was made."""
        try:
            with self._guard:
                self._must_be_a_member(name)
                self._open[name] = session
        except Unauthorized:
            session.workspace().close()
            self._put_aside(name)
            raise
        return session

    def _clone(self, who: Identity, root: Path) -> Workspace:
        self._home.mkdir(mode=0o700, parents=True, exist_ok=True)
        if root.name == OWN:
            return setup.open_for(root, self._room, self._remote, who, self._now)
        self._wait_for_the_last(root.name)
        if not (root / ".git" / "config").is_file():  # what a call of the last one of that name left is no clone
            self._put_aside(root.name)
        if not root.exists():  # not with open_for: a repository that is gone is not to be replaced by an empty one
            setup.clone(self._remote, root, who, self._room, self._now)
        return Workspace(self._room, root, self._remote, who, self._now)

    def _wait_for_the_last(self, name: str) -> None:
        """Until nothing is under way any more of a member of that name who was removed."""
        self._must_be_a_member(name)
        for visit in self._ending.get(name, ()):
            if not visit.over.wait(ENDING_S):
                raise Busy("a call of the last member of this name has not come to its end; try again in a moment")

    def _must_be_a_member(self, name: str) -> None:
        """Still: is the call that runs in this thread one of somebody who was removed meanwhile?"""
        if any(visit.hangup is HANGUP.get() for visit in self._ending.get(name, ())):
            raise Unauthorized("you are not a member of this room any more")

    def _put_aside(self, name: str) -> None:
        with suppress(FileNotFoundError):
            (self._home / name).rename(self._home / f".left-{self._clock.now()}-{secrets.token_hex(3)}-{name}")

    def _name(self, member: str) -> str:
        """Of the folder that is the member's."""
        return identity_of(member, self._room).agent_id

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

    def _look(self, since: str) -> dict[str, Any]:
        """The board, and what is new on it since that commit."""
        self._follow()
        workspace = self._board().workspace()
        with workspace.held():
            if self._glanced != (since, refs.head(workspace)):
                self._glance = board.glance(workspace, [path.name for path in self._home.iterdir()], since)
                self._glanced = since, refs.head(workspace)
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
        if isinstance(value, dict):
            return {key: self._clean(each) for key, each in value.items()}
        return answers.clean(value, self._places()) if isinstance(value, str) else value

    def _places(self) -> list[tuple[str, str]]:
        """Each before those it may lie in."""
        path = setup.local_path(self._remote)
        shared = [(str(path), self._shown), (os.path.realpath(path), self._shown)] if path else []
        return [*shared, (str(self._home), "."), (str(self._folder), "the house")]
