"""Numbers of items: two items with one number, one item with two, and the text that mentions them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from cohabit.workspace.formats import item as items
from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.item import Item
from cohabit.workspace.merging.mend import Renumbered, mended

Side = Mapping[str, Sequence[Item]]
"""The items of one side by key. Several under one key are variants that were never decided."""


def agreed(here: Side, there: Side, pushed: Collection[str]) -> tuple[Side, Side]:
    """Both sides with one number for each item that both have: theirs if it was pushed, else the smaller."""
    ids = {}
    for key in here.keys() & there.keys():
        found = there[key] if key in pushed else (*here[key], *there[key])
        ids[key] = min(found, key=lambda item: (item.number, item.id)).id
    return _with_ids(here, ids), _with_ids(there, ids)


def _with_ids(side: Side, ids: Mapping[str, str]) -> Side:
    return {key: [_written(item, id=ids.get(key, item.id)) for item in found] for key, found in side.items()}


def _written(item: Item, **changes: Any) -> Item:
    """An item with changes; written anew only where they change anything."""
    changed = replace(item, **changes)
    return item if changed == item else replace(changed, text=items.write(changed))


def renumber(joined: Side, settled: Collection[str], inboxes: Iterable[Inbox]) -> list[Renumbered]:
    """Which items get which numbers.

    A number that others have seen (``settled`` keys) stays, even where the earlier tool gave it twice; of those that
    nobody has seen the earliest item keeps it. The rest get the next free numbers in the order in which they came.
    """
    moving = sorted(_moving(joined, settled), key=lambda key: (joined[key][0].time, key))
    inboxes, used = list(inboxes), dict[str, int]()
    renumbered = []
    for key in moving:
        item = joined[key][0]
        prefix = item.id.rpartition("-")[0]
        if prefix not in used:
            used[prefix] = max(int(inbox.next_id(prefix).rpartition("-")[2]) for inbox in inboxes) - 1
        used[prefix] += 1
        renumbered.append(Renumbered(key, item.title, item.id, f"{prefix}-{used[prefix]:03d}"))
    return renumbered


def _moving(joined: Side, settled: Collection[str]) -> list[str]:
    """The keys of the items that lose their number to another."""
    holders: dict[str, list[str]] = {}
    for key, variants in joined.items():
        if variants[0].id:
            holders.setdefault(variants[0].id, []).append(key)
    moving = []
    for keys in holders.values():
        keys.sort(key=lambda key: (key not in settled, joined[key][0].time, key))
        moving += [key for key in keys[1:] if key not in settled]
    return moving


def renumbered_side(before: Side, side: Side, other: Side, renumbered: Sequence[Renumbered]) -> Side:
    """A side with the new numbers, also where what is new on it mentions the old ones."""
    new = {each.key: each.new for each in renumbered}
    ours = {each.old: each.new for each in renumbered if each.key in side}
    shared = {each.old: each.new for each in renumbered if each.key in side and each.key in other}

    def of(key: str, item: Item) -> Item:
        names = shared if key in other else ours  # what the other side has too was not written for our numbers
        known = {done for it in (*before.get(key, ()), *other.get(key, ())) for done in it.closings}
        closings = tuple(
            done if done in known else replace(done, resolution=mended(done.resolution, ours)) for done in item.closings
        )
        texts = {} if key in before else {"title": mended(item.title, names), "body": mended(item.body, names)}
        return _written(item, id=new.get(key, item.id), closings=closings, **texts)

    return {key: [of(key, item) if item.id else item for item in variants] for key, variants in side.items()}
