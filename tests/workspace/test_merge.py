"""Merging by entry loses and duplicates nothing, gives everybody the same result, and reports conflicts."""

from collections.abc import Callable, Set
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples

from cohabit.workspace.formats.inbox import HEADER, Inbox
from cohabit.workspace.formats.item import Item
from cohabit.workspace.formats.journal import Entry, Journal
from cohabit.workspace.formats.pointers import Pointer
from cohabit.workspace.merging.merge import Merged, Renumbered, is_protocol, item_ids, merge_file
from cohabit.workspace.merging.three_way import merge_members, merge_variants
from cohabit.workspace.person.identity import Identity

NOW = datetime(2026, 5, 22, 14, 30, 5, tzinfo=timezone(timedelta(hours=2)))
ANN = Identity("ann", "Ann", "ann@example.org")
JOURNAL, INBOX = "journal.md", "inbox.md"


def at(minute: int) -> datetime:
    return NOW + timedelta(minutes=minute)


def noted(text: str, minute: int, what: str) -> str:
    return Journal.parse(text).append(Entry.new(ANN, at(minute), what)).text


def asked(text: str, minute: int, title: str, **more: str) -> str:
    return Inbox.parse(text).add(title=title, by="ann", now=at(minute), **more)[0].text


def closed(text: str, id_: str, minute: int, by: str = "ann", resolution: str = "done") -> str:
    return Inbox.parse(text).close(id_, by=by, resolution=resolution, now=at(minute)).text


def summaries(text: str | None) -> list[str]:
    return [block.entry.summary for block in Journal.parse(text or "").blocks if block.entry]


def titles(text: str | None) -> dict[str, str]:
    return {item.id: item.title for item in Inbox.parse(text or "").items}


# -- the laws, on sets of variants ----------------------------------------------------------------
VARIANTS = st.frozensets(st.integers(0, 3), max_size=3)
BASES = st.frozensets(st.integers(0, 3), max_size=1)


def join(base: frozenset[int], a: Set[int], b: Set[int]) -> Set[int]:
    return merge_variants(base, a, b, None)[0]


@given(BASES, VARIANTS, VARIANTS, VARIANTS)
def test_merging_variants_does_not_depend_on_the_order(
    base: frozenset[int], a: frozenset[int], b: frozenset[int], c: frozenset[int]
) -> None:
    assert join(base, a, b) == join(base, b, a)
    assert join(base, join(base, a, b), c) == join(base, a, join(base, b, c))
    assert join(base, a, a) == a
    assert join(base, a, base) == a
    assert merge_variants(base, a, b, None) == merge_variants(base, b, a, None)


def test_variants_that_only_one_side_has_are_no_new_conflict_and_different_ones_of_both_sides_are() -> None:
    assert merge_variants({"a"}, {"b", "c"}, {"a"}, None) == ({"b", "c"}, False)
    assert merge_variants({"a"}, {"b"}, {"b"}, None) == ({"b"}, False)
    assert merge_variants({"a"}, set(), {"a"}, None) == (set(), False)
    assert merge_variants({"a"}, {"b"}, {"c"}, None) == ({"b", "c"}, True)
    assert merge_variants({"a"}, {"b"}, {"c"}, "theirs") == ({"c"}, False)
    assert merge_variants({"a"}, {"b"}, {"c"}, "ours") == ({"b"}, False)


@given(VARIANTS, VARIANTS, VARIANTS, VARIANTS)
def test_merging_members_does_not_depend_on_the_order(
    base: frozenset[int], a: frozenset[int], b: frozenset[int], c: frozenset[int]
) -> None:
    assert merge_members(base, a, b) == merge_members(base, b, a)
    assert merge_members(base, merge_members(base, a, b), c) == merge_members(base, a, merge_members(base, b, c))
    assert merge_members(base, a, a) == a
    assert merge_members(base, a, base) == a


