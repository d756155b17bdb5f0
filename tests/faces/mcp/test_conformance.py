"""The official suite against a house: what passes with its fixtures, and what passes without them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.expected import NEEDS_FIXTURES, PASSES_BY_REFUSAL
from conformance.run import Result, cell, problems

ROOT = Path(__file__).parents[3]
RUN = ROOT / "tools/conformance/run.py"
ERA = "2026-07-28"


@pytest.mark.node
@pytest.mark.timeout(600)
@pytest.mark.parametrize("revision", [pytest.param("2025-11-25", marks=pytest.mark.soak), "2026-07-28"])
def test_the_suite_passes_with_fixtures_and_without_them_as_far_as_expected(
    need: Callable[[str], Path], revision: str
) -> None:
    need("node22")
    need("conformance")
    done = subprocess.run([sys.executable, RUN, "--era", revision], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_nothing_in_the_installed_package_knows_the_suite() -> None:
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "src").rglob("*.json")]
    assert files
    assert [str(path) for path in files if "conformance" in path.read_text(encoding="utf-8").lower()] == []


def test_the_page_has_the_reason_of_every_scenario_that_needs_fixtures() -> None:
    lines = (ROOT / "docs/conformance.md").read_text(encoding="utf-8").splitlines()
    assert NEEDS_FIXTURES
    for scenario, reason in NEEDS_FIXTURES.items():
        (line,) = [line for line in lines if line.startswith(f"| {scenario} |")]
        assert "with fixtures" in line
        assert line.endswith(f"| {reason} |")
    for scenario in PASSES_BY_REFUSAL:
        (line,) = [line for line in lines if line.startswith(f"| {scenario} |")]
        assert "pass (by refusal" in line


def ended(scenario: str, status: str) -> Result:
    check = {"id": "a-check", "status": status, "errorMessage": "what went wrong"}
    return Result(scenario=scenario, standing="scored", checks=[check])


def found(scenario: str, without: str, with_fixtures: str) -> list[str]:
    return list(problems({ERA: [ended(scenario, without)]}, {ERA: [ended(scenario, with_fixtures)]}))


def test_a_scenario_that_fails_is_a_problem_unless_it_needs_fixtures_and_has_them() -> None:
    assert found("ping", "SUCCESS", "SUCCESS") == []
    assert found("tools-call-audio", "FAILURE", "SUCCESS") == []
    (without,) = found("ping", "FAILURE", "SUCCESS")
    assert "without fixtures" in without
    assert "what went wrong" in without
    (with_fixtures,) = found("tools-call-audio", "FAILURE", "FAILURE")
    assert "with fixtures" in with_fixtures


def test_a_reason_that_no_longer_holds_is_a_problem() -> None:
    (stale,) = found("tools-call-audio", "SUCCESS", "SUCCESS")
    assert "remove its reason" in stale


def test_a_scenario_without_any_result_has_failed() -> None:
    lost = Result(scenario="ping", standing="scored", checks=None)
    assert cell(lost, lost) == "fail"
    assert len(list(problems({ERA: [lost]}, {ERA: [lost]}))) == 2


def test_a_table_says_what_passes_only_with_fixtures() -> None:
    assert cell(ended("ping", "SUCCESS"), ended("ping", "SUCCESS")) == "pass"
    assert cell(ended("tools-call-audio", "FAILURE"), ended("tools-call-audio", "SUCCESS")) == "with fixtures"
    assert cell(ended("tools-call-error", "SUCCESS"), ended("tools-call-error", "SUCCESS")) == "pass (by refusal)"
