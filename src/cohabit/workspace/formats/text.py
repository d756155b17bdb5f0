r"""Free text inside protocol files, escaped so that it cannot be read as a heading, an item or a comment.

Files are split into lines at ``\n`` alone. A file that ends its lines with ``\r\n`` keeps doing so.

Incoming text is *cleaned* first: every Unicode line break becomes ``\n``, control characters and lone surrogates become
U+FFFD, and white space around the text is removed. Clean text is written with three rules:

1. Titles, resolutions and TODOs are one line: all white space in them collapses to single spaces.
2. ``<!--`` becomes ``<\!--``, so that the only comments in a file are those that this program writes.
3. A line that would be read as a heading (``#``, ``##``), a ``TODO @``, an inbox item, one of an item's own lines
   (``added``, ``claimed``, ``closed`` and a date) or a git conflict marker gets a backslash in front. So does a line
   of backslashes and, where an empty line would end the text (a summary, an item's body), an empty line, which is
   written ``\``.

Where such a place already has backslashes it gets one more, so reading removes exactly one and returns the text as it
was given. Markdown renders most of these as if the backslash were not there.
"""

import re
from typing import Final

from cohabit.workspace.limits import CLIP_CHARS

SPACES: Final = (
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""White space: what Python counts as such, and U+FEFF, which Multisphere counts too."""
WHITE: Final = f"[{SPACES}]"
LINE_BREAKS: Final = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
UNWRITABLE: Final = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
SYNTAX: Final = (
    rf"(?:{WHITE}*(?:##?(?:{WHITE}|$)|TODO{WHITE}*@|[-*+] *\[.?\] *~*[A-Z][A-Z0-9]*-\d"
    r"|(?:also )?(?:added|claimed|closed) \d{4}-\d\d-\d\d)|(?:<{7}|>{7})(?: |$))"
)
"""The beginning of a line that means something in a protocol file."""
ESCAPE: Final = re.compile(rf"\\*{SYNTAX}|\\+{WHITE}*$")
UNESCAPE: Final = re.compile(rf"\\+(?:{SYNTAX}|{WHITE}*$)")
COMMENT: Final = re.compile(r"<(\\*)!--")
ESCAPED_COMMENT: Final = re.compile(r"<\\(\\*)!--")
UNSAFE: Final = re.compile(r"[\x01-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, changes of the writing direction and lone surrogates; tabs, line ends and NUL are not among
them."""
UNSAFE_ASCII: Final = {code: None for code in range(128) if UNSAFE.match(chr(code))}
"""For ``str.translate``."""


# -- cleaning -------------------------------------------------------------------------------------
def clean(text: str) -> str:
    """``text`` with plain line breaks, without control characters and without white space around it."""
    return UNWRITABLE.sub("\ufffd", LINE_BREAKS.sub("\n", text)).strip(SPACES)


def one_line(text: str) -> str:
    """``text`` cleaned and on a single line."""
    return " ".join(re.split(rf"{WHITE}+", clean(text)))


def without_unsafe(text: str) -> str:
    """The same as ``UNSAFE.sub("", text)``; several times as fast for a long ASCII text."""
    return text.translate(UNSAFE_ASCII) if text.isascii() else UNSAFE.sub("", text)


def displayable(text: str) -> str:
    """Text by others without characters that a terminal would obey or that mislead a reader."""
    return without_unsafe(text).replace("\0", "")


def clip(text: str, max_chars: int = CLIP_CHARS) -> str:
    """Text by others on one line, cut off where it is longer."""
    line = " ".join(displayable(text).split())
    return line if len(line) <= max_chars else f"{line[: max_chars - 1]}…"


# -- escaping -------------------------------------------------------------------------------------
def escape_comments(text: str) -> str:
    """Apply rule 2."""
    return COMMENT.sub(r"<\\\1!--", text)


def unescape_comments(text: str) -> str:
    return ESCAPED_COMMENT.sub(r"<\1!--", text)


def escape(text: str, *, blanks: bool) -> str:
    """Apply rules 2 and 3 to every line; with ``blanks``, empty lines are written as a backslash."""
    return "\n".join(
        "\\" + line if ESCAPE.match(line) or (blanks and is_blank(line)) else line
        for line in escape_comments(text).split("\n")
    )


def unescape(text: str) -> str:
    """Exactly what ``escape`` was given."""
    return unescape_comments("\n".join(line[1:] if UNESCAPE.match(line) else line for line in text.split("\n")))


# -- lines of a file ------------------------------------------------------------------------------
def lines_of(text: str) -> list[str]:
    r"""The lines with their ends, split at ``\n`` alone; joined they are ``text`` again."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def is_blank(line: str) -> bool:
    return not line.strip(SPACES)


def without_blank_ends(lines: list[str]) -> list[str]:
    """The lines without blank ones at the beginning and the end."""
    filled = [i for i, line in enumerate(lines) if not is_blank(line)]
    return lines[filled[0] : filled[-1] + 1] if filled else []


def line_ending(text: str) -> str:
    """The line ending of this file; the first line decides."""
    return "\r\n" if text.partition("\n")[0].endswith("\r") and "\n" in text else "\n"


def with_line_ending(text: str, eol: str) -> str:
    r"""``text``, which uses ``\n``, with the line ending of the file that it goes into."""
    return text if eol == "\n" else text.replace("\n", eol)


def without_trailing_blanks(text: str) -> str:
    """``text`` without blank lines at its end and without the end of its last line."""
    filled = len(text.rstrip(SPACES))
    end = text.find("\n", filled) if filled else 0
    return (text if end < 0 else text[:end]).rstrip("\r\n")


def with_blank_line(text: str, eol: str = "\n") -> str:
    """``text`` followed by at least one blank line, so that something can come after it."""
    if not text:
        return text
    if not text.endswith("\n"):
        text += eol
    last = text[text.rfind("\n", 0, -1) + 1 :]
    return text if is_blank(last) else text + eol
