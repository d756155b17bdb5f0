"""Arguments of tools as fields of a file: cleaned, and refused if they do not fit."""

import re
from typing import Final

from cohabit.errors import BadArgs, TooLarge
from cohabit.workspace.formats.text import clean, one_line
from cohabit.workspace.limits import MAX_TEXT_CHARS, MAX_TITLE_CHARS
from cohabit.workspace.person.identity import SLUG

ANYONE: Final = "anyone"
WORD: Final = r"\w[\w.+@-]*"
TARGET: Final = re.compile(rf"{WORD}(?: {WORD})*")
"""No word is a dash and there is no colon or comma, so the end of a target is clear in an item, a TODO and a list."""
PERSON_CLIENT: Final = "cli"
"""The client of a person at a terminal."""
MAX_TARGET_CHARS: Final = 64


def target(name: str | None) -> str:
    """The agent id that something is addressed to, without the ``@``. It may be an id that only Multisphere allows."""
    name = (name or "").strip().removeprefix("@") or ANYONE
    if len(name) > MAX_TARGET_CHARS or not TARGET.fullmatch(name) or _names_several(name):
        raise BadArgs(f"{name[:80]!r} is not an agent id: use one like ann-claude-code, or leave it out for anyone")
    return name


def is_addressed_to(target: str, agent: str) -> bool:
    """True if a target includes this agent. In Multisphere a target may name several agents, and an id may have
    spaces."""
    words, whole = re.split(r"[\s,;]+", target), re.split(r"[,;]", target)
    return agent == target or agent in (name.strip().lstrip("@") for name in (*words, *whole))


def is_for_agent_of(target: str, person: str) -> bool:
    """True if a target is an agent of the person whose own id is this one: ``ann-cli`` is the person of ``ann-cursor``.
    An agent is no person."""
    name, dash, client = person.rpartition("-")
    return (
        bool(dash)
        and client == PERSON_CLIENT
        and any(word.startswith(f"{name}-") and word != person for word in re.split(r"[\s,;@]+", target))
    )


def _names_several(name: str) -> bool:
    """True if one of several words could be an id of its own: that agent would think that it is addressed too."""
    words = name.split()
    return len(words) > 1 and any(SLUG.fullmatch(word) for word in words)


def line(what: str, text: str) -> str:
    """A title, a resolution or a TODO: one line that is not empty."""
    cleaned = one_line(text)
    if not cleaned:
        raise BadArgs(f"{what} is empty; write one line")
    if len(cleaned) > MAX_TITLE_CHARS:
        raise TooLarge(
            f"{what} has {len(cleaned)} characters; the limit is {MAX_TITLE_CHARS}. Put the rest into the longer text"
        )
    return cleaned


def text(what: str, given: str | None) -> str:
    """A summary, details or a body: any number of lines."""
    cleaned = clean(given or "")
    if len(cleaned) > MAX_TEXT_CHARS:
        raise TooLarge(
            f"{what} has {len(cleaned)} characters; the limit is {MAX_TEXT_CHARS}. Write a file and name it here"
        )
    return cleaned
