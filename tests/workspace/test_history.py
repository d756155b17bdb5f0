"""The log is limited and paged, and correct after merges too."""

import subprocess

import pytest

from cohabit.errors import BadArgs, UnknownAsset
from cohabit.workspace.clone import commits
from cohabit.workspace.reading.history import log


def git(ws, *args: str) -> str:
    return subprocess.run(["git", *args], cwd=ws.root, check=True, capture_output=True, text=True).stdout.strip()


def committed(ws, path: str = "a.md", message: str = "a note") -> str:
    ws.tree.write(path, f"{message}\n".encode())
    commits.add(ws, [path])
    return commits.commit_index(ws, message).sha


def chain(ws, n: int, parent: str | None = None, message: str = "c") -> list[str]:
    """`n` commits without files, the newest last."""
    made = []
    tree = git(ws, "hash-object", "-t", "tree", "-w", "/dev/null")
    for i in range(n):
        parent = commits.commit_tree(ws, tree, [parent] if parent else [], f"{message}{i}")
        made.append(parent)
    return made


def test_an_empty_repository_has_an_empty_log(board):
    assert log(board()) == {"total": 0, "commits": [], "truncated": False}


def test_a_commit_has_the_fields_of_multisphere_and_its_agent(board):
    ws = board()
    sha = committed(ws, message="wrote it\n\nat length")
    assert log(ws) == {
        "total": 1,
        "commits": [
            {
                "sha": sha, "date": "2026-05-22T14:30:05+02:00", "author_name": "Ann", "author_email": "ann@example.org",
                "message": "[ann-cli] wrote it", "refs": "HEAD -> main", "agent_id": "ann-cli",
            }
        ],
        "truncated": False,
    }  # fmt: skip


def test_fifty_commits_are_listed_by_default_and_at_most_two_hundred(board):
    ws = board()
    made = chain(ws, 60)
    git(ws, "update-ref", "refs/heads/main", made[-1])
    answer = log(ws)
    assert (answer["total"], answer["truncated"]) == (50, True)
    rest = log(ws, cursor=answer["cursor"])
    assert (rest["total"], rest["truncated"], "cursor" in rest) == (10, False, False)
    assert [c["sha"] for c in answer["commits"] + rest["commits"]] == made[::-1]
    assert log(ws, n=3)["total"] == 3
    assert log(ws, n=10_000)["total"] == 60


def test_paging_over_a_merge_lists_every_commit_once(board, now):
    ws = board()
    base = chain(ws, 3, message="base")
    ours = chain(ws, 4, base[-1], "ours")
    theirs = chain(ws, 4, base[-1], "theirs")
    tip = commits.commit_tree(ws, git(ws, "rev-parse", f"{ours[-1]}^{{tree}}"), [ours[-1], theirs[-1]], "merge")
    git(ws, "update-ref", "refs/heads/main", tip)
    told, cursor = [], None
    while True:
        answer = log(ws, n=2, cursor=cursor)
        told += [c["sha"] for c in answer["commits"]]
        cursor = answer.get("cursor")
        if cursor is None:
            break
    assert sorted(told) == sorted([*base, *ours, *theirs, tip])


def test_since_and_paths_restrict_the_log(board):
    ws = board()
    first = committed(ws, "a.md", "first")
    committed(ws, "b.md", "second")
    committed(ws, "a.md", "third")
    messages = [c["message"] for c in log(ws, since=first)["commits"]]
    assert messages == ["[ann-cli] third", "[ann-cli] second"]
    assert [c["message"] for c in log(ws, paths=["b.md"])["commits"]] == ["[ann-cli] second"]
    assert log(ws, paths=["."])["total"] == 3
    assert log(ws, paths=["never.md"])["total"] == 0


def test_a_file_named_like_a_commit_is_not_taken_for_one(board):
    ws = board()
    committed(ws, "HEAD", "a file")
    committed(ws, "-n1", "another")
    assert log(ws, paths=["HEAD"])["total"] == 1
    assert log(ws, paths=["-n1"])["total"] == 1
    assert log(ws, since="HEAD")["total"] == 0


def test_wrong_arguments_of_log_are_refused_with_a_reason(board):
    ws = board()
    committed(ws)
    with pytest.raises(UnknownAsset, match="'nowhere'"):
        log(ws, since="nowhere")
    with pytest.raises(UnknownAsset, match="rewritten"):
        log(ws, cursor=f"{'d' * 40}:3")
    with pytest.raises(BadArgs):
        log(ws, since="--output=x")
    with pytest.raises(BadArgs, match="cursor"):
        log(ws, cursor="HEAD:3")
    with pytest.raises(BadArgs):
        log(ws, paths=["../x"])


def test_hostile_texts_of_commits_are_shown_without_terminal_escapes(board):
    ws = board()
    committed(ws)
    tree = git(ws, "rev-parse", "HEAD^{tree}")
    raw = f"tree {tree}\nauthor E\x1b[31mve <eve\x07@x> 1700000000 +0000\ncommitter E <e@x> 1700000000 +0000\n\n"
    raw += "\x1b]0;title\x07gotcha\x01 \u202e" + "x" * 1_000 + "\n\nAgent: a\nAgent: eve-cli\n"
    done = subprocess.run(
        ["git", "hash-object", "-t", "commit", "-w", "--stdin"], cwd=ws.root, input=raw.encode(), capture_output=True
    )
    git(ws, "update-ref", "refs/heads/main", done.stdout.decode().strip())
    (commit,) = log(ws)["commits"]
    assert commit["author_name"] == "E[31mve"
    assert commit["message"].startswith("]0;titlegotcha xxx")
    assert len(commit["message"]) == 400
    assert commit["agent_id"] == "eve-cli"


def test_long_names_and_branches_are_cut(board):
    ws = board()
    committed(ws)
    tree = git(ws, "rev-parse", "HEAD^{tree}")
    raw = f"tree {tree}\nauthor {'n' * 90_000} <{'e' * 90_000}> 1700000000 +0000\n"
    raw += f"committer c <e@x> 1700000000 +0000\n\nhi\n\nAgent: {'a' * 90_000}\n"
    done = subprocess.run(
        ["git", "hash-object", "-t", "commit", "-w", "--stdin"], cwd=ws.root, input=raw.encode(), capture_output=True
    )
    sha = done.stdout.decode().strip()
    git(ws, "update-ref", "refs/heads/main", sha)
    for i in range(20):
        git(ws, "update-ref", f"refs/heads/{'b' * 200}{i}", sha)
    (commit,) = log(ws)["commits"]
    assert commit["refs"].startswith("HEAD -> main")
    assert all(len(value) <= 400 for value in commit.values())
    assert [len(commit[field]) for field in ("author_name", "author_email", "agent_id")] == [200, 200, 200]
