"""The files of `deploy/` agree with the code: their settings exist, and so does what they copy."""

import re
from pathlib import Path

import pytest

from cohabit.faces.connections import RESERVED_FILES
from cohabit.house.settings import Settings

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"


@pytest.mark.parametrize("name", ["Containerfile", "cohabit.service"])
def test_every_variable_is_a_setting(name: str) -> None:
    found = {word.lower() for word in re.findall(r"COHABIT_([A-Z_]+)=", (DEPLOY / name).read_text())}
    assert found
    assert found <= set(Settings.__struct_fields__)


def test_the_image_copies_files_that_exist_and_are_not_ignored() -> None:
    copied = [
        name
        for line in (DEPLOY / "Containerfile").read_text().splitlines()
        if line.startswith("COPY ")
        for name in line.split()[1:-1]
    ]
    assert "src" in copied
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert kept == set(copied)
    assert all((ROOT / name).exists() for name in copied)


def test_the_service_may_open_as_many_files_as_the_house_takes_connections() -> None:
    limit = re.search(r"^LimitNOFILE=(\d+)$", (DEPLOY / "cohabit.service").read_text(), re.MULTILINE)
    assert limit is not None
    assert int(limit[1]) >= Settings().connections_limit + RESERVED_FILES
