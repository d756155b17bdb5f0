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
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.faces.certificates import make_certificate
from tests.ports import free_port
from tests.test_tutorials import ROOT, TUTORIALS, Reader, Terminal

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600)]
OF_A_SHELL = (
    "awk", "basename", "bash", "cat", "chmod", "cp", "cut", "date", "dirname", "echo", "env", "expr", "false", "find",
    "grep", "head", "ln", "ls", "mkdir", "mktemp", "mv", "printf", "pwd", "rm", "rmdir", "sed", "sh", "sleep", "sort",
    "tail", "test", "touch", "tr", "true", "uname", "wc", "xargs",
)  # fmt: skip
NEEDED = ("git", "make")
OF_PACKAGES = ("PIP_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE")
MAX_LINES = 20
"""What `make run` may print until the link to watch is there, with the making of the environment."""
MAX_SECONDS = 600
WATCH = re.compile(r"Watch here\W*(http\S+?)/?(?:\?room=(\w+))?#(\w+)")


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

    def make_run(self) -> tuple[list[str], float, str]:
        """`make run`: the lines until the house is open, the seconds until then, and the page with its token read."""
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
                if found := WATCH.search(line):
                    return lines, time.monotonic() - started, self._watched(found)
        finally:
            os.killpg(process.pid, signal.SIGINT)
            process.wait(timeout=60)
            process.stdout.close()
        raise AssertionError("\n".join(lines))

    def _watched(self, found: re.Match[str]) -> str:
        """The page behind the link, and the view that its token shows."""
        address, room, token = found.groups()
        with self._open(address) as page:
            assert "<html" in page.read().decode().lower()
        with self._open(f"{address}/api/rooms/{room}/view", token) as view:
            return str(view.read().decode())

    def _open(self, address: str, token: str = "") -> urllib.request.addinfourl:  # type: ignore[name-defined]
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        for _ in range(600):  # the link is printed just before the house listens
            try:
                return urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=60)
            except urllib.error.URLError as failed:
                if not isinstance(failed.reason, ConnectionRefusedError):
                    raise
                time.sleep(0.1)
        raise AssertionError(f"{address} does not answer")


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory: pytest.TempPathFactory) -> Newcomer:
    someone = Newcomer(tmp_path_factory.mktemp("newcomer"))
    someone.run("git", "clone", "--quiet", ROOT.as_uri(), str(someone.clone))
    return someone


def test_from_the_clone_to_watching_is_one_command(newcomer: Newcomer, record_property: pytest.FixtureRequest) -> None:
    lines, seconds, view = newcomer.make_run()
    print(f"make run: {len(lines)} lines, {seconds:.0f} s\n" + "\n".join(lines))
    assert '"text"' in view
    assert len(lines) <= MAX_LINES, lines
    assert seconds <= MAX_SECONDS
    assert not (newcomer.home / ".venv").exists()
    again, _, _ = newcomer.make_run()  # nothing is installed a second time
    assert not [line for line in again if "installing" in line]
    assert len(again) < len(lines)


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
def test_each_tutorial_works_as_it_is_written(path: Path, reader: Reader) -> None:
    make_certificate(reader.folder / "cert.pem", reader.folder / "key.pem")
    started = time.monotonic()
    assert reader.read(path.read_text()) >= 5
    printed = sum(terminal_lines(terminal) for terminal in reader.terminals) + len(reader.said.splitlines())
    print(f"{path.stem}: {time.monotonic() - started:.0f} s, {printed} lines left to read at the end")
    assert time.monotonic() - started <= MAX_SECONDS


def terminal_lines(terminal: Terminal) -> int:
    return terminal.lines.qsize()
