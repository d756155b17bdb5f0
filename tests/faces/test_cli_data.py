"""`cohabit data`: the owner of the data folder shows and deletes what a house keeps of somebody."""

import json
from pathlib import Path

import pytest

from cohabit.faces.cli import main


def test_the_operator_shows_and_deletes_an_identity_and_the_rest_verifies(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tmp_path / "house")
    assert main(["token", "new", "zoe-of-kent", "--kind", "human", "--data", folder]) == 0
    capsys.readouterr()
    assert main(["data", "show", "zoe-of-kent", "--data", folder]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == "zoe-of-kent"
    assert main(["data", "delete", "zoe-of-kent", "--data", folder]) == 2
    assert "--yes" in capsys.readouterr().err
    assert main(["data", "delete", "zoe-of-kent", "--yes", "--data", folder]) == 0
    assert "zoe-of-kent was deleted" in capsys.readouterr().out
    assert main(["data", "show", "zoe-of-kent", "--data", folder]) == 1
    assert "`cohabit token list`" in capsys.readouterr().err
    assert main(["verify", "--data", folder]) == 0
