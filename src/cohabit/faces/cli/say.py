"""What the command line prints: one style, and nothing in it that could play tricks on a terminal."""

import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from cohabit.errors import CohabitError

_TOKEN = re.compile(r"[A-Za-z0-9_-]{32,}")
_NEXT = {
    "UNAUTHORIZED": "Set COHABIT_TOKEN or give --token; whoever owns the data folder can make one: "
    "`cohabit token new NAME --host`.",
    "UNREACHABLE": "Is it running? `cohabit serve` starts a house; --url says where it is.",
    "UNKNOWN_ROOM": "`cohabit rooms` lists those you may know of.",
    "RECORD_CORRUPT": "`cohabit verify` shows which rooms are whole; a backup can take the folder's place.",
}
"""What to do next, for the errors whose message cannot know that it is read on a command line."""


class UsageError(Exception):
    """The command line was not understood."""


def clean(text: object, lines: bool = False) -> str:
    """Text that others wrote, without control characters: it cannot move the cursor or forge a line."""
    return "".join(c if c.isprintable() or (lines and c == "\n") else ("⏎" if c == "\n" else "·") for c in str(text))


def in_lines(text: str) -> str:
    """The same for a text of several lines: all but the first are indented, so that none of them can be forged."""
    return "\n  ".join(filter(None, clean(text, lines=True).split("\n")))


def in_one_line(refusal: CohabitError, hints: Mapping[str, str] = _NEXT) -> str:
    """An error, its hints and what to do next."""
    text = refusal.as_text()
    parts = [text if text.endswith((".", "?", "!")) else text + "."]
    if refusal.code in hints and "`cohabit" not in refusal.message:
        parts.append(hints[refusal.code])
    return " ".join(parts)


def complain(text: str, *, secret: bool = True, lines: bool = False) -> None:
    """What went wrong, on stderr, in one line; with ``lines`` in several, all but the first indented.

    Something as long as a token is never shown, except where there can be none (``secret=False``): names of files
    and commits are as long.
    """
    shown = _TOKEN.sub("[hidden]", text) if secret else text
    print(f"cohabit: {in_lines(shown) if lines else clean(shown)}", file=sys.stderr, flush=True)


def tell(text: str = "") -> None:
    """A line for the reader, at once."""
    print(text, flush=True)


def looked_at() -> bool:
    """Whether a person sees what is printed. There is no stdout at all where it was closed (``>&-``)."""
    return sys.stdout is not None and sys.stdout.isatty()


def paint(style: str, text: str) -> str:
    """Colour, where somebody looks at it."""
    codes = {"dim": "2", "bold": "1", "green": "32", "red": "31", "cyan": "36"}
    if not looked_at() or os.environ.get("NO_COLOR"):
        return text
    return f"\x1b[{codes[style]}m{text}\x1b[0m"


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Columns under headings."""
    cells = [[clean("" if cell is None else cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in [list(headings), *cells]) for i in range(len(headings))]
    lines = [_columns(headings, widths)] + [_columns(row, widths) for row in cells]
    return "\n".join([paint("bold", lines[0]), *lines[1:]])


def _columns(row: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def moment(at: int, day: bool = False) -> str:
    """A time as people here read it."""
    return datetime.fromtimestamp(at / 1000, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S" if day else "%H:%M:%S")


def event(at: int, room: str, who: str, text: str) -> str:
    """One thing that happened."""
    place = f"{clean(room):<10} " if room else ""
    return f"{paint('dim', moment(at))} {place}{paint('cyan', f'{clean(who):<18}')} {clean(text)}"


def feed_event(item: dict[str, Any], room: str = "") -> str:
    """The same, of a feed item as the wire sends it."""
    return event(item["at"], room, item.get("by") or "-", item["text"])


def view_text(text: str) -> str:
    """The world, set apart from what happens in it."""
    return "\n".join(paint("bold", "  | " + line) for line in clean(text, lines=True).split("\n"))
