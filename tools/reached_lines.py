"""A pytest plugin that records which tests reach which lines of the package, and runs chosen tests in a chosen order.

    REACHED_LINES=map.jsonl PYTHONPATH=src:tools python -m pytest -p reached_lines tests/room
    CHOSEN_TESTS=names.txt PYTHONPATH=src:tools python -m pytest -p reached_lines tests/room/test_turns.py

It is part of the mutation run, `tools/mutants.py`: a change can only be noticed by a test that reaches its line. Lines
that are reached in another process are not seen.
"""

import json
import os
import sys
import threading
import time
from collections.abc import Generator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

INTERRUPT = "interrupt"
"""The function that interrupts a thread. CPython 3.11 can then run one line of a traced function for ever, so that the
rest of the test is not recorded."""
MAX_CALLS = 200
"""Of one function in one test: later calls are not recorded. They rarely reach another line, and recording is slow."""
FOLDER = f"{os.sep}src{os.sep}cohabit{os.sep}"


def cpu_seconds() -> float:
    """What this process and its ended child processes have used. Unlike wall time, it hardly depends on the load."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


class Recorder:
    """The lines that each test reaches, in all threads of this process. Only tests that pass are kept."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w", encoding="utf-8")
        self._reached: dict[CodeType, set[int]] = {}
        self._calls: dict[CodeType, int] = {}
        self._passed = True
        self._stopped = False
        threading.settrace(self._called)
        sys.settrace(self._called)

    def _called(self, frame: FrameType, event: str, arg: object) -> Any:
        code = frame.f_code
        if self._stopped or code.co_name == INTERRUPT:
            self._stopped = True
            sys.settrace(None)
            return None
        lines = self._reached.get(code)
        if lines is None:
            if FOLDER not in code.co_filename:
                return None
            lines = self._reached[code] = set()
        lines.add(frame.f_lineno)
        self._calls[code] = calls = self._calls.get(code, 0) + 1
        return self._moved if calls <= MAX_CALLS else None

    def _moved(self, frame: FrameType, event: str, arg: object) -> Any:
        if self._stopped:
            sys.settrace(None)
            return None
        if event == "line":
            # A test may begin in the middle of a function of another thread.
            self._reached.setdefault(frame.f_code, set()).add(frame.f_lineno)
        return self._moved

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        self._reached, self._calls = {}, {}
        self._passed, self._stopped = True, False
        begun = cpu_seconds()
        sys.settrace(self._called)
        result = yield
        if self._passed:
            files: dict[str, set[int]] = {}
            for code, lines in list(self._reached.items()):
                files.setdefault(code.co_filename.rpartition(FOLDER)[2].replace(os.sep, "/"), set()).update(lines)
            reached = {file: sorted(lines) for file, lines in files.items()}
            test = {"name": item.nodeid, "seconds": round(cpu_seconds() - begun, 3), "lines": reached}
            self._file.write(json.dumps(test) + "\n")
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._passed = self._passed and report.passed

    def pytest_sessionfinish(self) -> None:
        sys.settrace(None)
        threading.settrace(None)
        self._file.close()


class Chosen:
    """Only the named tests, in the order of their names in the file."""

    def __init__(self, path: Path) -> None:
        self._order = {name: i for i, name in enumerate(path.read_text(encoding="utf-8").splitlines())}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted((i for i in items if i.nodeid in self._order), key=lambda i: self._order[i.nodeid])


def pytest_configure(config: pytest.Config) -> None:
    if path := os.environ.get("REACHED_LINES"):
        config.pluginmanager.register(Recorder(Path(path)))
    if path := os.environ.get("CHOSEN_TESTS"):
        config.pluginmanager.register(Chosen(Path(path)))
