import importlib.util
import sys

import pytest

from cohabit.testing.scan import scan

FORBIDDEN = {
    "import time": "reads the wall clock",
    "from time import monotonic": "reads the wall clock",
    "import random": "use Stream",
    "from random import choice": "use Stream",
    "import asyncio": "is for the house",
    "from datetime import datetime\nx = datetime.now()": "reads the wall clock",
    "import datetime\nx = datetime.date.today()": "reads the wall clock",
    "x = hash('a')": "differs between processes",
    "x = id('a')": "memory address",
    "for x in {1, 2}: pass": "no fixed order",
    "x = [y for y in set('ab')]": "no fixed order",
    "x = list({1, 2} | {3})": "sort it",
    "import os\nx = os.urandom(4)": "use Stream",
}
FINE = [
    "x = sorted({1, 2})",
    "x = len(set('ab'))",
    "x = sorted(y for y in {1, 2})",
    "x = {y for y in {1, 2}}",
    "x = 3 in {1, 2}",
    "for x in [1, 2]: pass",
    "from datetime import timedelta",
    "import time  # cohabit: ok - never called",
]


def load(folder, text):
    name = f"scanned_{folder.name}"
    (folder / f"{name}.py").write_text(text)
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("text", list(FORBIDDEN))
def test_everything_that_a_world_may_not_use_is_found(text, tmp_path):
    (found,) = scan(load(tmp_path, text))
    assert FORBIDDEN[text] in found


@pytest.mark.parametrize("text", FINE)
def test_harmless_source_is_accepted(text, tmp_path):
    assert scan(load(tmp_path, text)) == []


def test_modules_that_a_world_imports_from_its_own_folder_are_scanned_too(tmp_path, monkeypatch):
    (tmp_path / "scanned_helper.py").write_text("import time")
    monkeypatch.syspath_prepend(tmp_path)
    (found,) = scan(load(tmp_path, "import scanned_helper"))
    assert found.startswith("scanned_helper.py:1: time")
