"""Every registered world has a golden playthrough. To make one, or remake it after an intended change:

python -m cohabit.testing.golden WORLD > tests/worlds/goldens/WORLD.txt
"""

from pathlib import Path

import pytest

from cohabit.registry import BUILT_IN
from cohabit.testing.golden import playthrough

GOLDENS = Path(__file__).parent / "goldens"


@pytest.mark.parametrize("world", list(BUILT_IN))
def test_a_world_plays_as_its_golden_says(world):
    golden = GOLDENS / f"{world}.txt"
    again = f"python -m cohabit.testing.golden {world} > tests/worlds/goldens/{world}.txt"
    assert golden.is_file(), f"{world} has no golden playthrough; make one, and read it: {again}"
    assert playthrough(world) == golden.read_text(), f"if that is meant: {again}"


def test_there_is_no_golden_without_a_world():
    assert sorted(file.stem for file in GOLDENS.glob("*.txt")) == sorted(BUILT_IN)
