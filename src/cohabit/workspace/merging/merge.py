"""Merging two versions of a protocol file by what it says, never by line.

Entries and items are known by their keys. A file that only one side changed is taken as it is, to the byte; else it
is put together entry by entry. Entries that both had stay in their order; new ones follow by UTC time, then by key,
so everybody who merges the same things gets the same file.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.journal import Journal
from cohabit.workspace.formats.paths import INBOX
from cohabit.workspace.formats.pointers import later
from cohabit.workspace.formats.text import end_of_line, with_ends
from cohabit.workspace.merging.inboxes import merge_inbox
from cohabit.workspace.merging.journals import merge_journal
from cohabit.workspace.merging.mend import Renumbered
from cohabit.workspace.merging.merged import Merged, Prefer

__all__ = ["Merged", "Prefer", "Renumbered", "is_protocol", "item_ids", "merge_file", "pushed_in", "said_in"]

JOURNAL: Final = re.compile(r"journal\.md|journal-archive/[0-9]{4}-[0-9]{2}\.md")
NOTHING: Final = MappingProxyType[str, str]({})
POINTER: Final = re.compile(r"\.pointers/[^/]+\.json")


def is_protocol(path: str) -> bool:
    """Whether this is a file whose format we know how to merge."""
    return path == INBOX or JOURNAL.fullmatch(path) is not None or POINTER.fullmatch(path) is not None


def item_ids(text: str | None) -> dict[str, str]:
    """The number of each item of an inbox, by its key."""
    return {item.key: item.id for item in Inbox.parse(text or "").items}


def pushed_in(path: str, text: str | None) -> dict[str, str]:
    """The numbers that are settled once the remote has ``text`` at ``path``: those of items in the inbox."""
    return item_ids(text) if path == INBOX else {}


def said_in(path: str, text: str | None) -> set[str]:
    """The keys of what a protocol file holds: entries of a journal, items of the inbox; of any other file none."""
    if path == INBOX:
        return set(item_ids(text))
    return {block.key for block in Journal.parse(text or "").blocks} if JOURNAL.fullmatch(path) else set()


def merge_file(
    path: str,
    base: str | None,
    ours: str | None,
    theirs: str | None,
    pushed: Mapping[str, str] = NOTHING,
    prefer: Prefer = None,
) -> Merged:
    """Merge one protocol file; None is a file that is not there.

    ``pushed`` are the items that the upstream has, by key, and their numbers: those never change.
    ``prefer`` decides what conflicts: of such an entry, and of nothing else, that side's version is taken.
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
    inbox = path == INBOX
    merged = merge_inbox(was, mine, other, pushed, prefer) if inbox else merge_journal(path, was, mine, other, prefer)
    return replace(merged, text=with_ends(merged.text or "", _ends(base, ours, theirs)))


def _ends(base: str | None, ours: str, theirs: str) -> str:
    r"""How the merged file ends its lines: as whoever changed it does, and ``\r\n`` where two new files differ."""
    ends = {end_of_line(ours), end_of_line(theirs)}
    return max(ends if base is None else ends - {end_of_line(base)} or ends, key=len)
