"""A remote, and agents with a clone each: real git, without the settings of the current user, with a fixed clock."""

import os
import re
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import msgspec
import pytest

from cohabit.errors import CohabitError
from cohabit.workspace.answers import as_answer
from cohabit.workspace.clone import setup
from cohabit.workspace.person.identity import Identity
from cohabit.workspace.person.registry import Place
from cohabit.workspace.session import Session
from cohabit.workspace.sharing import fairness
from cohabit.workspace.tool import Tool
from cohabit.workspace.workspace import Workspace

SECRET = "TOP-SECRET"
"""The content of files outside of every workspace; no answer may contain it."""
ZONE = timezone(timedelta(hours=2))
NOON = datetime(2026, 5, 22, 14, 30, 5, tzinfo=ZONE)


class Clock:
    """Stands still unless it is moved."""

    def __init__(self, at: datetime) -> None:
        self.at = at

    def __call__(self) -> datetime:
        return self.at

    def move(self, **by: float) -> None:
        self.at += timedelta(**by)


def forget_the_person(patch: pytest.MonkeyPatch, home: Path) -> None:
    for name in [name for name in os.environ if name.startswith(("GIT_", "COHABIT_", "MULTISPHERE_", "CLAUDE_"))]:
        patch.delenv(name)
    patch.setenv("HOME", str(home))
    patch.setenv("XDG_CONFIG_HOME", str(home / "nothing"))
    patch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture(autouse=True)
def neutral_environment(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, no_waiting_for_the_disk: None
) -> None:
    """An environment without settings of the current user: an empty home, no variables of git or ours."""
    forget_the_person(monkeypatch, tmp_path_factory.getbasetemp())


@pytest.fixture
def now() -> Clock:
    """The clock of every session that `clone` makes: 2026-05-22 14:30:05, two hours east of UTC."""
    return Clock(NOON)


@pytest.fixture(autouse=True)
def no_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Agents in this process push again at once; see ``test_fairness`` for their turns."""
    monkeypatch.setattr(fairness, "MAX_TURN_PAUSE", 0.0)


@pytest.fixture(scope="session")
def seed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bare repository with the template, and a clone of it; tests use copies."""
    folder = tmp_path_factory.mktemp("seed")
    founder = Identity("founder-cli", "Founder", "founder@example.org")
    with pytest.MonkeyPatch.context() as patch:
        forget_the_person(patch, folder)
        setup.create(str(folder / "remote.git"))
        setup.clone(str(folder / "remote.git"), folder / "first", founder, "board", Clock(NOON - timedelta(days=1)))
        setup.clone(str(folder / "remote.git"), folder / "clone", founder, "board")
    return folder


@pytest.fixture
def remote(seed: Path, tmp_path: Path) -> Path:
    """A bare repository with the template as its only commit."""
    shutil.copytree(seed / "remote.git", tmp_path / "remote.git")
    return tmp_path / "remote.git"


def copied(seed: Path, remote: Path, session: Session) -> None:
    """The result of ``workspace_init``, ten times faster: a copy of the prepared clone with another name and address."""
    root = Path(session.environ["HOME"]) / "board"
    shutil.copytree(seed / "clone", root)
    config = (root / ".git" / "config").read_text().replace(str(seed / "remote.git"), str(remote))
    for field in ("NAME", "EMAIL"):
        founder = {"NAME": "Founder", "EMAIL": "founder@example.org"}[field]
        config = config.replace(f"= {founder}\n", f"= {session.environ[f'COHABIT_AGENT_{field}']}\n")
    (root / ".git" / "config").write_text(config)
    subprocess.run(["git", "-C", root, "update-index", "-q", "--refresh"], check=True)
    session.registry.add(Place(name="board", remote=str(remote), local_path=str(root)))


@pytest.fixture
def clone(seed: Path, remote: Path, tmp_path: Path, now: Clock) -> Iterator[Callable[[str], Session]]:
    """`clone("ann")` is a session of the agent `ann-cli` with a home and a clone of its own, at `tmp_path/ann/board`."""
    made: list[Session] = []

    def make(name: str) -> Session:
        environ = {
            "HOME": str(tmp_path / name),
            "COHABIT_AGENT_ID": f"{name}-cli",
            "COHABIT_AGENT_NAME": name.capitalize(),
            "COHABIT_AGENT_EMAIL": f"{name}@example.org",
        }
        session = Session(tmp_path / name / ".multisphere", environ, now=now)
        made.append(session)
        begun = [(place / "refs" / "heads" / "main").read_text() for place in (seed / "remote.git", remote)]
        if begun[0] == begun[1]:
            copied(seed, remote, session)
        else:
            session.call("workspace_init", {"name": "board", "remote_url": str(remote), "local_path": "~/board"})
        return session

    yield make
    for session in made:
        session.close()