# -- the laws, on whole files ---------------------------------------------------------------------
LEGACY = [
    "## 2026-05-01 09:00 — bob (Bob)\nold\n\n",
    "## 2026-05-01 09:00 — bob (Bob)\nsame minute\n\n",
    "## 2026-05-01 09:05 — Jamie Desktop (Jamie (QA))\nwith spaces\n\nTODO @Mike Code: look\n\n",
    "## Notes\nby hand\n\n",
]
JOURNALS = ["# Journal\n\n" + "".join(LEGACY)]
for _minute in range(3):
    JOURNALS.append(noted(JOURNALS[-1], _minute, f"base {_minute}"))
BASE_JOURNAL = JOURNALS[-1]


@st.composite
def journal_sides(draw: st.DrawFn) -> str:
    """One side's journal: some entries removed, some edited, some new, of either tool, perhaps another heading."""
    blocks = []
    for block in Journal.parse(BASE_JOURNAL).blocks:
        fate = draw(st.sampled_from(["keep", "keep", "keep", "drop", "edit one way", "edit another way"]))
        if fate == "keep":
            blocks.append(block.text)
        elif fate != "drop":
            first, _, rest = block.text.partition("\n")
            blocks.append(f"{first}\n{fate}\n{rest}")
    preamble = draw(st.sampled_from(["# Journal\n\n", "# Our journal\n\n"]))
    text = preamble + "".join(blocks)
    for pick in draw(st.lists(st.sampled_from(NEW_ENTRIES), max_size=3, unique=True)):
        text += pick
    return text


NEW_ENTRIES = [Entry.new(ANN, at(minute), f"new {minute}").text for minute in (10, 11, 11, 12)] + [
    "## 2026-05-22 12:41 — bob (Bob)\nby Multisphere\n\n",
    "## 2026-05-22 12:41 — bob (Bob)\nin the same minute\n\n",
    "## 2026-05-22 12:41 — Mike Code (Mike)\nwith spaces\n\n",
    "## More notes\nby hand\n\n",
]


def journal_facts(text: str | None) -> object:
    journal = Journal.parse(text or "")
    return journal.preamble, [(block.key, block.content) for block in journal.blocks]


BASE_INBOX = (
    "# Inbox\n\n## Open\n\n- [ ] INB-001 @bob — by Multisphere  \n  added 2026-05-01 09:00 by bob\n  body\n\n- [ ] loose\n\n"
    "- [ ] INB-003 @Jamie Desktop — of an id with spaces  \n  added 2026-05-01 09:00 by Mike Code\n  body\n\n"
    "## Closed\n\n- [x] ~~INB-002 @ann — long done~~  \n  added 2026-05-01 09:00 by bob\n  closed 2026-05-02 09:00 by ann → ok\n"
)
for _minute in range(2):
    BASE_INBOX = asked(BASE_INBOX, _minute, f"base {_minute}", body="a\n\nb")
NEW_ITEMS = [
    *(Inbox.parse(BASE_INBOX).add(title=f"new {minute}", by="ann", now=at(minute))[1] for minute in (10, 11, 11)),
    Item(title="new, by Multisphere", added_at="2026-05-22 12:41", added_by="bob"),
]


@st.composite
def inbox_sides(draw: st.DrawFn) -> str:
    """One side's inbox: items closed, claimed, edited, removed, and new ones."""
    text = BASE_INBOX
    for item in Inbox.parse(BASE_INBOX).items:
        if not item.open:
            continue
        fate = draw(
            st.sampled_from(["keep", "keep", "close", "claim", "both", "edit one way", "edit another way", "drop"])
        )
        who, minute = draw(st.sampled_from([("ann", 20), ("bob", 19), ("Mike Code", 20), ("bob", 25)]))
        if fate in ("claim", "both"):
            text = Inbox.parse(text).claim(item.id, who, at(minute)).text
        if fate in ("close", "both"):
            text = closed(text, item.id, minute + 1, who)
        if fate == "drop":
            text = text.replace(item.text, "")
        if fate.startswith("edit"):
            text = text.replace(f"— {item.title}", f"— {item.title}, {fate}")
    for new in draw(st.lists(st.sampled_from(NEW_ITEMS), max_size=2, unique=True)):
        inbox = Inbox.parse(text)
        text = inbox._with(replace(new, id=inbox.next_id()), "Open").text
    return text


