"""The kernel knows no feature: each of them can be deleted, and rooms work as before."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cohabit.registry import FEATURES, PROTOCOLS

ROOT = Path(__file__).parent.parent
KERNEL = [
    f"tests/room/test_{name}.py"
    for name in ("authority", "contract", "idempotency", "lifecycle", "record", "visibility")
]
PROGRAM = """
import sys
from importlib.abc import MetaPathFinder
import pytest

MISSING = sys.argv[1]

class Deleted(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == MISSING or name.startswith(MISSING + "."):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

class OneCaseOfEach:
    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        first = {}
        for item in items:
            if not any(sys.argv[2] in mark.args for mark in item.iter_markers("uses")):
                first.setdefault(item.nodeid.partition("[")[0], item)
        items[:] = first.values()

sys.meta_path.insert(0, Deleted())
from cohabit.feature_registry import find_feature, usual_features
from cohabit.errors import UnknownAsset
with pytest.raises(UnknownAsset, match="unknown feature"):
    find_feature(sys.argv[2])
assert sys.argv[2] not in usual_features()
options = ["-q", "-p", "no:cacheprovider", "-m", "not soak and not hypothesis", "-k", "not every_command"]
status = pytest.main([*options, *sys.argv[3:]], [OneCaseOfEach()])
assert MISSING not in sys.modules
sys.exit(status)
"""


@pytest.mark.parametrize("name", [*FEATURES, *PROTOCOLS])
def test_the_tests_of_the_kernel_pass_without_the_feature(name: str) -> None:
    module = {**FEATURES, **PROTOCOLS}[name].partition(":")[0]
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("COHABIT_", "PYTEST_"))}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, module, name, *KERNEL], capture_output=True, text=True, cwd=ROOT, env=kept,
        timeout=280, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6_000:] + done.stderr[-6_000:]
    assert int(re.findall(r"(\d+) passed", done.stdout)[-1]) > 100
