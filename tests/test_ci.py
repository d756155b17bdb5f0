"""`.ci/run` checks a change in a clean environment."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

RUN = Path(__file__).parent.parent / ".ci/run"


TARGETS = {".venv/.weights", ".venv/bin/python", "check", "needs", "test"}
Calls = dict[str, list[str]]
"""What `make` was asked for, with the environment of each."""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Calls]:
    """Runs `.ci/run` with a stand-in for `make` that writes down its arguments and its environment; one target may
    fail."""
    make, written = tmp_path / "bin/make", tmp_path / "written"
    make.parent.mkdir()
    written.mkdir()
    make.write_text(f'#!/bin/sh\n{{ echo "$*"; env; }} > "{written}/$$"\n[ "$*" != "$(cat {tmp_path}/fails)" ]\n')
    make.chmod(0o755)
    monkeypatch.setenv("PATH", f"{make.parent}:/usr/bin:/bin")

    def start(fails: str = "nothing") -> Calls:
        (tmp_path / "fails").write_text(fails)
        for file in written.iterdir():
            file.unlink()
        done = subprocess.run([RUN], check=False)
        assert (done.returncode != 0) == (fails in ("check", "test"))
        return {target: rest for target, *rest in (file.read_text().splitlines() for file in written.iterdir())}

    return start


def test_settings_of_a_machine_do_not_reach_the_checks(
    run: Callable[..., Calls], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "COHABIT_PORT", "GIT_DIR", "LANG"):
        monkeypatch.setenv(name, "setting")
    calls = run()
    assert calls.keys() == TARGETS
    for environment in calls.values():
        assert not [line for line in environment if line.endswith("=setting")]
        assert "LC_ALL=C.UTF-8" in environment


@pytest.mark.parametrize("name", ["HOME", "PIP_INDEX_URL", "npm_config_registry", "HTTPS_PROXY", "no_proxy", "CI"])
def test_the_environment_of_package_clients_is_passed_to_the_checks(
    name: str, run: Callable[..., Calls], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "two words")
    assert {target for target, environment in run().items() if f"{name}=two words" in environment} == TARGETS


def test_ci_is_true_unless_it_is_set(run: Callable[..., Calls], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    assert {target for target, environment in run().items() if "CI=true" in environment} == TARGETS


def test_a_run_fails_with_the_checks_or_the_tests_and_not_for_want_of_a_program(run: Callable[..., Calls]) -> None:
    assert "test" not in run(fails="check")
    run(fails="test")
    assert "test" in run(fails="needs")
