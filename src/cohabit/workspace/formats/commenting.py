"""Hidden comments for entries and items that an agent wrote as text, in the format of Multisphere or by hand.

With its id and its exact time an entry is merged as if ``journal_append`` had written it.
"""

from datetime import datetime

from cohabit.workspace.formats import INBOX
from cohabit.workspace.formats import item as items
from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.journal import Journal
from cohabit.workspace.formats.stamps import Hidden, later_than
from cohabit.workspace.formats.text import line_ending, without_trailing_blanks


def with_comments(path: str, before: str, text: str, agent_id: str, now: datetime) -> str:
    """``text`` with a comment in every entry or item of this agent that ``before`` does not have."""
    return (_inbox if path == INBOX else _journal)(before, text, agent_id, now)


def _journal(before: str, text: str, agent_id: str, now: datetime) -> str:
    known, journal = {block.key for block in Journal.parse(before).blocks}, Journal.parse(text)
    pieces, eol, last = [journal.preamble], line_ending(text), ""
    for block in journal.blocks:
        piece = block.text
        if block.author == agent_id and not block.uid and block.key not in known:
            content, last = without_trailing_blanks(piece), later_than(last, now)
            comment = Hidden(block.key, {"at": last}).text
            piece = f"{content}{eol}{comment}{piece[len(content) :] or eol}"
        elif block.author == agent_id:
            last = max(last, block.time)
        pieces.append(piece)
    return "".join(pieces)


def _inbox(before: str, text: str, agent_id: str, now: datetime) -> str:
    known, inbox = {item.key for item in Inbox.parse(before).items}, Inbox.parse(text)
    last = max((item.added_utc for item in inbox.items if item.added_by == agent_id), default="")
    pieces = [inbox.preamble]
    for section in inbox.sections:
        pieces.append(section.heading)
        for item in section.items:
            mine = item.id and item.added_by == agent_id and not item.uid and item.key not in known
            last = later_than(last, now) if mine else last
            pieces.append((items.with_uid(item, item.digest_uid, last) if mine else item).text)
    return "".join(pieces)
