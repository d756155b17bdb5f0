"""An inbox keeps every item under a number of its own, and a change affects nothing else."""

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cohabit.errors import BadArgs, Conflict, TooLarge, UnknownAsset
from cohabit.workspace.formats.inbox import HEADER, Inbox
from cohabit.workspace.formats.item import changed, write
from cohabit.workspace.formats.text import clean, one_line
from cohabit.workspace.limits import MAX_TEXT_CHARS, MAX_TITLE_CHARS

NOW = datetime(2026, 5, 22, 14, 30, 5, tzinfo=timezone(timedelta(hours=2)))
NASTY = st.sampled_from([
    "## Closed", "## Open", "# Inbox", "- [ ] INB-099 @eve — forged", "- [x] ~~INB-098 @eve — forged~~", "- [ ] loose", "INB-041", "~~", "→", " — ",
    "  added 2026-05-22 14:30 by eve", "added 2026-05-22 14:30 by eve", "claimed 2026-05-22 14:30 by eve", "closed 2026-05-22 14:30 by eve → forged",
    "also closed 2026-05-22 14:30 by eve → forged", "<!-- cohabit:abc added=2020-01-01T00:00:00Z -->", "<!--", "-->", "\\", "\\\\", "", "", " ",
    "\t", "\u2028- [ ] INB-097 — x", "\r", "\0", "\ud800", "\ufeff", "plain", "@bob", "@",
])  # fmt: skip
ANY = st.text() | st.lists(NASTY | st.text(max_size=8), max_size=8).map("\n".join)
SHORT = ANY.filter(lambda text: 0 < len(one_line(text)) <= MAX_TITLE_CHARS)
LEGACY = (
    "# Inbox\n\n## Open\n\n- [ ] INB-014 @anyone — 2024 comp data missing  \n  added 2026-05-22 14:30 by ann  \n  Need raise data.\n\n"
    "- [ ] INB-015 @mike — comps  \n  added 2026-05-22 14:32 by ann\n\n## Closed\n\n"
    "- [x] ~~INB-012 — find a logo~~  \n  closed 2026-05-22 09:00 by mike → in `assets/x.svg`, see journal 2026-05-22 09:00\n"
)
FILES = st.sampled_from(
    [
        "",
        HEADER,
        HEADER.replace("\n", "\r\n"),
        LEGACY,
        LEGACY.replace("\n", "\r\n"),
        "text",
        "## Closed",
        "## Open\n- [ ] loose\n## Notes\n- [ ] INB-500 — x",
    ]
)


def items_text(inbox: Inbox) -> str:
    return "".join(item.text for item in inbox.items)


def shown(inbox: Inbox) -> list[tuple[str, str]]:
    return [(item.id, item.text.strip()) for item in inbox.items]


@given(st.text() | st.lists(NASTY).map("\n".join) | st.lists(NASTY).map(lambda lines: "## Open\n" + "\n".join(lines)))
def test_parsing_keeps_every_byte_of_any_file(text: str) -> None:
    inbox = Inbox.parse(text)
    assert inbox.text == text
    pieces = [section.heading + "".join(item.text for item in section.items) for section in inbox.sections]
    assert inbox.preamble + "".join(pieces) == text
    assert inbox.next_id() not in {item.id for item in inbox.items}


@example(file="", title="x", body="", resolution="x", ref="\x1f")
@given(FILES, SHORT, ANY, SHORT, ANY)
def test_any_text_is_parsed_as_one_item_and_nothing_else(
    file: str, title: str, body: str, resolution: str, ref: str
) -> None:
    before = Inbox.parse(file)
    with_it, item = before.add(title=title, body=body, for_="@bob", by="ann", now=NOW)
    opened = Inbox.parse(with_it.text)
    found = next(other for other in opened.items if other.key == item.key)
    assert (found, found.open) == (item, True)
    assert (found.title, found.body) == (one_line(title), clean(body))
    assert [other for other in shown(opened) if other[0] != item.id] == shown(before)
    claimed = Inbox.parse(opened.claim(item.id, "bob", NOW).text)
    ref = ref if len(one_line(ref)) <= MAX_TITLE_CHARS and one_line(ref) else "x"
    closed = Inbox.parse(claimed.close(item.id, by="bob", resolution=resolution, journal_ref=ref, now=NOW).text)
    done = next(other for other in closed.items if other.key == item.key)
    assert not done.open
    assert done.closing is not None
    assert done.closing.resolution == f"{one_line(resolution)}, see journal {one_line(ref)}"
    assert (done.title, done.body, done.claimed_by, done.closing.by) == (item.title, item.body, "bob", "bob")
    assert [other for other in shown(closed) if other[0] != item.id] == shown(before)
    assert closed.text.count("\r\n") in (0, closed.text.count("\n"))
    closed.text.encode()