def inbox_facts(text: str | None) -> object:
    """Everything except the numbers of new items: if three had the same number, those depend on the order of merging."""
    inbox = Inbox.parse(text or "")
    old = item_ids(BASE_INBOX)

    def fact(item: Item) -> object:
        known = item.id if item.key in old else ""
        return (
            known,
            item.title,
            item.target,
            item.body,
            item.added_by,
            item.claim,
            item.closings,
            item.open,
            item.text if not item.id else "",
        )

    frame = [(section.name, section.heading) for section in inbox.sections]
    return frame, [[fact(item) for item in section.items] for section in inbox.sections]


MANY = settings(max_examples=examples(60), deadline=None)


def check_laws(path: str, base: str, sides: tuple[str, str, str], facts: Callable[[str | None], object]) -> None:
    def merge(a: str | None, b: str | None) -> Merged:
        return merge_file(path, base, a, b)

    a, b, c = sides
    assert merge(a, a).text == a
    assert merge(a, base).text == a
    assert merge(base, a).text == a
    assert merge(a, b) == merge(b, a)
    both = merge(a, b).text
    assert facts(merge(both, a).text) == facts(merge(both, b).text) == facts(both)
    results = [facts(merge(merge(x, y).text, z).text) for x, y, z in permutations((a, b, c))]
    assert all(result == results[0] for result in results)


@MANY
@given(st.tuples(journal_sides(), journal_sides(), journal_sides()))
def test_everybody_who_merges_the_same_journals_gets_the_same(sides: tuple[str, str, str]) -> None:
    check_laws(JOURNAL, BASE_JOURNAL, sides, journal_facts)


@MANY
@given(st.tuples(inbox_sides(), inbox_sides(), inbox_sides()))
def test_everybody_who_merges_the_same_inboxes_gets_the_same(sides: tuple[str, str, str]) -> None:
    check_laws(INBOX, BASE_INBOX, sides, inbox_facts)


@MANY
@given(st.just(BASE_INBOX) | inbox_sides(), inbox_sides(), inbox_sides(), inbox_sides())
def test_no_number_is_given_twice_and_one_that_was_pushed_stays(base: str, ours: str, theirs: str, other: str) -> None:
    """With numbers pushed by no side, by one side, or by a third one, as in a rebase."""
    for pushed in ({}, item_ids(ours), item_ids(theirs), item_ids(other)):
        merged = merge_file(INBOX, base, ours, theirs, pushed)
        after = item_ids(merged.text)
        # with a conflict both variants of an item may be there, under its number
        assert merged.conflicts or len(set(after.values())) == len(after)
        assert merged.text in (ours, theirs) or all(pushed.get(key, id_) == id_ for key, id_ in after.items())


@MANY
@given(inbox_sides(), inbox_sides(), inbox_sides())
def test_merging_the_result_again_with_either_side_changes_no_number(ours: str, theirs: str, other: str) -> None:
    for pushed in ({}, item_ids(theirs), item_ids(other)):
        merged = merge_file(INBOX, BASE_INBOX, ours, theirs, pushed).text
        for side in (ours, theirs):
            again = merge_file(INBOX, BASE_INBOX, merged, side, pushed)
            assert item_ids(again.text) == item_ids(merged)
            assert not again.renumbered


def by_multisphere(title: str, id_: str = "INB-001") -> str:
    """An inbox with one item, without a hidden comment."""
    return HEADER.replace("## Closed", f"- [ ] {id_} @bob — {title}  \n  added 2026-05-01 09:00 by bob\n\n## Closed")


@pytest.mark.parametrize("shared", [True, False])
def test_a_renumbered_item_without_an_id_stays_one_item_however_often_it_is_merged(shared: bool) -> None:
    """Its number was part of what identified it. The other side has removed the item and used its number again, or has
    never seen it."""
    old, theirs = by_multisphere("old"), asked(HEADER, 1, "theirs")
    base, ours = (old, closed(old, "INB-001", 2)) if shared else (HEADER, old)
    pushed = item_ids(theirs)
    merged = merge_file(INBOX, base, ours, theirs, pushed)
    assert titles(merged.text) == {"INB-001": "theirs", "INB-002": "old"}
    assert item_ids(merged.text).keys() == item_ids(ours).keys() | item_ids(theirs).keys()
    for side in (ours, theirs, old):
        for pair in permutations((merged.text, side)):
            assert merge_file(INBOX, base, *pair, pushed) == Merged(merged.text)


