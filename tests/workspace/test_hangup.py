"""Hanging up on the remote: what waits for it ends, what works in the clone does not."""

import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cohabit.errors import Unreachable
from cohabit.workspace.clone.git import Git
from cohabit.workspace.clone.hangup import HANGUP, Hangup


@pytest.fixture
def git(tmp_path: Path) -> Git:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    return Git(tmp_path)


@pytest.fixture
def hangup() -> Iterator[Hangup]:
    one = Hangup()
    token = HANGUP.set(one)
    yield one
    HANGUP.reset(token)


@contextmanager
def a_remote(silent: socket.socket, answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """The address of a remote that does ``answer`` when git connects, and keeps the line open until the end."""
    over = threading.Event()

    def serve() -> None:
        connection, _ = silent.accept()
        with connection:
            answer(connection)
            over.wait()

    with silent:
        other = threading.Thread(target=serve)
        other.start()
        try:
            yield f"git://127.0.0.1:{silent.getsockname()[1]}/x.git"
        finally:
            over.set()
            other.join()


def test_a_command_that_waits_for_the_remote_ends_and_the_next_one_does_not_even_wait(git: Git, hangup: Hangup) -> None:
    with a_remote(socket.create_server(("127.0.0.1", 0)), lambda connection: hangup.now()) as address:
        for _ in range(2):
            with pytest.raises(Unreachable, match="cancelled"):
                git.run("ls-remote", address, network=True)


def test_a_call_whose_remote_breaks_off_as_we_hang_up_was_cancelled_all_the_same(git: Git, hangup: Hangup) -> None:
    def break_off_first(connection: socket.socket) -> None:
        hangup.happened = True  # as if git were not known yet to those who hang up
        connection.close()

    with (
        a_remote(socket.create_server(("127.0.0.1", 0)), break_off_first) as address,
        pytest.raises(Unreachable, match="cancelled"),
    ):
        git.run("ls-remote", address, network=True)


def test_a_command_in_the_clone_is_left_to_finish(git: Git, hangup: Hangup) -> None:
    hangup.now()
    assert git.run("rev-parse", "--is-inside-work-tree").line == "true"


def test_hanging_up_after_the_last_command_has_ended_does_nothing(git: Git, hangup: Hangup, tmp_path: Path) -> None:
    git.run("ls-remote", str(tmp_path), network=True)
    hangup.now()
    assert hangup.happened
