"""Text that others wrote, without what a terminal or a reader's eye would obey instead of show."""

import re
from typing import Final

HIDDEN: Final = re.compile(r"[\x01-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, turns of the writing direction, halves of characters; tabs, line ends and NUL stay."""


def plain(text: str) -> str:
    """``text`` without them; tabs and line ends stay."""
    return HIDDEN.sub("", text).replace("\0", "")