def test_a_renumbered_item_without_an_id_can_be_closed_by_somebody_who_has_it_under_its_old_number() -> None:
    ours, theirs = by_multisphere("old"), asked(HEADER, 1, "theirs")
    merged = merge_file(INBOX, HEADER, ours, theirs, item_ids(theirs)).text or ""
    later, late = asked(merged, 3, "later"), closed(ours, "INB-001", 2)
    for pair in permutations((later, late)):
        done = merge_file(INBOX, ours, *pair, item_ids(later)).text or ""
        found = {item.title: (item.id, item.open) for item in Inbox.parse(done).items}
        assert found == {"theirs": ("INB-001", True), "later": ("INB-003", True), "old": ("INB-002", False)}


def test_an_item_without_an_id_that_mentions_a_renumbered_one_stays_one_item() -> None:
    theirs = asked(HEADER, 1, "theirs")
    ours = asked(HEADER, 2, "ours").replace(
        "## Closed", "- [ ] INB-002 @bob — first do INB-001  \n  added 2026-05-23 09:00 by bob\n\n## Closed"
    )
    merged = merge_file(INBOX, HEADER, ours, theirs, item_ids(theirs))
    assert titles(merged.text) == {"INB-001": "theirs", "INB-003": "ours", "INB-002": "first do INB-003"}
    for pair in permutations((merged.text, ours)):
        assert merge_file(INBOX, HEADER, *pair, item_ids(theirs)) == Merged(merged.text)


def test_two_equal_items_without_an_id_stay_two_when_one_is_renumbered() -> None:
    one = by_multisphere("twice")
    twice = one.replace("## Closed", f"{Inbox.parse(one).items[0].text}## Closed")
    theirs = asked(HEADER, 1, "theirs")
    merged = merge_file(INBOX, HEADER, twice, theirs, item_ids(theirs))
    assert titles(merged.text) == {"INB-001": "theirs", "INB-002": "twice", "INB-003": "twice"}
    assert merge_file(INBOX, HEADER, merged.text, twice, item_ids(theirs)) == Merged(merged.text)


def test_a_repeated_item_and_blank_lines_between_items_do_not_depend_on_the_side() -> None:
    once = asked(HEADER, 1, "once")
    twice = once.replace("## Closed", f"{Inbox.parse(once).items[0].text}\n\n## Closed")
    more = asked(once, 2, "more")
    merged = merge_file(INBOX, HEADER, twice, more)
    assert merged == merge_file(INBOX, HEADER, more, twice)
    assert [item.title for item in Inbox.parse(merged.text or "").items] == ["once", "more"]


# -- the journal ----------------------------------------------------------------------------------
def test_entries_of_both_sides_are_in_the_order_of_their_times() -> None:
    base = noted("", 0, "base")
    ours, theirs = noted(noted(base, 5, "b"), 9, "d"), noted(noted(base, 3, "a"), 7, "c")
    merged = merge_file(JOURNAL, base, ours, theirs)
    assert summaries(merged.text) == ["base", "a", "b", "c", "d"]
    assert not merged.conflicts


def test_two_entries_under_one_heading_stay_two() -> None:
    base = "# Journal\n\n"
    ours, theirs = noted(base, 1, "mine"), noted(base, 1, "yours")
    assert sorted(summaries(merge_file(JOURNAL, base, ours, theirs).text)) == ["mine", "yours"]
    heading = "## 2026-05-22 09:00 — bob (Bob)\n"
    merged = merge_file(JOURNAL, base, f"{base}{heading}mine\n", f"{base}{heading}yours\n")
    assert sorted(summaries(merged.text)) == ["mine", "yours"]


