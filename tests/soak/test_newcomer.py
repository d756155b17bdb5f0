"""A newcomer: an empty home folder, and Python, make, git and the ordinary programs of a shell on the path. From the clone
to a game that can be watched in one command, then each tutorial as it is written."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.faces.certificates import make_certificate
from tests.ports import free_port
from tests.test_tutorials import OPEN, ROOT, TUTORIALS, Reader

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600)]
OF_A_SHELL = (
    "awk", "basename", "bash", "cat", "chmod", "cp", "cut", "date", "dirname", "echo", "env", "expr", "false", "find",
    "grep", "head", "ln", "ls", "mkdir", "mktemp", "mv", "printf", "pwd", "rm", "rmdir", "sed", "sh", "sleep", "sort",
    "tail", "test", "touch", "tr", "true", "uname", "wc", "xargs",
)  # fmt: skip
NEEDED = ("git", "make")
OF_PACKAGES = (
    "PIP_",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
)
MAX_LINES = 20
"""What `make run` may print until the link to watch is there, with the making of the environment."""
MAX_LINES_OF_A_TUTORIAL = 500
MAX_SECONDS = 600
Measured = Callable[[str, float, int], None]
WATCH = re.compile(r"Watch here\W*(http\S+?)/?(?:\?room=(\w+))?#(\w+)")


class Run(NamedTuple):
    """What `make run` printed until the house was open, the seconds until then, and what the link to watch showed."""

    lines: list[str]
    seconds: float
    view: str


class Newcomer:
    def __init__(self, folder: Path) -> None:
        self.home, self.work, self.programs = (folder / name for name in ("home", "work", "bin"))
        for path in (self.home, self.work, self.programs):
            path.mkdir()
        for name in (*NEEDED, *OF_A_SHELL):
            if found := shutil.which(name):
                (self.programs / name).symlink_to(found)
        (self.programs / "python3").symlink_to(Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}")
        kept = {name: value for name, value in os.environ.items() if name.startswith(OF_PACKAGES)}
        self.env = {**kept, "HOME": str(self.home), "PATH": str(self.programs), "LC_ALL": "C.UTF-8"}
        self.env |= {"COHABIT_PORT": str(free_port()), "COHABIT_BRIDGE_PORT": "0", "COHABIT_NEXUS_PORT": "0"}
        self.env["PYTHONUNBUFFERED"] = "1"
        self.clone = self.work / "cohabit"

    def run(self, *words: str, within: Path | None = None) -> str:
        done = subprocess.run(
            words, cwd=within or self.work, env=self.env, text=True, timeout=1200,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout}"
        return done.stdout

    def make_run(self) -> Run:
        """`make run` until the house is open, and a look through the link to watch."""
        started = time.monotonic()
        process = subprocess.Popen(
            ["make", "run"], cwd=self.clone, env=self.env, text=True, start_new_session=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        assert process.stdout is not None
        lines: list[str] = []
        try:
            for line in process.stdout:
                lines.append(line.rstrip())
                if OPEN in line:
                    return Run(lines, time.monotonic() - started, self._watched("\n".join(lines)))
        finally:
            os.killpg(process.pid, signal.SIGINT)
            process.wait(timeout=60)
            process.stdout.close()
        raise AssertionError("\n".join(lines))

    def _watched(self, said: str) -> str:
        """The page behind the link, and the view that its token shows."""
        found = WATCH.search(said)
        if found is None:  # links are shown once, when the room is made
            return ""
        address, room, token = found.groups()
        assert "<html" in fetched(address).lower()
        return fetched(f"{address}/api/rooms/{room}/view", token)


def fetched(address: str, token: str = "") -> str:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=60) as reply:
        text: str = reply.read().decode()
        return text


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory: pytest.TempPathFactory) -> Newcomer:
    someone = Newcomer(tmp_path_factory.mktemp("newcomer"))
    someone.run("git", "clone", "--quiet", ROOT.as_uri(), str(someone.clone))
    return someone


def test_from_the_clone_to_watching_is_one_command(newcomer: Newcomer, measured: Measured) -> None:
    first = newcomer.make_run()
    measured("make run", first.seconds, len(first.lines))
    assert '"text"' in first.view
    assert len(first.lines) <= MAX_LINES, first.lines
    assert first.seconds <= MAX_SECONDS
    again = newcomer.make_run()
    measured("make run, again", again.seconds, len(again.lines))
    assert not [line for line in again.lines if "installing" in line]


@pytest.fixture
def measured(record_property: Callable[[str, object], None], capsys: pytest.CaptureFixture[str]) -> Measured:
    """Seconds and printed lines, into the report of the tests and to the terminal."""

    def say(what: str, seconds: float, lines: int) -> None:
        record_property(what, f"{seconds:.0f} s, {lines} lines")
        with capsys.disabled():
            sys.stdout.write(f"\n{what}: {seconds:.0f} s, {lines} lines\n")

    return say


@pytest.fixture(scope="module")
def programs(newcomer: Newcomer) -> Path:
    """The programs of the clone's environment, with the extras that the tutorials ask for."""
    if not (newcomer.clone / ".venv/.base").exists():
        newcomer.make_run()
    pip = (".venv/bin/python", "-m", "pip", "install", "-qq", "-c", "constraints.txt", "-e", ".[lab,envs]")
    newcomer.run(*pip, within=newcomer.clone)
    return newcomer.clone / ".venv/bin"


@pytest.fixture
def reader(newcomer: Newcomer, programs: Path, tmp_path: Path) -> Iterator[Reader]:
    home, folder = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    folder.mkdir()
    someone = Reader(folder, newcomer.env | {"HOME": str(home), "PATH": f"{programs}:{newcomer.programs}"})
    yield someone
    someone.stop()


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_each_tutorial_works_as_it_is_written(path: Path, reader: Reader, measured: Measured) -> None:
    make_certificate(reader.folder / "cert.pem", reader.folder / "key.pem")
    started = time.monotonic()
    assert reader.read(path.read_text()) >= 5
    seconds = time.monotonic() - started
    measured(path.stem, seconds, reader.printed)
    assert seconds <= MAX_SECONDS
    assert reader.printed <= MAX_LINES_OF_A_TUTORIAL
