"""The changes of a protocol file that an agent may make: it adds its own entries, and leaves those of others alone.

The rule is checked where an agent gives a whole text (``write``, ``resolve``) or a file that another program may have
written (``add``). An entry that is published never changes, not even by its own author. Text outside of entries may
change.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Final

from cohabit.workspace.formats import INBOX
from cohabit.workspace.formats.changed_part import changed_part
from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.item import Item
from cohabit.workspace.formats.journal import Block, Journal
from cohabit.workspace.formats.quoting import named
from cohabit.workspace.formats.text import without_trailing_blanks
from cohabit.workspace.merging.merge import JOURNAL_PATH, POINTER_PATH
from cohabit.workspace.person.identity import Identity

Known = Callable[[str], bool]
NOBODY: Final = Identity("nobody", "Nobody", "nobody@invalid")


def foreign_changes(
    path: str,
    before: str | None,
    after: str | None,
    who: Identity | None,
    *,
    allowed: Sequence[str] = (),
    kept_in: Sequence[str] = (),
    free: Collection[str] = (),
    known: Known = lambda content: False,
) -> list[str]:
    """The changes from ``before``, the published text, to ``after`` that are not new entries of ``who``, in words.

    Entries of the texts ``allowed`` may appear, and those of the texts ``kept_in`` count as kept: archiving moves
    entries from one file to another. Entries with the keys ``free`` are in conflict and may change. ``known`` tells
    whether the tools wrote this content in this clone, for another agent that works in it too.
    """
    who = who or NOBODY
    if path == INBOX:
        return list(_inbox_changes(before, after, who, allowed, free, known))
    if JOURNAL_PATH.fullmatch(path):
        return list(_journal_changes(before, after, who, allowed, kept_in, free, known))
    if POINTER_PATH.fullmatch(path):
        return list(_pointer_changes(path, before, after, who, known))
    return []


def differing(path: str, ours: str, theirs: str) -> set[str]:
    """The keys of entries that both sides have with different contents."""
    sides: list[dict[str, str]] = []
    for text in (ours, theirs):
        if path == INBOX:
            sides.append({item.key: _item_content(item) for item in Inbox.parse(text).items})
        else:
            sides.append({block.key: block.own_content for block in Journal.parse(text).blocks})
    return {key for key, content in sides[0].items() if sides[1].get(key, content) != content}


def changes_line_ends(path: str, before: str, after: str) -> bool:
    """True if a published entry or item has only other line ends, for which git takes its lines for new ones."""
    if ("\r" not in before and "\r" not in after) or POINTER_PATH.fullmatch(path):
        return False
    old, new = (_own_texts(path, text) for text in (before, after))
    changed = ((old[key], text) for key, text in new.items() if old.get(key, text) != text)
    return any(one.replace("\r\n", "\n") == other.replace("\r\n", "\n") for one, other in changed)


def _own_texts(path: str, text: str) -> dict[str, str]:
    if path == INBOX:
        return {item.key: without_trailing_blanks(item.text) for item in Inbox.parse(text).items}
    return {block.key: without_trailing_blanks(block.own) for block in Journal.parse(text).blocks}


# -- journal --------------------------------------------------------------------------------------
def _journal_changes(
    before: str | None,
    after: str | None,
    who: Identity,
    allowed: Sequence[str],
    kept_in: Sequence[str],
    free: Collection[str],
    known: Known,
) -> Iterator[str]:
    if _adds_known_entries(before or "", after or "", known):
        return
    old = {block.own_content: block for block in Journal.parse(before).blocks}
    may = {*old, *(block.own_content for text in allowed for block in Journal.parse(text).blocks)}
    new = list(Journal.parse(after).blocks)
    kept = {block.own_content for block in (*new, *(b for text in kept_in for b in Journal.parse(text).blocks))}
    keys = {block.key for block in new}
    published = {block.key for block in old.values()}
    for content, block in old.items():
        if content not in kept and block.key not in keys:
            yield f"it removes {_entry_name(block)}"
    for block in new:
        content = block.own_content
        if content in may or block.key in free or known(content):
            continue
        entry = block.entry
        if block.key in published:
            yield f"it changes {_entry_name(block)}, which is published"
        elif entry is None or (entry.agent_id, entry.agent_name) != (who.agent_id, who.agent_name):
            yield f"it adds {_entry_name(block)}, which is not yours"


def _adds_known_entries(before: str, after: str, known: Known) -> bool:
    """True if the change only adds entries that the tools wrote, as nearly every change does. That is found out without
    looking at the other entries."""
    old, new = ({block.own_content for block in Journal.parse(text).blocks} for text in changed_part(before, after))
    return old <= new and all(known(content) for content in new - old)


def _entry_name(block: Block) -> str:
    return f"the entry {block.heading.removeprefix('## ')[:100]!r}"


# -- inbox ----------------------------------------------------------------------------------------
def _inbox_changes(
    before: str | None, after: str | None, who: Identity, allowed: Sequence[str], free: Collection[str], known: Known
) -> Iterator[str]:
    old = {item.key: item for item in Inbox.parse(before).items}
    new = Inbox.parse(after).items
    may = {_item_content(item) for text in (before or "", *allowed) for item in Inbox.parse(text).items}
    keys = {item.key for item in new}
    for key, item in old.items():
        if key not in keys:
            yield f"it removes {item.id}"
    for item in new:
        content = _item_content(item)
        if content in may or item.key in free or known(content):
            continue
        was = old.get(item.key)
        yield from _new_item(item, who) if was is None else _changed_item(was, item, who)


def _new_item(item: Item, who: Identity) -> Iterator[str]:
    names = (item.added_by, item.claimed_by, *(closing.by for closing in item.closings))
    if others := _others(names, who):
        yield f"it adds {item.id} in the name of {named(others[0])}"


def _changed_item(was: Item, item: Item, who: Identity) -> Iterator[str]:
    if original(was) != original(item):
        yield f"it changes {item.id}, which is published"
    closed = set(item.closings) - set(was.closings)
    if others := _others((closing.by for closing in closed), who):
        yield f"it closes {item.id} in the name of {named(others[0])}"
    reopened = set(was.closings) - set(item.closings)
    if reopened and was.added_by != who.agent_id and _others((closing.by for closing in reopened), who):
        yield f"it reopens {item.id}, which only the agent that added or closed it may do"
    if item.claim != was.claim:
        names = [claim.by for claim in (was.claim, item.claim) if claim and not (claim is was.claim and item.closings)]
        if others := _others(names, who):
            yield f"it changes the claim of {named(others[0])} on {item.id}"


def original(item: Item) -> tuple[str, ...]:
    """The fields that never change once an item is published."""
    return item.id, item.target, item.title, item.body, item.added_at, item.added_by, item.added_utc


def _item_content(item: Item) -> str:
    return without_trailing_blanks(item.text.replace("\r\n", "\n"))


def _others(names: Iterable[str], who: Identity) -> list[str]:
    """The names that are not the agent's own. A box that was ticked by hand has no name."""
    return [name for name in names if name not in ("", who.agent_id)]


# -- pointers -------------------------------------------------------------------------------------
def _pointer_changes(path: str, before: str | None, after: str | None, who: Identity, known: Known) -> Iterator[str]:
    if path == f".pointers/{who.agent_id}.json" or after == before:
        return
    if after is None or not known(pointer_content(path, after)):
        yield f"it changes how far {named(path.removeprefix('.pointers/').removesuffix('.json'))} has read"


def pointer_content(path: str, text: str) -> str:
    """The text that ``known`` is asked about for a pointer: with its path, as it means something else elsewhere."""
    return without_trailing_blanks(f"{path}\n{text}")