def test_new_files_on_both_sides_become_one() -> None:
    merged = merge_file(JOURNAL, None, noted("", 1, "a"), noted("", 2, "b"))
    assert summaries(merged.text) == ["a", "b"]
    assert (merged.text or "").startswith("# Journal\n\n## ")


def test_an_entry_that_both_edited_is_a_conflict_with_both_kept() -> None:
    base = noted(noted("", 0, "base"), 1, "other")
    merged = merge_file(JOURNAL, base, base.replace("base", "mine"), base.replace("base", "yours"))
    assert merged.conflicts == ("journal.md: '2026-05-22 14:30 — ann (Ann)'",)
    assert summaries(merged.text) == ["mine", "yours", "other"]


def test_an_entry_of_multisphere_that_both_edited_is_a_conflict_too() -> None:
    base = "# Journal\n\n## 2026-05-22 09:00 — bob (Bob)\nbase\n\n"
    merged = merge_file(JOURNAL, base, base.replace("base", "mine"), base.replace("base", "yours"))
    assert merged.conflicts == ("journal.md: '2026-05-22 09:00 — bob (Bob)'",)
    edited = merge_file(JOURNAL, base, base.replace("base", "mine"), noted(base, 1, "new"))
    assert (summaries(edited.text), edited.conflicts) == (["mine", "new"], ())


def test_an_edited_entry_survives_its_removal_and_an_unchanged_one_does_not() -> None:
    base = noted(noted("", 0, "first"), 1, "second")
    ours = noted("", 2, "new")
    assert summaries(merge_file(JOURNAL, base, ours, base.replace("first", "edited")).text) == ["edited", "new"]


def test_the_text_before_the_entries_may_be_changed_by_one_side() -> None:
    base = noted("", 0, "x")
    ours, theirs = noted(base, 1, "y"), base.replace("# Journal", "# Ours")
    assert (merge_file(JOURNAL, base, ours, theirs).text or "").startswith("# Ours\n\n## ")
    both = merge_file(JOURNAL, base, base.replace("# Journal", "# Theirs"), theirs)
    assert both.conflicts == ("journal.md: the text before the first entry",)


def test_a_file_with_windows_line_endings_keeps_them_and_gets_no_others() -> None:
    base = noted("# Journal\r\n\r\n", 0, "base")
    merged = merge_file(JOURNAL, base, noted(base, 1, "a"), noted(base, 2, "b")).text or ""
    assert merged.count("\r\n") == merged.count("\n")
    assert summaries(merged) == ["base", "a", "b"]
    unix = merge_file(JOURNAL, base, noted(base, 1, "a"), base.replace("\r\n", "\n")).text or ""
    assert "\r" not in unix
    assert summaries(unix) == ["base", "a"]


# -- the inbox ------------------------------------------------------------------------------------
def test_two_items_with_one_number_get_two_and_the_pushed_one_keeps_its_own() -> None:
    theirs, ours = asked("", 5, "theirs"), asked("", 1, "ours, earlier")
    merged = merge_file(INBOX, HEADER, ours, theirs, item_ids(theirs))
    assert titles(merged.text) == {"INB-001": "theirs", "INB-002": "ours, earlier"}
    (key,) = item_ids(ours)
    assert merged.renumbered == (Renumbered(key, "ours, earlier", "INB-001", "INB-002"),)
    assert titles(merge_file(INBOX, HEADER, ours, theirs).text) == {"INB-001": "ours, earlier", "INB-002": "theirs"}


@pytest.mark.parametrize(("changed", "left"), [(False, ["kept", "new"]), (True, ["kept", "other, changed", "new"])])
def test_an_item_that_one_side_removed_stays_if_the_other_changed_it(changed: bool, left: list[str]) -> None:
    without = asked("", 0, "kept")
    base = asked(without, 1, "other")
    other = asked(base.replace("— other", "— other, changed") if changed else base, 2, "new")
    for sides in ((without, other), (other, without)):
        assert sorted(titles(merge_file(INBOX, base, *sides).text).values()) == sorted(left)


