"""Hanging up on the remote: what waits for it ends, what works in the clone does not."""

import socket
import subprocess
import threading
from collections.abc import Iterator
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


def test_a_command_that_waits_for_the_remote_ends_and_the_next_one_does_not_even_wait(git: Git, hangup: Hangup) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"git://127.0.0.1:{silent.getsockname()[1]}/x.git"

        def hang_up_when_connected() -> None:
            connection, _ = silent.accept()
            with connection:
                hangup.now()

        other = threading.Thread(target=hang_up_when_connected)
        other.start()
        with pytest.raises(Unreachable, match="cancelled"):
            git.run("ls-remote", address, network=True)
        other.join()
        with pytest.raises(Unreachable, match="cancelled"):
            git.run("ls-remote", address, network=True)


def test_a_command_in_the_clone_is_left_to_finish(git: Git, hangup: Hangup) -> None:
    hangup.now()
    assert git.run("rev-parse", "--is-inside-work-tree").line == "true"


def test_hanging_up_when_nothing_runs_any_more_does_nothing(git: Git, hangup: Hangup, tmp_path: Path) -> None:
    git.run("ls-remote", str(tmp_path), network=True)
    hangup.now()
    assert hangup.happened
