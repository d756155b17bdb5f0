"""Keeping a clone quick. Git packs its objects now and then by itself, in the background, while we may be at work on
them; here that is off, and done in the open instead: under the lock, after something was shared."""

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from cohabit.errors import CohabitError

if TYPE_CHECKING:
    from cohabit.workspace.workspace import Workspace

MOST_LOOSE: Final = 27
"""Objects in one of the 256 folders, from which git guesses that there are 6,700 in all; its own limit."""
MOST_PACKS: Final = 50


def tidy(ws: "Workspace") -> None:
    """Pack what lies about, if it is much. What goes wrong here is nobody's concern: the next call tries again."""
    objects = ws.root / ".git" / "objects"
    if _count(objects / "17") > MOST_LOOSE or _count(objects / "pack", ".pack") > MOST_PACKS:
        with suppress(CohabitError):
            ws.git.run("gc", "--quiet")


def _count(folder: "os.PathLike[str]", ending: str = "") -> int:
    try:
        return sum(name.endswith(ending) for name in os.listdir(folder))
    except FileNotFoundError:
        return 0