def test_new_text_mentions_the_new_number_of_a_renumbered_item() -> None:
    base = asked("", 0, "old, see INB-002")
    ours = asked(asked(base, 1, "mine"), 2, "more on INB-002 and INB-0021", body="INB-002, not INB-001")
    ours = closed(ours, "INB-001", 3, resolution="same as INB-002")
    theirs = asked(base, 1, "theirs, INB-002")
    merged = merge_file(INBOX, base, ours, theirs, item_ids(theirs))
    assert titles(merged.text) == {
        "INB-001": "old, see INB-002",
        "INB-002": "theirs, INB-002",
        "INB-004": "mine",
        "INB-003": "more on INB-004 and INB-0021",
    }
    found = {item.id: item for item in Inbox.parse(merged.text or "").items}
    assert found["INB-003"].body == "INB-004, not INB-001"
    assert found["INB-001"].closings[0].resolution == "same as INB-004"


def test_a_rebase_continues_its_own_numbers() -> None:
    """The second of two commits is picked: the item of the first one was renumbered on our side, which has the pushed one."""
    base = asked("", 1, "one")
    theirs = asked(base, 2, "two", body="after INB-001")
    upstream = asked("", 5, "pushed")
    ours = merge_file(INBOX, HEADER, upstream, base, item_ids(upstream)).text
    assert titles(ours) == {"INB-001": "pushed", "INB-002": "one"}
    merged = merge_file(INBOX, base, ours, theirs, item_ids(upstream))
    assert titles(merged.text) == {"INB-001": "pushed", "INB-002": "one", "INB-003": "two"}
    assert [(each.old, each.new) for each in merged.renumbered] == [("INB-002", "INB-003")]
    assert "  after INB-002\n" in (merged.text or "")
    removed = merge_file(INBOX, base, ours, asked(HEADER, 2, "two"), item_ids(upstream))
    assert titles(removed.text) == {"INB-001": "pushed", "INB-003": "two"}


def test_an_item_with_two_numbers_gets_the_pushed_one_of_either_side() -> None:
    ours = asked("", 1, "x")
    theirs = asked(ours, 2, "y").replace("INB-001", "INB-007")
    pushed = item_ids(ours)
    for pair in permutations((ours, theirs)):
        assert titles(merge_file(INBOX, HEADER, *pair, pushed).text) == {"INB-001": "x", "INB-002": "y"}
        assert titles(merge_file(INBOX, HEADER, *pair).text) == {"INB-007": "x", "INB-002": "y"}


def test_a_copy_made_by_hand_stays_an_item_of_its_own() -> None:
    base = asked(asked("", 1, "one"), 2, "two")
    copy = Inbox.parse(base).items[0].text.replace("INB-001", "INB-003").replace("— one", "— copied")
    with_copy = base.replace("## Closed", f"{copy}## Closed")
    theirs = closed(asked(base, 3, "three"), "INB-001", 4)
    merged = merge_file(INBOX, base, with_copy, theirs, item_ids(theirs))
    assert titles(merged.text) == {"INB-001": "one", "INB-002": "two", "INB-003": "three", "INB-004": "copied"}
    later = merge_file(INBOX, with_copy, closed(with_copy, "INB-001", 5), asked(with_copy, 6, "new"))
    found = {item.id: (item.title, item.open) for item in Inbox.parse(later.text or "").items}
    assert found["INB-001"] == ("one", False)
    assert found["INB-003"] == ("copied", True)


def test_renumbering_skips_very_large_numbers() -> None:
    base = "# Inbox\n\n## Open\n\n- [ ] INB-999999999 — big\n\n- [ ] INB-1000000001 — bigger\n\n## Closed\n"
    ours, theirs = asked(base, 1, "ours"), asked(base, 2, "theirs")
    merged = merge_file(INBOX, base, ours, theirs, item_ids(theirs))
    assert titles(merged.text) == titles(theirs) | {"INB-1000000002": "ours"}
    assert titles(theirs)["INB-1000000000"] == "theirs"


