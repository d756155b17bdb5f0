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
    """The CPU time of this process and its ended child processes. Unlike wall time, it hardly depends on the load."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


class Lines:
    """The lines of the package that have run since ``start``, by file, in all threads of this process."""

    def __init__(self) -> None:
        self._reached: dict[CodeType, set[int]] = {}

    def start(self) -> None:
        """Forget what was reached, and record from now on."""
        self._reached = {}

    def stop(self) -> None:
        """Record nothing any more."""

    def by_file(self) -> dict[str, list[int]]:
        files: dict[str, set[int]] = {}
        for code, lines in list(self._reached.items()):
            files.setdefault(code.co_filename.rpartition(FOLDER)[2].replace(os.sep, "/"), set()).update(lines)
        return {file: sorted(lines) for file, lines in files.items()}


if sys.version_info >= (3, 12):

    class MonitoredLines(Lines):
        """For Python 3.12 and newer: each line calls once and is then switched off, so it costs little."""

        def __init__(self) -> None:
            super().__init__()
            monitoring = sys.monitoring
            monitoring.use_tool_id(monitoring.COVERAGE_ID, "reached_lines")
            monitoring.register_callback(monitoring.COVERAGE_ID, monitoring.events.LINE, self._ran)
            monitoring.set_events(monitoring.COVERAGE_ID, monitoring.events.LINE)

        def _ran(self, code: CodeType, line: int) -> Any:
            if FOLDER in code.co_filename:
                self._reached.setdefault(code, set()).add(line)
            return sys.monitoring.DISABLE

        def start(self) -> None:
            super().start()
            sys.monitoring.restart_events()

        def stop(self) -> None:
            sys.monitoring.set_events(sys.monitoring.COVERAGE_ID, 0)


class TracedLines(Lines):
    """For Python 3.11: a trace function, which makes the tests a few times slower."""

    def __init__(self) -> None:
        super().__init__()
        self._calls: dict[CodeType, int] = {}
        self._interrupted = False
        threading.settrace(self._called)
        sys.settrace(self._called)

    def start(self) -> None:
        super().start()
        self._calls, self._interrupted = {}, False
        sys.settrace(self._called)

    def stop(self) -> None:
        sys.settrace(None)
        threading.settrace(None)

    def _called(self, frame: FrameType, event: str, arg: object) -> Any:
        code = frame.f_code
        if self._interrupted or code.co_name == INTERRUPT:
            self._interrupted = True
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
        if self._interrupted:
            sys.settrace(None)
            return None
        if event == "line":
            # A test may begin in the middle of a function of another thread.
            self._reached.setdefault(frame.f_code, set()).add(frame.f_lineno)
        return self._moved


class Recorder:
    """Writes the lines that each test reaches. Only tests that pass are kept."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w", encoding="utf-8")
        self._lines: Lines
        if sys.version_info >= (3, 12):
            self._lines = MonitoredLines()
        else:
            self._lines = TracedLines()
        self._passed = True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        self._passed = True
        begun = cpu_seconds()
        self._lines.start()
        result = yield
        if self._passed:
            seconds = round(cpu_seconds() - begun, 3)
            test = {"name": item.nodeid, "seconds": seconds, "lines": self._lines.by_file()}
            self._file.write(json.dumps(test) + "\n")
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._passed = self._passed and report.passed

    def pytest_sessionfinish(self) -> None:
        self._lines.stop()
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
