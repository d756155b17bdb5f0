"""The official suite against our own server: what it scores passes, in both eras."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

RUN = Path(__file__).parents[3] / "tools/conformance/run.py"


@pytest.mark.node
@pytest.mark.timeout(600)
@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_the_conformance_suite_passes(need: Callable[[str], Path], revision: str) -> None:
    need("node22")
    need("conformance")
    done = subprocess.run([sys.executable, RUN, "--era", revision], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
