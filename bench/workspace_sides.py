"""The two sides of the comparison: our server, used like an agent's client does, and plain git."""

import json
import os
import resource
import socket
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Self

SERVE = """
import os, resource, sys, threading
from cohabit.workspace import __main__

def report_usage(socket):
    while os.read(socket, 1):
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        os.write(socket, b"%.6f\\n" % sum(each.ru_utime + each.ru_stime for each in used))

threading.Thread(target=report_usage, args=[int(sys.argv[1])], daemon=True).start()
__main__.main(sys.argv[2:])
"""
"""The unchanged server, which also reports its CPU time on request."""


def cpu_of() -> float:
    """Seconds of CPU time of this process and of all its ended child processes."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def neutral_environment(home: Path) -> dict[str, str]:
    """The environment without the settings of the current user, for git and for us."""
    ours = ("GIT_", "COHABIT_", "MULTISPHERE_", "CLAUDE_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return kept | {"HOME": str(home), "XDG_CONFIG_HOME": str(home / "nothing"), "GIT_CONFIG_NOSYSTEM": "1"}


def _message(asked: int, method: str, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": asked, "method": method, "params": params}).encode() + b"\n"


class Server:
    """A clone of a remote behind ``python -m cohabit.workspace``."""

    HELLO: ClassVar = _message(
        0, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "bench", "version": "1"}
    )
    LIST: ClassVar = _message(1, "tools/list")
    AGENT: ClassVar = "bench-cli"

    def __init__(self, top: Path, remote: Path) -> None:
        self.clone = top / "ours"
        environ = neutral_environment(top) | {
            "COHABIT_AGENT_ID": self.AGENT,
            "COHABIT_AGENT_NAME": "Bench",
            "COHABIT_AGENT_EMAIL": "bench@example.org",
        }
        self._used, asked = socket.socketpair()
        program = [sys.executable, "-c", SERVE, str(asked.fileno())]
        self._process = subprocess.Popen(
            [*program, "--home", str(top / "home")], env=environ, pass_fds=[asked.fileno()],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        asked.close()
        self._ask(self.HELLO)
        self.call("workspace_init", name="board", remote_url=str(remote), local_path=str(self.clone))
        subprocess.run(["git", "-C", self.clone, "gc", "--quiet"], check=True, env=environ)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.communicate(timeout=60)
        self._used.close()

    def _ask(self, message: bytes) -> bytes:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(message)
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the server ended early ({self._process.wait()})")
        return answer

    def ask(self, tool: str, **args: Any) -> bytes:
        """Make a call and return the raw answer; ``read`` parses it."""
        return self._ask(_message(1, "tools/call", name=tool, arguments=args))

    @staticmethod
    def read(answer: bytes) -> Any:
        result = json.loads(answer)["result"]
        answer_object = json.loads(result["content"][0]["text"])
        if result.get("isError") or "error" in answer_object:
            raise RuntimeError(f"the server answered with an error: {answer_object}")
        return answer_object

    def call(self, tool: str, **args: Any) -> Any:
        return self.read(self.ask(tool, **args))

    def point_to(self, sha: str) -> None:
        """Set the pointer of the agent to a commit."""
        pointer = self.clone / ".pointers" / f"{self.AGENT}.json"
        pointer.parent.mkdir(exist_ok=True)
        pointer.write_text(json.dumps({"last_seen_sha": sha, "last_read_at": "2026-05-22T14:30:00Z"}), encoding="utf-8")

    @property
    def cpu(self) -> float:
        """Seconds of CPU time of the server, of its ended child processes, and of this process."""
        self._used.send(b"?")
        return float(self._used.recv(100)) + cpu_of()


class Plain:
    """Plain git, without a configuration of its own."""

    def __init__(self, clone: Path, remote: Path) -> None:
        self.clone = clone
        self._environ = neutral_environment(clone.parent)
        subprocess.run(["git", "clone", "--quiet", remote, clone], check=True, env=self._environ)
        for key, value in (("user.name", "Plain"), ("user.email", "plain@example.org")):
            self.git("config", key, value)
        self.git("gc", "--quiet")

    def git(self, *args: str) -> str:
        done = subprocess.run(["git", *args], cwd=self.clone, env=self._environ, check=True, capture_output=True)
        return done.stdout.decode(errors="replace").strip()

    def write(self, path: str, text: str) -> None:
        place = self.clone / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
