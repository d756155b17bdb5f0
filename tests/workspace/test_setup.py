"""Cloning, creating, registering: no foreign program runs, and a failure leaves nothing behind."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from cohabit.errors import BadArgs, CohabitError, Conflict, GitFailed, PermissionDenied, UnknownAsset, Unreachable
from cohabit.workspace.clone import remotes, setup
from cohabit.workspace.person.identity import Identity
from cohabit.workspace.session import Session

ANN = Identity("ann-cli", "Ann", "ann@example.org")


def git(folder: Path, *args: str) -> str:
    author = ["-c", "user.name=T", "-c", "user.email=t@example.org"]
    return subprocess.run(
        ["git", "-C", folder, *author, *args], check=True, capture_output=True, text=True
    ).stdout.strip()


def no_repository(folder: Path) -> Path:
    """A folder with other content."""
    (folder / "no.git").mkdir()
    (folder / "no.git" / "letter.txt").write_text("Dear Ann,\n")
    return folder / "no.git"


def init(session: Session, **args):
    return session.call("workspace_init", {"name": "board", **args})


@pytest.fixture
def ann(tmp_path, now):
    """A session that has no workspace yet."""
    session = Session(
        tmp_path / "config",
        {
            "HOME": str(tmp_path / "home"),
            "COHABIT_AGENT_ID": "ann-cli",
            "COHABIT_AGENT_NAME": "Ann",
            "COHABIT_AGENT_EMAIL": "ann@example.org",
        },
        now=now,
    )
    yield session
    session.close()


def test_a_clone_has_the_remotes_files_and_the_answer_names_the_active_workspace(ann, remote, tmp_path):
    answer = init(ann, remote_url=str(remote), local_path="~/deep/board")
    root = tmp_path / "home" / "deep" / "board"
    assert answer == {
        "name": "board",
        "local_path": str(root),
        "remote": str(remote),
        "already_existed": False,
        "active_workspace": "board",
    }
    assert (root / "journal.md").exists()
    assert git(root, "status", "--porcelain") == ""
    assert git(root, "rev-parse", "HEAD") == git(root, "rev-parse", "@{u}") == git(remote, "rev-parse", "main")
    assert git(root, "config", "--local", "user.name") == "Ann"
    assert not (root / ".git" / "hooks").exists()


def test_relative_paths_begin_in_the_current_folder(ann, remote, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert init(ann, remote_url="./remote.git", local_path="here/board")["local_path"] == str(
        tmp_path / "here" / "board"
    )
    assert git(tmp_path / "here" / "board", "config", "remote.origin.url") == str(remote)


def test_an_existing_clone_is_registered_if_it_is_of_that_remote(ann, remote, tmp_path):
    git(tmp_path, "clone", "-q", str(remote), "home/board")
    assert init(ann, remote_url=f"{remote}/", local_path="~/board")["already_existed"]
    with pytest.raises(Conflict, match="there already is a clone"):
        init(ann, remote_url=str(tmp_path / "other.git"), local_path="~/board")
    assert init(ann, remote_url=str(remote), local_path="~/board")["already_existed"]


def test_a_second_workspace_does_not_become_active_by_itself(ann, remote):
    init(ann, remote_url=str(remote), local_path="~/one")
    assert init(ann, name="two", remote_url=str(remote), local_path="~/two")["active_workspace"] == "board"


def test_a_name_keeps_its_clone(ann, remote, tmp_path):
    init(ann, remote_url=str(remote), local_path="~/one")
    with pytest.raises(Conflict, match="choose another name"):
        init(ann, remote_url=str(remote), local_path="~/two")
    assert not (tmp_path / "home" / "two").exists()


def test_an_empty_remote_gets_the_template_as_first_commit(ann, tmp_path):
    git(tmp_path, "init", "-q", "--bare", "empty.git")
    init(ann, remote_url=str(tmp_path / "empty.git"), local_path="~/board")
    assert git(tmp_path / "empty.git", "log", "--format=%an %s", "main") == "Ann [ann-cli] Begin the workspace board"
    assert "# board" in git(tmp_path / "empty.git", "show", "main:README.md")
    assert ".pointers/.gitkeep" in git(tmp_path / "empty.git", "ls-tree", "-r", "--name-only", "main")
    assert git(tmp_path / "home" / "board", "status", "--porcelain", "--branch") == "## main...origin/main"


def test_create_makes_a_bare_repository_whose_history_stays(ann, tmp_path):
    url = str(tmp_path / "made" / "new.git")
    with pytest.raises(UnknownAsset):
        init(ann, remote_url=url, local_path="~/board")
    init(ann, remote_url=url, local_path="~/board", create=True)
    assert git(Path(url), "rev-parse", "--is-bare-repository") == "true"
    root = tmp_path / "home" / "board"
    git(root, "commit", "-q", "--amend", "-m", "rewritten")
    pushed = subprocess.run(["git", "-C", root, "push", "-q", "--force"], capture_output=True, text=True, check=False)
    assert "non-fast-forward" in pushed.stderr


def test_create_does_not_change_an_existing_remote(ann, remote):
    before = git(remote, "rev-parse", "main")
    init(ann, remote_url=str(remote), local_path="~/board", create=True)
    assert git(remote, "rev-parse", "main") == before


def test_create_is_for_paths_of_this_machine(ann, tmp_path):
    with pytest.raises(BadArgs, match="a path of this machine only"):
        setup.create("https://example.invalid/x.git")


def test_two_agents_that_begin_at_once_end_with_one_history(tmp_path, monkeypatch):
    url = str(tmp_path / "new.git")
    setup.create(url)
    real, raced = setup._begin, []

    def late(workspace):
        if not raced:
            raced.append(True)
            setup.clone(url, tmp_path / "ben", Identity("ben-cli", "Ben", "ben@example.org"), "board")
        real(workspace)

    monkeypatch.setattr(setup, "_begin", late)
    setup.clone(url, tmp_path / "ann", ANN, "board")
    assert git(tmp_path / "ann", "log", "--format=%an") == "Ben"
    assert git(tmp_path / "ann", "status", "--porcelain") == ""


@pytest.mark.parametrize(("head", "taken"), [("trunk", "trunk"), ("nowhere", "main")])
def test_the_remotes_default_branch_is_used_else_main(ann, remote, tmp_path, head, taken):
    git(remote, "branch", "trunk", "main")
    git(remote, "symbolic-ref", "HEAD", f"refs/heads/{head}")
    init(ann, remote_url=str(remote), local_path="~/board")
    assert git(tmp_path / "home" / "board", "symbolic-ref", "--short", "HEAD") == taken


def test_the_only_branch_is_used_if_the_remote_has_no_head(ann, remote, tmp_path):
    git(remote, "branch", "-m", "main", "old/master")
    git(remote, "symbolic-ref", "HEAD", "refs/heads/nowhere")
    init(ann, remote_url=str(remote), local_path="~/board")
    assert git(tmp_path / "home" / "board", "symbolic-ref", "--short", "HEAD") == "old/master"


def test_a_failed_clone_leaves_nothing_behind(ann, tmp_path):
    with pytest.raises(Unreachable) as told:
        init(ann, remote_url=str(no_repository(tmp_path)), local_path="~/a/b/board")
    assert str(tmp_path) not in told.value.message
    assert not (tmp_path / "home").exists()
    assert ann.call("workspace_list", {})["workspaces"] == []


def test_an_empty_folder_is_cloned_into_and_stays_when_that_fails(ann, remote, tmp_path):
    (tmp_path / "home" / "board").mkdir(parents=True)
    with pytest.raises(Unreachable):
        init(ann, remote_url=str(no_repository(tmp_path)), local_path="~/board")
    assert os.listdir(tmp_path / "home") == ["board"]
    assert not init(ann, remote_url=str(remote), local_path="~/board")["already_existed"]


def test_a_folder_with_other_files_is_not_changed(ann, remote, tmp_path):
    (tmp_path / "home" / "board").mkdir(parents=True)
    (tmp_path / "home" / "board" / "mine").write_text("x")
    with pytest.raises(Conflict, match="~/board exists and is non-empty but not a git repo"):
        init(ann, remote_url=str(remote), local_path="~/board")
    with pytest.raises(Conflict, match="is a file"):
        init(ann, remote_url=str(remote), local_path="~/board/mine")
    with pytest.raises(Conflict, match="Not a directory"):
        init(ann, remote_url=str(remote), local_path="~/board/mine/below")
    assert os.listdir(tmp_path / "home" / "board") == ["mine"]


@pytest.mark.parametrize(
    "path", ["~/.config/autostart", "~/.ssh", "~/x/.git/hooks", "", " ", "a\0b", "a\nb", "x" * 2_000]
)
def test_an_unsuitable_folder_for_a_clone_is_refused(ann, remote, path):
    with pytest.raises(BadArgs, match="local_path"):
        init(ann, remote_url=str(remote), local_path=path)


def test_workspaces_must_not_overlap(ann, remote):
    init(ann, remote_url=str(remote), local_path="~/a/board")
    with pytest.raises(BadArgs, match="overlaps with"):
        init(ann, name="two", remote_url=str(remote), local_path="~/a/board/drafts/two")


def test_a_repository_inside_a_clone_is_refused_as_a_remote(ann, remote, tmp_path):
    """It could have been pulled, with hooks in it that a push would run."""
    init(ann, remote_url=str(remote), local_path="~/board")
    inside = tmp_path / "home" / "board" / "research" / "evil.git"
    git(tmp_path, "init", "-q", "--bare", str(inside))
    (tmp_path / "link").symlink_to(inside)
    for url in (str(inside), f"file://{inside}", str(tmp_path / "link")):
        with pytest.raises(BadArgs, match="inside another clone"):
            init(ann, name="two", remote_url=url, local_path="~/two")
    with pytest.raises(BadArgs, match="inside another clone"):
        init(ann, name="two", remote_url=str(inside.with_name("new.git")), local_path="~/two", create=True)


def test_templates_and_hooks_of_the_person_are_not_used(ann, remote, tmp_path, monkeypatch):
    canary = tmp_path / "canary"
    hooks = tmp_path / "template" / "hooks"
    hooks.mkdir(parents=True)
    for name in ("post-checkout", "reference-transaction", "post-index-change", "pre-push"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {canary}\n")
        (hooks / name).chmod(0o755)
    person = tmp_path / "person"
    person.mkdir()
    (person / ".gitconfig").write_text(f"[init]\n\ttemplateDir = {hooks.parent}\n[core]\n\thooksPath = {hooks}\n")
    monkeypatch.setenv("HOME", str(person))
    monkeypatch.setenv("GIT_TEMPLATE_DIR", str(hooks.parent))
    init(ann, remote_url=str(remote), local_path="~/board")
    assert not canary.exists()
    assert not (tmp_path / "home" / "board" / ".git" / "hooks").exists()


def test_an_existing_clone_that_could_start_programs_is_not_registered(ann, remote, tmp_path):
    git(tmp_path, "clone", "-q", str(remote), "home/board")
    git(tmp_path / "home" / "board", "config", "core.fsmonitor", f"touch {tmp_path / 'canary'}")
    with pytest.raises(PermissionDenied, match=r"core\.fsmonitor"):
        init(ann, remote_url=str(remote), local_path="~/board")
    assert not (tmp_path / "canary").exists()


@pytest.mark.parametrize("kind", ["file", "link"])
def test_a_git_folder_outside_of_the_clone_is_refused(ann, remote, tmp_path, kind):
    git(tmp_path, "clone", "-q", str(remote), "home/board")
    root = tmp_path / "home" / "board"
    (root / ".git").rename(tmp_path / "elsewhere")
    if kind == "file":
        (root / ".git").write_text(f"gitdir: {tmp_path / 'elsewhere'}\n")
    else:
        (root / ".git").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BadArgs, match="not a clone of its own"):
        init(ann, remote_url=str(remote), local_path="~/board")


def test_a_password_in_the_address_is_neither_stored_nor_shown(ann, tmp_path, remote):
    git(tmp_path, "clone", "-q", str(remote), "home/board")
    git(tmp_path / "home" / "board", "config", "remote.origin.url", "https://ann:hunter2@127.0.0.1:1/x.git")
    answer = init(ann, remote_url="https://ann:hunter2@127.0.0.1:1/x.git", local_path="~/board")
    assert answer["remote"] == "https://127.0.0.1:1/x.git"
    assert "hunter2" not in str(ann.call("workspace_list", {})) + str(ann.call("workspace_info", {}))
    assert "hunter2" not in (tmp_path / "config" / "workspaces.json").read_text()
    with pytest.raises(CohabitError) as told:
        ann.call("fetch", {})
    assert "hunter2" not in told.value.message


def test_a_token_in_the_address_is_used_by_git_only(ann, tmp_path, remote):
    git(tmp_path, "clone", "-q", str(remote), "home/board")
    git(tmp_path / "home" / "board", "config", "remote.origin.url", "https://ghp_TOKEN@127.0.0.1:1/x.git")
    init(ann, remote_url="https://ghp_TOKEN@127.0.0.1:1/x.git", local_path="~/board")
    assert "TOKEN" not in str(ann.call("workspace_list", {})) + str(ann.call("workspace_info", {}))
    assert "TOKEN" not in (tmp_path / "config" / "workspaces.json").read_text()
    assert git(tmp_path / "home" / "board", "config", "remote.origin.url").startswith("https://ghp_TOKEN@")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://ghp_TOKEN@example.org/o/r.git", "https://example.org/o/r.git"),
        ("https://x:p@ss@example.org/r", "https://example.org/r"),
        ("http://:secret@example.org", "http://example.org"),
        ("git://ann@example.org/r", "git://example.org/r"),
        ("ssh://git@example.org:22/r", "ssh://git@example.org:22/r"),
        ("ssh://git:p@ss@example.org/r", "ssh://git@example.org/r"),
        ("ssh://:secret@example.org/r", "ssh://example.org/r"),
        ("git@example.org:us/r.git", "git@example.org:us/r.git"),
        ("https://example.org/@us/r", "https://example.org/@us/r"),
        ("/srv/a@b/r.git", "/srv/a@b/r.git"),
        ("from https://a:b@c/d and ssh://u:p@h/x", "from https://c/d and ssh://u@h/x"),
    ],
)
def test_only_the_user_of_an_ssh_address_is_shown(url, shown):
    assert remotes.shown(url) == shown


def test_the_tests_use_no_settings_of_the_current_user(tmp_path):
    said = subprocess.run(["git", "config", "--list"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert said == ""
    assert os.environ["GIT_CONFIG_NOSYSTEM"] == "1"
    assert not Path(os.environ["XDG_CONFIG_HOME"]).exists()


def test_a_house_opens_a_clone_and_creates_what_is_missing(tmp_path, now):
    first = setup.open_for(tmp_path / "a", "board", str(tmp_path / "new.git"), ANN, now)
    again = setup.open_for(tmp_path / "a", "board", str(tmp_path / "new.git"), ANN, now)
    assert (again.name, again.identity, again.remote) == ("board", ANN, str(tmp_path / "new.git"))
    assert again.tree.text("inbox.md") is not None
    first.close()
    again.close()


@pytest.mark.parametrize("part", ["hooks", "objects/aa", "worktrees/x", "refs/heads/y"])
def test_a_clone_inside_a_bare_repository_is_refused(ann, tmp_path, remote, part):
    bare = tmp_path / "home" / "deck.git"
    init(ann, name="deck", remote_url=str(bare), local_path="~/deck", create=True)
    with pytest.raises(BadArgs, match="inside a git repository"):
        init(ann, name="tools", remote_url=str(remote), local_path=str(bare / part))
    assert not (bare / "hooks").exists()


def test_the_error_for_an_unused_path_says_how_to_create_a_repository_there(ann, tmp_path):
    with pytest.raises(UnknownAsset, match="create"):
        init(ann, remote_url=str(tmp_path / "none.git"), local_path="~/board")
    assert not (tmp_path / "none.git").exists()


def test_a_home_below_a_hidden_folder_can_contain_clones(tmp_path, remote, now):
    home = tmp_path / ".sandbox" / "home"
    said = {"COHABIT_AGENT_ID": "ann-cli", "COHABIT_AGENT_NAME": "Ann", "COHABIT_AGENT_EMAIL": "ann@example.org"}
    session = Session(tmp_path / "config", {"HOME": str(home), **said}, now=now)
    assert init(session, remote_url=str(remote), local_path="~/board")["local_path"] == str(home / "board")
    with pytest.raises(BadArgs, match="hidden"):
        init(session, name="other", remote_url=str(remote), local_path="~/.ssh/board")
    session.close()


@pytest.mark.parametrize(
    "key", ["branch.main.vscode-merge-base", "remote.origin.gh-resolved", "lfs.repositoryformatversion", "gc.auto"]
)
def test_settings_of_editors_and_forges_in_a_clone_are_accepted(ann, tmp_path, remote, key):
    init(ann, remote_url=str(remote), local_path="~/board")
    git(tmp_path / "home" / "board", "config", key, "0")
    assert ann.call("status", {})["clean"]


def test_an_old_draft_of_a_killed_clone_is_removed(ann, remote, tmp_path):
    home = tmp_path / "home"
    old, young, others, link = (
        home / name
        for name in (".board.0123abcd.new", ".board.4567cdef.new", ".boards.0123abcd.new", ".board.89abcdef.new")
    )
    for draft in (old, young, others):
        (draft / ".git").mkdir(parents=True)
    link.symlink_to(young)
    for draft in (old, others, link):
        os.utime(draft, (time.time() - 7200, time.time() - 7200), follow_symlinks=False)
    init(ann, remote_url=str(remote), local_path="~/board")
    assert [os.path.lexists(draft) for draft in (old, young, others, link)] == [False, True, True, True]
    assert (young / ".git").exists()


def test_a_linked_worktree_is_refused_and_says_what_to_do(ann, remote, tmp_path):
    git(tmp_path, "clone", "-q", str(remote), "main")
    git(tmp_path / "main", "worktree", "add", "-q", str(tmp_path / "home" / "board"), "-b", "other")
    with pytest.raises(BadArgs, match=r"\.git is a file.*another local_path"):
        init(ann, remote_url=str(remote), local_path="~/board")


def test_a_remote_with_another_object_format_is_reported_as_such(ann, tmp_path):
    git(tmp_path, "init", "-q", "--bare", "--object-format=sha256", "other.git")
    with pytest.raises(GitFailed, match="another object format"):
        init(ann, remote_url=str(tmp_path / "other.git"), local_path="~/board")
    assert not (tmp_path / "home" / "board").exists()
