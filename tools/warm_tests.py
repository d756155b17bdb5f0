"""A pytest plugin that runs chosen tests in copies of a process that has collected them, each with another change.

Starting pytest and collecting tests takes longer than most tests do. Here this happens once: each trial is a fork, in
which the changed functions are replaced. It is part of the mutation run, `tools/mutants.py`, which also writes the
change to the file, for the processes that a test starts. A change of code that runs at import, such as a default value,
comes too late for a fork.
"""

import gc
import json
import multiprocessing
import os
import resource
import signal
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import pytest
from mutations import changed_tree

MAX_CPU_S = 100
"""A trial that computes for longer than this is in an endless loop, and is ended: that is noticed."""
PASSED, TOO_LATE = "passed", "too late"
OF_A_FUNCTION = 1  # `inspect.CO_OPTIMIZED`; the code of a module, or of the body of a class, is without it


class Change(NamedTuple):
    """One of the changes of a file that has been imported."""

    file: str
    original: str  # the same file without a change
    number: int


class Server:
    """Takes trials from a pipe, instead of running the collected tests: one JSON object a line, one reply a line.

    The first reply, without a trial, is that it is ready. The others are PASSED, TOO_LATE, or what failed.
    """

    def __init__(self, requests: int, replies: int, outcome: Path) -> None:
        self._requests = os.fdopen(requests, encoding="utf-8")
        self._replies = os.fdopen(replies, "w", encoding="utf-8", buffering=1)
        self._outcome = outcome
        self._failed = ""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        self._replies.write("ready\n")
        for line in self._requests:
            trial = json.loads(line)
            tests = [items[name] for name in trial["tests"] if name in items]
            change = Change(*trial["change"]) if trial["change"] else None
            self._replies.write(self._try(change, tests, trial["timeout"]) + "\n")
        return True

    def _try(self, change: Change | None, tests: Sequence[pytest.Item], timeout: float) -> str:
        self._outcome.write_text("the process of the tests ended", encoding="utf-8")
        trial = multiprocessing.get_context("fork").Process(target=self._run, args=(change, tests))
        trial.start()
        trial.join(timeout)
        with suppress(ProcessLookupError):  # and what the tests have started
            os.killpg(trial.pid or 0, signal.SIGKILL)
        return self._outcome.read_text(encoding="utf-8") if trial.exitcode is not None else "the tests did not end"

    def _run(self, change: Change | None, tests: Sequence[pytest.Item]) -> None:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (MAX_CPU_S, MAX_CPU_S))
        self._outcome.write_text(self._result(change, tests), encoding="utf-8")

    def _result(self, change: Change | None, tests: Sequence[pytest.Item]) -> str:
        if change is not None and not replace_functions(change):
            return TOO_LATE
        for item, following in zip(tests, [*tests[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self._failed:
                return self._failed
        return PASSED

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failed = report.nodeid.replace("\n", " ")


def replace_functions(change: Change) -> bool:
    """Make a change in this process. False if it concerns code that has run already."""
    text, file = Path(change.original).read_text(encoding="utf-8"), change.file
    before = compile(text, file, "exec", dont_inherit=True)
    after = compile(changed_tree(text, change.number), file, "exec", dont_inherit=True)
    pairs = list(changed_functions(before, after))
    found = 0
    for function in [each for each in gc.get_objects() if type(each) is FunctionType]:
        for old, new in pairs:
            if function.__code__ == old and function.__code__.co_filename == file:
                function.__code__ = new
                found += 1
    return bool(pairs) and found >= len(pairs) and _same_outside_functions(before, after)


def changed_functions(before: CodeType, after: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """The functions of a module and of its classes that differ, without those inside of functions."""
    for old, new in zip(_code_in(before), _code_in(after), strict=True):
        if not old.co_flags & OF_A_FUNCTION:
            yield from changed_functions(old, new)
        elif old != new:
            yield old, new


def _code_in(code: CodeType) -> list[CodeType]:
    return [each for each in code.co_consts if isinstance(each, CodeType)]


def _same_outside_functions(before: CodeType, after: CodeType) -> bool:
    def own(code: CodeType) -> tuple[Any, ...]:
        return code.co_code, code.co_names, [each for each in code.co_consts if not isinstance(each, CodeType)]

    bodies = zip(_code_in(before), _code_in(after), strict=True)
    return own(before) == own(after) and all(
        _same_outside_functions(old, new) for old, new in bodies if not old.co_flags & OF_A_FUNCTION
    )


def pytest_configure(config: pytest.Config) -> None:
    requests, replies, outcome = os.environ["WARM_TESTS"].split(",")
    config.pluginmanager.register(Server(int(requests), int(replies), Path(outcome)))