def test_an_item_has_the_format_of_multisphere_with_a_comment_below_its_second_line() -> None:
    inbox, first = Inbox.parse("").add(title="Find  it", body="one\n\ntwo", by="ann", now=NOW)
    assert inbox.text == (
        "# Inbox\n\n## Open\n\n"
        "- [ ] INB-001 @anyone — Find it  \n  added 2026-05-22 14:30 by ann\n"
        f"  <!-- cohabit:{first.uid} added=2026-05-22T12:30:05Z -->\n"
        "  one\n  \\\n  two\n\n"
        "## Closed\n"
    )
    assert inbox.close("INB-001", by="bob", resolution="done", journal_ref="2026-05-22 09:00", now=NOW).text == (
        "# Inbox\n\n## Open\n\n## Closed\n\n"
        "- [x] ~~INB-001 @anyone — Find it~~  \n  added 2026-05-22 14:30 by ann\n"
        f"  <!-- cohabit:{first.uid} added=2026-05-22T12:30:05Z closed=2026-05-22T12:30:05Z -->\n"
        "  one\n  \\\n  two\n"
        "  closed 2026-05-22 14:30 by bob → done, see journal 2026-05-22 09:00\n"
    )


def test_items_are_added_at_the_end_of_open_and_closed_at_the_end_of_closed() -> None:
    inbox = Inbox.parse(LEGACY)
    inbox, _ = inbox.add(title="new", by="ann", now=NOW)
    assert [item.id for item in inbox.items] == ["INB-014", "INB-015", "INB-016", "INB-012"]
    inbox = inbox.close("INB-014", by="ann", resolution="ok", now=NOW)
    assert [item.id for item in inbox.items] == ["INB-015", "INB-016", "INB-012", "INB-014"]
    assert inbox.items[-1].body == "Need raise data."


def test_the_next_number_follows_the_largest_item_and_ignores_mentions() -> None:
    text = "## Open\n\n- [ ] INB-007 — see INB-900\n  INB-901\n\n## Closed\n\n- [x] ~~INB-1041 — x~~  \n\nINB-2000\n"
    assert Inbox.parse(text).next_id() == "INB-1042"
    assert Inbox.parse("## Open\n\n- [ ] INB-" + "9" * 5000 + " — x\n").next_id() == "INB-001"
    assert Inbox.parse(HEADER).next_id() == "INB-001"


@pytest.mark.parametrize(
    ("asked", "near"),
    [("INB-1", ["INB-001"]), ("inb-100", ["INB-100"]), ("INB-10", []), ("INB-1000", []), ("", []), ("INB-0", [])],
)
def test_an_item_is_closed_by_its_exact_id_alone(asked: str, near: list[str]) -> None:
    inbox = Inbox.parse("## Open\n\n- [ ] INB-001 — a\n\n- [ ] INB-100 — b\n\n## Closed\n")
    with pytest.raises(UnknownAsset) as refused:
        inbox.close(asked, by="ann", resolution="x", now=NOW)
    assert refused.value.message == f"inbox item {asked} not found in Open section; inbox.md lists the open ones"
    assert refused.value.did_you_mean == near


def test_a_very_large_number_is_skipped() -> None:
    inbox = Inbox.parse("## Open\n\n- [ ] INB-999999999 — big\n\n- [ ] INB-1000000001 — bigger\n\n## Closed\n")
    ids = []
    for title in ("a", "b", "c"):
        inbox, item = Inbox.parse(inbox.text).add(title=title, by="ann", now=NOW)
        ids.append(item.id)
    assert ids == ["INB-1000000000", "INB-1000000002", "INB-1000000003"]
    endless = Inbox.parse(f"## Open\n\n- [ ] INB-{'9' * 5000} — no number\n\n- [ ] INB-007 — x\n")
    assert endless.next_id() == "INB-008"


@pytest.mark.parametrize("closed", ["INB-001", "INB-002"])
def test_a_copy_with_another_number_is_another_item_in_any_order(closed: str) -> None:
    inbox, item = Inbox.parse(HEADER).add(title="x", by="ann", now=NOW)
    inbox = Inbox.parse(inbox.text.replace("## Closed", f"{items_text(inbox).replace('INB-001', 'INB-002')}## Closed"))
    keys = {found.id: found.key for found in inbox.items}
    assert keys == {"INB-001": item.key, "INB-002": f"{item.key}#INB-002"}
    done = Inbox.parse(inbox.close(closed, by="ann", resolution="ok", now=NOW).text)
    assert {found.id: found.key for found in done.items} == keys


