"""The only place that starts git.

Git is asked to do exactly one thing at a time, with a configuration that is fixed here. Hooks, pagers, editors,
external diffs, filters and prompts are off; what a pulled repository says about any of them is data. Every command
has a time limit, and its output a size.

Local commands do not read the person's own configuration, so that an attribute in a pulled file cannot name a filter
that is defined there. Commands that use the network do: that is where credentials and proxies are.
"""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cohabit.errors import Busy, CohabitError, GitFailed, StorageFailed, Unreachable
from cohabit.workspace.answers import clean
from cohabit.workspace.clone.hangup import HANGUP, Hangup
from cohabit.workspace.limits import GIT_LOCK_SECONDS, LOCAL_SECONDS, NETWORK_SECONDS
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
    "core.fsync": "all",  # what was answered is on disk, also when the power goes
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
KEPT: Final = ("PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "TZ", "SYSTEMROOT")
"""What a local command keeps of the environment."""
FULL: Final = ("no space left", "disk quota exceeded", "file too large")
OTHER_FORMAT: Final = ("hash algorithm", "object format", "mismatched algorithms")
UNREACHABLE: Final = (
    "could not read from remote", "unable to access", "could not resolve", "connection", "does not appear to be a git",
    "repository not found", "timed out", "early eof", "the remote end hung up", "unable to look up", "rpc failed",
    "unexpected disconnect", "protocol error", "index-pack failed", "not a git repository",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Done:
    """What a git command left behind."""

    code: int
    out: bytes
    err: str
    cut: bool = False
    """Whether ``out`` was longer than asked for, and ends early."""

    @property
    def text(self) -> str:
        return self.out.decode(errors="replace")

    @property
    def line(self) -> str:
        return self.text.strip()

    @property
    def fields(self) -> list[str]:
        """Of output that ends each field with NUL; a name that is no UTF-8 keeps its bytes (surrogateescape)."""
        return [os.fsdecode(field) for field in self.out.split(b"\0")[:-1]]


class Git:
    """Git in one clone.

    Hand in the file descriptor of the clone's lock, so that it stays locked as long as git runs. Commands that use the
    network do not get it: a helper that remembers passwords would live on with it.
    """

    def __init__(self, root: Path, environ: Mapping[str, str] | None = None, lock_fd: int | None = None) -> None:
        self.root = root
        self.lock_fd = lock_fd
        self.killed = False
        """Whether a git was killed, so that it may have left its locks behind."""
        environ = os.environ if environ is None else environ
        fixed = _fixed(root)
        self._local = {name: environ[name] for name in KEPT if name in environ} | fixed | _as_environment(CONFIG)
        self._local |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C.UTF-8"}
        self._network = {name: value for name, value in environ.items() if not name.startswith("GIT_")}
        self._network |= fixed | _as_environment(NETWORK_CONFIG)
        for name in ("SSH_ASKPASS", "DISPLAY", "WAYLAND_DISPLAY"):
            self._network.pop(name, None)
        if "GIT_SSH_COMMAND" in environ:  # the person's own way to the remote, as credentials are
            self._network["GIT_SSH_COMMAND"] = environ["GIT_SSH_COMMAND"]
        self._network["LC_ALL"] = "C.UTF-8"

    def run(
        self,
        *args: str,
        stdin: bytes = b"",
        ok: Sequence[int] = (0,),
        network: bool = False,
        seconds: float | None = None,
        most: int | None = None,
        extra: Mapping[str, str] | None = None,
        config: Mapping[str, str] | None = None,
    ) -> Done:
        """Run one command. Raises GitFailed for an exit code that is not ``ok``, Unreachable where the remote does
        not answer, Busy where another git holds a lock. With ``most``, git is stopped after that many bytes.
        ``extra`` joins the environment, ``config`` the fixed configuration."""
        deadline = time.monotonic() + GIT_LOCK_SECONDS
        while True:
            done = self._once(args, stdin, network, seconds, most, extra, config)
            if done.code == 0 or network or not _is_locked(done) or time.monotonic() > deadline:
                break
            time.sleep(0.02)  # a person's git, which is done in a moment
        if done.code not in ok and not done.cut:
            if network and (hangup := HANGUP.get()) is not None and hangup.happened:
                # Whether git was killed, or failed just before.
                raise Unreachable("the call was cancelled, or the server is ending")
            raise failure(args[0], done, self.root, network=network)
        return done

    def _once(
        self,
        args: Sequence[str],
        stdin: bytes,
        network: bool,
        seconds: float | None,
        most: int | None,
        extra: Mapping[str, str] | None,
        config: Mapping[str, str] | None,
    ) -> Done:
        seconds = seconds or (NETWORK_SECONDS if network else LOCAL_SECONDS)
        env = self._network if network else self._local
        settings = [arg for key, value in (config or {}).items() for arg in ("-c", f"{key}={value}")]
        try:
            process = subprocess.Popen(
                ["git", *settings, *args],
                cwd=self.root,
                env={**env, **extra} if extra else env,
                stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # no terminal, so nothing can ask for a password there
                pass_fds=() if self.lock_fd is None or network else (self.lock_fd,),
            )
        except FileNotFoundError as wrong:
            if wrong.filename != "git":
                raise GitFailed("the folder of this workspace is not there any more") from None
            raise GitFailed("git is not installed, or not on the PATH; install git 2.38 or newer") from None
        with process, _ended_by(HANGUP.get() if network else None, process):
            try:
                done = self._finish(process, stdin, seconds, most)
            except subprocess.TimeoutExpired:
                self.killed = True
                _kill(process)
                raise (Unreachable if network else GitFailed)(
                    f"git {args[0]} took longer than {seconds:.0f} s and was stopped; try again"
                ) from None
            except BaseException:
                self.killed = True
                _kill(process)
                raise
        self.killed |= done.code < 0 and not done.cut
        return done

    @staticmethod
    def _finish(process: "subprocess.Popen[bytes]", stdin: bytes, seconds: float, most: int | None) -> Done:
        watch = _Watch(process, seconds)  # a timeout of subprocess's own would poll for the end, for milliseconds
        watch.start()
        try:
            out, cut = b"", False
            if most is not None:
                assert process.stdout is not None
                assert not stdin
                out = process.stdout.read(most + 1)
                cut = len(out) > most
                if cut:
                    _kill(process)
            rest, err = process.communicate(stdin or None)
        finally:
            watch.cancel()
        if watch.fired:
            raise subprocess.TimeoutExpired(process.args, seconds)
        return Done(process.returncode, rest if most is None else out[:most], err.decode(errors="replace"), cut)


def as_author(who: Identity) -> dict[str, str]:
    """The environment in which ``who`` is the author and the committer of what git makes."""
    return {
        "GIT_AUTHOR_NAME": who.agent_name,
        "GIT_AUTHOR_EMAIL": who.agent_email,
        "GIT_COMMITTER_NAME": who.agent_name,
        "GIT_COMMITTER_EMAIL": who.agent_email,
    }


def failure(command: str, done: Done, root: Path, *, network: bool) -> CohabitError:
    """What went wrong, in git's own words, without paths of this machine."""
    said = done.err.strip() or done.text.strip() or f"exit code {done.code}"
    said = clean(said.replace(f"{root}/", ""), [(str(root), ".")])[:2_000]
    low = said.lower()
    if any(sign in low for sign in FULL) and not network:
        return StorageFailed(f"the disk is full: {said}; make room, then call again")
    if network and any(sign in low for sign in OTHER_FORMAT):
        return GitFailed(f"the remote uses another object format (sha256), which is not supported: {said}")
    if network and any(sign in low for sign in UNREACHABLE):
        return Unreachable(f"the remote does not answer: {said}")
    if _is_locked(done):
        return Busy(f"another git process works in this clone; try again in a moment ({said.splitlines()[0]})")
    return GitFailed(f"git {command}: {said}")


def _is_locked(done: Done) -> bool:
    """Whether git did nothing, because another git has a lock."""
    low = done.err.lower()
    return ".lock" in low and "exists" in low


def _fixed(root: Path) -> dict[str, str]:
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
        "GIT_FLUSH": "0",  # else git wakes us for every single commit of a log
    }


def _as_environment(config: Mapping[str, str]) -> dict[str, str]:
    """Configuration as environment variables, which override every file."""
    environ = {"GIT_CONFIG_COUNT": str(len(config))}
    for i, (key, value) in enumerate(config.items()):
        environ |= {f"GIT_CONFIG_KEY_{i}": key, f"GIT_CONFIG_VALUE_{i}": value}
    return environ


def _ended_by(hangup: Hangup | None, process: "subprocess.Popen[bytes]") -> AbstractContextManager[None]:
    return nullcontext() if hangup is None else hangup.can(lambda: _kill(process) if process.poll() is None else None)


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """Git and whatever it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        process.kill()


class _Watch(threading.Timer):
    """Kills git when it takes too long."""

    def __init__(self, process: "subprocess.Popen[bytes]", seconds: float) -> None:
        super().__init__(seconds, self._end, [process])
        self.daemon = True
        self.fired = False

    def _end(self, process: "subprocess.Popen[bytes]") -> None:
        self.fired = True
        _kill(process)
