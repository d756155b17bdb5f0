"""An item of the earlier tool, which has no id, stays the item that it is: a closing never moves to another one, and no
merge makes two of one."""

from itertools import permutations

import pytest

from cohabit.workspace.formats.inbox import HEADER, Inbox
from cohabit.workspace.merging.losses import losses
from cohabit.workspace.merging.merge import Merged, item_ids, merge_file

from .conftest import NOON

PATH = "inbox.md"


def box(*items: str, closed: str = "") -> str:
    return "\n".join(["# Inbox\n\n## Open\n", *items, f"## Closed\n{closed}"])


def item(title: str, number: int = 1, minute: int = 0, body: str = "") -> str:
    text = f"- [ ] INB-{number:03} @bob — {title}  \n  added 2026-05-01 09:{minute:02} by bob\n"
    return text + (f"  {body}\n" if body else "")


def close(text: str, id_: str = "INB-001", by: str = "eve") -> str:
    return Inbox.parse(text).close(id_, by=by, resolution="done", now=NOON).text


def states(text: str | None) -> dict[str, str]:
    """Titles, and which agent closed them; a title that is there twice fails."""
    found = [(item.title, item.closing.by if item.closing else "") for item in Inbox.parse(text or "").items]
    assert len(dict(found)) == len(found), found
    return dict(found)


@pytest.mark.parametrize(
    "used_again",
    [item("new"), item("new", minute=9), item("old", minute=9), item("new").replace("09:00 by bob", "09:00 by eve")],
)
def test_a_closing_stays_with_its_item_if_the_number_is_used_again(used_again: str) -> None:
    base, theirs = box(item("old", body="body")), box(used_again)
    ours = close(base)
    for pair in permutations((ours, theirs)):
        merged = merge_file(PATH, base, *pair, item_ids(theirs))
        found = {(each.title, each.added_at, each.id): each.open for each in Inbox.parse(merged.text or "").items}
        new, old = Inbox.parse(theirs).items[0], Inbox.parse(base).items[0]
        assert found == {(new.title, new.added_at, "INB-001"): True, (old.title, old.added_at, "INB-002"): False}
        for side in (ours, theirs, base):
            again = merge_file(PATH, base, merged.text, side, item_ids(theirs))
            assert again == Merged(merged.text)


def test_a_claim_stays_with_its_item_if_the_number_is_used_again() -> None:
    base, theirs = box(item("old")), box(item("new"))
    ours = Inbox.parse(base).claim("INB-001", "eve", NOON).text
    merged = merge_file(PATH, base, ours, theirs, item_ids(theirs)).text or ""
    assert {each.title: each.claimed_by for each in Inbox.parse(merged).items} == {"new": "", "old": "eve"}


def test_an_edited_item_without_an_id_is_still_closed_by_the_other_side() -> None:
    base = box(item("x", body="body"))
    for pair in permutations((base.replace("  body", "  another body"), close(base))):
        merged = merge_file(PATH, base, *pair)
        (found,) = Inbox.parse(merged.text or "").items
        assert (found.body, found.closing.by if found.closing else "") == ("another body", "eve")
        assert not merged.conflicts


def test_every_item_has_an_id_after_a_merge_and_everybody_gives_it_the_same() -> None:
    base = box(item("a"), item("b", 2), "- [ ] INB-003 – by hand", "- [ ] not an item")
    ours, theirs = close(base), base.replace("## Closed", f"{item('c', 4)}\n## Closed")
    merged = merge_file(PATH, base, ours, theirs).text or ""
    found = {each.id: each for each in Inbox.parse(merged).items}
    assert all(each.uid for each in found.values())
    assert {each.key for each in found.values()} == item_ids(ours).keys() | item_ids(theirs).keys()
    assert "- [ ] INB-003 – by hand\n  <!-- cohabit:" in merged
    assert "- [ ] not an item\n" in merged
    assert merge_file(PATH, base, theirs, ours).text == merged


