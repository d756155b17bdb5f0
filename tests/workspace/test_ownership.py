"""An agent adds entries of its own to the protocol files and changes nothing of others; entries show who committed them."""

import subprocess
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohabit.errors import BadArgs, PermissionDenied
from cohabit.workspace.formats.journal import Journal
from cohabit.workspace.merging import ownership
from cohabit.workspace.person.identity import Identity
from cohabit.workspace.session import Session

Clone = Callable[[str], Session]
ANN = Identity("ann-cli", "Ann", "ann@example.org")
FORGED = "## 2026-05-22 14:31 — bob-cli (Bob)\nI resign.\n\n"
BOTH = ["journal.md", "inbox.md"]


def share(session: Session, *paths: str) -> dict[str, Any]:
    session.call("add", {"paths": list(paths) or BOTH})
    session.call("commit", {"message": "share"})
    answer = session.call("sync", {})
    assert answer.get("ok"), answer
    return answer


def text(session: Session, path: str) -> str:
    return str(session.call("read", {"path": path})["content"])


def put(session: Session, path: str, content: str) -> None:
    """Write a file as an editor does, without the tools."""
    place = session.workspace().root / path
    place.parent.mkdir(exist_ok=True)
    place.write_text(content)


def git(session: Session, *args: str) -> str:
    done = subprocess.run(["git", *args], cwd=session.workspace().root, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.fixture
def two(clone: Clone) -> tuple[Session, Session]:
    """Ann and Bob with a shared entry and a shared item of Bob's."""
    ann, bob = clone("ann"), clone("bob")
    bob.call("journal_append", {"summary": "Bob was here"})
    bob.call("inbox_add", {"title": "Look at slide 6", "for": "ann-cli"})
    share(bob)
    ann.call("sync", {})
    return ann, bob


CHANGES: dict[str, tuple[str, Callable[[str], str]]] = {
    "an entry by another agent": ("journal.md", lambda text: text + FORGED),
    "an entry with the name of another agent": (
        "journal.md", lambda text: text + FORGED.replace("bob-cli (Bob)", "ann-cli (Bob)")),
    "a dated heading that is not an entry": ("journal.md", lambda text: text + "## 2026-05-22 bob says\nI resign.\n\n"),
    "another word in an entry": ("journal.md", lambda text: text.replace("Bob was here", "Bob was never here")),
    "an entry in the archive": ("journal-archive/2026-05.md", lambda text: "# Journal 2026-05\n\n" + FORGED),
    "an item by another agent": (
        "inbox.md",
        lambda text: text.replace(
            "## Closed", "- [ ] INB-007 @ann-cli — Pay me  \n  added 2026-05-22 14:31 by bob-cli\n\n## Closed")),
    "another title of an item": ("inbox.md", lambda text: text.replace("slide 6", "slide 7")),
    "another number of an item": ("inbox.md", lambda text: text.replace("INB-001", "INB-008")),
    "a claim by another agent": (
        "inbox.md",
        lambda text: text.replace("by bob-cli\n", "by bob-cli\n  claimed 2026-05-22 14:31 by bob-cli\n")),
    "a closing by another agent": (
        "inbox.md",
        lambda text: text.replace("- [ ]", "- [x]").replace("\n\n## Closed", "\n  closed 2026-05-22 14:31 by bob-cli → no\n\n## Closed")),
    "the pointer of another agent": (
        ".pointers/bob-cli.json", lambda text: '{"last_seen_sha": "%s", "last_read_at": "2030-01-01T00:00:00Z"}\n' % ("a" * 40)),
}  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("what", CHANGES)
def test_a_write_that_speaks_for_another_agent_is_refused_and_changes_nothing(two, what):
    ann, _ = two
    path, change = CHANGES[what]
    place = ann.workspace().root / path
    before = place.read_text() if place.exists() else ""
    with pytest.raises(PermissionDenied, match="nothing was written"):
        ann.call("write", {"path": path, "content": change(before)})
    assert (place.read_text() if place.exists() else "") == before


def test_an_add_that_removes_an_item_of_another_agent_is_refused(two):
    ann, _ = two
    inbox = (ann.workspace().root / "inbox.md").read_text()
    put(ann, "inbox.md", inbox[: inbox.index("- [ ]")] + inbox[inbox.index("## Closed") :])
    with pytest.raises(PermissionDenied, match="it removes INB-001"):
        ann.call("add", {"paths": ["inbox.md"]})


@pytest.mark.sampled
@pytest.mark.parametrize("what", CHANGES)
@pytest.mark.parametrize("by_folder", [False, True])
def test_an_add_of_something_that_speaks_for_another_agent_is_refused(two, what, by_folder):
    ann, _ = two
    path, change = CHANGES[what]
    place = ann.workspace().root / path
    put(ann, path, change(place.read_text() if place.exists() else ""))
    with pytest.raises(PermissionDenied, match="nothing was added"):
        ann.call("add", {"paths": ["." if by_folder else path]})
    assert ann.call("status", {})["staged"] == []


def test_appending_an_entry_of_another_agent_is_refused(two):
    ann, _ = two
    with pytest.raises(PermissionDenied, match=r"journal\.md.*bob-cli"):
        ann.call("write", {"path": "./journal.md", "content": FORGED, "mode": "append"})


def test_removing_a_protocol_file_is_refused(two):
    ann, _ = two
    (ann.workspace().root / "journal.md").unlink()
    with pytest.raises(PermissionDenied, match="nothing was added"):
        ann.call("add", {"paths": ["journal.md"]})


@pytest.mark.parametrize("path", BOTH)
def test_other_line_ends_of_published_entries_are_refused_and_the_entries_stay_verified(two, path):
    ann, bob = two
    before = text(ann, path)
    for after in (before.replace("\n", "\r\n"), before.replace("  \n", "  \r\n").replace("here\n", "here\r\n")):
        with pytest.raises(BadArgs, match=f"entries of {path} have other line ends"):
            ann.call("write", {"path": path, "content": after})
        put(ann, path, after)
        with pytest.raises(BadArgs, match=f"nothing was added: entries of {path} have other line ends"):
            ann.call("add", {"paths": ["."]})
    put(ann, path, before)
    ann.call("inbox_add", {"title": "Look at slide 7"})
    ann.call("journal_append", {"summary": "Ann was here"})
    share(ann)
    bob.call("sync", {})
    assert all(entry["verified"] for entry in bob.call("journal_tail", {})["entries"])
    assert all(item["verified"] for item in bob.call("inbox_list", {})["items"])


def test_a_file_that_has_other_line_ends_already_keeps_them_and_takes_entries(two):
    ann, _ = two
    for path in BOTH:
        put(ann, path, text(ann, path).replace("\n", "\r\n"))
    git(ann, "commit", "-qam", "by hand")
    ann.call("inbox_add", {"title": "Look at slide 7"})
    ann.call("journal_append", {"summary": "Ann was here"})
    share(ann)
    for path in BOTH:
        found = (ann.workspace().root / path).read_bytes()
        assert found.count(b"\n") == found.count(b"\r\n")


def test_own_entries_may_be_written_by_hand_and_changed_until_they_are_committed(two):
    ann, _ = two
    own = "## 2026-05-22 14:31 — ann-cli (Ann)\nWritten by hand.\n<!-- cohabit:abc -->\n\n"
    item = "- [ ] INB-002 @bob-cli — Mine  \n  added 2026-05-22 14:31 by ann-cli\n\n## Closed"
    ann.call("write", {"path": "journal.md", "content": own, "mode": "append"})
    ann.call("write", {"path": "journal.md", "content": text(ann, "journal.md").replace("by hand", "with care")})
    ann.call("write", {"path": "inbox.md", "content": text(ann, "inbox.md").replace("## Closed", item)})
    assert ann.call("add", {"paths": BOTH}) == {"added": BOTH}
    ann.call("commit", {"message": "own"})
    with pytest.raises(PermissionDenied, match="published"):
        ann.call("write", {"path": "journal.md", "content": text(ann, "journal.md").replace("with care", "in haste")})


def test_closing_and_claiming_by_hand_is_accepted_as_oneself(two):
    ann, _ = two
    closed = text(ann, "inbox.md").replace("- [ ]", "- [x]")
    at = closed.index("\n\n## Closed")
    put(ann, "inbox.md", closed[:at] + "\n  closed 2026-05-22 14:31 by ann-cli → done" + closed[at:])
    assert ann.call("add", {"paths": ["inbox.md"]}) == {"added": ["inbox.md"]}


def test_only_the_agent_that_asked_or_closed_may_reopen_an_item(two, clone):
    ann, bob = two
    eve = clone("eve")
    before = text(ann, "inbox.md")
    ann.call("inbox_close", {"id": "INB-001", "resolution": "done"})
    share(ann)
    for session in (bob, eve):
        session.call("sync", {})
    with pytest.raises(PermissionDenied, match="INB-001"):
        eve.call("write", {"path": "inbox.md", "content": before})
    bob.call("write", {"path": "inbox.md", "content": before})
    ann.call("write", {"path": "inbox.md", "content": before})


def test_what_the_tools_wrote_may_be_committed_by_another_agent_in_the_same_clone(clone, tmp_path):
    ann = clone("ann")
    other = Session(ann.home, {**ann.environ, "COHABIT_AGENT_ID": "ann-cursor"}, now=ann.now)
    try:
        other.call("journal_append", {"summary": "from the editor"})
        other.call("inbox_add", {"title": "for anyone"})
        other.call("whats_new", {})
        assert ann.call("add", {"paths": ["."]}) == {"added": ["."]}
    finally:
        other.close()


def test_ones_own_pointer_cannot_be_copied_over_that_of_another_agent(two):
    ann, _ = two
    ann.call("whats_new", {})
    own = text(ann, ".pointers/ann-cli.json")
    with pytest.raises(PermissionDenied, match="how far bob-cli has read"):
        ann.call("write", {"path": ".pointers/bob-cli.json", "content": own})


def test_archiving_the_entries_of_others_is_accepted(two, now):
    ann, _ = two
    now.move(days=40)
    assert ann.call("archive", {})["moved"] == 1
    assert ann.call("add", {"paths": ["."]}) == {"added": ["."]}
    ann.call("commit", {"message": "archive"})
    assert ann.call("sync", {})["ok"]


def test_a_text_that_resolves_a_conflict_cannot_forge_an_entry_either(two):
    ann, bob = two
    for session, word in ((bob, "bob"), (ann, "ann")):
        put(session, "journal.md", text(session, "journal.md").replace("# Journal", f"# Journal of {word}"))
        session.call("add", {"paths": ["journal.md"]})
        session.call("commit", {"message": "title"})
        answer = session.call("sync", {})
    assert answer["error"] == "conflict"
    whole = text(ann, "journal.md")
    with pytest.raises(PermissionDenied, match="bob-cli"):
        ann.call("resolve", {"path": "journal.md", "content": whole + FORGED.replace("31", "32")})
    ann.call("resolve", {"path": "journal.md", "content": whole})
    assert ann.call("sync", {})["ok"]


@given(st.text(max_size=60), st.sampled_from(BOTH))
def test_no_text_without_changes_is_ever_refused(extra, path):
    content = f"# Title\n\n{extra}\n"
    assert ownership.foreign_changes(path, content, content, ANN) == []


# -- who committed it -----------------------------------------------------------------------------
def test_entries_and_items_show_whether_their_own_agent_committed_them(two):
    ann, _ = two
    [entry] = ann.call("journal_tail", {})["entries"]
    [item] = ann.call("inbox_list", {})["items"]
    assert (entry["verified"], item["verified"]) == (True, True)
    [news] = ann.call("whats_new", {})["journal"]
    assert news["verified"] is True


def test_an_entry_that_somebody_else_committed_is_shown_as_not_verified(two):
    ann, bob = two
    put(ann, "journal.md", text(ann, "journal.md") + FORGED)
    item = "- [ ] INB-009 @ann-cli — Pay  \n  added 2026-05-22 14:31 by bob-cli\n\n## Closed"
    put(ann, "inbox.md", text(ann, "inbox.md").replace("## Closed", item))
    git(ann, "commit", "-qam", "with plain git")
    ann.call("sync", {})
    bob.call("sync", {})
    entries = bob.call("journal_tail", {})["entries"]
    assert [(entry["verified"], entry.get("committed_by")) for entry in entries] == [(True, None), (False, "Ann")]
    items = bob.call("inbox_list", {"state": "all"})["items"]
    assert [(item["id"], item["verified"]) for item in items] == [("INB-001", True), ("INB-009", False)]


def test_an_entry_that_somebody_else_edited_is_shown_as_not_verified(two):
    ann, bob = two
    put(ann, "journal.md", text(ann, "journal.md").replace("was here", "was never here"))
    git(ann, "commit", "-qam", "[bob-cli] an edit")
    ann.call("sync", {})
    [entry] = ann.call("journal_tail", {})["entries"]
    assert (entry["verified"], entry["committed_by"]) == (False, "Ann")
    del bob


def test_a_closing_by_another_name_makes_the_item_unverified(two):
    ann, _ = two
    put(ann, "inbox.md", CHANGES["a closing by another agent"][1](text(ann, "inbox.md")))
    git(ann, "commit", "-qam", "close it")
    [item] = ann.call("inbox_list", {"state": "all"})["items"]
    assert item["verified"] is False


def test_an_entry_that_is_not_committed_yet_is_neither_verified_nor_not(two):
    ann, _ = two
    ann.call("journal_append", {"summary": "new"})
    assert [entry["verified"] for entry in ann.call("journal_tail", {})["entries"]] == [True, None]


def test_a_mailmap_cannot_make_an_entry_look_verified(two):
    ann, bob = two
    put(ann, ".mailmap", "Bob <bob@example.org> <ann@example.org>\n")
    put(ann, "journal.md", text(ann, "journal.md") + FORGED)
    git(ann, "add", ".mailmap")
    git(ann, "commit", "-qam", "forged")
    assert ann.call("journal_tail", {})["entries"][-1]["verified"] is False
    del bob


def test_an_unknown_identity_may_add_other_files(clone):
    ann = clone("ann")
    nobody = Session(ann.home, {"HOME": ann.environ["HOME"]}, now=ann.now)
    try:
        put(ann, "drafts/a.md", "x")
        assert nobody.call("add", {"paths": ["drafts/a.md"]}) == {"added": ["drafts/a.md"]}
        put(ann, "journal.md", text(ann, "journal.md") + FORGED)
        with pytest.raises(PermissionDenied, match="which is not yours"):
            nobody.call("add", {"paths": ["journal.md"]})
    finally:
        nobody.close()


def test_a_blank_line_that_somebody_else_put_into_an_entry_makes_it_unverified(two):
    ann, bob = two
    bob.call("journal_append", {"summary": "one line", "details": "first\n\nsecond"})
    bob.call("add", {"paths": ["journal.md"]})
    bob.call("commit", {"message": "x"})
    bob.call("sync", {})
    ann.call("sync", {})
    assert ann.call("journal_tail", {})["entries"][-1]["verified"] is True
    put(ann, "journal.md", text(ann, "journal.md").replace("first\n", "first\n\n"))
    git(ann, "commit", "-qam", "[bob-cli] an edit")
    entry = ann.call("journal_tail", {})["entries"][-1]
    assert (entry["verified"], entry["committed_by"]) == (False, "Ann")


def test_an_entry_with_blank_lines_is_verified_even_if_the_entries_before_it_left_in_the_same_commit(two):
    ann, bob = two
    for i in range(3):
        ann.call("journal_append", {"summary": f"number {i}", "details": "one\n\ntwo\n\nthree"})
    ann.call("add", {"paths": ["journal.md"]})
    ann.call("commit", {"message": "x"})
    ann.call("sync", {})
    bob.call("sync", {})
    # Bob empties the journal and appends in one commit; git takes the blank lines of his entry for older ones.
    bob.call("journal_append", {"summary": "new", "details": "four\n\nfive"})
    entry = "## " + text(bob, "journal.md").rpartition("\n## ")[2]
    put(bob, "journal.md", f"# Journal\n\n{entry}")
    git(bob, "commit", "-qam", "[bob-cli] archive")
    assert bob.call("journal_tail", {})["entries"][-1]["verified"] is True


# -- what a text changes ------------------------------------------------------------------------------
def item(title: str = "Look", claimed: str = "", closed: str = "") -> str:
    name = f"INB-001 @ann-cli — {title}"
    lines = [f"- [x] ~~{name}~~  " if closed else f"- [ ] {name}  ", "  added 2026-05-22 14:30 by bob-cli"]
    lines += ["  <!-- cohabit:k3x9 added=2026-05-22T12:30:05Z -->"]
    lines += [f"  claimed 2026-05-22 15:00 by {claimed}-cli"] if claimed else []
    lines += [f"  closed 2026-05-23 09:00 by {closed}-cli → done"] if closed else []
    return "\n".join(["# Inbox\n\n## Open\n", *lines, "\n## Closed\n"])


def entry(who: str, text: str) -> str:
    head = f"## 2026-05-22 14:31 — {who}-cli ({who.title()})"
    return f"{head}\n{text}\n<!-- cohabit:{who}1 at=2026-05-22T12:31:05Z -->\n\n"


def test_entries_that_both_sides_have_with_other_contents_are_named_and_those_of_one_side_are_not() -> None:
    ours, theirs = entry("ann", "One.") + entry("bob", "Two."), entry("ann", "One.") + entry("bob", "Another.")
    (key,) = ownership.differing("journal.md", ours, theirs)
    assert key in {block.key for block in Journal.parse(ours).blocks}
    assert ownership.differing("journal.md", ours, ours) == set()
    assert ownership.differing("journal.md", ours, entry("ann", "One.")) == set()
    assert len(ownership.differing("inbox.md", item(), item("Listen"))) == 1
    assert ownership.differing("inbox.md", item(), item()) == ownership.differing("inbox.md", item(), "") == set()


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        (item(), item(claimed="ann"), []),
        (item(claimed="eve"), item(closed="ann"), []),  # who closes an item ends the claim on it
        (item(claimed="eve"), item(), ["it changes the claim of eve-cli on INB-001"]),
        (item(), item(claimed="eve"), ["it changes the claim of eve-cli on INB-001"]),
        (item(), item(claimed="eve", closed="ann"), ["it changes the claim of eve-cli on INB-001"]),
        (item(), item("Listen"), ["it changes INB-001, which is published"]),
        (item(closed="eve"), item(), ["it reopens INB-001, which only the agent that added or closed it may do"]),
        (item(), "# Inbox\n\n## Open\n\n## Closed\n", ["it removes INB-001"]),
    ],
)
def test_the_changes_of_an_item_that_an_agent_may_not_make_are_named(before: str, after: str, says: list[str]) -> None:
    assert ownership.foreign_changes("inbox.md", before, after, ANN) == says


def test_two_versions_of_an_item_that_are_published_may_both_stay() -> None:
    one, other = item(), item("Listen")
    both = one.replace("\n\n## Closed\n", "\n") + other.partition("## Open\n\n")[2]
    assert both.count("INB-001") == 2
    assert ownership.foreign_changes("inbox.md", both, both, ANN) == []
    assert ownership.foreign_changes("inbox.md", one, both, ANN) == ["it changes INB-001, which is published"]
    assert ownership.foreign_changes("inbox.md", one, both, ANN, allowed=[other]) == []


def test_an_agent_changes_how_far_it_has_read_itself_and_not_how_far_others_have() -> None:
    own, other = ".pointers/ann-cli.json", ".pointers/bob-cli.json"
    assert ownership.foreign_changes(own, "1", "2", ANN) == []
    assert ownership.foreign_changes(other, "1", "1", ANN) == []
    changed = ["it changes how far bob-cli has read"]
    assert ownership.foreign_changes(other, "1", "2", ANN) == changed
    assert ownership.foreign_changes(other, "1", None, ANN) == changed
    assert ownership.foreign_changes(other, "1", "2", ANN, known=lambda content: True) == []
