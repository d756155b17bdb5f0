"""People with plain git in a clone get the same merge."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from cohabit.errors import Busy, Conflict, PermissionDenied
from cohabit.workspace import driver
from cohabit.workspace.clone import plain_git
from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.session import Session

Clone = Callable[[str], Session]


def root(session: Session) -> Path:
    return session.workspace().root


def git(session: Session, *args: str) -> str:
    return git_in(root(session), *args)


def git_in(place: Path, *args: str) -> str:
    done = subprocess.run(["git", *args], cwd=place, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def on_the_board(session: Session, name: str) -> None:
    session.call("journal_append", {"summary": f"{name} was here"})
    session.call("inbox_add", {"title": f"from {name}"})
    session.call("add", {"paths": ["journal.md", "inbox.md"]})
    session.call("commit", {"message": "on the board"})


@pytest.mark.sampled
@pytest.mark.parametrize(
    "how", [["pull", "-q", "--no-rebase", "--no-edit"], ["pull", "-q", "--rebase"], ["merge"], ["cherry-pick"]]
)
def test_plain_git_merges_by_entry_and_the_pushed_number_stays(clone: Clone, how: list[str]) -> None:
    ann, bob = clone("ann"), clone("bob")
    on_the_board(ann, "ann")
    ann.call("push", {})
    on_the_board(bob, "bob")
    if how[0] == "pull":
        git(bob, *how)
    else:
        git(bob, "fetch", "-q")
        git(bob, *(["merge", "-q", "--no-edit"] if how[0] == "merge" else ["cherry-pick"]), "origin/main")
    items = Inbox.parse((root(bob) / "inbox.md").read_text()).items
    assert sorted((item.id, item.title) for item in items) == [("INB-001", "from ann"), ("INB-002", "from bob")]
    assert (root(bob) / "journal.md").read_text().count("was here") == 2
    assert bob.call("push", {})["ok"]
    assert ann.call("pull", {})["updated"]


def asked(session: Session, *titles: str) -> None:
    """An item and a commit for each title."""
    for title in titles:
        session.call("inbox_add", {"title": title})
        session.call("add", {"paths": ["inbox.md"]})
        session.call("commit", {"message": title})


def titles(place: Path) -> list[tuple[str, str]]:
    return sorted((item.id, item.title) for item in Inbox.parse((place / "inbox.md").read_text()).items)


def test_a_rebase_of_several_commits_gives_each_item_a_number_of_its_own(clone: Clone, now: Any) -> None:
    ann, bob = clone("ann"), clone("bob")
    for title in ("one", "two", "three"):
        asked(bob, title)
        now.move(minutes=1)
    asked(ann, "pushed")
    ann.call("push", {})
    git(bob, "pull", "-q", "--rebase")
    assert titles(root(bob)) == [("INB-001", "pushed"), ("INB-002", "one"), ("INB-003", "two"), ("INB-004", "three")]
    assert bob.call("push", {})["ok"]


def test_nothing_is_accepted_during_a_rebase_which_would_take_it_back_when_it_is_ended(clone: Clone) -> None:
    ann, bob = clone("ann"), clone("bob")
    bob.call("write", {"path": "drafts/deck.md", "content": "as it was\n"})
    bob.call("add", {"paths": ["drafts/deck.md"]})
    bob.call("commit", {"message": "deck"})
    bob.call("sync", {})
    ann.call("sync", {})
    for session in (ann, bob):
        (root(session) / "README.md").write_text(f"by {session.workspace().identity.agent_id}\n")
        session.call("add", {"paths": ["README.md"]})
        session.call("commit", {"message": "README"})
    ann.call("push", {})
    git(bob, "fetch", "-q")
    subprocess.run(["git", "rebase", "-q", "origin/main"], cwd=root(bob), check=False, capture_output=True)
    before = git(bob, "status", "--porcelain")
    for tool, args in (
        ("journal_append", {"summary": "bob was here"}),
        ("inbox_add", {"title": "from bob"}),
        ("decision_add", {"title": "Comps", "context": "Two", "decision": "One"}),
        ("write", {"path": "drafts/deck.md", "content": "from bob\n"}),
        ("write", {"path": "drafts/deck.md", "content": "from bob\n", "mode": "append"}),
        ("delete", {"path": "drafts/deck.md"}),
        ("rename", {"path": "drafts/deck.md", "to": "drafts/slides.md"}),
        ("restore", {"id": "INB-001"}),
    ):
        with pytest.raises(Conflict, match=r"rebase that was started by hand.*--abort"):
            bob.call(tool, args)
    assert git(bob, "status", "--porcelain") == before
    git(bob, "rebase", "--abort")
    bob.call("journal_append", {"summary": "bob was here"})
    bob.call("write", {"path": "drafts/deck.md", "content": "from bob\n"})
    assert "bob was here" in (root(bob) / "journal.md").read_text()


def test_a_stash_that_is_older_than_a_renumbering_can_be_applied(clone: Clone) -> None:
    ann, bob = clone("ann"), clone("bob")
    asked(bob, "one")
    bob.call("inbox_add", {"title": "two"})
    git(bob, "stash", "-q")
    asked(ann, "pushed")
    ann.call("push", {})
    bob.call("push", {})
    assert titles(root(bob)) == [("INB-001", "pushed"), ("INB-002", "one")]
    git(bob, "stash", "pop", "-q")
    assert titles(root(bob)) == [("INB-001", "pushed"), ("INB-002", "one"), ("INB-003", "two")]


@pytest.mark.sampled(start=1)
@pytest.mark.parametrize("where", ["topic", "pushed topic", "detached", "worktree", "git dir elsewhere"])
def test_a_pushed_number_stays_in_every_kind_of_merge_by_a_person(
    clone: Clone, now: Any, tmp_path: Path, where: str
) -> None:
    ann, bob = clone("ann"), clone("bob")
    place = root(bob)
    if "topic" in where:
        git(bob, "checkout", "-q", "-b", "a-topic")
    bob.workspace()
    (place / "inbox.md").write_text(asked_in(place, "mine", now))
    git(bob, "commit", "-q", "-am", "mine")
    if where == "pushed topic":
        git(bob, "push", "-q", "-u", "origin", "a-topic")
    now.move(minutes=1)
    asked(ann, "pushed")
    ann.call("push", {})
    git(bob, "fetch", "-q")
    how = ["merge", "-q", "--no-edit", "origin/main"]
    if where == "detached":
        git(bob, "checkout", "-q", "--detach")
    if where == "worktree":
        git(bob, "checkout", "-q", "-b", "side")
        place = tmp_path / "linked"
        git(bob, "worktree", "add", "-q", str(place), "main")
        how = ["-C", str(place), *how]
    if where == "git dir elsewhere":
        (place / ".git").rename(tmp_path / "elsewhere")
        how = [f"--git-dir={tmp_path / 'elsewhere'}", "--work-tree=.", *how]
    git_in(place, *how)
    assert titles(place) == [("INB-001", "pushed"), ("INB-002", "mine")]


def asked_in(place: Path, title: str, now: Any) -> str:
    """Written without a tool, because the tools work on a shared branch."""
    return Inbox.parse((place / "inbox.md").read_text()).add(title=title, by="bob", now=now())[0].text


def test_more_branches_than_the_limit_do_not_stop_a_merge(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    ann = clone("ann")
    asked(ann, "pushed")
    ann.call("push", {})
    for i in range(3):
        git(ann, "update-ref", f"refs/remotes/origin/b{i}", "HEAD")
    monkeypatch.chdir(root(ann))
    monkeypatch.setattr(driver, "MAX_BRANCHES", 1)
    assert list(driver._pushed_ids().values()) == ["INB-001"]
    monkeypatch.chdir(ann.home)
    assert driver._pushed_ids() == {}


def test_the_person_is_told_which_number_changed(clone: Clone) -> None:
    ann, bob = clone("ann"), clone("bob")
    on_the_board(ann, "ann")
    ann.call("push", {})
    on_the_board(bob, "bob")
    assert "INB-001 is now INB-002 ('from bob')" in git(bob, "pull", "--no-rebase", "--no-edit")


def test_an_entry_that_both_changed_stops_the_merge_and_keeps_both(clone: Clone) -> None:
    ann, bob = clone("ann"), clone("bob")
    on_the_board(ann, "ann")
    ann.call("push", {})
    bob.call("pull", {})
    for session, word in ((ann, "one"), (bob, "two")):
        place = root(session) / "journal.md"
        place.write_text(place.read_text().replace("ann was here", word))
        git(session, "commit", "-q", "-am", "edit")
    ann.call("push", {})
    done = subprocess.run(["git", "pull", "--no-rebase"], cwd=root(bob), check=False, capture_output=True, text=True)
    assert done.returncode != 0
    text = (root(bob) / "journal.md").read_text()
    assert "one" in text
    assert "two" in text


def test_a_pulled_attribute_cannot_choose_another_merge(clone: Clone) -> None:
    ann, bob = clone("ann"), clone("bob")
    ann.call("write", {"path": ".gitattributes", "content": "* merge=union\njournal.md merge=union\n"})
    ann.call("add", {"paths": [".gitattributes"]})
    ann.call("commit", {"message": "union"})
    ann.call("push", {})
    bob.call("pull", {})
    assert git(bob, "check-attr", "merge", "journal.md", "README.md").splitlines() == [
        "journal.md: merge: cohabit", "README.md: merge: unspecified",
    ]  # fmt: skip


def test_modules_in_the_work_tree_are_not_loaded(clone: Clone) -> None:
    ann, bob = clone("ann"), clone("bob")
    on_the_board(ann, "ann")
    ann.call("push", {})
    on_the_board(bob, "bob")
    for name in ("re.py", "cohabit.py", "msgspec.py", "sitecustomize.py"):
        (root(bob) / name).write_text(f"open({str(root(bob) / 'ran')!r}, 'w')\nraise SystemExit(1)\n")
    git(bob, "pull", "-q", "--no-rebase", "--no-edit")
    assert not (root(bob) / "ran").exists()


def test_the_driver_of_another_installation_is_replaced_only_if_its_python_is_gone(clone: Clone) -> None:
    ann = clone("ann")
    config = root(ann) / ".git" / "config"
    other = driver.COMMAND.replace(sys.executable, "/bin/sh")
    for value, expected in ((other, other), (other.replace("/bin/sh", "/no/such/python"), driver.COMMAND)):
        git(ann, "config", "merge.cohabit.driver", value)
        fresh = Session(ann.home, ann.environ, now=ann.now)
        assert fresh.call("status", {})["clean"]
        assert git(ann, "config", "--file", str(config), "merge.cohabit.driver").strip() == expected
        fresh.close()


@pytest.mark.parametrize(
    "value", ["touch ran; true", f"{driver.COMMAND}; touch ran", f"$(touch ran) {driver.CALL}", "true"]
)
def test_a_driver_that_is_not_ours_is_refused(clone: Clone, value: str) -> None:
    ann = clone("ann")
    git(ann, "config", "merge.cohabit.driver", value)
    fresh = Session(ann.home, ann.environ, now=ann.now)
    with pytest.raises(PermissionDenied, match=r"merge\.cohabit\.driver"):
        fresh.call("status", {})
    fresh.close()


def test_a_persons_lines_in_the_attributes_are_kept(clone: Clone) -> None:
    ann = clone("ann")
    place = root(ann) / ".git" / "info" / "attributes"
    place.write_text("*.png binary\n")
    ws = ann.workspace()
    for _ in range(2):
        driver.install(ws.git)
    assert place.read_text() == driver.ATTRIBUTES + "*.png binary\n"


def test_a_file_that_is_not_a_protocol_file_is_not_merged(tmp_path: Path) -> None:
    names = [str(tmp_path / name) for name in "OAB"]
    for name in names:
        Path(name).write_text("x")
    assert driver.main([*names, "README.md"]) == 1


def test_every_protocol_file_is_registered() -> None:
    from cohabit.workspace.merging.merge import is_protocol

    named = re.findall(r"^(\S+) merge=cohabit", driver.ATTRIBUTES, re.MULTILINE)
    samples = [name.replace("journal-archive/*", "journal-archive/2026-05").replace("*", "ann-cli") for name in named]
    assert samples
    assert all(is_protocol(sample) for sample in samples)


# -- agents at work in the same clone ---------------------------------------------------------------
@contextmanager
def a_merge_that_stands_still(session: Session, where: str) -> Iterator["subprocess.Popen[bytes]"]:
    """A person's `git merge origin/main` that waits before our merge driver, after it, or in the editor, until the
    block ends."""
    there, go = (root(session).parent / name for name in ("there", "go"))
    for pipe in (there, go):
        os.mkfifo(pipe)
    halt = f"echo > {there}; read x < {go}"
    called = {"before": f"{halt}; {driver.COMMAND}", "after": f"{driver.COMMAND}; {halt}"}.get(where, driver.COMMAND)
    environ = {**os.environ, "GIT_EDITOR": f"sh -c '{halt}' --"}
    how = ["-c", f"merge.cohabit.driver={called}", "merge", "-q", "--edit" if where == "editor" else "--no-edit"]
    let_go = os.open(go, os.O_RDWR)
    with subprocess.Popen(
        ["git", *how, "origin/main"], cwd=root(session), env=environ, stderr=subprocess.DEVNULL
    ) as person:
        there.read_text()
        try:
            yield person
        finally:
            os.write(let_go, b"x\n")
            person.wait()
            os.close(let_go)


def something_to_merge(ann: Session, bob: Session) -> None:
    ann.call("journal_append", {"summary": "of ann"})
    bob.call("journal_append", {"summary": "of bob"})
    for session in (ann, bob):
        session.call("add", {"paths": ["journal.md"]})
        session.call("commit", {"message": "an entry"})
    ann.call("push", {})
    git(bob, "fetch", "-q")


@pytest.mark.parametrize("where", ["before", "after"])
def test_nothing_is_written_while_a_merge_by_plain_git_may_restore_files(
    clone: Clone, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    ann, bob = clone("ann"), clone("bob")
    something_to_merge(ann, bob)
    bob.call("journal_append", {"summary": "not committed"})
    with monkeypatch.context() as patch, a_merge_that_stands_still(bob, where) as person:
        patch.setattr(plain_git, "WAIT_SECONDS", 0.0)
        patch.setattr(plain_git, "SETTLE_SECONDS", 0.0)
        with pytest.raises(Busy, match="try again when it has ended"):
            bob.call("journal_append", {"summary": "written meanwhile"})
    assert person.returncode != 0, "git merges over uncommitted entries now"
    bob.call("journal_append", {"summary": "written afterwards"})
    journal = (root(bob) / "journal.md").read_text()
    assert [journal.count(said) for said in ("not committed", "meanwhile", "afterwards")] == [1, 0, 1]


def test_a_call_does_not_wait_while_a_person_writes_a_merge_message(
    clone: Clone, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, bob = clone("ann"), clone("bob")
    something_to_merge(ann, bob)
    monkeypatch.setattr(plain_git, "WAIT_SECONDS", 0.0)
    with a_merge_that_stands_still(bob, "editor") as person:
        assert (bob.workspace().state_folder / plain_git.MERGE_MARK).exists()
        bob.call("journal_append", {"summary": "written meanwhile"})
    assert person.returncode == 0
    journal = (root(bob) / "journal.md").read_text()
    assert [journal.count(said) for said in ("of ann", "of bob", "meanwhile")] == [1, 1, 1]


def test_the_mark_is_renewed_when_the_driver_ends(clone: Clone) -> None:
    ann, bob = clone("ann"), clone("bob")
    something_to_merge(ann, bob)
    began = time.time()
    with a_merge_that_stands_still(bob, "before"):
        assert not (bob.workspace().state_folder / plain_git.MERGE_MARK).exists()
    assert (bob.workspace().state_folder / plain_git.MERGE_MARK).stat().st_mtime >= began - 0.1


@pytest.mark.parametrize(
    ("ages", "running"),
    [
        ({}, False),
        ({"ORIG_HEAD": 0.1}, True),  # git has just begun
        ({"cohabit/merging": 0.1}, True),  # our driver has just ended
        ({"ORIG_HEAD": 30, "cohabit/merging": 20}, False),
        ({"index.lock": 0.1}, True),  # any git that has just begun
        ({"index.lock": 20}, False),  # a person writes the message of `git commit -a`
        ({"index.lock": 20, "ORIG_HEAD": 300}, False),
        ({"index.lock": 20, "ORIG_HEAD": 21}, True),
        ({"index.lock": 20, "cohabit/merging": 15}, True),
        ({"index.lock": 20, "cohabit/merging": 15, "MERGE_HEAD": 2}, False),  # the files are merged
        ({"ORIG_HEAD": 0.1, "MERGE_HEAD": 0.1}, False),
        ({"index.lock": 100, "ORIG_HEAD": 101}, False),  # a merge that was killed
        ({"ORIG_HEAD": -1000, "index.lock": -1000}, False),  # the clock was wrong
    ],
)
def test_a_running_merge_is_detected_by_the_files_that_git_writes(
    tmp_path: Path, ages: dict[str, float], running: bool
) -> None:
    (tmp_path / ".git" / "cohabit").mkdir(parents=True)
    now = time.time()
    for name, age in ages.items():
        (tmp_path / ".git" / name).touch()
        os.utime(tmp_path / ".git" / name, (now - age, now - age))
    assert plain_git.merge_is_running(tmp_path) is running


def test_a_call_that_has_begun_is_not_stopped_by_a_merge(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    ws = clone("ann").workspace()
    with ws.held():
        monkeypatch.setattr(plain_git, "merge_is_running", lambda root: True)
        with ws.held():
            assert ws.git.run("rev-parse", "HEAD").line


def test_a_merge_waits_for_a_running_call_and_other_calls_wait_without_the_lock(
    clone: Clone, monkeypatch: pytest.MonkeyPatch
) -> None:
    ws = clone("ann").workspace()
    waits: list[float] = []
    monkeypatch.setattr(driver.time, "sleep", waits.append)
    monkeypatch.setattr(driver, "CALL_WAIT_SECONDS", 0.01)
    with ws.held():
        driver._wait_for_call(ws.state_folder / "lock")
    assert waits
    waits.clear()
    driver._wait_for_call(ws.state_folder / "lock")
    assert not waits
    answers = iter([True, False])
    monkeypatch.setattr(plain_git, "merge_is_running", lambda root: next(answers))
    monkeypatch.setattr(plain_git, "wait_for_merge", lambda root: driver._wait_for_call(ws.state_folder / "lock"))
    with ws.held():
        assert not waits
