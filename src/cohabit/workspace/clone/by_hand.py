"""What a person began with plain git in a clone, and has not finished."""

import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from cohabit.workspace.workspace import Workspace

SIGNS: Final = {
    "rebase-merge": "rebase", "rebase-apply": "rebase", "MERGE_HEAD": "merge", "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
}  # fmt: skip
"""What lies in ``.git`` meanwhile."""


def under_way(ws: "Workspace") -> str | None:
    """The git command that is in the middle of something here."""
    return next((what for name, what in SIGNS.items() if os.path.lexists(ws.root / ".git" / name)), None)


def unfinished(what: str) -> str:
    """How to say so, and what to do about it."""
    return (
        f"a {what} that was started by hand is unfinished in this clone: finish it, or end it with "
        f"`git {what} --abort`, then call again"
    )
