"""What is kept of large boards changes no answer, is bounded, and saves git and Python the same work."""

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples

from cohabit.workspace.clone import facts, objects, refs
from cohabit.workspace.formats import inbox as inboxes
from cohabit.workspace.formats import journal as journals
from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.journal import Journal
from cohabit.workspace.formats.recent import Recent
from cohabit.workspace.merging import ownership
from cohabit.workspace.merging.losses import keeps
from cohabit.workspace.merging.ownership import foreign_changes
from cohabit.workspace.person.identity import Identity
from cohabit.workspace.reading import blame, lost
from cohabit.workspace.session import Session

Clone = Callable[[str], Session]
CACHES = (journals.BLOCKS, journals.JOURNALS, inboxes.ITEMS, inboxes.INBOXES, objects.TEXTS)


@pytest.fixture(autouse=True)
def every_board_is_large(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Boards of a few entries are treated like large ones."""
    for module in (journals, inboxes, objects):
        monkeypatch.setattr(module, "LARGE", 0)
    monkeypatch.setattr(blame, "SMALL", 0)
    forget()
    yield
    forget()


def forget() -> None:
    for cache in CACHES:
        cache.clear()


def as_new(session: Session) -> Any:
    """The answers of a clone of which nothing is known yet. From then on it keeps what it finds."""
    forget()
    folder = session.workspace().state_folder
    for file in [*folder.glob("origins-*"), folder / blame.CONTAINED, *folder.glob("adding-*")]:
        file.unlink(missing_ok=True)
    return answers(session)


def answers(session: Session) -> Any:
    asked: list[tuple[str, dict[str, Any]]] = [
        ("journal_tail", {"n": 50}),
        ("inbox_list", {"state": "all"}),
        ("whats_new", {"ack": False}),
        ("health", {}),
    ]
    return json.loads(json.dumps([session.call(name, args) for name, args in asked]))


def share(session: Session, *paths: str) -> bool:
    session.call("add", {"paths": list(paths)})
    session.call("commit", {"message": "more"})
    assert "error" not in session.call("sync", {})
    return True


def edit_by_hand(session: Session, path: str, change: Callable[[str], str]) -> None:
    root = session.workspace().root
    (root / path).write_text(change((root / path).read_text()))
    git = ["git", "-C", str(root), "-c", "user.name=Mal", "-c", "user.email=mal@example.org"]
    subprocess.run([*git, "commit", "-qam", "by hand"], check=True)
    session.call("sync", {})


@pytest.mark.soak
def test_what_is_kept_gives_the_same_answers_as_a_new_clone_whatever_happens(clone: Clone) -> None:
    ann, bob = clone("ann"), clone("bob")
    steps: list[Callable[[], object]] = [
        lambda: (ann.call("journal_append", {"summary": "one\n\nwith a blank line"}), share(ann, "journal.md")),
        lambda: (
            ann.call("inbox_add", {"title": "for bob", "for": "bob-cli", "body": "a\n\nb"}),
            share(ann, "inbox.md"),
        ),
        lambda: (bob.call("journal_append", {"summary": "two"}), share(bob, "journal.md")),
        lambda: (bob.call("inbox_add", {"title": "for ann", "for": "ann-cli"}), share(bob, "inbox.md")),
        lambda: bob.call("claim", {"id": "INB-001"}),
        lambda: (bob.call("inbox_close", {"id": "INB-001", "resolution": "done"}), share(bob, "inbox.md")),
        lambda: edit_by_hand(bob, "journal.md", lambda text: text.replace("one", "another")),
        lambda: ann.call("journal_append", {"summary": "not committed"}),
        lambda: share(ann, "journal.md"),
        lambda: edit_by_hand(bob, "journal.md", lambda text: text.replace("another", "one")),
        lambda: edit_by_hand(bob, "inbox.md", lambda text: text.replace("[x] ~~INB-001", "[ ] INB-001")),
        lambda: edit_by_hand(bob, "journal.md", lambda text: text[: text.index("## ")]),
        lambda: subprocess.run(["git", "-C", ann.workspace().root, "reset", "-q", "--hard", "HEAD~2"], check=True),
    ]
    for number, step in enumerate(steps):
        step()
        for session in (ann, bob):
            session.call("sync", {})
            kept = answers(session)
            assert answers(session) == kept, number
            assert kept == as_new(session), number


def test_a_forged_file_that_takes_the_place_of_the_journal_does_not_inherit_its_authors(clone: Clone) -> None:
    """Git follows a file that was renamed, so it may follow lines to another file of the commit that is kept."""
    ann, bob = clone("ann"), clone("bob")
    for number in range(12):
        ann.call("journal_append", {"summary": f"entry {number}"})
    share(ann, "journal.md")
    bob.call("sync", {})
    root = bob.workspace().root
    git = ["git", "-C", str(root), "-c", "user.name=Mal", "-c", "user.email=mal@example.org"]

    def commit(*commands: str) -> None:
        for command in commands:
            subprocess.run([*git, *command.split()], check=True)
        subprocess.run([*git, "commit", "-qm", "by hand"], check=True)

    (root / "evil.md").write_text((root / "journal.md").read_text().replace("entry 7", "entry of Mal"))
    commit("add evil.md")
    subprocess.run([*git, "push", "-q"], check=True)
    ann.call("sync", {})
    answers(ann)
    commit("rm -q journal.md")
    commit("mv evil.md journal.md")
    subprocess.run([*git, "push", "-q"], check=True)
    subprocess.run(["git", "-C", str(ann.workspace().root), "pull", "-q"], check=True)
    kept = answers(ann)
    assert kept == as_new(ann)
    assert {entry["summary"]: entry["verified"] for entry in kept[0]["entries"]}["entry of Mal"] is False


def test_a_second_look_at_an_unchanged_board_reads_no_version_of_a_file(
    clone: Clone, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = clone("ann")
    for number in range(5):
        ann.call("journal_append", {"summary": f"entry {number}"})
        ann.call("inbox_add", {"title": f"item {number}"})
        share(ann, "journal.md", "inbox.md")
    answers(ann)
    run, commands = type(ann.workspace().git).run, list[tuple[str, ...]]()

    def noticed(self: Any, *args: str, **options: Any) -> Any:
        commands.append(args)
        return run(self, *args, **options)

    monkeypatch.setattr(type(ann.workspace().git), "run", noticed)
    answers(ann)
    assert commands
    assert not [args for args in commands if args[0] == "blame" or args[:2] == ("cat-file", "--batch")]


def test_what_is_kept_on_disk_is_only_trusted_if_it_is_whole(clone: Clone) -> None:
    ann = clone("ann")
    ann.call("journal_append", {"summary": "an entry"})
    share(ann, "journal.md")
    expected = answers(ann)
    folder = ann.workspace().state_folder
    head = str(refs.head(ann.workspace())).encode()
    for content in (
        b"",
        b"{",
        b'{"commit": "x"}',
        b"\xff" * 9,
        b'{"commit": "' + b"0" * 40 + b'", "lines": {}, "keys": []}',
        b'{"commit": "' + head + b'", "lines": {"3": "", "4": "x", "5": "--all"}, "keys": []}',
    ):
        for file in [*folder.glob("origins-*"), folder / blame.CONTAINED, *folder.glob("adding-*")]:
            file.write_bytes(content)
        assert answers(ann) == expected


def test_a_change_that_keeps_everything_in_one_file_may_remove_items_from_another(clone: Clone) -> None:
    ann, bob = clone("ann"), clone("bob")
    for number in range(3):
        ann.call("inbox_add", {"title": f"item {number}"})
    share(ann, "inbox.md")
    bob.call("sync", {})
    root = bob.workspace().root
    whole = (root / "inbox.md").read_text()
    less = whole[: whole.index("- [ ] INB-002")] + whole[whole.index("- [ ] INB-003") :]
    archive = root / "journal-archive" / "2001-01.md"
    archive.parent.mkdir(exist_ok=True)
    archive.write_text(whole)
    subprocess.run(["git", "-C", root, "add", "."], check=True)
    edit_by_hand(bob, "journal-archive/2001-01.md", lambda text: text)
    edit_by_hand(bob, "journal-archive/2001-01.md", lambda text: less)
    ann.call("sync", {})
    ann.call("health", {})
    edit_by_hand(bob, "inbox.md", lambda text: less)
    ann.call("sync", {})
    assert [row["what"] for row in ann.call("health", {})["lost"]] == ["vanished: INB-002 by ann-cli, 'item 1'"]
    assert ann.call("restore", {"id": "INB-002"})["path"] == "inbox.md"


def test_entries_with_any_number_of_blank_lines_are_read_in_one_command(clone: Clone) -> None:
    ann = clone("ann")
    for _ in range(4):
        ann.call("journal_append", {"summary": "long", "details": "a\n\n" * 21_000})
    share(ann, "journal.md")
    assert [entry["verified"] for entry in ann.call("journal_tail", {})["entries"]] == [True] * 4


def test_an_entry_that_was_edited_many_times_is_found_with_a_few_versions_in_memory(
    clone: Clone, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = clone("ann")
    ann.call("journal_append", {"summary": "version 0"})
    share(ann, "journal.md")
    for _ in range(30):
        edit_by_hand(ann, "journal.md", lambda text: re.sub(r"n (\d+)", lambda found: f"n {int(found[1]) + 1}", text))
    read, asked = objects.read, list[int]()

    def noticed(ws: Any, names: Any) -> Any:
        asked.append(len(names := list(names)))
        return read(ws, names)

    monkeypatch.setattr(objects, "read", noticed)
    forget()
    (row,) = ann.call("health", {})["lost"]
    assert row["what"].startswith("edited")
    assert "'version 0'" in row["what"]
    assert max(asked) <= 2 * lost.BATCH


def test_an_item_without_an_id_is_parsed_once_for_every_version_of_its_file() -> None:
    item = "- [ ] INB-001 @ann — x  \n  added 2026-05-22 14:30 by bob\n\n"
    one, two = (Inbox.parse(f"# Inbox\n\n## Open\n\n{item}## Closed\n{more}").items[0] for more in ("", "\n"))
    assert one is two


def test_a_kept_journal_cannot_be_changed_by_its_users() -> None:
    text = "# Journal\n\n## 2026-05-22 14:30 — ann (Ann)\nx\n\n"
    found = Journal.parse(text)
    assert Journal.parse(text) is found
    assert isinstance(found.pieces, tuple)
    assert isinstance(found.blocks, tuple)
    assert isinstance(found.entries, tuple)
    found.tail(5).clear()
    assert len(found.tail(5)) == 1


def test_equal_entries_of_one_file_are_different_objects() -> None:
    entry = "## 2026-05-22 14:30 — ann (Ann)\nx\n<!-- cohabit:abc at=2026-05-22T12:30:05Z -->\n\n"
    one, two = Journal.parse(entry * 2).blocks
    assert one == two
    assert one is not two
    item = "- [ ] INB-001 @ann — x  \n  added 2026-05-22 14:30 by bob\n  <!-- cohabit:abc -->\n\n"
    first, second = Inbox.parse(f"# Inbox\n\n## Open\n\n{item * 2}## Closed\n").items
    assert first == second
    assert first is not second


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 40)), max_size=200))
def test_what_is_kept_is_bounded_and_never_wrong(puts: list[tuple[int, int]]) -> None:
    kept = Recent[int, int](50)
    weights = dict[int, int]()
    for key, weight in puts:
        weights.setdefault(key, weight)
        kept.put(key, key * 7, weights[key])
        assert kept.get(key) == key * 7
        held = [each for each in range(21) if each in kept._new or each in kept._old]
        assert sum(weights[each] for each in {*kept._new}) <= 50
        assert sum(weights[each] for each in {*kept._old}) <= 50
        assert all(kept.get(each) in (None, each * 7) for each in held)


def test_a_value_that_is_too_heavy_is_not_kept() -> None:
    kept = Recent[str, int](10)
    kept.put("x", 1, 11)
    assert kept.get("x") is None


def test_facts_on_disk_are_bounded_and_the_newest_stay(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts, "MAX_FACTS", 10)
    ws = clone("ann").workspace()
    for number in range(100):
        facts.add(ws, "kind", [f"fact {number}"])
        known = facts.known(ws, "kind")
        assert f"fact {number}" in known
        assert len(known) <= 20


PIECES = st.sampled_from(
    [
        "# Journal\n\n", "## 2026-05-22 10:00 — a (A)\nx\n\n", "## 2026-05-22 10:00 — b (B)\nx\n\n", "## 2026-05-23",
        "\n", "## x\n", "x", "\n## ", "\n## 2026-05-2", "4 10:00 — c (C)\ny\n",
    ]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=6).map("".join)


@settings(max_examples=examples(300))
@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_a_journal_keeps_its_entries_if_every_one_of_them_is_in_the_new_version(
    start: str, old: str, new: str, end: str
) -> None:
    before, after = start + old + end, start + new + end
    lines = [{piece.rstrip("\n") for piece in Journal(text).pieces[1:]} for text in (before, after)]
    assert keeps("journal.md", before, after) == (lines[0] <= lines[1])


@settings(max_examples=examples(300))
@given(TEXTS, TEXTS, TEXTS, TEXTS, st.sampled_from(["a", "b", "c", ""]))
def test_looking_only_at_the_changed_part_of_a_journal_refuses_and_allows_the_same(
    start: str, old: str, new: str, end: str, written_by: str
) -> None:
    before, after = start + old + end, start + new + end

    def known(content: str) -> bool:
        return f"— {written_by} (" in content

    who = Identity("b", "B", "b@example.org")
    quick = foreign_changes("journal.md", before, after, who, known=known)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ownership, "_adds_known_entries", lambda *_: False)
        assert quick == foreign_changes("journal.md", before, after, who, known=known)