class Guard:
    """Checks that no program ran and that nothing in the folder of a test changed, except for the work tree, the remote
    and the files of sessions."""

    MAY_CHANGE = ("remote.git", "ann/board", "ann/.multisphere/logs", "ann/.multisphere/workspaces")
    MAY_NOT = ("ann/board/.git/config", "ann/board/.git/hooks", "ann/board/.git/info/attributes")

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.canary = folder / "canary"
        self.outside = folder / "outside"
        (self.outside / "folder").mkdir(parents=True)
        for name in ("secret.txt", "journal.md", "inbox.md", "folder/ann-cli.json"):
            (self.outside / name).write_text(f"{SECRET}\n")
        self.trap = f"touch {self.canary}"
        """A command that no tool may run."""
        self.watch()

    def watch(self) -> None:
        """From now on."""
        self._before = self._seen()

    def check(self) -> None:
        assert not self.canary.exists(), "something ran"
        assert self._seen() == self._before

    def _seen(self) -> dict[str, tuple[int, bytes]]:
        found = {}
        for folder, folders, names in os.walk(self.folder):
            for name in [*folders, *names]:
                path = Path(folder, name)
                relative = str(path.relative_to(self.folder))
                if relative.startswith(self.MAY_NOT) or not relative.startswith(self.MAY_CHANGE):
                    mode = path.lstat().st_mode
                    held = os.readlink(path).encode() if path.is_symlink() else b""
                    found[relative] = (mode, path.read_bytes() if stat.S_ISREG(mode) else held)
        return found


@pytest.fixture
def guard(tmp_path: Path) -> Iterator[Guard]:
    """Checks when the test has ended."""
    guard = Guard(tmp_path)
    yield guard
    guard.check()


@pytest.fixture
def board(tmp_path: Path, now: Clock) -> Iterator[Callable[..., Workspace]]:
    """`board()` is a repository without any commit, opened for the agent `ann-cli`; `board("bob-cli")` is the same
    folder, opened for another agent. Nothing is shared: there is no remote."""
    made: list[Workspace] = []

    def open_(agent_id: str = "ann-cli", person: str | None = None) -> Workspace:
        if not made:
            subprocess.run(["git", "init", "-q", "-b", "main", tmp_path / "board"], check=True)
        name = person or agent_id.partition("-")[0]
        who = Identity(agent_id, name.capitalize(), f"{name}@example.org")
        made.append(Workspace("board", tmp_path / "board", "", who, now))
        return made[-1]

    yield open_
    for workspace in made:
        workspace.close()


USUAL: dict[str, Any] = {
    "path": "drafts/a.md", "dir": ".", "paths": ["drafts/a.md", "journal.md", "inbox.md"], "content": "text\n",
    "id": "INB-001", "name": "board", "remote_url": "{remote}", "local_path": "~/board", "title": "A title", "query": "e",
}  # fmt: skip
"""Valid arguments."""


@pytest.fixture(scope="session")
def required() -> Callable[[Tool], dict[str, Any]]:
    """`required(tool)`: harmless values for the required arguments of a tool, also for one that is not listed here."""

    def usual(name: str, schema: dict[str, Any]) -> Any:
        if name in USUAL:
            return USUAL[name]
        kinds = {"string": "x", "integer": schema.get("minimum", 1), "boolean": False, "array": [], "object": {}}
        return schema["enum"][0] if "enum" in schema else kinds.get(schema.get("type", ""))

    def find(tool: Tool) -> dict[str, Any]:
        schema = tool.schema()
        return {name: usual(name, schema["properties"][name]) for name in schema.get("required", [])}

    return find


@pytest.fixture(scope="session")
def attempt() -> Callable[[Session, str, dict[str, Any]], dict[str, Any]]:
    """`attempt(session, tool, args)`: one call, whose answer may be an error. The answer can be sent, fits a model's
    context window, contains no secret and no path of this machine, and is not an internal error."""

    def call(session: Session, name: str, args: dict[str, Any]) -> dict[str, Any]:
        asked = f"{name} {str(args)[:200]}"
        try:
            answer = session.call(name, args)
        except CohabitError as error:
            answer = as_answer(error)
            assert answer["details"]["code"] != "INTERNAL", f"{asked}: {error!r} {error.__cause__!r}"
            assert session.environ["HOME"] not in str(answer), asked
            assert not re.search(r"usage: git|unknown option|unknown switch", answer["error"]), answer["error"]
        sent = msgspec.json.encode(answer)
        assert SECRET.encode() not in sent, asked
        assert len(sent) < 400_000, asked
        return answer

    return call
