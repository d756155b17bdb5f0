"""Nothing is skipped quietly: what a test lacks is said at the end of the run, and fails it under CI.

A test that needs a program asks for it, and gets its path:

    def test_the_page_shows_the_board(need):
        chromium = need("chromium")

The names are in `tools/test_needs.py`.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import test_needs
import uvicorn.server
from hypothesis import HealthCheck, settings

# Properties are not timed: a machine with other work to do is no reason to fail. Under CI they try the same cases every
# time, so that a change is red for what it changed; elsewhere new ones.
settings.register_profile(
    "calm",
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="CI" in os.environ,
)
settings.load_profile("calm")

LACKS = "not tested: "
LONGEST = (
    "test_without_worldbox.py", "faces/test_page.py", "workspace/test_attacks_repositories.py", "faces/test_cli_house.py",
    "faces/test_kingdoms_fork.py", "agents/test_local.py", "workspace/test_contention.py", "workspace/test_attacks.py",
    "house/test_workspace.py", "workspace/test_conflicts.py", "worlds/kingdoms/test_matches.py", "workspace/test_compat.py",
    "test_examples.py", "workspace/test_lost.py", "faces/test_matrix.py", "faces/mcp/test_stdio.py",
    "worlds/crafter/test_original.py", "worlds/crafter/test_batch.py", "testing/test_checker.py",
)  # fmt: skip
"""The files that take longest. They are started first: then all processes of `make test` end at about the same time."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first."""
    order = {str(Path(__file__).parent / name): number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: order.get(str(item.path), len(order)))


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Async tests run on asyncio, like the house."""
    return "asyncio"


class Impatient:
    """The module asyncio, except that a sleep takes at most some milliseconds."""

    def __getattr__(self, name: str) -> Any:
        return getattr(asyncio, name)

    @staticmethod
    async def sleep(seconds: float) -> None:
        await asyncio.sleep(min(seconds, 0.005))


@pytest.fixture(scope="session", autouse=True)
def servers_stop_at_once() -> Iterator[None]:
    """uvicorn checks ten times a second whether it should stop and whether its connections are closed. Hundreds of tests
    start a server, and each would wait for that two or three times."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(uvicorn.server, "asyncio", Impatient())
        yield


@pytest.fixture(scope="session")
def need() -> Callable[[str], Path]:
    """Where a program is that the test cannot do without; skips the test loudly if it is nowhere."""

    def find(name: str) -> Path:
        path = test_needs.locate(name)
        if path is not None:
            return path
        reason = test_needs.reason(name)
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(reason, pytrace=False)
        pytest.skip(LACKS + reason)

    return find


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say once more what could not be tested, where it is seen."""
    skipped = [str(report.longrepr[2]) for report in terminalreporter.stats.get("skipped", [])]
    missing = dict.fromkeys(reason.partition(LACKS)[2] for reason in skipped if LACKS in reason)
    if missing:
        terminalreporter.section("NOT TESTED", sep="!", red=True)
        for reason in missing:
            terminalreporter.write_line(f"!!! {reason}", red=True)