def test_an_item_gets_its_id_when_it_is_closed_or_claimed_and_is_the_same_for_others() -> None:
    base = box(item("a"), item("b", 2))
    after = Inbox.parse(close(base)).claim("INB-002", "eve", NOON)
    assert {each.uid for each in after.items} == item_ids(base).keys()
    merged = merge_file(PATH, base, after.text, close(base, "INB-002", "ann")).text
    assert states(merged) == {"a": "eve", "b": "ann"}


def test_two_equal_items_stay_two_when_one_of_them_is_closed() -> None:
    base = box(item("twin"), item("twin"), item("twin"))
    keys = list(item_ids(base))
    once = close(base)
    assert sorted(each.key for each in Inbox.parse(once).items) == sorted(keys)
    twice = close(once)
    assert sorted(each.key for each in Inbox.parse(twice).items) == sorted(keys)
    merged = merge_file(PATH, base, twice, base.replace("# Inbox", "# Our inbox"))
    assert sorted(each.open for each in Inbox.parse(merged.text or "").items) == [False, False, True]


def test_an_item_that_was_edited_and_renumbered_is_not_doubled_when_its_side_is_merged_again() -> None:
    """Ours edited the item by hand; theirs removed it and used its number again. Ours then closes what it still has."""
    base, theirs = box(item("old", body="body")), box(item("new"))
    ours = base.replace("  body", "  edited")
    merged = merge_file(PATH, base, ours, theirs, item_ids(theirs)).text or ""
    assert states(merged) == {"new": "", "old": ""}
    later = close(ours)
    for pair in permutations((later, merged)):
        again = merge_file(PATH, ours, *pair, item_ids(merged))
        assert states(again.text) == {"new": "", "old": "eve"}
        assert item_ids(again.text) == item_ids(merged)


def test_an_item_beside_itself_under_its_old_number_becomes_one_again() -> None:
    """Plain git has merged by line a side that renumbered an item and one that closed it under its old number."""
    base, theirs = box(item("old")), box(item("new"))
    ours = base.replace("## Closed", f"{item('mine', 2)}\n## Closed")
    merged = merge_file(PATH, HEADER, ours, theirs, item_ids(theirs)).text or ""
    closed = Inbox.parse(close(base)).items[0].text
    doubled = merged + "".join(line for line in closed.splitlines(keepends=True) if "<!--" not in line)
    assert len(Inbox.parse(doubled).items) == 4
    more = merged.replace("## Closed", f"{item('more', 9)}\n## Closed")
    for pair in permutations((doubled, more)):
        result = merge_file(PATH, merged, *pair, item_ids(more))
        assert states(result.text) == {"new": "", "old": "eve", "mine": "", "more": ""}


def test_an_item_that_a_merge_by_line_left_open_and_closed_is_closed() -> None:
    base = Inbox.parse(HEADER).add(title="x", by="ann", now=NOON)[0].text
    both = close(base).replace("## Closed", f"{Inbox.parse(base).items[0].text}\n\n## Closed")
    other = Inbox.parse(base).add(title="y", by="ann", now=NOON)[0].text
    for pair in permutations((both, other)):
        assert states(merge_file(PATH, base, *pair).text) == {"x": "eve", "y": ""}


def test_restoring_a_lost_item_leaves_the_one_alone_that_has_its_number_by_now() -> None:
    before, after = close(box(item("old"))), box(item("new"))
    (loss,) = losses({PATH: [before]}, {PATH: after})
    assert (loss.kind, loss.was.id) == ("vanished", "INB-001")  # type: ignore[union-attr]
    restored = Inbox.parse(after).restore(loss.was)  # type: ignore[arg-type]
    assert states(restored.text) == {"new": "", "old": "eve"}
    assert losses({PATH: [before]}, {PATH: restored.text}) == []


def test_an_earlier_version_of_an_item_that_has_an_id_by_now_is_not_lost() -> None:
    first = box(item("x", body="body"))
    edited = first.replace("  body", "  edited")
    merged = merge_file(PATH, first, edited, close(first)).text or ""
    assert [loss.kind for loss in losses({PATH: [first, edited]}, {PATH: merged})] == ["edited"]
