"""Numbers of items: two items with one number, one item with two numbers, and text that mentions them."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from cohabit.workspace.formats.inbox import FIRST_UNCOUNTED, Inbox, free_numbers
from cohabit.workspace.formats.item import Item, changed, with_uid
from cohabit.workspace.formats.text import lines_of

Side = Mapping[str, Sequence[Item]]
"""The items of one side by key. Several items with one key are variants that were never decided."""
MENTION: Final = re.compile(r"\b[A-Z][A-Z0-9]*-[0-9]+\b")
ITEM_LINE: Final = re.compile(r"- \[.\] +(?:~~)?[A-Z][A-Z0-9]*-[0-9]+\b")


@dataclass(frozen=True, slots=True)
class Renumbered:
    """An item that was not pushed yet and got a new number, because its old one was taken."""

    key: str
    title: str
    old: str
    new: str


# -- items ----------------------------------------------------------------------------------------
def agree_on_ids(before: Side, here: Side, there: Side, pushed: Mapping[str, str]) -> dict[str, str]:
    """One id for each item: the pushed one, else that of the side that changed it; if both did, the larger one.

    Renumbering always gives a larger number, so the larger one is the later one, and merging twice changes nothing.
    """
    ids = {}
    for key in dict.fromkeys([*before, *here, *there]):
        old = before[key][0].id if key in before else ""
        found = [side[key][0] for side in (here, there) if key in side] or [before[key][0]]
        moved = [item for item in found if item.id != old]
        latest = max(moved or found, key=lambda item: (item.number < FIRST_UNCOUNTED, item.number, item.id))
        ids[key] = pushed.get(key) or latest.id
    return ids


def without_repaired(pushed: Mapping[str, str], before: Side, sides: Iterable[Side]) -> dict[str, str]:
    """The pushed ids, except for those that a side repaired: two items had one number there, and one got a new one."""
    times_used = Counter(pushed.values())
    repaired = {
        key
        for side in sides
        for key, found in side.items()
        if times_used[pushed.get(key, "")] > 1 and key in before and found[0].id != before[key][0].id == pushed[key]
    }
    return {key: id_ for key, id_ in pushed.items() if key not in repaired}


def with_ids(side: Side, ids: Mapping[str, str]) -> Side:
    """A side with these ids."""
    return {key: [changed(item, id=ids[key]) for item in found] for key, found in side.items()}


def with_uids(sides: Sequence[Side], pushed: Collection[str]) -> list[Side]:
    """The sides with unique ids: an item that has none on any side gets the digest that identifies it. If both sides
    gave it one, after one of them had edited it, the pushed one stays."""
    found_uids: dict[str, set[str]] = {}
    for side in sides:
        for key, found in side.items():
            found_uids.setdefault(key, set()).update(item.uid for item in found if item.uid)
    uids = {key: min(found, key=lambda uid: (uid not in pushed, uid)) for key, found in found_uids.items() if found}
    return [
        {key: [with_uid(item, uids.get(key, item.digest_uid)) for item in found] for key, found in side.items()}
        for side in sides
    ]


def renumber(merged: Side, before: Side, pushed: Mapping[str, str], inboxes: Iterable[Inbox]) -> list[Renumbered]:
    """Give new numbers to items that share one.

    A number that was pushed stays, even if Multisphere gave it twice. Otherwise the item that both sides had keeps it,
    else the earliest one. The others get the next free numbers in the order of their times.
    """
    moving = sorted(_losing_number(merged, before, pushed), key=lambda key: (merged[key][0].time, key))
    inboxes, elsewhere, free = list(inboxes), dict[str, set[int]](), dict[str, Iterator[int]]()
    for id_ in pushed.values() if moving else ():
        name, _, number = id_.rpartition("-")
        elsewhere.setdefault(name, set()).add(int(number))
    renumbered = []
    for key in moving:
        item = merged[key][0]
        prefix = item.id.rpartition("-")[0]
        if prefix not in free:
            taken = elsewhere.get(prefix, set()).union(*(inbox.numbers(prefix) for inbox in inboxes))
            free[prefix] = free_numbers(taken)
        renumbered.append(Renumbered(key, item.title, item.id, f"{prefix}-{next(free[prefix]):03d}"))
    return renumbered


def _losing_number(merged: Side, before: Side, pushed: Mapping[str, str]) -> list[str]:
    """The keys of the items that lose their number to another item."""
    holders: dict[str, list[str]] = {}
    for key, variants in merged.items():
        if variants[0].id:
            holders.setdefault(variants[0].id, []).append(key)
    moving = []
    for keys in holders.values():
        keys.sort(key=lambda key: (key not in pushed, key not in before, merged[key][0].time, key))
        moving += [key for key in keys[1:] if key not in pushed]
    return moving


def renumbered_side(before: Side, side: Side, other: Side, ids: Mapping[str, str]) -> Side:
    """A side with these ids, including in its new texts that mention the old ones."""
    moved = {key: found[0].id for key, found in side.items() if found[0].id != ids[key]}
    ours = {old: ids[key] for key, old in moved.items()}
    shared = {old: ids[key] for key, old in moved.items() if key in other and other[key][0].id == old}

    def renumbered(key: str, variants: Sequence[Item]) -> Iterator[Item]:
        # Text that the other side has too was not written for the ids of this side alone.
        names = shared if _texts(other, key) == _texts(side, key) else ours
        known = {closing for it in (*before.get(key, ()), *other.get(key, ())) for closing in it.closings}
        for item in variants:
            closings = tuple(
                closing if closing in known else replace(closing, resolution=with_new_ids(closing.resolution, ours))
                for closing in item.closings
            )
            texts = {"title": with_new_ids(item.title, names), "body": with_new_ids(item.body, names)}
            yield changed(item, id=ids[key], closings=closings, **({} if key in before else texts))

    return {key: [*renumbered(key, found)] if found[0].id else found for key, found in side.items()}


def _texts(side: Side, key: str) -> list[tuple[str, str]]:
    return [(item.title, item.body) for item in side.get(key, ())]


# -- text that mentions items ---------------------------------------------------------------------
def mentions(text: str, renumbered: Sequence[Renumbered]) -> bool:
    """True if a text mentions one of the items by its old id."""
    return not {each.old for each in renumbered}.isdisjoint(MENTION.findall(text))


def update_mentions(text: str, base: str | None, renumbered: Sequence[Renumbered]) -> str:
    """``text`` with the new ids in all lines that ``base``, the version of the others, does not have.

    The id at the beginning of an item line stays: merging has set it.
    """
    names = {each.old: each.new for each in renumbered}
    theirs = set(lines_of(base or ""))
    return "".join(line if line in theirs else _update_line(line, names) for line in lines_of(text))


def _update_line(line: str, names: Mapping[str, str]) -> str:
    item = ITEM_LINE.match(line)
    head = item.end() if item else 0
    return line[:head] + with_new_ids(line[head:], names)


def with_new_ids(text: str, names: Mapping[str, str]) -> str:
    """``text`` with every mention of an old id replaced, all at once."""
    return MENTION.sub(lambda found: names.get(found[0], found[0]), text)
