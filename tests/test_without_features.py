"""The kernel knows no feature: each of them can be deleted, and rooms work as before."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cohabit.registry import FEATURES, PROTOCOLS

ROOT = Path(__file__).parent.parent
QUICK = [f"tests/room/test_{name}.py" for name in ("contract", "record")]
KERNEL = [*QUICK, *(f"tests/room/test_{name}.py" for name in ("authority", "idempotency", "lifecycle", "visibility"))]
PROGRAM = """
import importlib
import json
import os
import sys
import traceback
from importlib.abc import MetaPathFinder
import pytest

for name in "hypothesis.stateful jsonschema mcp.types msgspec numpy pydantic starlette.applications uvicorn.server".split():
    importlib.import_module(name)  # once, not in each of the copies
assert not any(name.partition(".")[0] == "cohabit" for name in sys.modules)

class Deleted(MetaPathFinder):
    def __init__(self, missing):
        self.missing = missing

    def find_spec(self, name, path=None, target=None):
        if name == self.missing or name.startswith(self.missing + "."):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

class OneCaseOfEach:
    def __init__(self, missing):
        self.missing = missing

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        first = {}
        for item in items:
            if not any(self.missing in mark.args for mark in item.iter_markers("uses")):
                first.setdefault(item.nodeid.partition("[")[0], item)
        items[:] = first.values()

def run(feature, module):
    sys.meta_path.insert(0, Deleted(module))
    from cohabit.feature_registry import find_feature, usual_features
    from cohabit.errors import UnknownAsset
    with pytest.raises(UnknownAsset, match="unknown feature"):
        find_feature(feature)
    assert feature not in usual_features()
    options = ["-q", "-p", "no:cacheprovider", "-W", "ignore:Module already imported:pytest.PytestAssertRewriteWarning"]
    options += ["-m", "not soak and not hypothesis", "-k", "not every_command"]
    status = pytest.main([*options, *sys.argv[3:]], [OneCaseOfEach(feature)])
    assert module not in sys.modules
    return status

folder, modules = sys.argv[1], json.loads(sys.argv[2])
for feature, module in modules.items():
    if os.fork() == 0:
        said = os.open(f"{folder}/{feature}", os.O_CREAT | os.O_WRONLY)
        os.dup2(said, 1)
        os.dup2(said, 2)
        status = 1
        try:
            status = run(feature, module)
        except BaseException:
            traceback.print_exc()
        finally:
            print(f"ended with {int(status)}", flush=True)
            os._exit(int(status))
    os.wait()
"""
"""It is copied for each feature: a process of its own, in which the feature cannot be imported."""
MODULES = {name: source.partition(":")[0] for name, source in {**FEATURES, **PROTOCOLS}.items()}


def said(folder: Path, request: pytest.FixtureRequest, files: list[str]) -> Path:
    """A folder with what the tests have printed without each feature for which this fixture is asked."""
    items = [item for item in request.session.items if isinstance(item, pytest.Function)]
    names = [item.callspec.params["name"] for item in items if request.fixturename in item.fixturenames]
    modules = json.dumps({name: MODULES[name] for name in names})
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("COHABIT_", "PYTEST_"))}
    subprocess.run(
        [sys.executable, "-c", PROGRAM, folder, modules, *files], cwd=ROOT, env=kept, timeout=1_100, check=True
    )
    return folder


@pytest.fixture(scope="module")
def without_it(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    return said(tmp_path_factory.mktemp("quick"), request, QUICK)


@pytest.fixture(scope="module")
def kernel_without_it(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    return said(tmp_path_factory.mktemp("kernel"), request, KERNEL)


def check(text: str, count: int) -> None:
    assert text.endswith("ended with 0\n"), text[-6_000:]
    assert int(re.findall(r"(\d+) passed", text)[-1]) > count


@pytest.mark.sampled
@pytest.mark.timeout(1_200)  # the first one waits for all of them
@pytest.mark.parametrize("name", MODULES)
def test_the_contract_and_the_record_of_rooms_are_the_same_without_the_feature(name: str, without_it: Path) -> None:
    check((without_it / name).read_text(), 60)


@pytest.mark.soak
@pytest.mark.timeout(1_200)
@pytest.mark.parametrize("name", MODULES)
def test_the_tests_of_the_kernel_pass_without_the_feature(name: str, kernel_without_it: Path) -> None:
    check((kernel_without_it / name).read_text(), 100)
