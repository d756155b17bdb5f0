"""Runs on a Ray cluster: the same files as in one process, whatever happens to the workers.

Ray opens ports on every address of the machine, so each test starts it in a network namespace of its own. A namespace of
processes ends them all with the test.
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.lab.test_lab_runs import files

from cohabit.agents.spending import Spending, TotalsHere
from cohabit.agents.wire import Facts
from cohabit.errors import BadArgs, Conflict
from cohabit.faces.cli import main
from cohabit.lab.design import read_design
from cohabit.lab.folder import UNFINISHED
from cohabit.lab.games import RunContext
from cohabit.lab.match import match, match_design
from cohabit.lab.on_ray import Code, Desk, Setup, setup_of, variables_of
from cohabit.lab.run import run
from cohabit.lab.sources import Sources, sources_of

ROOT = Path(__file__).parent.parent.parent
NAMESPACE = ("unshare", "--map-root-user", "--net", "--pid", "--fork", "--kill-child", "--mount-proc")
needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="needs the package ray: pip install -c constraints.txt -e '.[ray]'"
)


@cache
def isolation() -> Sequence[str]:
    """How a program is started so that its ports are those of no network."""
    command = [*NAMESPACE, "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
    if (
        shutil.which("unshare") is None
        or subprocess.run([*command, "true"], capture_output=True, check=False).returncode
    ):
        pytest.skip("Ray opens ports on every address, and this system does not allow a network namespace (unshare)")
    return command


def isolated(*command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a Python program where the ports of Ray are out of reach."""
    variables = {"PYTHONPATH": str(ROOT), "RAY_TMPDIR": os.environ.get("TMPDIR", "/tmp"), **variables}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")} | variables
    return subprocess.run(
        [*isolation(), sys.executable, *command], env=environment, capture_output=True, text=True, check=False
    )


GAME = '''
import os, signal, sys
from pathlib import Path
sys.path.insert(0, str(Path(__file__).parent))
from helper import STONES
from cohabit.worlds.nim import Nim


class Fragile(Nim):
    """Nim that ends its process, or raises, if a file beside it says so."""

    def reset(self, seed, seats):
        mark = Path(__file__).parent / "mark"
        wish = mark.read_text() if mark.exists() and seed == 5 else ""
        if wish == "kill once":
            mark.unlink()
        if "kill" in wish:
            os.kill(os.getpid(), signal.SIGKILL)
        if wish == "raise":
            raise ValueError("the heap has fallen over")
        super().reset(seed, seats)
        self.stones += STONES
'''
CAREFUL = """
from cohabit.model.action import Action


class Careful:
    async def decide(self, observation):
        return Action("take", {"n": 1})
"""
DESIGN: dict[str, Any] = {
    "name": "on a cluster",
    "worlds": {"fragile": {"world": "games/fragile.py"}, "nim": {"lineups": [["nim-master", "careful"]], "seeds": 2}},
    "lineups": [["nim-master", "random"]],
    "players": {"careful": "careful.py:Careful"},
    "seeds": 10,
}


@pytest.fixture
def design(tmp_path: Path) -> Path:
    """A design with a world from a file, which imports another, and a player from a file."""
    (tmp_path / "games").mkdir()
    (tmp_path / "games/fragile.py").write_text(GAME)
    (tmp_path / "games/helper.py").write_text("STONES = 2\n")
    (tmp_path / "careful.py").write_text(CAREFUL)
    path = tmp_path / "design.json"
    path.write_text(json.dumps(DESIGN))
    return path


def on_ray(design: Path, out: str = "ray", *more: str) -> subprocess.CompletedProcess[str]:
    folder = str(design.parent / out)
    return isolated("-m", "cohabit", "lab", "run", str(design), "--out", folder, "--on", "ray", "--workers", "2", *more)


def in_one_process(design: Path) -> dict[str, bytes]:
    run(read_design(design), design.parent / "one")
    return files(design.parent / "one")


# -- with a cluster ---------------------------------------------------------------------------------
@needs_ray
def test_a_run_on_ray_writes_the_same_files_as_one_process_and_says_that_ports_are_open(design: Path) -> None:
    done = on_ray(design)
    assert done.returncode == 0, done.stderr
    assert files(design.parent / "ray") == in_one_process(design)
    assert "Its ports are open on every network address, and ask for a token" in done.stderr
    assert "24 of 24 games" in done.stdout


@needs_ray
@pytest.mark.soak
def test_a_worker_that_dies_costs_a_retry_and_the_files_are_the_same(design: Path) -> None:
    mark = design.parent / "games/mark"
    mark.write_text("kill once")
    done = on_ray(design)
    assert done.returncode == 0, done.stderr
    assert not mark.exists()
    assert "its games are played again" in done.stderr
    assert files(design.parent / "ray") == in_one_process(design)


@needs_ray
@pytest.mark.soak
def test_a_game_that_always_ends_its_worker_stops_the_run_which_can_be_resumed(design: Path) -> None:
    mark = design.parent / "games/mark"
    mark.write_text("kill always")
    done = on_ray(design)
    assert done.returncode == 1
    assert "a worker process ended unexpectedly" in done.stdout
    mark.unlink()
    assert on_ray(design).returncode == 0
    assert files(design.parent / "ray") == in_one_process(design)


@needs_ray
@pytest.mark.soak
def test_what_a_world_raises_is_reported_as_with_processes(design: Path) -> None:
    (design.parent / "games/mark").write_text("raise")
    done = on_ray(design)
    words = ["lab", "run", str(design), "--out", str(design.parent / "two"), "--workers", "2"]
    with_processes = isolated("-m", "cohabit", *words)
    assert done.returncode == with_processes.returncode != 0
    assert with_processes.stderr.strip().splitlines()[-1] == done.stderr.strip().splitlines()[-1]
    assert "the heap has fallen over" in done.stderr
