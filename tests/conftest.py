"""Nothing is skipped quietly: what a test lacks is said at the end of the run, and fails it under CI.

A test that needs a program asks for it, and gets its path:

    def test_the_page_shows_the_board(need):
        chromium = need("chromium")

The names are in `tools/test_needs.py`.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx._transports.default
import httpx2._transports.default
import pytest
import test_needs
import uvicorn.server
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from jsonschema import Draft202012Validator

from cohabit.testing import checker
from cohabit.workspace.clone import git
from tests.examples import NEW_CASES, examples, leave_out_of_samples

# Properties are not timed: a machine with other work to do is no reason to fail. They try the same cases every time, so
# that a change is red for what it changed; `make soak` tries new ones, and three times as many.
settings.register_profile(
    "calm",
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=not NEW_CASES,
)
settings.load_profile("calm")
if not NEW_CASES:
    # Hypothesis also tries the constants of our modules. It would read the source of all of them in each process, and the
    # cases would depend on which modules other tests have imported.
    assert callable(providers._get_local_constants)
    providers._get_local_constants = lambda: providers._local_constants

LACKS = "not tested: "
LONGEST = (
    "faults/test_faults.py", "faces/workers/test_houses.py", "faces/workers/test_paused_house.py",
    "faces/workers/test_workers.py", "faces/workers/test_oauth_workers.py", "test_examples.py",
    "testing/test_checker.py", "faces/test_page.py", "faces/test_page_host.py",
    "workspace/test_attacks_repositories.py", "testing/test_feature_checker.py", "workspace/test_attacks.py",
    "faces/test_cli_house.py", "faces/test_front_end_whist.py", "faces/test_page_layout.py",
    "worlds/crafter/test_batch.py", "test_tutorials.py", "faces/test_front_end.py", "house/test_workspace.py",
    "testing/test_checker_limits.py", "faces/mcp/test_conformance.py", "lab/statecraft/test_runs.py",
    "lab/test_lab_runs.py", "house/test_agents.py", "lab/test_agents_that_ask.py", "workspace/test_compat.py",
    "faces/test_cli_workspace.py", "worldbox/test_client.py", "agents/test_isolated.py", "faces/test_spectators.py",
    "workspace/test_conflicts.py", "workspace/test_large_boards.py", "agents/test_local.py", "test_tests.py",
    "faces/test_front_end_generic.py", "worlds/kingdoms/test_powers.py", "faces/test_kingdoms_fork.py",
    "workspace/test_publish.py", "lab/test_cap.py", "faces/test_matrix.py", "workspace/test_driver.py",
    "worlds/crafter/test_scenes.py", "lab/test_report.py", "faces/test_replay.py", "crash/test_kill.py",
    "workspace/test_rewritten.py", "test_without_features.py", "house/test_world_threads.py", "faces/mcp/test_lists.py",
    "worldbox/test_shared_game.py", "workspace/test_recovery.py", "workspace/test_contention.py", "nexus/test_rest.py",
    "kibitz/test_rooms.py", "worlds/kingdoms/test_life.py", "house/test_failing_worlds.py", "faces/test_page_played.py",
    "house/nodes/test_houses.py", "faces/test_cli_agent.py", "faces/workers/test_access.py",
    "worlds/kingdoms/test_cities.py", "agents/test_protocols.py", "faces/mcp/test_ended.py",
    "faces/test_cli_workspace_house.py", "faces/workers/test_numbers.py", "house/test_films.py",
    "workspace/test_ownership.py", "workspace/test_lost.py", "corpus/test_corpus.py", "test_mutants.py",
    "agents/test_bad_days.py", "worlds/kingdoms/test_realms.py", "faces/test_page_nexus.py", "house/test_gate.py",
    "faces/mcp/test_calls.py", "worldbox/test_wire.py", "house/test_retention.py", "worlds/kingdoms/test_fog.py",
    "faces/test_front_end_nexus.py", "faces/test_page_spectators.py", "worlds/statecraft/test_world.py",
    "house/test_authority.py", "workspace/test_git_histories.py", "worlds/kingdoms/test_world.py",
    "faces/test_page_lobby.py", "testing/test_checker_secrets.py", "faces/test_page_agents.py", "lab/test_dataset.py",
    "kibitz/test_package.py", "worlds/crafter/test_stock_picture.py", "faces/mcp/test_apps.py",
    "faces/test_front_end_kingdoms.py", "worlds/statecraft/test_batch.py", "faces/test_page_libraries.py",
    "house/test_postgres_cluster.py", "house/test_attacks.py",
)  # fmt: skip
"""The files that take longest. They are started first: then all processes of `make test` end at about the same time."""


# A process has some millions of objects of tests, which stay to its end. They are visited neither while they are made nor
# later: that would take seconds in each process, most of them at its end.
gc.disable()
gc.set_threshold(20_000, 20, 20)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    """All tests are collected: what there is by now stays, and from now on there is garbage."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)  # before the tests are selected by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first."""
    leave_out_of_samples(items)
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


