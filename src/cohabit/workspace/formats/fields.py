"""What a tool is given becomes a field of a file: cleaned, and refused where it does not fit."""

import re
from typing import Final

from cohabit.errors import BadArgs, TooLarge
from cohabit.workspace.formats.text import clean, one_line
from cohabit.workspace.limits import LONGEST_TEXT, LONGEST_TITLE
from cohabit.workspace.person.identity import SLUG

ANYONE: Final = "anyone"
WORD: Final = r"\w[\w.+@-]*"
TARGET: Final = re.compile(rf"{WORD}(?: {WORD})*")
"""No word of it is a dash, and it has no colon and no comma: it ends where it ends, in an item, a TODO and a list."""
LONGEST_TARGET: Final = 64


def target(name: str | None) -> str:
    """Whom something is for, without the ``@``: one of ours, or an id that the earlier tool let somebody have."""
    name = (name or "").strip().removeprefix("@") or ANYONE
    if len(name) > LONGEST_TARGET or not TARGET.fullmatch(name) or _is_several(name):
        raise BadArgs(f"{name[:80]!r} is nobody's agent id: give one like ann-claude-code, or leave it out for anyone")
    return name


def names(target: str, agent: str) -> bool:
    """Whether a target names this agent; the earlier tool lets one name several, and an id have spaces."""
    words, whole = re.split(r"[\s,;]+", target), re.split(r"[,;]", target)
    return agent == target or agent in (name.strip().lstrip("@") for name in (*words, *whole))


def _is_several(name: str) -> bool:
    """Whether a word of it, among others, could be one of ours: that agent would take it for its own as well."""
    words = name.split()
    return len(words) > 1 and any(SLUG.fullmatch(word) for word in words)


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
