"""What is published: versions agree, and `make release` builds it, installs it and uses it."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import release
from cohabit import __version__

ROOT = Path(__file__).parent.parent
CHANGELOG = """# Changelog

## [Unreleased]

- Later.

## [1.2.0] - 2026-01-01

- Now.

## [1.1.0] - 2025-01-01

- Before.
"""


def test_the_entry_of_the_registry_has_the_version_of_the_package() -> None:
    entry = json.loads((ROOT / "server.json").read_text())
    assert {entry["version"], *(each["version"] for each in entry["packages"])} == {__version__}
    assert len(entry["description"]) <= 100, "the registry refuses longer ones"
    secret = {each["name"] for each in entry["packages"][0]["environmentVariables"] if each.get("isSecret")}
    assert secret == {"COHABIT_TOKEN"}


def test_release_notes_are_the_part_of_the_changelog_about_the_version() -> None:
    assert release.notes(CHANGELOG, "1.2.0") == "# Cohabit 1.2.0\n\n- Now.\n"
    assert release.notes(CHANGELOG, "2.0.0") == "# Cohabit 2.0.0\n\n- Later.\n"


@pytest.mark.parametrize("name", ["ci", "publish"])
def test_a_workflow_runs_what_there_is(name: str) -> None:
    text = (ROOT / f".github/workflows/{name}.yml").read_text()
    assert yaml.safe_load(text)["jobs"]
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    called = set(re.findall(r"\bmake ([a-z]+)", text))
    assert called
    assert called <= targets
    assert all((ROOT / path).is_file() for path in re.findall(r"bash (\S+)", text))


@pytest.mark.soak
def test_each_artefact_of_a_release_is_installed_and_used_in_a_clean_place() -> None:
    subprocess.run(["make", "release"], cwd=ROOT, check=True, env=None)
    made = {path.name for path in release.DIST.iterdir()}
    assert made == {
        release.WHEEL, release.SOURCES, release.NPM, release.BUNDLE, release.PLUGIN, release.BILL, release.SUMS,
        "Containerfile", "server.json", "NOTES.md",
    }  # fmt: skip
    sums = (release.DIST / release.SUMS).read_text().splitlines()
    assert {line.split("  ")[1] for line in sums} == made - {release.SUMS}
    subprocess.run([sys.executable, "-m", "zipfile", "-t", str(release.DIST / release.WHEEL)], check=True)
    bill = json.loads((release.DIST / release.BILL).read_text())
    assert {"msgspec", "mcp", "starlette"} <= {part["name"] for part in bill["components"]}
