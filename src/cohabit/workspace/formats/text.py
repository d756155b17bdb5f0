r"""Free text inside our files: what anybody writes, written so that it can never be read as something of ours.

Files are cut into lines at ``\n`` alone; ``\r\n`` at the end of a line is that file's way of ending lines and stays.

Text that comes in is made *clean* first: every other line break that Unicode knows becomes a plain one, control
characters and halves of characters become U+FFFD, white space around it goes. Clean text is written with three rules:

1. One line is one line: in titles, resolutions and TODOs all white space collapses to single spaces.
2. ``<!--`` gets a backslash inside, ``<\!--``: a comment can only be ours.
3. A line that would read as a heading (``#``, ``##``), a ``TODO @``, an inbox item or one of an item's own lines
   (``added``, ``claimed``, ``closed`` and a date) gets a backslash in front. So does a line of backslashes and, where
   an empty line would end the text (a summary, an item's body), an empty line: it is written ``\``.

Where the text has backslashes in these places already it gets one more, so reading takes exactly one away and gives
back what was written, whatever it was. Markdown shows most of these as if the backslash were not there.
"""

import re
from typing import Final

SPACES: Final = (
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""What some reader takes for white space: what Python does, and U+FEFF, which the earlier tool counts too."""
WHITE: Final = f"[{SPACES}]"
BREAKS: Final = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
UNWRITABLE: Final = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
OURS: Final = (
    rf"{WHITE}*(?:##?(?:{WHITE}|$)|TODO{WHITE}*@|[-*+] *\[.?\] *~*[A-Z][A-Z0-9]*-\d"
    r"|(?:also )?(?:added|claimed|closed) \d{4}-\d\d-\d\d)"
)
ESCAPE: Final = re.compile(rf"\\*{OURS}|\\+{WHITE}*$")
UNESCAPE: Final = re.compile(rf"\\+(?:{OURS}|{WHITE}*$)")
COMMENT: Final = re.compile(r"<(\\*)!--")
SHIELDED: Final = re.compile(r"<\\(\\*)!--")


# -- what comes in --------------------------------------------------------------------------------
def clean(text: str) -> str:
    """``text`` with plain line breaks, without control characters, and without white space around it."""
    return UNWRITABLE.sub("\ufffd", BREAKS.sub("\n", text)).strip(SPACES)


def one_line(text: str) -> str:
    """``text`` clean and on a single line."""
    return " ".join(re.split(rf"{WHITE}+", clean(text)))


# -- writing and reading free text ----------------------------------------------------------------
def shield(text: str) -> str:
    """Rule 2: no comment begins in it."""
    return COMMENT.sub(r"<\\\1!--", text)


def unshield(text: str) -> str:
    return SHIELDED.sub(r"<\1!--", text)


def escape(text: str, *, blanks: bool) -> str:
    """Rules 2 and 3 for every line; ``blanks`` says whether empty lines are written as a backslash."""
    return "\n".join(
        "\\" + line if ESCAPE.match(line) or (blanks and is_blank(line)) else line for line in shield(text).split("\n")
    )


def unescape(text: str) -> str:
    """Exactly what ``escape`` was given."""
    return unshield("\n".join(line[1:] if UNESCAPE.match(line) else line for line in text.split("\n")))


# -- lines of a file ------------------------------------------------------------------------------
def lines_of(text: str) -> list[str]:
    r"""The lines with their ends, cut at ``\n`` alone; joined they are ``text`` again."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def is_blank(line: str) -> bool:
    return not line.strip(SPACES)


def trimmed(lines: list[str]) -> list[str]:
    """The lines without the blank ones around them."""
    said = [i for i, line in enumerate(lines) if not is_blank(line)]
    return lines[said[0] : said[-1] + 1] if said else []


def end_of_line(text: str) -> str:
    """How this file ends its lines; its first line decides."""
    return "\r\n" if text.partition("\n")[0].endswith("\r") and "\n" in text else "\n"


def with_ends(text: str, eol: str) -> str:
    r"""``text``, written with ``\n``, in the way of a file that ends its lines with ``eol``."""
    return text if eol == "\n" else text.replace("\n", eol)


def without_gap(text: str) -> str:
    """``text`` without blank lines at its end, and without the end of its last line."""
    end = len(text)
    while end and is_blank(text[(start := text.rfind("\n", 0, end - 1) + 1) : end]):
        end = start
    return text[:end].rstrip("\r\n")


def with_gap(text: str, eol: str = "\n") -> str:
    """``text`` followed by at least one blank line, as it has to be where something comes after it."""
    if not text:
        return text
    if not text.endswith("\n"):
        text += eol
    last = text[text.rfind("\n", 0, -1) + 1 :]
    return text if is_blank(last) else text + eol
