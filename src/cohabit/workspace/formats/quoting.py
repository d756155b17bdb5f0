"""Names, paths and texts by others inside our own sentences.

Anybody who can push can choose them. An agent must see where they begin and end, or it takes them for words of the
tool.
"""

from collections.abc import Sequence
from typing import Final

from cohabit.workspace.person.identity import SLUG

MAX_QUOTED: Final = 60
"""Characters of a quotation."""
MAX_LISTED: Final = 3


def quoted(text: str, max_chars: int = MAX_QUOTED) -> str:
    """``text`` in quotation marks, on one line, without characters that cannot be seen, and not longer than
    ``max_chars``."""
    shown = repr(text[:max_chars])
    if max(len(shown), len(text)) <= max_chars:
        return shown
    return f"{shown[:-1][: max_chars - 2]}…{shown[0]}"


def listed(texts: Sequence[str]) -> str:
    """The first few of them, quoted, and how many there are besides."""
    more = f" and {len(texts) - MAX_LISTED} more" if len(texts) > MAX_LISTED else ""
    return ", ".join(map(quoted, texts[:MAX_LISTED])) + more


def named(agent: str) -> str:
    """An agent id; what only pretends to be one is quoted."""
    return agent if SLUG.fullmatch(agent) else quoted(agent)
