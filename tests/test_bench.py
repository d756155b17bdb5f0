"""Each bench runs and prints its ratios. What they are is for `make bench`: no test depends on speed."""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from bench import BENCHES
from bench.needs import PROGRAMS

ROOT = Path(__file__).parent.parent
NEEDS = ("crafter", "pettingzoo", "picows", "psutil", "psycopg", "pygame", "ray", "textarena")

pytestmark = [
    pytest.mark.skipif(
        any(importlib.util.find_spec(name) is None for name in NEEDS),
        reason="the bench extra is not installed (make bench installs it)",
    ),
    pytest.mark.timeout(400),
]


@pytest.mark.soak
@pytest.mark.parametrize("name", BENCHES)
def test_a_bench_runs_and_prints_ratios(name: str, need: Callable[[str], Path]) -> None:
    for program in PROGRAMS.get(name, ()):
        need(program)
    done = subprocess.run(
        [sys.executable, "-m", "bench", name, "--quick"], cwd=ROOT, capture_output=True, text=True, timeout=380
    )
    assert done.returncode == 0, done.stderr
    assert "ratio" in done.stdout


def test_a_name_that_is_no_bench_is_refused() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench", "steps"], cwd=ROOT, capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 2
    assert "there is no bench 'steps'" in done.stderr


def test_a_bench_whose_peer_is_missing_says_so_in_one_line_and_the_others_run() -> None:
    named = [sys.executable, "-m", "bench", "rooms", "start", "--quick"]
    without_node = {**os.environ, "COHABIT_TEST_NODE22": "no"}
    done = subprocess.run(named, cwd=ROOT, env=without_node, capture_output=True, text=True, timeout=200)
    assert done.returncode == 1
    assert done.stdout.splitlines()[0].startswith("rooms: not measured: ")
    assert "start" in done.stdout.split("\n", 1)[1]
    assert "Traceback" not in done.stderr
