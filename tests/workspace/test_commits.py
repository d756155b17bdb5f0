"""The author of a commit, and what its message can contain."""

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.errors import BadArgs, Conflict, TooLarge
from cohabit.workspace.clone import commits, refs
from cohabit.workspace.clone.signing import Signing
from cohabit.workspace.limits import MAX_TEXT_CHARS
from cohabit.workspace.person.identity import Identity

ANN = Identity("ann-cli", "Ann", "ann@example.org")


def git(ws, *args: str, stdin: str | None = None) -> str:
    done = subprocess.run(["git", *args], cwd=ws.root, check=True, capture_output=True, text=True, input=stdin)
    return done.stdout.strip()


def stage(ws, path: str = "a.md", text: str = "one\ntwo\n") -> None:
    ws.tree.write(path, text.encode())
    commits.add(ws, [path])


# -- who ------------------------------------------------------------------------------------------
def test_the_author_is_the_caller_and_the_time_is_the_sessions(board):
    ws = board()
    stage(ws)
    made = commits.commit_index(ws, "first")
    assert made == commits.Committed(refs.head(ws), "main", 1, 2, 0)
    assert git(ws, "log", "-1", "--format=%an <%ae>|%cn <%ce>|%aI|%cI") == (
        "Ann <ann@example.org>|Ann <ann@example.org>|2026-05-22T14:30:05+02:00|2026-05-22T14:30:05+02:00"
    )


def test_the_clones_own_user_does_not_matter(board):
    ws = board()
    git(ws, "config", "user.name", "Somebody")
    git(ws, "config", "user.email", "somebody@example.org")
    stage(ws)
    commits.commit_index(ws, "first")
    assert git(ws, "log", "-1", "--format=%an %ce") == "Ann ann@example.org"


def test_two_clients_of_one_person_can_be_distinguished(board):
    for agent in ("ann-cli", "ann-cowork"):
        ws = board(agent)
        stage(ws, f"{agent}.md")
        commits.commit_index(ws, "wrote a note")
    told = git(ws, "log", "--format=%an %s %(trailers:key=Agent,valueonly,separator=%x2C)").splitlines()
    assert told == ["Ann [ann-cowork] wrote a note ann-cowork", "Ann [ann-cli] wrote a note ann-cli"]


def test_a_commit_of_a_tree_has_the_same_author_prefix_and_trailer(board):
    ws = board()
    stage(ws)
    first = commits.commit_index(ws, "first").sha
    sha = commits.commit_tree(ws, git(ws, "write-tree"), [first], "merge what others did")
    assert refs.head(ws) == first
    assert git(ws, "log", "-1", "--format=%P|%ae|%B", sha) == (
        f"{first}|ann@example.org|[ann-cli] merge what others did\n\nAgent: ann-cli"
    )


# -- messages -------------------------------------------------------------------------------------
def test_the_prefix_is_written_once():
    assert commits.full_message(ANN, "did it") == "[ann-cli] did it\n\nAgent: ann-cli\n"
    assert commits.full_message(ANN, "  [ann-cli] did it\r\n") == "[ann-cli] did it\n\nAgent: ann-cli\n"
    assert commits.full_message(ANN, "[bob-cli] did it").startswith("[ann-cli] [bob-cli] did it\n")


@pytest.mark.parametrize("message", ["", "   \n\t", "[ann-cli]", "[ann-cli]  ", "\x1b\x00"])
def test_a_blank_message_is_refused_and_nothing_is_committed(board, message):
    ws = board()
    stage(ws)
    with pytest.raises(BadArgs, match="blank"):
        commits.commit_index(ws, message)
    assert refs.head(ws) is None


def test_a_message_has_a_limit():
    with pytest.raises(TooLarge, match="into a file"):
        commits.full_message(ANN, "x" * (MAX_TEXT_CHARS + 1))