def test_a_new_number_is_not_one_that_was_pushed_on_another_branch() -> None:
    ours, theirs = asked("", 1, "ours"), asked("", 2, "theirs")
    merged = merge_file(INBOX, HEADER, ours, theirs, item_ids(theirs) | {"on another branch": "INB-005"})
    assert titles(merged.text) == {"INB-001": "theirs", "INB-006": "ours"}


def test_numbers_that_multisphere_pushed_twice_stay() -> None:
    base = "# Inbox\n\n## Open\n\n- [ ] INB-001 @a — x  \n\n- [ ] INB-001 @a — y  \n\n## Closed\n"
    merged = merge_file(INBOX, base, asked(base, 1, "new"), asked(base, 2, "newer"), item_ids(base))
    assert [item.id for item in Inbox.parse(merged.text or "").items] == ["INB-001", "INB-001", "INB-002", "INB-003"]
    assert len(merged.renumbered) == 1


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: text.replace("a body", "another body"),
        lambda text: Inbox.parse(text).claim("INB-001", "eve", at(3)).text,
        lambda text: asked(text, 4, "new"),
        lambda text: HEADER,
    ],
)
def test_closed_beats_any_change_of_the_other_side(edit: Callable[[str], str]) -> None:
    base = asked(asked("", 0, "x", body="a body"), 0, "y")
    merged = merge_file(INBOX, base, edit(base), closed(base, "INB-001", 5))
    item = next(item for item in Inbox.parse(merged.text or "").items if item.id == "INB-001")
    assert not item.open
    assert not merged.conflicts
    assert (merged.text or "").count("INB-001") == 1


def test_the_earlier_of_two_closings_counts_and_the_other_is_kept() -> None:
    base = asked("", 0, "x")
    bob, eve, ann = (
        closed(base, "INB-001", minute, who, f"by {who}") for minute, who in ((7, "bob"), (3, "eve"), (3, "ann"))
    )
    merged = merge_file(INBOX, base, merge_file(INBOX, base, bob, eve).text, ann)
    (item,) = Inbox.parse(merged.text or "").items
    assert [done.by for done in item.closings] == ["ann", "eve", "bob"]
    assert "  closed 2026-05-22 14:33 by ann → by ann\n  also closed 2026-05-22 14:33 by eve → by eve\n" in (
        merged.text or ""
    )
    assert merge_file(INBOX, base, bob, eve).notes == (
        "INB-001 was closed more than once: the closing by eve counts, all are kept",
    )


def test_items_that_the_sides_closed_are_in_the_order_in_which_they_were_closed() -> None:
    base = asked(asked("", 0, "first"), 1, "second")
    mine, yours = closed(base, "INB-001", 9, "ann"), closed(base, "INB-002", 5, "zoe")
    merged = merge_file(INBOX, base, mine, yours)
    assert [item.id for item in Inbox.parse(merged.text or "").items if item.closings] == ["INB-002", "INB-001"]


def test_the_earlier_closing_is_determined_in_utc() -> None:
    base = asked("", 0, "x")
    east, west = (
        datetime(2026, 5, 22, 12 + hours, minute, tzinfo=timezone(timedelta(hours=hours)))
        for hours, minute in ((5, 50), (-5, 55))
    )
    late = Inbox.parse(base).close("INB-001", by="west", resolution="w", now=west).text
    early = Inbox.parse(base).close("INB-001", by="east", resolution="e", now=east).text
    once = merge_file(INBOX, base, late, early).text or ""
    assert [done.by for done in Inbox.parse(once).items[0].closings] == ["east", "west"]
    again = merge_file(INBOX, base, asked(once, 9, "y"), late).text or ""
    assert [done.by for done in Inbox.parse(again).items[-1].closings] == ["east", "west"]


def test_the_earlier_of_two_claims_counts() -> None:
    base = asked("", 0, "x")
    ours, theirs = (
        Inbox.parse(base).claim("INB-001", who, at(minute)).text for who, minute in (("bob", 9), ("eve", 3))
    )
    merged = merge_file(INBOX, base, ours, theirs)
    assert Inbox.parse(merged.text or "").items[0].claimed_by == "eve"
    assert merged.notes == ("INB-001 was claimed by eve before bob, so eve has it",)