@pytest.fixture(scope="session", autouse=True)
def schemas_are_checked_once() -> Iterator[None]:
    """An MCP client checks the output schema of each tool when it gets the first result. That takes far longer than the
    call, and hundreds of tests connect clients to tools with the same schemas."""
    valid: set[str] = set()
    check = Draft202012Validator.check_schema

    def check_once(schema: Any, *args: Any, **more: Any) -> None:
        text = json.dumps(schema, sort_keys=True)
        if text not in valid:
            check(schema, *args, **more)
            valid.add(text)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Draft202012Validator, "check_schema", check_once)
        yield


@pytest.fixture(scope="session", autouse=True)
def certificates_are_read_once() -> Iterator[None]:
    """An HTTP client reads the certificates of this machine when it is made. That takes far longer than a call, and
    thousands of clients are made, most of them for addresses without TLS."""

    def sharing(create: Callable[..., ssl.SSLContext]) -> Callable[..., ssl.SSLContext]:
        made: dict[object, ssl.SSLContext] = {}

        def create_once(verify: Any = True, cert: Any = None, trust_env: bool = True) -> ssl.SSLContext:
            if verify is not True or cert is not None:
                return create(verify=verify, cert=cert, trust_env=trust_env)
            key = trust_env, os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
            if key not in made:
                made[key] = create(trust_env=trust_env)
            return made[key]

        return create_once

    with pytest.MonkeyPatch.context() as patch:
        for transports in (httpx._transports.default, httpx2._transports.default):
            patch.setattr(transports, "create_ssl_context", sharing(transports.create_ssl_context))
        yield


@pytest.fixture
def no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests of a workspace, none of which cuts the power: git and this process write without waiting for the disk."""
    fixed = git._fixed_environment
    monkeypatch.setattr(git, "_fixed_environment", lambda root: fixed(root) | {"GIT_TEST_FSYNC": "0"})
    monkeypatch.setattr(os, "fsync", lambda fd: None)


@pytest.fixture
def without_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes are two thirds of the work of a check of a small world. A test about another check needs none, and
    of many worlds that are checked alike a few are enough."""
    monkeypatch.setattr(checker, "CHECKS", {name: check for name, check in checker.CHECKS.items() if name != "process"})


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


@pytest.fixture(scope="session")
def postgres(need: Callable[[str], Path]) -> Iterator[Any]:
    """A private server, for all tests of this process (`tests/postgres.py`)."""
    from tests.postgres import running

    with running(need("postgres").parent) as server:
        yield server


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say once more what could not be tested, where it is seen."""
    skipped = [str(report.longrepr[2]) for report in terminalreporter.stats.get("skipped", [])]
    missing = dict.fromkeys(reason.partition(LACKS)[2] for reason in skipped if LACKS in reason)
    if missing:
        terminalreporter.section("NOT TESTED", sep="!", red=True)
        for reason in missing:
            terminalreporter.write_line(f"!!! {reason}", red=True)