def test_terminal_escapes_are_removed_from_a_message(board):
    ws = board()
    stage(ws)
    commits.commit_index(ws, "red \x1b[31malert\x07 \u202eevil\ud800\n# not a comment")
    assert git(ws, "log", "-1", "--format=%B") == "[ann-cli] red [31malert evil\n# not a comment\n\nAgent: ann-cli"


def test_trailers_of_the_message_stay_trailers(board):
    ws = board()
    stage(ws)
    commits.commit_index(ws, "pair work\n\nCo-authored-by: Bob <bob@example.org>")
    assert git(ws, "log", "-1", "--format=%(trailers)") == "Co-authored-by: Bob <bob@example.org>\nAgent: ann-cli"


@pytest.mark.parametrize(
    "message",
    ["x\n\nAgent: bob-cli", "x\n\nagent : bob-cli\n", "x\n\nFoo: 1\nAgent: bob-cli", "x\n\nAgent: bob-cli\n\n---\n",
     "Agent: bob-cli", "x\r\rAgent: bob-cli", "x\u2028\u2028Agent: bob-cli", "x\n\nFoo: 1\n Agent: bob-cli"],
)  # fmt: skip
def test_no_message_passes_as_another_agents(board, message):
    ws = board()
    stage(ws)
    commits.commit_index(ws, message)
    assert git(ws, "log", "-1", "--format=%(trailers:key=Agent,valueonly)") == "ann-cli"
    whole = git(ws, "log", "-1", "--format=%B")
    assert "Agent: bob-cli" not in git(ws, "interpret-trailers", "--parse", stdin=whole)


@given(st.text(min_size=1, max_size=80))
def test_the_last_line_of_any_message_is_the_callers_trailer(text):
    try:
        message = commits.full_message(ANN, text)
    except BadArgs:
        return
    lines = message.split("\n")
    assert lines[-2:] == ["Agent: ann-cli", ""]
    assert not [line for line in lines[:-2] if line.strip().lower().startswith("agent:")]
    message.encode()


# -- what is committed ----------------------------------------------------------------------------
def test_nothing_staged_makes_no_commit(board):
    ws = board()
    assert commits.commit_index(ws, "nothing") is None
    stage(ws)
    sha = commits.commit_index(ws, "something").sha
    ws.tree.write("a.md", b"changed, not added\n")
    assert commits.commit_index(ws, "nothing") is None
    assert refs.head(ws) == sha


def test_changes_that_a_person_commits_at_the_same_time_are_not_committed_again(board, monkeypatch):
    ws = board()
    git(ws, "config", "user.name", "Ann")
    git(ws, "config", "user.email", "ann@example.org")
    run = commits._run_as_author

    def too_late(*args, **more):
        git(ws, "commit", "-q", "-m", "by hand")
        return run(*args, **more)

    stage(ws)
    monkeypatch.setattr(commits, "_run_as_author", too_late)
    assert commits.commit_index(ws, "a note") is None
    assert git(ws, "log", "--format=%s") == "by hand"


def test_a_commit_includes_the_callers_pointer_and_no_other(board):
    ws = board()
    for round_ in range(3):  # new to git, then known to it
        ws.tree.write(".pointers/ann-cli.json", b'{"round": %d}\n' % round_)
        ws.tree.write(".pointers/bob-cli.json", b'{"round": %d}\n' % round_)
        stage(ws, "a.md", f"{round_}\n")
        assert commits.commit_index(ws, "a note").changes == 2
        assert git(ws, "show", "--name-only", "--format=").splitlines() == [".pointers/ann-cli.json", "a.md"]


def test_a_pointer_that_the_last_commit_had_costs_no_further_process(board, monkeypatch):
    ws = board()
    ws.tree.write(".pointers/ann-cli.json", b"{}\n")
    stage(ws, "a.md", "0\n")
    commits.commit_index(ws, "a note")
    ran, run = [], ws.git.run

    def counted(*args, **options):
        ran.append(args[0])
        return run(*args, **options)

    stage(ws, "a.md", "1\n")
    monkeypatch.setattr(ws.git, "run", counted)
    assert commits.commit_index(ws, "a note").changes == 1
    assert ran == ["commit"]
    assert commits.commit_index(ws, "nothing") is None
    (ws.root / ".pointers/ann-cli.json").write_bytes(b"[]\n")  # by hand, and of the same size
    stage(ws, "a.md", "2\n")
    assert commits.commit_index(ws, "a note").changes == 2


