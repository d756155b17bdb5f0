"""Merging two versions of a protocol file by what it says, never by line.

Entries and items are known by their keys. A file that only one side changed is taken as it is, to the byte; else it
is put together entry by entry. Entries that both had stay in their order; new ones follow by UTC time, then by key,
so everybody who merges the same things gets the same file.
"""

import re
from collections.abc import Collection
from dataclasses import replace
from typing import Final

from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.pointers import later
from cohabit.workspace.formats.text import end_of_line, with_ends
from cohabit.workspace.merging.inboxes import merge_inbox
from cohabit.workspace.merging.journals import merge_journal
from cohabit.workspace.merging.mend import Renumbered
from cohabit.workspace.merging.merged import Merged

__all__ = ["Merged", "Renumbered", "is_protocol", "item_keys", "merge_file"]

JOURNAL: Final = re.compile(r"journal\.md|journal-archive/[0-9]{4}-[0-9]{2}\.md")
POINTER: Final = re.compile(r"\.pointers/[^/]+\.json")


def is_protocol(path: str) -> bool:
    """Whether this is a file whose format we know how to merge."""
    return path == "inbox.md" or JOURNAL.fullmatch(path) is not None or POINTER.fullmatch(path) is not None


def item_keys(text: str | None) -> set[str]:
    """The keys of all items of an inbox."""
    return {item.key for item in Inbox.parse(text or "").items}


def merge_file(
    path: str, base: str | None, ours: str | None, theirs: str | None, pushed: Collection[str] = ()
) -> Merged:
    """Merge one protocol file; None is a file that is not there.

    ``pushed`` are the keys of the items that the upstream has: their numbers never change.
    """
    if not is_protocol(path):
        raise ValueError(f"{path} is not a protocol file")
    if ours == theirs or base == theirs:
        return Merged(ours)
    if base == ours:
        return Merged(theirs)
    if ours is None or theirs is None:
        return Merged(
            theirs if ours is None else ours,
            notes=(f"{path} was removed on one side and changed on the other: it stays",),
        )
    if POINTER.fullmatch(path):
        return Merged(later(ours, theirs))
    was, mine, other = ((text or "").replace("\r\n", "\n") for text in (base, ours, theirs))
    inbox = path == "inbox.md"
    merged = merge_inbox(was, mine, other, pushed) if inbox else merge_journal(path, was, mine, other)
    return replace(merged, text=with_ends(merged.text or "", _ends(base, ours, theirs)))


def _ends(base: str | None, ours: str, theirs: str) -> str:
    r"""How the merged file ends its lines: as whoever changed it does, and ``\r\n`` where two new files differ."""
    ends = {end_of_line(ours), end_of_line(theirs)}
    return max(ends if base is None else ends - {end_of_line(base)} or ends, key=len)
