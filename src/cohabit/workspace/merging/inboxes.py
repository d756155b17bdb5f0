"""Merging two inboxes by item.

What an item says (for whom, title, body) is one thing; that it is claimed or closed is another, so closing an item
that somebody else edits is no conflict. Closed beats open. Of two closings the earlier counts and the other is kept
below it; of two claims the earlier counts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from cohabit.workspace.formats import item as items
from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.item import Claim, Closing, Item
from cohabit.workspace.formats.text import with_gap, without_gap
from cohabit.workspace.merging.merged import Merged, Prefer, by_key, in_order, merge_text, settle
from cohabit.workspace.merging.numbering import Side, agreed, renumber, renumbered_side, with_ids
from cohabit.workspace.merging.variants import members

SECTIONS = ("Open", "Closed")


@dataclass(slots=True)
class Findings:
    """What there is to tell about a merge."""

    conflicts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def merge_inbox(base: str, ours: str, theirs: str, pushed: Mapping[str, str], prefer: Prefer = None) -> Merged:
    was, mine, other = inboxes = [Inbox.parse(text) for text in (base, ours, theirs)]
    before, left, right = (by_key(_all(inbox), _all(was), lambda item: item.id) for inbox in inboxes)
    ids = agreed(before, left, right, pushed)
    # Numbers do not depend on who is preferred: that is decided when our other files speak of them already.
    joined = _joined(with_ids(before, ids), with_ids(left, ids), with_ids(right, ids), Findings())
    renumbered = renumber(joined, before, pushed, inboxes)
    ids |= {each.key: each.new for each in renumbered}
    found = Findings()
    mended, others = renumbered_side(before, left, right, ids), renumbered_side(before, right, left, ids)
    kept = _joined(with_ids(before, ids), mended, others, found, prefer)
    frame = _merge_frames(was, mine, other, found, prefer)
    text = _put_together(frame, kept, was)
    return Merged(text, tuple(sorted(found.conflicts)), tuple(renumbered), tuple(sorted(found.notes)))


def _all(inbox: Inbox) -> list[Item]:
    """Items and loose lines of Open and Closed."""
    return [item for section in inbox.sections for item in section.items]


# -- items ----------------------------------------------------------------------------------------
def _joined(before: Side, here: Side, there: Side, found: Findings, prefer: Prefer = None) -> dict[str, Sequence[Item]]:
    keys = dict.fromkeys([*before, *here, *there])
    joined = {key: _join(before.get(key, ()), here.get(key, ()), there.get(key, ()), found, prefer) for key in keys}
    return {key: variants for key, variants in joined.items() if variants}


def _join(
    was: Sequence[Item], mine: Sequence[Item], other: Sequence[Item], found: Findings, prefer: Prefer
) -> Sequence[Item]:
    """One item, or the variants of one where both sides changed what it says."""
    before, here, there = ({(without_gap(item.text), item.section) for item in side} for side in (was, mine, other))
    if here in (before, there):
        return other
    if there == before or not other:
        return mine
    if not mine:
        return other
    return _join_changed(was, mine, other, found, prefer)


def _join_changed(
    was: Sequence[Item], mine: Sequence[Item], other: Sequence[Item], found: Findings, prefer: Prefer
) -> Sequence[Item]:
    said = {_saying(item): item for item in (*was, *mine, *other)}
    before, here, there = ({_saying(item) for item in side} for side in (was, mine, other))
    joined, clash = settle(before, here, there, prefer)
    name = mine[0].id or without_gap(mine[0].text)
    if clash:
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


def _merge_frames(was: Inbox, mine: Inbox, other: Inbox, found: Findings, prefer: Prefer) -> Frame:
    before, here, there = _frame(was), _frame(mine), _frame(other)
    preamble, clash = merge_text(before.preamble, here.preamble, there.preamble, prefer=prefer)
    if clash:
        found.conflicts.append("inbox.md: the text before the first section")
    names = in_order([*before.texts, *SECTIONS], dict.fromkeys([*SECTIONS, *here.texts, *there.texts], ""))
    merged = Frame(preamble, {})
    for name in names:
        text, clash = merge_text(*(frame.texts.get(name, "") for frame in (before, here, there)), prefer=prefer)
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
