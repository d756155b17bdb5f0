"""Whether agents follow the protocol, as far as history shows."""

import subprocess

import pytest

from cohabit.errors import BadArgs, UnknownAsset
from cohabit.workspace import driver
from cohabit.workspace.clone import commits, refs
from cohabit.workspace.formats.inbox import HEADER as INBOX
from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.journal import HEADER as JOURNAL
from cohabit.workspace.formats.journal import Entry, Journal
from cohabit.workspace.reading.health import health


def committed(ws, *paths: str, message: str = "a note") -> str:
    for path in paths:
        if path == "journal.md":
            entry = Entry.new(ws.identity, ws.now(), message)
            text = Journal.parse(ws.tree.text(path) or JOURNAL).append(entry).text
        else:
            text = f"{path} {message}\n"
        ws.tree.write(path, text.encode())
    commits.add(ws, paths)
    return commits.commit_index(ws, message).sha


def messages(found: list[dict]) -> list[str]:
    return [commit["message"].rpartition("] ")[2] for commit in found]


@pytest.fixture
def pair(board):
    ann, bob = board("ann-cli"), board("bob-cli")
    driver.install(ann.git)
    ann.tree.write("inbox.md", INBOX.encode())
    commits.add(ann, ["inbox.md"])
    committed(ann, "journal.md", message="began")
    return ann, bob


def test_a_board_that_follows_the_protocol_is_healthy(pair):
    ann, _ = pair
    answer = health(ann)
    assert answer["summary"] == "1 commit examined: all follow the protocol."
    assert not any(answer["counts"].values())
    assert answer["truncated"] is False


def test_an_empty_repository_has_no_findings(board):
    assert health(board())["commits"] == 0


def test_work_is_covered_by_a_journal_entry_of_its_agent_in_the_same_commit_or_soon_after(pair, now):
    ann, bob = pair
    committed(ann, "a.md", message="before the entry")
    committed(bob, "b.md", message="bob tells nobody")
    now.move(hours=1)
    committed(ann, "journal.md", message="the entry")
    committed(ann, "c.md", message="after the entry")
    now.move(days=2)
    committed(ann, "d.md", "journal.md", message="with its entry")
    answer = health(ann)
    assert messages(answer["without_journal"]) == ["after the entry", "bob tells nobody"]
    assert answer["without_journal"][1]["by"] == "bob-cli"
    assert answer["counts"]["without_journal"] == 2


def test_changes_of_the_inbox_or_of_a_pointer_need_no_journal_entry(pair):
    ann, _ = pair
    ann.tree.write("inbox.md", (INBOX + "\n").encode())
    ann.tree.write(".pointers/ann-cli.json", b'{"last_seen_sha": "", "last_read_at": "2026-05-22T12:00:00Z"}\n')
    commits.add(ann, ["inbox.md"])
    commits.commit_index(ann, "inbox")
    answer = health(ann)
    assert answer["without_journal"] == []
    assert answer["agents"] == [{"agent_id": "ann-cli", "last_visit": "2026-05-22T12:00:00Z", "commits": 2}]


def test_commits_by_hand_lack_prefix_and_trailer(pair):
    ann, _ = pair
    ann.tree.write("x.md", b"x")
    commits.add(ann, ["x.md"])
    person = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
    subprocess.run(["git", *person, "commit", "-q", "-m", "by hand"], cwd=ann.root, check=True)
    answer = health(ann)
    assert messages(answer["without_prefix"]) == messages(answer["without_trailer"]) == ["by hand"]
    assert answer["without_prefix"][0]["by"] == "Ann"
    assert "1 without prefix, 1 without trailer" in answer["summary"]


def test_malformed_files_are_reported(pair):
    ann, _ = pair
    inbox, _ = Inbox.parse(INBOX).add(title="one", by="bob-cli", now=ann.now())
    inbox = inbox.close("INB-001", by="ann-cli", resolution="done", now=ann.now())
    text = inbox.text.replace("## Open\n", "## Open\n\n- [ ] INB-001 @anyone — again  \n\n- [ ] a loose line\n")
    ann.tree.write("inbox.md", text.encode())
    ann.tree.write("journal.md", (ann.tree.text("journal.md") + "## some heading\n").encode())
    ann.tree.write(".pointers/bob-cli.json", b'{"torn')
    answer = health(ann)
    assert answer["duplicate_ids"] == ["INB-001"]
    assert answer["closed_without_journal"] == ["INB-001"]
    assert [found["path"] for found in answer["malformed"]] == ["inbox.md", "journal.md", ".pointers/bob-cli.json"]


def test_a_closing_that_names_its_journal_entry_is_no_finding(pair):
    ann, _ = pair
    inbox, _ = Inbox.parse(INBOX).add(title="one", by="bob-cli", now=ann.now())
    inbox = inbox.close("INB-001", by="ann-cli", resolution="done", now=ann.now(), journal_ref="2026-05-22 14:30")
    ann.tree.write("inbox.md", inbox.text.encode())
    assert health(ann)["closed_without_journal"] == []


def test_an_inbox_without_its_sections_is_malformed(pair):
    ann, _ = pair
    ann.tree.write("inbox.md", b"# Inbox\n")
    assert len(health(ann)["malformed"]) == 2


def test_since_and_limit_restrict_the_findings(pair):
    ann, bob = pair
    first = refs.head(ann)
    for i in range(4):
        committed(bob, f"{i}.md", message=f"note {i}")
    answer = health(ann, since=first, limit=2)
    assert (answer["commits"], answer["counts"]["without_journal"]) == (4, 4)
    assert messages(answer["without_journal"]) == ["note 3", "note 2"]
    assert answer["truncated"] is True
    with pytest.raises(UnknownAsset):
        health(ann, since="d" * 40)
    with pytest.raises(BadArgs):
        health(ann, since="--all")


def test_at_most_a_hundred_findings_of_a_kind_are_listed(pair):
    ann, _ = pair
    ann.tree.write("inbox.md", (INBOX + "- [ ] a loose line\n\n" * 150).encode())
    answer = health(ann, limit=10_000)
    assert (answer["counts"]["malformed"], len(answer["malformed"]), answer["truncated"]) == (150, 100, True)


def test_a_long_id_is_shortened(pair):
    ann, _ = pair
    inbox = INBOX.replace("## Open\n", f"## Open\n\n- [ ] {'I' * 9_000}-1 — a\n\n- [ ] {'I' * 9_000}-1 — b\n")
    ann.tree.write("inbox.md", inbox.encode())
    (id_,) = health(ann)["duplicate_ids"]
    assert len(id_) <= 121