def test_an_item_of_multisphere_beside_its_renumbered_copy_is_another_item() -> None:
    old = Inbox.parse(LEGACY).items[0]
    copy = write(changed(old, id="INB-016"))
    inbox = Inbox.parse(LEGACY.replace("## Closed", f"{copy}\n\n## Closed"))
    assert {item.id: item.key for item in inbox.items if item.title == old.title} == {
        "INB-014": old.key,
        "INB-016": f"{old.key}#INB-016",
    }
    alone = Inbox.parse(inbox.text.replace(old.text, ""))
    assert {item.id: item.key for item in alone.items if item.title == old.title} == {"INB-016": old.key}


def test_a_restored_item_leaves_an_item_alone_that_has_its_number_by_now() -> None:
    lost = Inbox.parse(LEGACY).items[1]
    without = LEGACY.replace(lost.text, "").replace("INB-014", "INB-004")
    inbox, new = Inbox.parse(without.replace("INB-012", "INB-014")).add(title="new", by="ann", now=NOW)
    assert new.id == lost.id
    restored = Inbox.parse(inbox.restore(lost).text)
    found = {item.id: (item.title, item.key) for item in restored.items}
    assert found["INB-015"] == ("new", new.key)
    assert found["INB-016"] == ("comps", lost.key)


def test_a_renumbered_item_of_multisphere_that_was_edited_is_restored_under_its_new_number() -> None:
    lost = Inbox.parse(LEGACY).items[1]
    renumbered = LEGACY.replace(lost.text, f"{write(changed(lost, id='INB-017', title='edited'))}\n\n")
    restored = Inbox.parse(Inbox.parse(renumbered).restore(lost).text)
    assert [(item.id, item.title) for item in restored.items if item.key == lost.key] == [("INB-017", "comps")]


def test_two_variants_of_one_item_have_one_key() -> None:
    inbox, item = Inbox.parse(HEADER).add(title="x", by="ann", now=NOW)
    both = Inbox.parse(inbox.text.replace("## Closed", f"{items_text(inbox).replace('— x', '— y')}## Closed"))
    assert [found.key for found in both.items] == [item.key, item.key]


def test_a_claim_belongs_to_one_agent_until_it_releases_it() -> None:
    inbox, _ = Inbox.parse("").add(title="x", by="ann", now=NOW)
    taken = inbox.claim("INB-001", "bob", NOW)
    assert taken.items[0].claimed_by == "bob"
    assert taken.claim("INB-001", "bob", NOW).text == taken.text
    with pytest.raises(Conflict, match="claimed 2026-05-22 14:30 by bob"):
        taken.claim("INB-001", "eve", NOW)
    with pytest.raises(Conflict, match="only they"):
        taken.release("INB-001", "eve")
    assert taken.release("INB-001", "bob").text == inbox.text
    assert inbox.release("INB-001", "bob").text == inbox.text
    closed = taken.close("INB-001", by="eve", resolution="done", now=NOW)
    with pytest.raises(Conflict, match="was closed 2026-05-22 14:30 by eve"):
        closed.claim("INB-001", "bob", NOW)
    with pytest.raises(UnknownAsset):
        inbox.claim("INB-002", "bob", NOW)


def test_an_item_of_multisphere_keeps_its_key_when_it_is_claimed_and_closed() -> None:
    inbox = Inbox.parse(LEGACY)
    key = inbox.items[0].key
    inbox = Inbox.parse(inbox.claim("INB-014", "bob", NOW).text)
    assert inbox.items[0].key == key
    assert inbox.items[0].claim is not None
    assert inbox.items[0].claim.utc == "2026-05-22T12:30:05Z"
    inbox = Inbox.parse(inbox.close("INB-014", by="bob", resolution="ok", now=NOW).text)
    assert inbox.items[-1].key == key


def test_an_item_ticked_or_moved_by_hand_counts_as_closed() -> None:
    inbox = Inbox.parse(
        "## Open\n\n- [x] INB-001 — ticked\n\n- [ ] INB-002 — open\n\n## Closed\n\n- [ ] INB-003 — moved\n"
    )
    assert [(item.id, item.open) for item in inbox.items] == [("INB-001", False), ("INB-002", True), ("INB-003", False)]


def test_texts_above_the_limits_are_refused() -> None:
    inbox = Inbox.parse(LEGACY)
    with pytest.raises(BadArgs, match="title is empty"):
        inbox.add(title="\n", by="ann", now=NOW)
    with pytest.raises(TooLarge):
        inbox.add(title="x" * (MAX_TITLE_CHARS + 1), by="ann", now=NOW)
    with pytest.raises(TooLarge):
        inbox.add(title="x", body="x" * (MAX_TEXT_CHARS + 1), by="ann", now=NOW)
    with pytest.raises(BadArgs):
        inbox.add(title="x", for_="a b", by="ann", now=NOW)
    with pytest.raises(BadArgs, match="resolution is empty"):
        inbox.close("INB-014", by="ann", resolution=" ", now=NOW)
