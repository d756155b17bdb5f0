"""Merging two versions of a protocol file by its entries, never by line.

Entries and items are identified by keys. A file that only one side changed is taken unchanged, to the byte; otherwise
it is built entry by entry. Entries that both sides had keep their order; new ones follow by UTC time and key, but those
of one author always in the author's order. So everybody who merges the same versions gets the same file.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from cohabit.errors import TooLarge
from cohabit.workspace.formats import INBOX
from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.journal import Block, Journal
from cohabit.workspace.formats.pointers import later
from cohabit.workspace.formats.quoting import quoted
from cohabit.workspace.formats.text import line_ending, with_blank_line, with_line_ending
from cohabit.workspace.limits import MAX_MERGE_CHARS, MAX_MERGE_ENTRIES
from cohabit.workspace.merging.inboxes import merge_inbox
from cohabit.workspace.merging.numbering import Renumbered
from cohabit.workspace.merging.ordering import by_author, in_order
from cohabit.workspace.merging.three_way import Merged, Prefer, by_key, merge_text, merge_variants

__all__ = ["Merged", "Prefer", "Renumbered", "entry_keys", "is_protocol", "item_ids", "merge_file", "pushed_ids"]

JOURNAL_PATH: Final = re.compile(r"journal\.md|journal-archive/[0-9]{4}-[0-9]{2}\.md")
POINTER_PATH: Final = re.compile(r"\.pointers/[^/]+\.json")
NO_IDS: Final = MappingProxyType[str, str]({})


def is_protocol(path: str) -> bool:
    """True if this is a protocol file, which is merged by entry."""
    return path == INBOX or JOURNAL_PATH.fullmatch(path) is not None or POINTER_PATH.fullmatch(path) is not None


def item_ids(text: str | None) -> dict[str, str]:
    """The id of each item of an inbox, by key."""
    return {item.key: item.id for item in Inbox.parse(text).items}


def pushed_ids(path: str, text: str | None) -> dict[str, str]:
    """The ids that can no longer change once the remote has ``text`` at ``path``."""
    return item_ids(text) if path == INBOX else {}


def entry_keys(path: str, text: str | None) -> set[str]:
    """The keys of all entries of a journal or items of the inbox; empty for any other file."""
    if path == INBOX:
        return set(item_ids(text))
    return {block.key for block in Journal.parse(text).blocks} if JOURNAL_PATH.fullmatch(path) else set()


def merge_file(
    path: str,
    base: str | None,
    ours: str | None,
    theirs: str | None,
    pushed: Mapping[str, str] = NO_IDS,
    prefer: Prefer = None,
) -> Merged:
    """Merge one protocol file; None is a file that does not exist. Raises TooLarge beyond the limits of a merge.

    ``pushed`` are the item ids that the remote has, by key: those never change.
    ``prefer`` decides conflicts: for an entry that conflicts, and for no other, that side's version is taken.
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
            notes=(f"{quoted(path)} was removed on one side and changed on the other: it stays",),
        )
    if POINTER_PATH.fullmatch(path):
        return Merged(later(ours, theirs))
    check_size(path, (base or "", ours, theirs))
    before, mine, other = ((text or "").replace("\r\n", "\n") for text in (base, ours, theirs))
    if path == INBOX:
        merged = merge_inbox(before, mine, other, pushed, prefer)
    else:
        merged = merge_journal(path, before, mine, other, prefer)
    return replace(merged, text=with_line_ending(merged.text or "", _line_ending(base, ours, theirs)))


def check_size(path: str, texts: Iterable[str]) -> None:
    """A bound on the input bounds time and memory, because both grow with it almost linearly."""
    for text in texts:
        entries = text.count("\n## ") + (text.count("\n- [") if path == INBOX else 0)
        if len(text) > MAX_MERGE_CHARS or entries > MAX_MERGE_ENTRIES:
            raise TooLarge(
                f"{quoted(path)} is too large to be merged by entry: {len(text)} characters, {entries} entries; the "
                f"limits are {MAX_MERGE_CHARS} and {MAX_MERGE_ENTRIES}"
            )


def _line_ending(base: str | None, ours: str, theirs: str) -> str:
    r"""The line ending of the merged file: that of the side that changed it, and ``\r\n`` if two new files differ."""
    endings = {line_ending(ours), line_ending(theirs)}
    return max(endings if base is None else endings - {line_ending(base)} or endings, key=len)


# -- journals -------------------------------------------------------------------------------------
def merge_journal(path: str, base: str, ours: str, theirs: str, prefer: Prefer = None) -> Merged:
    before, mine, other = Journal.parse(base), Journal.parse(ours), Journal.parse(theirs)
    sides = [by_key(journal.blocks, before.blocks) for journal in (before, mine, other)]
    preamble, conflict = merge_text(before.preamble, mine.preamble, other.preamble, prefer=prefer)
    conflicts = [f"{path}: the text before the first entry"] if conflict else []
    kept: dict[str, list[Block]] = {}
    for key in dict.fromkeys(key for side in sides for key in side):
        was, here, there = ({block.content for block in side.get(key, ())} for side in sides)
        contents, conflict = merge_variants(was, here, there, prefer)
        found = [block for side in sides for block in side.get(key, ()) if block.content in contents]
        if conflict:
            conflicts.append(f"{path}: {quoted(found[0].heading.removeprefix('## '))}")
        if contents:
            kept[key] = _each_once(found)
    times = {key: min(block.time for block in blocks) for key, blocks in kept.items()}
    sequences = [each for side in sides[1:] for each in by_author(side, lambda block: block.author)]
    undated = {key for key, blocks in kept.items() if not any(block.utc for block in blocks)}
    order = in_order(sides[0], times, sequences, undated)
    text = preamble + "".join(with_blank_line(block.text) for key in order for block in kept[key])
    return Merged(text, tuple(sorted(conflicts)))


def _each_once(blocks: list[Block]) -> list[Block]:
    """One block for each content, the one with most blank lines after it, in an order that both sides agree on."""
    longest: dict[str, Block] = {}
    for block in sorted(blocks, key=lambda block: (len(block.text), block.text)):
        longest[block.content] = block
    return [longest[content] for content in sorted(longest)]