def test_an_item_that_both_edited_is_a_conflict_with_both_kept() -> None:
    base = asked("", 0, "base")
    merged = merge_file(INBOX, base, base.replace("— base", "— mine"), base.replace("— base", "— yours"))
    assert merged.conflicts == ("inbox.md: INB-001",)
    assert [item.title for item in Inbox.parse(merged.text or "").items] == ["mine", "yours"]


def test_text_between_the_items_is_kept() -> None:
    base = "Read me.\n\n# Inbox\n\n## Notes\n- [ ] INB-500 — kept as text\n\n## Open\nintro\n\n- [ ] loose line\n\n## Closed\n"
    merged = merge_file(
        INBOX, base, asked(base, 1, "a"), asked(base, 2, "b").replace("## Closed", "## Closed\nold things")
    )
    text = merged.text or ""
    for piece in (
        "Read me.\n\n# Inbox\n\n## Notes\n- [ ] INB-500 — kept as text\n\n## Open\n",
        "intro\n\n",
        "- [ ] loose line\n\n",
        "old things",
    ):
        assert text.count(piece) == 1
    assert titles(text) == {"INB-501": "a", "INB-502": "b"}


def test_text_that_both_sides_changed_between_the_items_is_a_conflict_that_says_where() -> None:
    base = "Read me.\n\n## Open\nintro\n\n## Closed\n"
    before = merge_file(INBOX, base, base.replace("Read me.", "Mine."), base.replace("Read me.", "Yours."))
    assert before.conflicts == ("inbox.md: the text before the first section",)
    section = merge_file(INBOX, base, base.replace("intro", "mine"), base.replace("intro", "yours"))
    assert section.conflicts == ("inbox.md: the text of section 'Open'",)
    for merged, words in ((before, ("Mine.", "Yours.")), (section, ("mine", "yours"))):
        assert all(word in (merged.text or "") for word in words)
    for prefer, kept, lost in (("ours", "mine", "yours"), ("theirs", "yours", "mine")):
        one = merge_file(INBOX, base, base.replace("intro", "mine"), base.replace("intro", "yours"), {}, prefer)  # type: ignore[arg-type]
        assert one.conflicts == ()
        assert kept in (one.text or "")
        assert lost not in (one.text or "")


# -- other files ----------------------------------------------------------------------------------
def test_a_file_that_only_one_side_changed_is_taken_unchanged() -> None:
    base, odd = "# Inbox\n\n## Open\n\n## Closed\n", "x\r\n## Open\n\n\n\n- [ ] INB-1 — odd\r\n## Closed"
    for path in (JOURNAL, INBOX):
        assert merge_file(path, base, odd, base) == merge_file(path, base, base, odd) == Merged(odd)
        assert merge_file(path, None, odd, None) == merge_file(path, base, odd, odd) == Merged(odd)


def test_a_file_that_was_removed_stays_if_the_other_side_changed_it() -> None:
    assert merge_file(JOURNAL, "a", None, "a").text is None
    merged = merge_file(JOURNAL, "a", None, "b")
    assert (merged.text, len(merged.notes)) == ("b", 1)


def test_the_pointer_with_the_later_visit_wins() -> None:
    early, late = Pointer.at("a", at(1)).text, Pointer.at("b", at(2)).text
    for pair in permutations((early, late)):
        assert merge_file(".pointers/ann.json", None, *pair).text == late
    assert merge_file(".pointers/ann.json", "x", '{"torn', early).text == early


def test_protocol_files_are_known_by_their_paths() -> None:
    yes = ["journal.md", "inbox.md", "journal-archive/2026-05.md", ".pointers/ann.json"]
    no = [
        "drafts/journal.md",
        "journal-archive/x.md",
        ".pointers/a/b.json",
        "inbox.md/x",
        "README.md",
        ".pointers/.gitkeep",
    ]
    assert [is_protocol(path) for path in yes + no] == [True] * 4 + [False] * 6
    with pytest.raises(ValueError, match="README"):
        merge_file("README.md", None, "a", "b")
