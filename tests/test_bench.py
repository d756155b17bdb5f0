"""Each bench runs and prints its ratios. What they are is for `make bench`: no test depends on speed."""

import importlib.util
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from bench import BENCHES

ROOT = Path(__file__).parent.parent
NEEDS = ("crafter", "pettingzoo", "picows", "psutil", "psycopg", "pygame", "ray", "textarena")
PROGRAMS = {
    "rooms": ("node22", "colyseus"),
    "page-kingdoms": ("chromium",),
    "page-watchers": ("chromium",),
    "stores": ("postgres",),
    "many-rooms": ("postgres",),
}

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
