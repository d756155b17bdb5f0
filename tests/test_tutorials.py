"""The tutorials work: every file and every command in them, as a reader would copy it, in an empty folder."""

import os
import queue
import re
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from . import forks
from .faces.certificates import make_certificate
from .ports import free_port

ROOT = Path(__file__).parent.parent
TUTORIALS = sorted((ROOT / "docs/tutorials").glob("*.md"))
FENCE = re.compile(r'^```(\w+)(?: title="([^"]*)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)
TOKEN = re.compile(r"TOKEN_[A-Z]+")
PORTS = ("8724", "8443")
OPEN = "The house is open"


class Terminal:
    """A program that runs while the reader goes on."""

    def __init__(self, script: str, folder: Path, env: dict[str, str]) -> None:
        self.is_house = "cohabit up" in script
        self.process = subprocess.Popen(
            ["bash", "-ec", f"exec {script}"], cwd=folder, env=env, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        self.lines: queue.Queue[str] = queue.Queue()
        self.reader = threading.Thread(target=self._read)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)

    def until_open(self) -> str:
        """What a house prints until it is open."""
        said = ""
        while OPEN not in said:
            said += self.lines.get(timeout=120)
        return said

    def until_ended(self) -> str:
        """What a program printed. It must have succeeded."""
        code = self.process.wait(timeout=120)
        self.reader.join()
        said = "".join(list(self.lines.queue))
        assert code == 0, said
        return said

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.reader.join()
        assert self.process.stdout is not None
        self.process.stdout.close()


class Reader:
    """Goes through a tutorial from top to bottom: saves files, types commands, and compares what is printed."""

    def __init__(self, folder: Path, env: dict[str, str]) -> None:
        self.folder, self.env = folder, env
        self.ports = {port: str(free_port()) for port in PORTS}
        self.env["COHABIT_PORT"] = self.ports["8724"]
        self.tokens: dict[str, str] = {}
        self.exports = ""
        self.said = ""
        self.printed = 0
        """How many lines the commands have printed, and the houses until they were open."""
        self.terminals: list[Terminal] = []

    def read(self, page: str) -> int:
        """Do what the page says. Returns how many commands and files there were."""
        blocks = FENCE.findall(page)
        for language, title, block in blocks:
            if language == "text":
                self.compare(block)
            elif language != "sh":
                (self.folder / title).write_text(block)
            elif title:
                self.open_terminal(self.pasted(block))
            else:
                self.run(self.pasted(block))
        self.wait_for_programs()
        return sum(language != "text" for language, _, _ in blocks)

    def pasted(self, block: str) -> str:
        """With the ports of this house, and the tokens that it has printed."""
        for port, free in self.ports.items():
            block = block.replace(port, free)
        return TOKEN.sub(lambda found: self.tokens.get(found[0], found[0]), block)

    def open_terminal(self, script: str) -> None:
        terminal = Terminal(script, self.folder, self.env)
        self.terminals.append(terminal)
        self.said = terminal.until_open() if terminal.is_house else ""
        self.printed += len(self.said.splitlines())

    def run(self, script: str) -> None:
        self.wait_for_programs()
        done = subprocess.run(
            ["bash", "-ec", self.exports + script], cwd=self.folder, env=self.env, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=240,
        )  # fmt: skip
        assert done.returncode == 0, f"{script}\n{done.stdout}"
        self.exports += "".join(f"{line}\n" for line in script.splitlines() if line.startswith("export "))
        self.said = done.stdout
        self.printed += len(self.said.splitlines())

    def wait_for_programs(self) -> None:
        for terminal in self.terminals:
            if not terminal.is_house:
                terminal.until_ended()

    def compare(self, block: str) -> None:
        """The lines of the block must have been printed, in this order, perhaps with others between them. "…" stands for
        anything; a new token is remembered."""
        printed = iter([" ".join(line.split()) for line in self.said.splitlines()])
        for line in block.splitlines():
            names = [name for name in TOKEN.findall(line) if name not in self.tokens]
            expected = self.pasted(" ".join(line.split()))
            pattern = TOKEN.sub(r"(\\w{24,})", re.escape(expected).replace("…", ".*"))
            found = next((match for text in printed if (match := re.fullmatch(pattern, text))), None)
            assert found, f"not printed: {line}\n{self.said}"
            self.tokens |= dict(zip(names, found.groups(), strict=True))

    def stop(self) -> None:
        for terminal in self.terminals:
            terminal.stop()


def program(path: Path, words: list[str]) -> None:
    path.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
    path.chmod(0o755)


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    """Somebody with an empty home folder, an empty folder to work in, and the programs of the virtual environment."""
    programs, home, folder = (tmp_path / name for name in ("bin", "home", "work"))
    for path in (programs, home, folder):
        path.mkdir()
    program(programs / "cohabit", forks.command())
    program(programs / "python", [sys.executable])
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("COHABIT_", "WORLDBOX_"))}
    kept |= {"HOME": str(home), "PATH": f"{programs}:{os.environ['PATH']}", "PYTHONUNBUFFERED": "1"}
    kept |= {"COHABIT_BRIDGE_PORT": "0", "COHABIT_NEXUS_PORT": "0"}  # other houses of the tests have them
    someone = Reader(folder, kept)
    yield someone
    someone.stop()


def test_the_four_tutorials_are_the_ones_of_the_first_page() -> None:
    linked = re.findall(r"\]\(tutorials/([a-z-]+\.md)\)", (ROOT / "docs/index.md").read_text())
    assert sorted({*linked}) == sorted(path.name for path in TUTORIALS)
    assert len(TUTORIALS) == 4


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_has_at_most_900_words(path: Path) -> None:
    assert len(path.read_text().split()) <= 900


@pytest.mark.sampled
@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_works_when_it_is_followed_word_by_word(path: Path, reader: Reader) -> None:
    make_certificate(reader.folder / "cert.pem", reader.folder / "key.pem")
    assert reader.read(path.read_text()) >= 5


def test_the_world_of_the_tutorial_is_the_one_of_the_examples() -> None:
    shown = {title: block for _, title, block in FENCE.findall((ROOT / "docs/tutorials/write-a-world.md").read_text())}
    assert shown["pig.py"] == (ROOT / "examples/pig.py").read_text()
