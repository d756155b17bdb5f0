"""After a renumbering: the agent's own text that mentions the old number gets the new one."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from cohabit.workspace.formats.text import lines_of

MENTION: Final = re.compile(r"\b[A-Z][A-Z0-9]*-[0-9]+\b")
ITEM_LINE: Final = re.compile(r"- \[.\] +(?:~~)?[A-Z][A-Z0-9]*-[0-9]+\b")


@dataclass(frozen=True, slots=True)
class Renumbered:
    """An item that was not pushed yet and got another number, because its own was taken."""

    key: str
    title: str
    old: str
    new: str


def mend(text: str, base: str | None, renumbered: Sequence[Renumbered]) -> str:
    """``text`` with the new numbers, in the lines that ``base`` (what the others have) does not have.

    The number of an item itself is left alone: merging has set it.
    """
    names = {each.old: each.new for each in renumbered}
    theirs = set(lines_of(base or ""))
    return "".join(line if line in theirs else _mended_line(line, names) for line in lines_of(text))


def _mended_line(line: str, names: Mapping[str, str]) -> str:
    item = ITEM_LINE.match(line)
    head = item.end() if item else 0
    return line[:head] + mended(line[head:], names)


def mended(text: str, names: Mapping[str, str]) -> str:
    """``text`` with every mention of an old number replaced, all at once."""
    return MENTION.sub(lambda found: names.get(found[0], found[0]), text)
