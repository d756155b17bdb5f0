"""What a tool is given becomes a field of a file: cleaned, and refused where it does not fit."""

import re
from typing import Final

from cohabit.errors import BadArgs, TooLarge
from cohabit.workspace.formats.text import clean, one_line
from cohabit.workspace.limits import LONGEST_TEXT, LONGEST_TITLE

ANYONE: Final = "anyone"
TARGET: Final = re.compile(r"\w[\w.+-]{0,63}")


def target(name: str | None) -> str:
    """Whom something is for, without the ``@``."""
    name = (name or "").strip().removeprefix("@") or ANYONE
    if not TARGET.fullmatch(name):
        raise BadArgs(f"{name[:80]!r} is nobody's agent id: give one like ann-claude-code, or leave it out for anyone")
    return name


def line(what: str, text: str) -> str:
    """A title, a resolution, a TODO: one line that is not empty."""
    said = one_line(text)
    if not said:
        raise BadArgs(f"{what} is empty: say it in one line")
    if len(said) > LONGEST_TITLE:
        raise TooLarge(
            f"{what} has {len(said)} characters, at most {LONGEST_TITLE} fit: put the rest into the text below"
        )
    return said


def text(what: str, given: str | None) -> str:
    """A summary, a body: as many lines as it takes, within reason."""
    said = clean(given or "")
    if len(said) > LONGEST_TEXT:
        raise TooLarge(f"{what} has {len(said)} characters, at most {LONGEST_TEXT} fit: write a file and name it here")
    return said
