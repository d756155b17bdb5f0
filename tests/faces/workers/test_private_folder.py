"""The folder for the sockets of a house: nobody else's is touched, and none stays behind for ever."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from cohabit.faces.workers.private_folder import PREFIX, private_folder, remove_abandoned

HOLDS_ONE = """
from cohabit.faces.workers.private_folder import private_folder
with private_folder() as folder:
    (folder / "front.sock").touch()
    print(folder, flush=True)
    input()
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_the_folder_of_a_killed_process_is_removed_and_that_of_a_live_one_stays(temporary: Path) -> None:
    words = [sys.executable, "-c", HOLDS_ONE]
    other = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with other:
        assert other.stdout is not None
        theirs = Path(other.stdout.readline().strip())
        with private_folder() as ours:
            assert ours.stat().st_mode & 0o777 == 0o700
            remove_abandoned()
            assert {*temporary.iterdir()} == {theirs, ours}
        assert {*temporary.iterdir()} == {theirs}
        other.kill()
    assert (theirs / "front.sock").exists()
    with private_folder() as ours:
        assert {*temporary.iterdir()} == {ours}


def test_links_files_and_folders_of_others_stay(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (temporary / "precious").mkdir()
    (temporary / f"{PREFIX}link").symlink_to(temporary / "precious")
    (temporary / f"{PREFIX}file").touch()
    (temporary / "cohabit-other").mkdir()
    before = {*temporary.iterdir()}
    remove_abandoned()
    assert {*temporary.iterdir()} == before
    (temporary / f"{PREFIX}foreign").mkdir()
    mine = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: mine + 1)
    remove_abandoned()
    assert {*temporary.iterdir()} == {*before, temporary / f"{PREFIX}foreign"}
