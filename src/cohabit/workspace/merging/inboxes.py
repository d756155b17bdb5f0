"""Merging two inboxes by item.

What an item says (for whom, title, body) is one thing; that it is claimed or closed is another, so closing an item
that somebody else edits is no conflict. Closed beats open. Of two closings the earlier counts and the other is kept
below it; of two claims the earlier counts.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from cohabit.workspace.formats import item as items
from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.item import Claim, Closing, Item
from cohabit.workspace.formats.text import with_gap, without_gap
from cohabit.workspace.merging.merged import Merged, by_key, in_order, merge_text
from cohabit.workspace.merging.numbering import Side, agreed, renumber, renumbered_side
from cohabit.workspace.merging.variants import is_conflict, join, members

SECTIONS = ("Open", "Closed")


@dataclass(slots=True)
class Findings:
    """What there is to tell about a merge."""

    conflicts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def merge_inbox(base: str, ours: str, theirs: str, pushed: Collection[str] = ()) -> Merged:
    was, mine, other = inboxes = [Inbox.parse(text) for text in (base, ours, theirs)]
    before, left, right = (by_key(_all(inbox), _all(was), lambda item: item.id) for inbox in inboxes)
    here, there = agreed(left, right, pushed)
    renumbered = renumber(_joined(before, here, there, Findings()), {*pushed, *before}, inboxes)
    found = Findings()
    mended, others = renumbered_side(before, here, there, renumbered), renumbered_side(before, there, here, renumbered)
    kept = _joined(before, mended, others, found)
    frame = _merge_frames(was, mine, other, found)
    text = _put_together(frame, kept, was)
    return Merged(text, tuple(sorted(found.conflicts)), tuple(renumbered), tuple(sorted(found.notes)))


def _all(inbox: Inbox) -> list[Item]:
    """Items and loose lines of Open and Closed."""
    return [item for section in inbox.sections for item in section.items]


# -- items ----------------------------------------------------------------------------------------
def _joined(before: Side, here: Side, there: Side, found: Findings) -> dict[str, Sequence[Item]]:
    keys = dict.fromkeys([*before, *here, *there])
    joined = {key: _join(before.get(key, ()), here.get(key, ()), there.get(key, ()), found) for key in keys}
    return {key: variants for key, variants in joined.items() if variants}


def _join(was: Sequence[Item], mine: Sequence[Item], other: Sequence[Item], found: Findings) -> Sequence[Item]:
    """One item, or the variants of one where both sides changed what it says."""
    before, here, there = ({(without_gap(item.text), item.section) for item in side} for side in (was, mine, other))
    if here in (before, there):
        return other
    if there == before or not other:
        return mine
    if not mine:
        return other
    return _join_changed(was, mine, other, found)


def _join_changed(was: Sequence[Item], mine: Sequence[Item], other: Sequence[Item], found: Findings) -> Sequence[Item]:
    said = {_saying(item): item for item in (*was, *mine, *other)}
    before, here, there = ({_saying(item) for item in side} for side in (was, mine, other))
    joined = join(before, here, there)
    name = mine[0].id or without_gap(mine[0].text)
    if is_conflict(joined, here, there):
        found.conflicts.append(f"inbox.md: {name}")
    claim = _join_claims(was, mine, other, name, found)
    closings = _join_closings(was, mine, other, name, found)
    merged = (replace(said[each], id=mine[0].id, claim=claim, closings=closings) for each in sorted(joined))
    return [replace(item, text=items.write(item)) if item.id else item for item in merged]


def _saying(item: Item) -> tuple[str, ...]:
    """What an item says, apart from its number and from what became of it."""
    what = (item.target, item.title, item.body, item.uid, item.added_at, item.added_by, item.added_utc)
    return what if item.id else (without_gap(item.text),)


def _join_claims(
    was: Sequence[Item], mine: Sequence[Item], other: Sequence[Item], name: str, found: Findings
) -> Claim | None:
    before, here, there = ({item.claim for item in side if item.claim} for side in (was, mine, other))
    claims = sorted(members(before, here, there), key=lambda claim: claim.order)
    found.notes += [
        f"{name} was claimed by {claims[0].by} before {late.by}: it is {claims[0].by}'s" for late in claims[1:]
    ]
    return claims[0] if claims else None


def _join_closings(
    was: Sequence[Item], mine: Sequence[Item], other: Sequence[Item], name: str, found: Findings
) -> tuple[Closing, ...]:
    before, here, there = ({done for item in side for done in item.closings} for side in (was, mine, other))
    kept = members(before, here, there)
    # `kept` cannot tell which of two equal closings knows its UTC time; the items can.
    closings = items.ordered(done for item in (*mine, *other) for done in item.closings if done in kept)
    if len(closings) > max(len(here), len(there)):
        found.notes.append(f"{name} was closed more than once: the closing by {closings[0].by} counts, all are kept")
    return closings


# -- the rest of the file -------------------------------------------------------------------------
@dataclass(slots=True)
class Frame:
    """All that is no item: the text before the sections, and of each section, in their order."""

    preamble: str
    texts: dict[str, str]


def _frame(inbox: Inbox) -> Frame:
    texts: dict[str, list[str]] = {}
    for section in inbox.sections:
        said = section.heading.partition("\n")[2] if section.name in SECTIONS else section.heading
        texts.setdefault(section.name, []).append(with_gap(said))
    return Frame(inbox.preamble, {name: "".join(said) for name, said in texts.items()})


def _merge_frames(was: Inbox, mine: Inbox, other: Inbox, found: Findings) -> Frame:
    before, here, there = _frame(was), _frame(mine), _frame(other)
    preamble, clash = merge_text(before.preamble, here.preamble, there.preamble)
    if clash:
        found.conflicts.append("inbox.md: the text before the first section")
    names = in_order([*before.texts, *SECTIONS], dict.fromkeys([*SECTIONS, *here.texts, *there.texts], ""))
    merged = Frame(preamble, {})
    for name in names:
        text, clash = merge_text(*(frame.texts.get(name, "") for frame in (before, here, there)))
        if clash:
            found.conflicts.append(f"inbox.md: the text of section {name}")
        if text or name in SECTIONS:
            merged.texts[name] = text
    return merged


def _put_together(frame: Frame, kept: Side, was: Inbox) -> str:
    pieces = [frame.preamble]
    for name, text in frame.texts.items():
        if name in SECTIONS:
            pieces += [f"## {name}\n", text, *_items_of(name, kept, was)]
        else:
            pieces.append(text)
    return without_gap("".join(with_gap(piece) for piece in pieces)) + "\n"


def _items_of(name: str, kept: Side, was: Inbox) -> list[str]:
    """The items of a section: those that were in it stay in their order, the others follow as they came or closed."""
    times = {key: _time_in(name, variants) for key, variants in kept.items() if _place(variants[0]) == name}
    before = by_key(_all(was), _all(was), lambda item: item.id)
    stayed = [key for key, variants in before.items() if _place(variants[0]) == name]
    return [item.text for key in in_order(stayed, times) for item in kept[key]]


def _place(item: Item) -> str:
    if not item.id:
        return item.section
    return "Closed" if item.closings else "Open"


def _time_in(name: str, variants: Sequence[Item]) -> str:
    if name == "Open":
        return min(item.time for item in variants)
    return min(item.closings[0].order[0] if item.closings else "" for item in variants)
