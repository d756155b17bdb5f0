"""A house that is killed at any moment loses nothing that it has answered, does nothing twice, and starts again."""

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .checking import PLAYER, WORLDS, Kept, answered, gaps, progress

ROUNDS = 100


class Server:
    """A program with everything imported already, which forks a house whenever it is asked to."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, str(PLAYER), str(folder), str(WORLDS)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def round(self, reached: dict[str, int], enough: int) -> set[tuple[str, int]]:
        """Start a house, kill it after this many answers, and return all that it gave."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(reached).encode() + b"\n")
        self.process.stdin.flush()
        given: set[tuple[str, int]] = set()
        pid = 0
        for line in self.process.stdout:
            if line.startswith(b"pid "):
                pid = int(line[4:])
            elif line == b"gone\n":
                break
            else:
                given.add(answered(line))
            if pid and len(given) >= enough:
                os.kill(pid, signal.SIGKILL)
                pid, enough = 0, sys.maxsize
        return given

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    made = Server(tmp_path / "data")
    yield made
    made.close()


def kill_again_and_again(server: Server, folder: Path, rounds: int, seed: int) -> None:
    chance = random.Random(seed)
    kept = Kept(folder)
    given: set[tuple[str, int]] = set()
    for i in range(rounds):
        # Now and then before the first answer: while the house opens its rooms, or makes them.
        given |= server.round(progress(given), chance.choice((0, chance.randint(1, 9), chance.randint(10, 150))))
        kept.read_on()
        assert given <= kept.acted.keys(), f"lost in round {i}: {sorted(given - kept.acted.keys())[:5]}"
        if i % 44 == 43:
            kept.replays()
    assert gaps(kept) == []
    assert kept.replays() > rounds
    assert len(given) > rounds


@pytest.mark.timeout(300)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_house_killed_at_any_moment_under_load_has_everything_it_answered(server: Server, tmp_path: Path) -> None:
    kill_again_and_again(server, tmp_path / "data", ROUNDS, 2024)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(8))
def test_a_house_killed_a_thousand_times_has_everything_it_answered(server: Server, tmp_path: Path, seed: int) -> None:
    kill_again_and_again(server, tmp_path / "data", 1_000, seed)
