"""Merging two inboxes by item.

The content of an item (target, title, body) and its state (claimed, closed) are merged separately, so closing an item
that another agent edits is not a conflict. Closed beats open. The earlier of two closings counts and the other is kept
below it; of two claims the earlier one counts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from cohabit.errors import TooLarge
from cohabit.workspace.formats import item as items
from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.item import Claim, Closing, Item
from cohabit.workspace.formats.quoting import named, quoted
from cohabit.workspace.formats.text import with_blank_line, without_trailing_blanks
from cohabit.workspace.limits import MAX_MERGE_VARIANTS
from cohabit.workspace.merging import numbering
from cohabit.workspace.merging.ordering import by_author, in_order
from cohabit.workspace.merging.three_way import Merged, Prefer, by_key, merge_members, merge_text, merge_variants

SECTIONS = ("Open", "Closed")


@dataclass(slots=True)
class Findings:
    """The report of a merge."""

    conflicts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def merge_inbox(base: str, ours: str, theirs: str, pushed: Mapping[str, str], prefer: Prefer = None) -> Merged:
    before, mine, other = inboxes = [Inbox.parse(text) for text in (base, ours, theirs)]
    keys: dict[str, str] = {}
    was, here, there = numbering.with_uids([_by_key(inbox, before, keys) for inbox in inboxes], pushed)
    pushed = {**pushed, **{keys[key]: pushed[key] for key in keys if key in pushed}}
    pushed = numbering.without_repaired(pushed, was, (here, there))
    ids = numbering.agree_on_ids(was, here, there, pushed)
    # Ids do not depend on ``prefer``: when that is decided, other files already mention them.
    merged = _merge_items(
        numbering.with_ids(was, ids), numbering.with_ids(here, ids), numbering.with_ids(there, ids), Findings()
    )
    renumbered = numbering.renumber(merged, was, pushed, inboxes)
    ids |= {each.key: each.new for each in renumbered}
    found = Findings()
    left, right = numbering.renumbered_side(was, here, there, ids), numbering.renumbered_side(was, there, here, ids)
    kept = _merge_items(numbering.with_ids(was, ids), left, right, found, prefer)
    frame = _merge_frames(before, mine, other, found, prefer)
    text = _put_together(frame, kept, before, (left, right))
    return Merged(text, tuple(sorted(found.conflicts)), tuple(renumbered), tuple(sorted(found.notes)))


def _by_key(inbox: Inbox, base: Inbox, keys: dict[str, str]) -> numbering.Side:
    """The items of a side, each once and without the blank lines after it: the result has one. ``keys`` gets the keys
    in this merge of those that have another key in their file."""
    side: dict[str, list[Item]] = {}
    entries = _entries(inbox)
    single = _without_doubles(entries)
    keys |= {item.key: one.key for item, one in zip(entries, single, strict=True) if one.key != item.key}
    for key, variants in by_key(single, _entries(base)).items():
        keys |= {item.key: key for item in variants if item.key != key}
        found = [replace(item, key=key, text=without_trailing_blanks(item.text)) for item in variants]
        side[key] = _each_once(found) if len(found) > 1 else found
    return side


def _each_once(variants: Sequence[Item]) -> list[Item]:
    """Variants that say the same become one: a merge by line may leave an item both open and closed, or under its old
    and its new number."""
    same: dict[tuple[str, ...], list[Item]] = {}
    for item in variants:
        said = (item.target, item.title, item.body, item.added_at, item.added_by) if item.id else (item.text,)
        same.setdefault(said, []).append(item)
    return [_one_of(found) if len(found) > 1 and found[0].id else found[0] for found in same.values()]


def _one_of(doubles: Sequence[Item]) -> Item:
    best = max(doubles, key=lambda item: (item.uid, -item.number, item.text))
    closings = items.sort_closings(closing for item in doubles for closing in item.closings)
    claims = sorted((item.claim for item in doubles if item.claim), key=lambda claim: claim.order)
    whole = replace(best, claim=claims[0] if claims else None, closings=closings)
    section = "Closed" if closings else "Open"
    return best if whole == best else replace(whole, text=items.write(whole), section=section)


def _entries(inbox: Inbox) -> list[Item]:
    """Items and other list entries of Open and Closed."""
    return [item for section in inbox.sections for item in section.items]


def _without_doubles(found: Sequence[Item]) -> list[Item]:
    """An item that got an id and a number, beside itself without the id, is one item: plain git merged it by line."""
    without_id = {item.key for item in found if not item.uid}
    return [replace(item, key=item.uid) if item.uid in without_id else item for item in found]


# -- items ----------------------------------------------------------------------------------------
def _merge_items(
    before: numbering.Side, here: numbering.Side, there: numbering.Side, found: Findings, prefer: Prefer = None
) -> dict[str, Sequence[Item]]:
    keys = dict.fromkeys([*before, *here, *there])
    merged = {
        key: _merge_item(before.get(key, ()), here.get(key, ()), there.get(key, ()), found, prefer) for key in keys
    }
    return {key: variants for key, variants in merged.items() if variants}


def _merge_item(
    was: Sequence[Item], mine: Sequence[Item], other: Sequence[Item], found: Findings, prefer: Prefer
) -> Sequence[Item]:
    """One item, or its variants if both sides changed its content."""
    before, here, there = ({(item.text, item.section) for item in side} for side in (was, mine, other))
    if here in (before, there):
        return other
    if there == before or not other:
        return mine
    if not mine:
        return other
    return _merge_changed_item(was, mine, other, found, prefer)


def _merge_changed_item(
    was: Sequence[Item], mine: Sequence[Item], other: Sequence[Item], found: Findings, prefer: Prefer
) -> Sequence[Item]:
    by_content = {_content(item): item for item in (*was, *mine, *other)}
    before, here, there = ({_content(item) for item in side} for side in (was, mine, other))
    contents, conflict = merge_variants(before, here, there, prefer)
    name = mine[0].id or quoted(mine[0].text)
    if conflict:
        found.conflicts.append(f"inbox.md: {name}")
    claim = _merge_claims(was, mine, other, name, found)
    closings = _merge_closings(was, mine, other, name, found)
    if len(contents) * len(closings) > MAX_MERGE_VARIANTS:
        raise TooLarge(
            f"{name} is too large to be merged: {len(contents)} versions of it and {len(closings)} closings; keep one "
            "version by hand"
        )
    merged = (replace(by_content[each], id=mine[0].id, claim=claim, closings=closings) for each in sorted(contents))
    return [replace(item, text=items.write(item)) if item.id else item for item in merged]


def _content(item: Item) -> tuple[str, ...]:
    """An item without its id and its state."""
    content = (item.target, item.title, item.body, item.uid, item.added_at, item.added_by, item.added_utc)
    return content if item.id else (item.text,)


def _merge_claims(
    was: Sequence[Item], mine: Sequence[Item], other: Sequence[Item], name: str, found: Findings
) -> Claim | None:
    before, here, there = ({item.claim for item in side if item.claim} for side in (was, mine, other))
    claims = sorted(merge_members(before, here, there), key=lambda claim: claim.order)
    found.notes += [
        f"{name} was claimed by {named(claims[0].by)} before {named(late.by)}, so {named(claims[0].by)} has it"
        for late in claims[1:]
    ]
    return claims[0] if claims else None


def _merge_closings(
    was: Sequence[Item], mine: Sequence[Item], other: Sequence[Item], name: str, found: Findings
) -> tuple[Closing, ...]:
    before, here, there = ({closing for item in side for closing in item.closings} for side in (was, mine, other))
    kept = merge_members(before, here, there)
    # Two equal closings may differ in their UTC time, so they are taken from the items and not from `kept`.
    closings = items.sort_closings(closing for item in (*mine, *other) for closing in item.closings if closing in kept)
    if len(closings) > max(len(here), len(there)):
        first = named(closings[0].by) if closings[0].by else "hand"
        found.notes.append(f"{name} was closed more than once: the closing by {first} counts, all are kept")
    return closings


# -- the rest of the file -------------------------------------------------------------------------
@dataclass(slots=True)
class Frame:
    """The text that is not part of an item: before the sections, and in each section, in order."""

    preamble: str
    texts: dict[str, str]


def _frame(inbox: Inbox) -> Frame:
    texts: dict[str, list[str]] = {}
    for section in inbox.sections:
        text = section.heading.partition("\n")[2] if section.name in SECTIONS else section.heading
        texts.setdefault(section.name, []).append(with_blank_line(text))
    return Frame(inbox.preamble, {name: "".join(parts) for name, parts in texts.items()})


def _merge_frames(was: Inbox, mine: Inbox, other: Inbox, found: Findings, prefer: Prefer) -> Frame:
    before, here, there = _frame(was), _frame(mine), _frame(other)
    preamble, conflict = merge_text(before.preamble, here.preamble, there.preamble, prefer=prefer)
    if conflict:
        found.conflicts.append("inbox.md: the text before the first section")
    names = in_order([*before.texts, *SECTIONS], dict.fromkeys([*SECTIONS, *here.texts, *there.texts], ""))
    merged = Frame(preamble, {})
    for name in names:
        text, conflict = merge_text(*(frame.texts.get(name, "") for frame in (before, here, there)), prefer=prefer)
        if conflict:
            found.conflicts.append(f"inbox.md: the text of section {quoted(name)}")
        if text or name in SECTIONS:
            merged.texts[name] = text
    return merged


def _put_together(frame: Frame, kept: numbering.Side, was: Inbox, sides: Sequence[numbering.Side]) -> str:
    pieces = [frame.preamble]
    for name, text in frame.texts.items():
        if name in SECTIONS:
            pieces += [f"## {name}\n", text, *_items_of(name, kept, was, sides)]
        else:
            pieces.append(text)
    return without_trailing_blanks("".join(with_blank_line(piece) for piece in pieces)) + "\n"


def _items_of(name: str, kept: numbering.Side, was: Inbox, sides: Sequence[numbering.Side]) -> list[str]:
    """The items of a section: those that were in it keep their order, the others follow by time. Open items of one
    agent stay in the order of that agent."""
    times = {key: _time_in(name, variants) for key, variants in kept.items() if _section(variants[0]) == name}
    before = _by_key(was, was, {})
    stayed = [key for key, variants in before.items() if _section(variants[0]) == name]
    sequences = [each for side in sides for each in by_author(side, _opener)] if name == "Open" else []
    undated = {key for key in times if not any(item.added_utc for item in kept[key])}
    return [item.text for key in in_order(stayed, times, sequences, undated) for item in kept[key]]


def _section(item: Item) -> str:
    if not item.id:
        return item.section
    return "Closed" if item.closings else "Open"


def _opener(item: Item) -> str:
    return item.added_by if item.id else ""


def _time_in(name: str, variants: Sequence[Item]) -> str:
    if name == "Open":
        return min(item.time for item in variants)
    return min(item.closings[0].order[0] if item.closings else "" for item in variants)
