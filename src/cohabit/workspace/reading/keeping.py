"""Whether a new version of a protocol file still has everything that the old one had.

Nearly every change adds an entry, closes an item or claims it. That has to be found out quickly, because it is asked
about every change; what to make of the others is decided in ``losses``.
"""

from cohabit.workspace.formats import INBOX
from cohabit.workspace.formats.changed_part import changed_part
from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.journal import Journal
from cohabit.workspace.merging.ownership import original


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
    return _has_pieces(*changed_part(before, after)) or _has_pieces(before, after)


def _has_pieces(before: str, after: str) -> bool:
    old, new = (set(Journal(text).pieces[1:]) for text in (before, after))
    lacking = old - new
    return not lacking or {piece.rstrip("\n") for piece in lacking} <= {piece.rstrip("\n") for piece in new}
