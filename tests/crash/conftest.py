"""A disk that loses what was not synced, for every test that asks for one."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from . import lossy


@pytest.fixture(scope="session")
def shim(need: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    if sys.platform != "linux":
        pytest.skip("a disk that loses writes is made with LD_PRELOAD, which is Linux's")
    return lossy.build(str(need("cc")), tmp_path_factory.mktemp("shim"))


@pytest.fixture
def disk(shim: Path, tmp_path: Path) -> lossy.Disk:
    return lossy.Disk(shim, tmp_path / "disk")
