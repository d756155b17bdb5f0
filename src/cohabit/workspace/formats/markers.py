"""Conflict markers that git left in a file, and the versions between them.

    <<<<<<< ours
    our lines
    ||||||| base          (only in some styles)
    the common lines
    =======
    their lines
    >>>>>>> theirs

Text that an agent writes into an entry never looks like one: see ``text``.
"""

import re
from dataclasses import dataclass, field
from typing import Final

from cohabit.workspace.formats.text import lines_of

MARKER: Final = re.compile(r"^(?:<{7}|>{7})(?=[ \r\n]|\Z)", re.MULTILINE)
STARTS: Final = {"<<<<<<<": "ours", "|||||||": "base", "=======": "theirs", ">>>>>>>": ""}
"""The side that begins after each marker; "" is text of all sides."""
NEXT: Final = {"": ("ours",), "ours": ("base", "theirs"), "base": ("theirs",), "theirs": ("",)}
"""The sides that may follow each side."""


@dataclass(slots=True)
class Sides:
    """The versions of a file with conflict markers."""

    ours: list[str] = field(default_factory=list)
    base: list[str] = field(default_factory=list)
    theirs: list[str] = field(default_factory=list)
    first_line: int = 0
    """The line of the first marker; 0 if there is no complete conflict."""
    complete: bool = True
    """False if the last conflict has no end."""


def sides(text: str) -> Sides:
    """Each version of a file. Markers that are not in order are text."""
    found, side, began = Sides(), "", 0
    for number, line in enumerate(lines_of(text), 1):
        marker = line[:7] if line[7:8] in ("", " ", "\r", "\n") else ""
        if marker in STARTS and STARTS[marker] in NEXT[side]:
            side = STARTS[marker]
            began = number if side == "ours" else began
            if not side:
                found.first_line = found.first_line or began
            continue
        for name in (side,) if side else ("ours", "base", "theirs"):
            getattr(found, name).append(line)
    found.complete = not side
    return found


def first_conflict(text: str) -> int:
    """The line in which the first complete conflict begins; 0 if there is none."""
    return sides(text).first_line if _may_have_marker(text) and MARKER.search(text) else 0


def _may_have_marker(text: str) -> bool:
    """Found many times faster than a pattern that begins with the start of a line."""
    return "<<<<<<<" in text or ">>>>>>>" in text


def first_marker(text: str) -> int:
    """The line of the first marker, even of one that is left alone; 0 if there is none."""
    found = MARKER.search(text) if _may_have_marker(text) else None
    return text.count("\n", 0, found.start()) + 1 if found else 0
