"""The output of the command line: one style, without control characters from other members."""

import os
import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cohabit.errors import CohabitError, RecordCorrupt

_TOKEN = re.compile(r"[A-Za-z0-9_-]{32,}")
_NEXT = {
    "UNAUTHORIZED": "Set COHABIT_TOKEN or pass --token. The owner of the data folder can create a token with "
    "`cohabit token new NAME --host`.",
    "UNREACHABLE": "Start a house with `cohabit serve`, or give its address with --url.",
    "UNKNOWN_COMMAND": "`cohabit call rules` lists the commands of a room.",
    "UNKNOWN_ROOM": "`cohabit rooms` lists your rooms.",
    "RECORD_CORRUPT": "`cohabit verify` shows which rooms are intact; restore the others from a backup.",
}
"""The next step on the command line, by error code."""
OTHER_RULES = (
    "If the rules of its world have changed, the record is intact: name a file with the old rules with --world to "
    "verify or replay it, use `cohabit rebind ROOM OLD.py` to play on by them, or create a new room."
)
"""Advice for a record that does not replay, perhaps because the rules of its world have changed."""
_UNTRUSTED = "Its certificate is not trusted here: set SSL_CERT_FILE to the certificate that signed it."


class UsageError(Exception):
    """The command line was not understood."""


def clean(text: object, lines: bool = False) -> str:
    """Remove control characters from other members' text, so it cannot move the cursor or forge a line."""
    return "".join(c if c.isprintable() or (lines and c == "\n") else ("⏎" if c == "\n" else "·") for c in str(text))


def in_lines(text: str) -> str:
    """The same for text of several lines: all but the first are indented, so none can be forged."""
    return "\n  ".join(filter(None, clean(text, lines=True).split("\n")))


def sentence(text: str) -> str:
    """A text with a mark at its end."""
    return text if text.endswith((".", "?", "!")) else f"{text}."


def of_other_rules(refusal: CohabitError) -> bool:
    """True if the record may be intact, but its world has changed since it was made."""
    found = re.search(r"needs version \d+ of|does not replay: |replays to a different outcome", refusal.message)
    return refusal.code == "RECORD_CORRUPT" and found is not None


def in_one_line(refusal: CohabitError, hints: Mapping[str, str] = _NEXT) -> str:
    """An error, its hints and what to do next."""
    parts = [sentence(refusal.as_text())]
    # A house that answers may itself be unable to reach a game; its message does not name the house's address.
    not_the_house = hints is _NEXT and refusal.code == "UNREACHABLE" and "://" not in refusal.message
    if refusal.code == "UNREACHABLE" and "CERTIFICATE_VERIFY_FAILED" in refusal.message:
        parts.append(_UNTRUSTED)
    elif of_other_rules(refusal):
        parts.append(OTHER_RULES)
    elif refusal.code in hints and "`cohabit" not in refusal.message and not not_the_house:
        parts.append(hints[refusal.code])
    if refusal.message.endswith("pass its id as room"):
        parts.append("(--room ROOM)")
    return " ".join(parts)


@contextmanager
def of_a_run(folder: Path | None, again: str = "`cohabit match` or `cohabit lab run`") -> Iterator[None]:
    """If the folder of a run is damaged, give advice for runs instead of that for rooms of a house. ``again``: the
    command that plays the run."""
    try:
        yield
    except RecordCorrupt as wrong:
        if folder is None:
            raise
        cure = f"restore the folder {folder} from a backup, or play again with {again} and another --out"
        raise RecordCorrupt(f"{wrong.message}; {cure}", **wrong.details) from wrong


def interrupted(refusal: BaseException) -> bool:
    """True if this came of Ctrl-C: a room that replays takes it for a failure of its world."""
    cause = refusal.__cause__ or refusal.__context__
    return cause is not None and (isinstance(cause, KeyboardInterrupt) or interrupted(cause))


def complain(text: str, *, secret: bool = True, lines: bool = False) -> None:
    """Print an error to stderr in one line; with ``lines`` in several, all but the first indented.

    Anything as long as a token is hidden. ``secret=False`` turns this off for output without tokens, because file names
    and commit ids can be as long.
    """
    shown = _TOKEN.sub("[hidden]", text) if secret else text
    print(f"cohabit: {in_lines(shown) if lines else clean(shown)}", file=sys.stderr, flush=True)


def tell(text: str = "") -> None:
    """Print a line and flush."""
    print(text, flush=True)


def looked_at() -> bool:
    """True if stdout is a terminal. There is no stdout at all if it was closed (``>&-``)."""
    return sys.stdout is not None and sys.stdout.isatty()


def paint(style: str, text: str) -> str:
    """Add colour if stdout is a terminal."""
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
    """A time in the local time zone."""
    return datetime.fromtimestamp(at / 1000, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S" if day else "%H:%M:%S")


def event(at: int, room: str, who: str, text: str) -> str:
    """One event as a line. The name in front is not repeated in the text."""
    place = f"{clean(room):<10} " if room else ""
    shown = text.removeprefix(f"{who.partition(' (')[0]} ")
    return f"{paint('dim', moment(at))} {place}{paint('cyan', f'{clean(who):<18}')} {clean(shown)}"


def feed_event(item: dict[str, Any]) -> str:
    """The same for a feed item in its wire format."""
    return event(item["at"], "", item.get("by") or "-", item["text"])


def view_text(text: str) -> str:
    """The view of the world, marked to distinguish it from events."""
    return "\n".join(paint("bold", "  | " + line) for line in clean(text, lines=True).split("\n"))


class ViewPace:
    """Limits the printing of views. A world with a clock changes several times a second, so it is shown every few
    seconds; others are shown whenever they change."""

    def __init__(self, every_s: float = 10.0) -> None:
        self._every_s = every_s
        self._printed_at = -every_s
        self.show_all = True

    def due(self, view: Mapping[str, Any]) -> bool:
        """True if this view is to be printed now."""
        self.show_all = not view.get("tick")
        now = time.monotonic()
        if not self.show_all and now - self._printed_at < self._every_s:
            return False
        self._printed_at = now
        return True