def test_a_pointer_alone_is_committed_only_when_it_was_staged(board):
    ws = board()
    ws.tree.write(".pointers/ann-cli.json", b"{}\n")
    assert commits.commit_index(ws, "a visit") is None
    commits.add(ws, [".pointers/ann-cli.json"])
    assert commits.commit_index(ws, "a visit").changes == 1


def test_a_commit_that_fails_stages_no_pointer(board, tmp_path):
    ws = board()
    ws.tree.write(".pointers/ann-cli.json", b"{}\n")
    stage(ws)
    ws.signing = Signing(key=tmp_path / "no-such-key")
    with pytest.raises(BadArgs, match="signing key"):
        commits.commit_index(ws, "a note")
    assert git(ws, "diff", "--cached", "--name-only") == "a.md"
    git(ws, "rm", "-q", "--cached", "a.md")
    assert commits.commit_index(ws, "nothing is staged any more") is None


def test_a_pointer_that_is_a_link_does_not_prevent_a_commit(board, tmp_path):
    ws = board()
    (ws.root / ".pointers").symlink_to(tmp_path)
    (tmp_path / "ann-cli.json").write_text("{}")
    stage(ws)
    assert commits.commit_index(ws, "a note").changes == 1


def test_a_merge_begun_by_hand_is_concluded_or_reported(board):
    ws = board()
    stage(ws, "a.md", "base\n")
    base = commits.commit_index(ws, "base").sha
    stage(ws, "a.md", "ours\n")
    commits.commit_index(ws, "ours")
    git(ws, "branch", "theirs", base)
    git(ws, "checkout", "-q", "theirs")
    stage(ws, "a.md", "theirs\n")
    theirs = commits.commit_index(ws, "theirs").sha
    git(ws, "checkout", "-q", "main")
    person = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
    assert subprocess.run(["git", *person, "merge", "-q", "theirs"], cwd=ws.root, capture_output=True).returncode == 1
    ws.tree.write(".pointers/ann-cli.json", b"{}\n")
    with pytest.raises(Conflict, match="by hand"):
        commits.commit_index(ws, "half a merge")
    stage(ws, "a.md", "both\n")
    commits.commit_index(ws, "settled")
    assert theirs in git(ws, "log", "-1", "--format=%P")


def test_no_hook_of_the_clone_runs(board, tmp_path):
    ws = board()
    for hook in ("pre-commit", "commit-msg", "post-commit", "prepare-commit-msg", "post-index-change"):
        (ws.root / ".git/hooks" / hook).write_text(f"#!/bin/sh\ntouch {tmp_path}/ran-{hook}\n")
        (ws.root / ".git/hooks" / hook).chmod(0o755)
    stage(ws)
    commits.commit_index(ws, "quiet")
    assert not list(tmp_path.glob("ran-*"))


def test_nothing_is_committed_without_a_branch(board):
    ws = board()
    ws.tree.write("a.md", b"a")
    commits.add(ws, ["a.md"])
    commits.commit_index(ws, "a")
    subprocess.run(["git", "checkout", "-q", "--detach"], cwd=ws.root, check=True)
    ws.tree.write("b.md", b"b")
    commits.add(ws, ["b.md"])
    head = refs.head(ws)
    with pytest.raises(Conflict, match=r"detached HEAD.*git switch"):
        commits.commit_index(ws, "would be lost")
    assert refs.head(ws) == head


def test_a_message_that_looks_like_many_trailers_is_processed_quickly():
    said = commits.full_message(ANN, "Subject\n\n" + "a: b" * 10_000 + "\n!")
    assert said.endswith("\n!\n\nAgent: ann-cli\n")
