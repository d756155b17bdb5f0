"""The only module that starts git.

Every command runs with a fixed configuration. Hooks, pagers, editors, external diffs, filters and prompts are off, no
matter what a pulled repository says. Every command has a time limit, and its output can have a size limit.

Local commands do not read the person's own configuration, so that an attribute in a pulled file cannot name a filter
that is defined there. Commands that use the network do, because credentials and proxies are configured there.
"""

import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from cohabit.errors import Busy, CohabitError, GitFailed, StorageFailed, Unreachable
from cohabit.workspace.answers import clean
from cohabit.workspace.clone.cancellation import CANCELLATION, Cancellation, is_cancelled, remote_begins
from cohabit.workspace.formats.quoting import quoted
from cohabit.workspace.limits import GIT_LOCK_TIMEOUT, LOCAL_TIMEOUT, NETWORK_IDLE_TIMEOUT, NETWORK_TIMEOUT
from cohabit.workspace.person.identity import Identity

CONFIG: Final = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.attributesFile": os.devnull,
    "core.excludesFile": os.devnull,
    "core.quotePath": "false",
    "core.autocrlf": "false",
    "core.safecrlf": "false",
    "core.protectHFS": "true",
    "core.protectNTFS": "true",
    "core.fsync": "all",  # an answered call is on disk, even after a power failure
    "core.fsyncMethod": "batch",
    "commit.gpgSign": "false",
    "tag.gpgSign": "false",
    "log.showSignature": "false",
    "color.ui": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "submodule.recurse": "false",
    "init.defaultBranch": "main",
    "protocol.allow": "never",
    "merge.cohabit.driver": "true",  # this process merges by entry itself; see integrate
}
"""Overrides every configuration file, in every command."""
NETWORK_CONFIG: Final = CONFIG | {
    "core.gitProxy": "",
    "core.alternateRefsCommand": "true",
    "push.gpgSign": "false",
    "push.recurseSubmodules": "no",
    "push.followTags": "false",
    "fetch.recurseSubmodules": "false",
    "fetch.writeCommitGraph": "false",
    "protocol.file.allow": "always",
    "protocol.git.allow": "always",
    "protocol.http.allow": "always",
    "protocol.https.allow": "always",
    "protocol.ssh.allow": "always",
    "credential.interactive": "false",
}
"""The same for commands that use the network."""
CHUNK_BYTES: Final = 65_536
NO_LIMIT: Final = sys.maxsize
MAX_OUTPUT: Final = 1_000
"""The number of characters of git's output that an error quotes."""
KEPT_VARIABLES: Final = ("PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "TZ", "SYSTEMROOT")
"""The environment variables that a local command keeps."""
DISK_FULL: Final = ("no space left", "out of diskspace", "disk quota exceeded", "file too large")
OTHER_FORMAT: Final = ("hash algorithm", "object format", "mismatched algorithms")
PROGRESS: Final = re.compile(
    r"(?:remote: )?(?:Enumerating|Counting|Compressing|Writing|Receiving|Resolving|Unpacking|Total|Delta compression)\b"
)
"""A line about the progress of a fetch or a push."""
UNREACHABLE: Final = (
    "could not read from remote", "unable to access", "could not resolve", "connection", "does not appear to be a git",
    "repository not found", "timed out", "early eof", "the remote end hung up", "unable to look up", "rpc failed",
    "unexpected disconnect", "protocol error", "index-pack failed", "not a git repository",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a git command."""

    code: int
    out: bytes
    err: str
    truncated: bool = False
    """True if ``out`` ends at the size limit."""

    @property
    def text(self) -> str:
        return self.out.decode(errors="replace")

    @property
    def line(self) -> str:
        return self.text.strip()

    @property
    def fields(self) -> list[str]:
        """The fields of NUL-terminated output; names that are not UTF-8 keep their bytes (surrogateescape)."""
        return [os.fsdecode(field) for field in self.out.split(b"\0")[:-1]]


class Git:
    """Git in one clone.

    ``lock_fd`` is the file descriptor of the clone's lock, so that the clone stays locked as long as git runs. Network
    commands do not inherit it: a credential helper that keeps running would hold it.
    """

    def __init__(self, root: Path, environ: Mapping[str, str] | None = None, lock_fd: int | None = None) -> None:
        self.root = root
        self.lock_fd = lock_fd
        self.killed = False
        """True if a git was killed, and may have left locks."""
        self._environ = environ = os.environ if environ is None else environ
        fixed = _fixed_environment(root)
        local = {name: environ[name] for name in KEPT_VARIABLES if name in environ} | fixed
        local |= _as_environment(CONFIG)
        local |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C.UTF-8"}
        network = {name: value for name, value in environ.items() if not name.startswith("GIT_")}
        network |= fixed | _as_environment(NETWORK_CONFIG)
        for name in ("SSH_ASKPASS", "DISPLAY", "WAYLAND_DISPLAY"):
            network.pop(name, None)
        if "GIT_SSH_COMMAND" in environ:  # the person's own setting, like their credentials
            network["GIT_SSH_COMMAND"] = environ["GIT_SSH_COMMAND"]
        network["LC_ALL"] = "C.UTF-8"
        self._local, self._network = _encoded(local), _encoded(network)
        self._program = _program(environ)

    def run(
        self,
        *args: str,
        stdin: bytes = b"",
        ok: Sequence[int] = (0,),
        network: bool = False,
        timeout: float | None = None,
        max_bytes: int = NO_LIMIT,
        max_lines: int = NO_LIMIT,
        environ: Mapping[str, str] | None = None,
        config: Mapping[str, str] | None = None,
    ) -> Result:
        """Run one command. Raises GitFailed for an exit code that is not in ``ok``, Unreachable if the remote does not
        answer, Busy if another git holds a lock. With ``max_bytes`` or ``max_lines``, git is stopped when it has
        printed more than that.
        ``environ`` and ``config`` are added to the fixed environment and configuration."""
        deadline = time.monotonic() + GIT_LOCK_TIMEOUT
        while True:
            result = self._run_once(args, stdin, network, timeout, max_bytes, max_lines, environ, config)
            if result.code == 0 or network or not _is_locked(result) or time.monotonic() > deadline:
                break
            time.sleep(0.02)  # a person's git, which usually ends in a moment
        if result.code not in ok and not result.truncated:
            if network and is_cancelled():
                raise Unreachable("the call was cancelled, or the server is shutting down")
            raise failure(args[0], result, self.root, network=network)
        return result

    def _run_once(
        self,
        args: Sequence[str],
        stdin: bytes,
        network: bool,
        timeout: float | None,
        max_bytes: int,
        max_lines: int,
        environ: Mapping[str, str] | None,
        config: Mapping[str, str] | None,
    ) -> Result:
        timeout = timeout or (NETWORK_TIMEOUT if network else LOCAL_TIMEOUT)
        if network:
            remote_begins()
        env = self._network if network else self._local
        settings = [arg for key, value in (config or {}).items() for arg in ("-c", f"{key}={value}")]
        try:
            process = subprocess.Popen(
                [self._program, *settings, *args],
                cwd=self.root,
                env={**env, **_encoded(environ)} if environ else env,
                stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,  # without a terminal, no program can ask for a password there
                pass_fds=() if self.lock_fd is None or network else (self.lock_fd,),
            )
        except FileNotFoundError as error:
            if error.filename != self._program:
                raise GitFailed("the folder of this workspace no longer exists") from None
            self._program = _program(self._environ)  # it may be elsewhere now
            raise GitFailed("git is not installed, or not on the PATH; install git 2.38 or newer") from None
        with process, _killed_by(CANCELLATION.get() if network else None, process):
            try:
                idle = NETWORK_IDLE_TIMEOUT if network else timeout
                result = _finish(process, stdin, timeout, idle, max_bytes, max_lines)
            except subprocess.TimeoutExpired as expired:
                self.killed = True
                _kill(process)
                if network:
                    raise Unreachable(
                        f"git {args[0]} made no progress for {expired.timeout:.0f} s and was stopped; try again"
                    ) from None
                raise GitFailed(f"git {args[0]} took longer than {timeout:.0f} s and was stopped; try again") from None
            except BaseException:
                self.killed = True
                _kill(process)
                raise
        self.killed |= result.code < 0 and not result.truncated
        return replace(result, err=_without_progress(result.err)) if network else result


def _finish(
    process: "subprocess.Popen[bytes]",
    stdin: bytes,
    timeout: float,
    idle: float,
    max_bytes: int,
    max_lines: int,
) -> Result:
    """Exchange input and output until git ends, at most ``timeout`` seconds in all and ``idle`` without any output.

    ``communicate`` would need a thread for the time limit or poll for the end of the process; each costs more than the
    rest of this function. Git keeps stderr open to its end, so at the end of both outputs it has ended."""
    assert process.stdout is not None
    assert process.stderr is not None
    out, err = bytearray(), bytearray()
    outputs = {process.stdout.fileno(): out, process.stderr.fileno(): err}
    poll = select.poll()
    for fd in outputs:
        poll.register(fd, select.POLLIN)
    if process.stdin is not None:
        poll.register(process.stdin.fileno(), select.POLLOUT)
    deadline, lines, truncated, rest = time.monotonic() + timeout, 0, False, memoryview(stdin)
    while outputs:
        left = deadline - time.monotonic()
        ready = poll.poll(max(0, min(idle, left)) * 1000)
        if not ready or left < 0:
            raise subprocess.TimeoutExpired(process.args, min(idle, timeout))
        for fd, _ in ready:
            if fd not in outputs:
                rest = _feed(process, rest, poll)
                continue
            chunk = os.read(fd, CHUNK_BYTES)
            if not chunk:
                poll.unregister(fd)
                del outputs[fd]
            elif not truncated or outputs[fd] is err:
                outputs[fd] += chunk
                lines += chunk.count(b"\n") if outputs[fd] is out else 0
                if len(out) > max_bytes or lines > max_lines:
                    truncated = True
                    _kill(process)
    process.wait()
    return Result(process.returncode, bytes(out[:max_bytes]), err.decode(errors="replace"), truncated)


def _feed(process: "subprocess.Popen[bytes]", rest: memoryview, poll: "select.poll") -> memoryview:
    """Write a piece of the input; returns what is left of it."""
    assert process.stdin is not None
    try:
        rest = rest[os.write(process.stdin.fileno(), rest[: select.PIPE_BUF]) :]
    except BrokenPipeError:  # git needs no more, or has failed
        rest = rest[len(rest) :]
    if not rest:
        poll.unregister(process.stdin.fileno())
        process.stdin.close()
    return rest


def _without_progress(err: str) -> str:
    lines = (line.rpartition("\r")[2] for line in err.replace("\r\n", "\n").split("\n"))
    return "\n".join(line for line in lines if not PROGRESS.match(line))


def author_environment(identity: Identity) -> dict[str, str]:
    """Environment variables that make this agent the author and the committer."""
    return {
        "GIT_AUTHOR_NAME": identity.agent_name,
        "GIT_AUTHOR_EMAIL": identity.agent_email,
        "GIT_COMMITTER_NAME": identity.agent_name,
        "GIT_COMMITTER_EMAIL": identity.agent_email,
    }


def failure(command: str, result: Result, root: Path, *, network: bool) -> CohabitError:
    """The error for a failed command, with git's message but without paths of this machine. It is quoted: a remote, and
    the names of its branches and files, can put any words into it."""
    output = result.err.strip() or result.text.strip() or f"exit code {result.code}"
    output = clean(output.replace(f"{root}/", ""), [(str(root), ".")])
    low, message = output.lower(), quoted("; ".join(filter(None, map(str.strip, output.splitlines()))), MAX_OUTPUT)
    if any(sign in low for sign in DISK_FULL) and not network:
        return StorageFailed(f"the disk is full: {message}; free some space, then call again")
    if network and any(sign in low for sign in OTHER_FORMAT):
        return GitFailed(f"the remote uses another object format (sha256), which is not supported: {message}")
    if network and any(sign in low for sign in UNREACHABLE):
        return Unreachable(f"the remote does not answer: {message}")
    if _is_locked(result):
        first = quoted(output.splitlines()[0], MAX_OUTPUT)
        return Busy(f"another git process is working in this clone; try again in a moment ({first})")
    error = GitFailed(f"git {command}: {message}")
    error.output = output
    return error


def _is_locked(result: Result) -> bool:
    """True if git did nothing because another git holds a lock."""
    low = result.err.lower()
    return ".lock" in low and "exists" in low


def _program(environ: Mapping[str, str]) -> str:
    """Git as it is found on the PATH. It is searched once, not for every command."""
    found = (f"{folder}/git" for folder in os.get_exec_path(environ) if os.path.isabs(folder))
    return next((path for path in found if os.access(path, os.X_OK)), "git")


def _fixed_environment(root: Path) -> dict[str, str]:
    return {
        "GIT_DIR": str(root / ".git"),
        "GIT_WORK_TREE": str(root),
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "true",
        "SSH_ASKPASS_REQUIRE": "never",
        "GIT_PAGER": "cat",
        "GIT_EDITOR": "true",
        "GIT_SEQUENCE_EDITOR": "true",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_FLUSH": "0",  # otherwise git writes every commit of a log separately
    }


def _encoded(environ: Mapping[str, str]) -> dict[bytes, bytes]:
    """Environment variables as the operating system takes them. Each start of git would encode them again."""
    return {os.fsencode(name): os.fsencode(value) for name, value in environ.items()}


def _as_environment(config: Mapping[str, str]) -> dict[str, str]:
    """Configuration as environment variables, which override every file."""
    environ = {"GIT_CONFIG_COUNT": str(len(config))}
    for i, (key, value) in enumerate(config.items()):
        environ |= {f"GIT_CONFIG_KEY_{i}": key, f"GIT_CONFIG_VALUE_{i}": value}
    return environ


def _killed_by(cancellation: Cancellation | None, process: "subprocess.Popen[bytes]") -> AbstractContextManager[None]:
    if cancellation is None:
        return nullcontext()
    return cancellation.on_cancel(lambda: _kill(process) if process.poll() is None else None)


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """Kill git and everything that it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        process.kill()
