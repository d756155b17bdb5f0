"""journal-archive/YYYY-MM.md: months of the journal that are over, moved out so that the journal stays short.

An entry is moved as it stands; what people wrote below one of ours stays. Merged with somebody who wrote on meanwhile,
it is gone from the journal on one side and untouched on the other, so it is gone; and what they wrote stays.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from cohabit.errors import BadArgs
from cohabit.workspace.formats.journal import HEADING, Block, Journal
from cohabit.workspace.formats.text import end_of_line, with_ends, with_gap, without_gap

FOLDER: Final = "journal-archive"
MONTH: Final = re.compile(r"[0-9]{4}-(?:0[1-9]|1[0-2])")


@dataclass(frozen=True, slots=True)
class Archived:
    """The journal that is left, and the whole new text of every month's file."""

    journal: str
    months: Mapping[str, str]
    entries: int


def path_of(month: str) -> str:
    return f"{FOLDER}/{month}.md"


def archive(text: str, before: str, archived: Callable[[str], str | None]) -> Archived:
    """Move all entries of months before ``before`` (``YYYY-MM``); ``archived`` gives the text a path has now."""
    if not MONTH.fullmatch(before):
        raise BadArgs(f"before is a month like 2026-05, not {before[:80]!r}")
    journal = Journal.parse(text)
    moving = [block for block in journal.blocks if (month := month_of(block)) and month < before]
    months: dict[str, list[Block]] = {}
    for block in moving:
        months.setdefault(month_of(block), []).append(block)
    moved = {id(block) for block in moving}
    left = journal.preamble + "".join(block.below if id(block) in moved else block.text for block in journal.blocks)
    return Archived(
        left,
        {path_of(month): _with(archived(path_of(month)), month, blocks) for month, blocks in sorted(months.items())},
        len(moving),
    )


def month_of(block: Block) -> str:
    """The month an entry's heading names; "" for what is no entry."""
    heading = HEADING.fullmatch(block.heading)
    return heading[1][:7] if heading else ""


def _with(text: str | None, month: str, blocks: list[Block]) -> str:
    """A month's file with more entries; those it has already are not put in twice."""
    text = text or f"# Journal {month}\n\n"
    known, eol = {(block.key, without_gap(block.own)) for block in Journal.parse(text).blocks}, end_of_line(text)
    for block in blocks:
        if (block.key, without_gap(block.own)) not in known:
            text = with_gap(text, eol) + with_gap(with_ends(block.own.replace("\r\n", "\n"), eol), eol)
    return text
