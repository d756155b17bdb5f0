"""Cancelling ends commands that wait for the remote, and no local command."""

import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cohabit.errors import Unreachable
from cohabit.workspace.clone.cancellation import CANCELLATION, Cancellation
from cohabit.workspace.clone.git import Git


@pytest.fixture
def git(tmp_path: Path) -> Git:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    return Git(tmp_path)


@pytest.fixture
def cancellation() -> Iterator[Cancellation]:
    one = Cancellation()
    token = CANCELLATION.set(one)
    yield one
    CANCELLATION.reset(token)


@contextmanager
def a_remote(silent: socket.socket, answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """The address of a remote that does ``answer`` when git connects, and keeps the connection open."""
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


def test_cancelling_ends_a_command_that_waits_for_the_remote_and_all_later_ones(
    git: Git, cancellation: Cancellation
) -> None:
    with a_remote(socket.create_server(("127.0.0.1", 0)), lambda connection: cancellation.cancel()) as address:
        for _ in range(2):
            with pytest.raises(Unreachable, match="cancelled"):
                git.run("ls-remote", address, network=True)


def test_a_call_whose_remote_fails_while_it_is_cancelled_counts_as_cancelled(
    git: Git, cancellation: Cancellation
) -> None:
    def break_off_first(connection: socket.socket) -> None:
        cancellation.cancelled = True  # as if git had not been registered yet when the call was cancelled
        connection.close()

    with (
        a_remote(socket.create_server(("127.0.0.1", 0)), break_off_first) as address,
        pytest.raises(Unreachable, match="cancelled"),
    ):
        git.run("ls-remote", address, network=True)


def test_a_local_command_is_not_cancelled(git: Git, cancellation: Cancellation) -> None:
    cancellation.cancel()
    assert git.run("rev-parse", "--is-inside-work-tree").line == "true"


def test_cancelling_after_the_command_has_ended_does_nothing(
    git: Git, cancellation: Cancellation, tmp_path: Path
) -> None:
    git.run("ls-remote", str(tmp_path), network=True)
    cancellation.cancel()
    assert cancellation.cancelled
