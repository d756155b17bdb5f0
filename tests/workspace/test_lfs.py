"""A repository that keeps files in Git LFS is refused, because its files would be pointers."""

import subprocess

import pytest

from cohabit.errors import Conflict
from cohabit.workspace.session import Session

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 5\n".format("a" * 64)


def git(*args, at):
    name = ("-c", "user.name=Eve", "-c", "user.email=eve@example.org")
    subprocess.run(["git", *name, *args], cwd=at, check=True, capture_output=True)


@pytest.fixture
def eve(tmp_path, remote):
    git("clone", "-q", str(remote), "eve", at=tmp_path)
    return tmp_path / "eve"


def share(eve, path, text):
    (eve / path).parent.mkdir(exist_ok=True)
    (eve / path).write_text(text)
    git("add", "-A", at=eve)
    git("commit", "-qm", "attributes", at=eve)
    git("push", "-q", "origin", "HEAD:main", at=eve)


@pytest.fixture
def ann(tmp_path):
    environ = {"HOME": str(tmp_path / "ann"), "COHABIT_AGENT_ID": "ann-cli", "COHABIT_AGENT_NAME": "Ann"}
    (tmp_path / "ann").mkdir()
    session = Session(tmp_path / "ann" / ".multisphere", {**environ, "COHABIT_AGENT_EMAIL": "ann@example.org"})
    yield session
    session.close()


@pytest.mark.parametrize("folder", ["", "assets/"])
def test_init_refuses_a_repository_with_files_in_lfs_and_leaves_nothing(ann, eve, remote, tmp_path, folder):
    share(eve, f"{folder}.gitattributes", "*.png filter=lfs diff=lfs merge=lfs -text\n")
    share(eve, "assets/a.png", POINTER)
    with pytest.raises(Conflict, match=rf"Git LFS \({folder}\.gitattributes\)"):
        ann.call("workspace_init", {"name": "board", "remote_url": str(remote), "local_path": "~/board"})
    assert not (tmp_path / "ann" / "board").exists()
    assert ann.call("workspace_list", {})["workspaces"] == []


def test_an_existing_clone_with_files_in_lfs_is_not_registered(ann, eve, remote):
    share(eve, ".gitattributes", "*.png filter=lfs\n")
    with pytest.raises(Conflict, match="Git LFS"):
        ann.call("workspace_init", {"name": "board", "remote_url": str(remote), "local_path": str(eve)})


@pytest.mark.parametrize("line", ["# *.png filter=lfs\n", "*.png filter=lfsx\n", "*.md text\n"])
def test_other_attributes_are_fine(ann, eve, remote, line):
    share(eve, ".gitattributes", line)
    answer = ann.call("workspace_init", {"name": "board", "remote_url": str(remote), "local_path": "~/board"})
    assert answer["active_workspace"] == "board"
