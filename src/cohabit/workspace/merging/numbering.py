"""Numbers of items: two items with one number, one item with two, and the text that mentions them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from cohabit.workspace.formats import item as items
from cohabit.workspace.formats.inbox import UNCOUNTED, Inbox, free_numbers
from cohabit.workspace.formats.item import Item
from cohabit.workspace.merging.mend import Renumbered, mended

Side = Mapping[str, Sequence[Item]]
"""The items of one side by key. Several under one key are variants that were never decided."""


def agreed(before: Side, here: Side, there: Side, pushed: Mapping[str, str]) -> dict[str, str]:
    """One number for each item: the pushed one, else that of the side that changed it, of two that did the larger.

    An item that is renumbered gets a larger number, so that is the later one, and merging twice changes nothing.
    """
    ids = {}
    for key in dict.fromkeys([*before, *here, *there]):
        old = before[key][0].id if key in before else ""
        found = [side[key][0] for side in (here, there) if key in side] or [before[key][0]]
        changed = [item for item in found if item.id != old]
        ids[key] = pushed.get(key) or max(changed or found, key=_lateness).id
    return ids


def _lateness(item: Item) -> tuple[bool, int, str]:
    return item.number < UNCOUNTED, item.number, item.id


def with_ids(side: Side, ids: Mapping[str, str]) -> Side:
    """A side with these numbers."""
    return {key: [_written(item, id=ids[key]) for item in found] for key, found in side.items()}


def _written(item: Item, **changes: Any) -> Item:
    """An item with changes; written anew only where they change anything."""
    changed = replace(item, **changes)
    return item if changed == item else replace(changed, text=items.write(changed))


def renumber(joined: Side, before: Side, pushed: Mapping[str, str], inboxes: Iterable[Inbox]) -> list[Renumbered]:
    """Which items get which numbers.

    A number that was pushed stays, even where the earlier tool gave it twice. Of those that were not, the item that
    both sides had keeps it, else the earliest. The rest get the next free numbers in the order in which they came.
    """
    moving = sorted(_moving(joined, before, pushed), key=lambda key: (joined[key][0].time, key))
    inboxes, free = list(inboxes), dict[str, Iterator[int]]()
    renumbered = []
    for key in moving:
        item = joined[key][0]
        prefix = item.id.rpartition("-")[0]
        if prefix not in free:
            elsewhere = (id_.rpartition("-") for id_ in pushed.values())
            taken = {int(number) for name, _, number in elsewhere if name == prefix}
            free[prefix] = free_numbers(taken.union(*(inbox.numbers(prefix) for inbox in inboxes)))
        renumbered.append(Renumbered(key, item.title, item.id, f"{prefix}-{next(free[prefix]):03d}"))
    return renumbered


def _moving(joined: Side, before: Side, pushed: Mapping[str, str]) -> list[str]:
    """The keys of the items that lose their number to another."""
    holders: dict[str, list[str]] = {}
    for key, variants in joined.items():
        if variants[0].id:
            holders.setdefault(variants[0].id, []).append(key)
    moving = []
    for keys in holders.values():
        keys.sort(key=lambda key: (key not in pushed, key not in before, joined[key][0].time, key))
        moving += [key for key in keys[1:] if key not in pushed]
    return moving


def renumbered_side(before: Side, side: Side, other: Side, ids: Mapping[str, str]) -> Side:
    """A side with these numbers, also where what is new on it mentions the ones that it had."""
    moved = {key: found[0].id for key, found in side.items() if found[0].id != ids[key]}
    ours = {old: ids[key] for key, old in moved.items()}
    shared = {old: ids[key] for key, old in moved.items() if key in other and other[key][0].id == old}

    def of(key: str, item: Item) -> Item:
        # What the other side says in the same words was not written for our numbers alone.
        names = shared if _words(other, key) == _words(side, key) else ours
        known = {done for it in (*before.get(key, ()), *other.get(key, ())) for done in it.closings}
        closings = tuple(
            done if done in known else replace(done, resolution=mended(done.resolution, ours)) for done in item.closings
        )
        texts = {} if key in before else {"title": mended(item.title, names), "body": mended(item.body, names)}
        return _written(item, id=ids[key], closings=closings, **texts)

    return {key: [of(key, item) if item.id else item for item in variants] for key, variants in side.items()}


def _words(side: Side, key: str) -> list[tuple[str, str]]:
    return [(item.title, item.body) for item in side.get(key, ())]
