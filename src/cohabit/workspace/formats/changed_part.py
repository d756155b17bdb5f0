"""The part in which two versions of a journal differ.

A journal has thousands of entries, and nearly every change adds one at the end: what is asked about a change need not
be asked about all of them.
"""

from typing import Final

from cohabit.workspace.formats.journal import BLOCK_START

DATE_CHARS: Final = len("## 2026-05-22")


def changed_part(before: str, after: str) -> tuple[str, str]:
    """Both texts without the whole blocks that they have in common at their beginning and at their end."""
    start = _last_block(before, _common_start(before, after))
    rest = min(len(before), len(after)) - start
    same = _common_start(*(text[len(text) - rest :][::-1] for text in (before, after)))
    end = _first_block(before, len(before) - same)
    return before[start:end], after[start : len(after) - (len(before) - end)]


def _common_start(one: str, other: str) -> int:
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _last_block(text: str, end: int) -> int:
    """The start of the last block whose date is before ``end``; 0 if there is none."""
    at = end - DATE_CHARS
    while at > 0 and (at := text.rfind("\n## ", 0, at + 3)) >= 0:  # finds it before ``at`` only
        if BLOCK_START.match(text, at + 1):
            return at + 1
    return 0


def _first_block(text: str, start: int) -> int:
    """The start of the first block after ``start``, of which the line break before it is part of the common text; the
    end of the text if there is none."""
    at = start
    while (at := text.find("\n## ", at)) >= 0:
        if BLOCK_START.match(text, at + 1):
            return at + 1
        at += 1
    return len(text)
