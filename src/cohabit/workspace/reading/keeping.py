"""Whether a new version of a protocol file still has everything that the old one had.

Nearly every change adds an entry, closes an item or claims it. That has to be found out quickly, because it is asked
about every change; what to make of the others is decided in ``losses``.
"""

from typing import Final

from cohabit.workspace.formats import INBOX
from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.journal import BLOCK_START, Journal
from cohabit.workspace.merging.ownership import original

DATE_CHARS: Final = len("## 2026-05-22")


def keeps(path: str, before: str, after: str) -> bool:
    """Whether ``after`` has every entry or item of ``before`` as it was first published."""
    return _keeps_items(before, after) if path == INBOX else _keeps_entries(before, after)


def _keeps_items(before: str, after: str) -> bool:
    here = {item.key: item for item in Inbox.parse(after).items}
    for item in Inbox.parse(before).items:
        now = here.get(item.key)
        if now is not item and (now is None or original(now)[1:] != original(item)[1:]):
            return False
    return True


def _keeps_entries(before: str, after: str) -> bool:
    return _has_pieces(*_differing(before, after)) or _has_pieces(before, after)


def _has_pieces(before: str, after: str) -> bool:
    old, new = (set(Journal(text).pieces[1:]) for text in (before, after))
    lacking = old - new
    return not lacking or {piece.rstrip("\n") for piece in lacking} <= {piece.rstrip("\n") for piece in new}


def _differing(before: str, after: str) -> tuple[str, str]:
    """Both texts without the whole blocks that they have in common at their beginning and at their end."""
    start = _last_block(before, _common_start(before, after))
    rest = min(len(before), len(after)) - start
    same = _common_end(before, after, rest)
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


def _common_end(one: str, other: str, limit: int) -> int:
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if one[len(one) - middle : len(one) - low] == other[len(other) - middle : len(other) - low]:
            low = middle
        else:
            high = middle - 1
    return low


def _last_block(text: str, end: int) -> int:
    """Where the last block begins whose date is before ``end``; 0 if there is none."""
    at = end - DATE_CHARS
    while at > 0 and (at := text.rfind("\n## ", 0, at + 3)) >= 0:  # finds it before ``at`` only
        if BLOCK_START.match(text, at + 1):
            return at + 1
    return 0


def _first_block(text: str, start: int) -> int:
    """Where the first block after ``start`` begins, of which the line break before it is part of the common text; the
    end of the text if there is none."""
    at = start
    while (at := text.find("\n## ", at)) >= 0:
        if BLOCK_START.match(text, at + 1):
            return at + 1
        at += 1
    return len(text)
