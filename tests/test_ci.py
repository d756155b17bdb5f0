"""`.ci/run` checks a change in a clean environment."""

import subprocess
from pathlib import Path

import pytest

RUN = Path(__file__).parent.parent / ".ci/run"


@pytest.fixture
def environment_of_make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a stand-in for `make` writes its arguments and its environment."""
    written = tmp_path / "environment.txt"
    make = tmp_path / "bin/make"
    make.parent.mkdir()
    make.write_text(f'#!/bin/sh\necho "make $*" >> "{written}"\nenv >> "{written}"\n')
    make.chmod(0o755)
    monkeypatch.setenv("PATH", f"{make.parent}:/usr/bin:/bin")
    return written


def test_settings_of_a_machine_do_not_reach_the_checks(
    environment_of_make: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "COHABIT_PORT", "GIT_DIR", "LANG"):
        monkeypatch.setenv(name, "setting")
    subprocess.run([RUN], check=True)
    found = environment_of_make.read_text().splitlines()
    assert [line for line in found if line.startswith("make ")] == ["make check", "make test"]
    assert not [line for line in found if line.endswith("=setting")]
    assert "LC_ALL=C.UTF-8" in found


@pytest.mark.parametrize("name", ["HOME", "PIP_INDEX_URL", "npm_config_registry", "HTTPS_PROXY", "no_proxy", "CI"])
def test_the_environment_of_package_clients_is_passed_to_the_checks(
    name: str, environment_of_make: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "two words")
    subprocess.run([RUN], check=True)
    assert environment_of_make.read_text().splitlines().count(f"{name}=two words") == 2


def test_ci_is_true_unless_it_is_set(environment_of_make: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    subprocess.run([RUN], check=True)
    assert environment_of_make.read_text().splitlines().count("CI=true") == 2
