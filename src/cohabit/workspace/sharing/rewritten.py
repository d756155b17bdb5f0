"""A remote whose history was rewritten: commits that had been shared are gone there, perhaps for a good reason.

To push as if nothing had happened would bring them back. So it is remembered what the remote had, whoever fetches,
and whatever shares says ``conflict`` until it is decided: ``abandon`` lets them go and carries over what this clone
alone has. A person who wants them back pushes with plain git.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from cohabit.workspace.clone import refs
from cohabit.workspace.clone.deltas import EMPTY_TREE, changes
from cohabit.workspace.limits import MOST_ENTRIES
from cohabit.workspace.whole import write_whole

if TYPE_CHECKING:
    from cohabit.workspace.workspace import Workspace

SHARED: Final = "refs/cohabit/shared/"
"""And the branch: the last commit that the remote was seen to have, and that was not missing there later. A ref, so
that git keeps it, though the tracking ref moves on."""
LET_GO: Final = "refs/cohabit/let-go/"
"""And the branch: the last of the commits of which it was decided that they stay away."""

TOLD: Final = (
    "The remote's history was rewritten: commits that were shared, and that this clone has, are gone there. Nothing "
    "was changed or pushed. Pushing would bring them back, so a person has to decide. Tell your user. To let them go: "
    "abandon, where you have that tool, then push, which carries over what only you have; with plain git: "
    "`git rebase --onto origin/{branch}`. To bring them back: push with plain git."
)


def remember(ws: "Workspace", known: str | None) -> None:
    """What the remote had before it is asked for the first time."""
    if known is not None and refs.resolved(ws, _ref(ws, SHARED)) is None:
        settle(ws, known)


def settle(ws: "Workspace", theirs: str) -> None:
    """From here on this is what was shared."""
    _write(ws, SHARED, theirs)


def lost(ws: "Workspace", ours: str | None, theirs: str | None) -> str | None:
    """The last commit that ours were shared up to, where the remote has lost it; None where nothing is lost."""
    if ours is None or theirs is None or not refs.branch(ws):  # a remote that has nothing at all gets it again
        return None
    shared = refs.resolved(ws, _ref(ws, SHARED))
    if shared is None or shared == theirs:
        return None
    if not _contains(ws, theirs, shared):  # nearly always it does
        gone = ws.git.run("merge-base", ours, shared, ok=(0, 1)).line
        if gone and not _contains(ws, theirs, gone):
            return gone
    settle(ws, theirs)
    return None


def let_go(ws: "Workspace", gone: str) -> None:
    """Decide that it stays away."""
    _write(ws, LET_GO, gone)


def is_let_go(ws: "Workspace", gone: str) -> bool:
    return refs.resolved(ws, _ref(ws, LET_GO)) == gone


def told(ws: "Workspace") -> str:
    return TOLD.format(branch=refs.on_branch(ws))


def files(ws: "Workspace", gone: str, theirs: str) -> list[str]:
    """What would come back."""
    base = ws.git.run("merge-base", gone, theirs, ok=(0, 1)).line or EMPTY_TREE
    return list(changes(ws, base, gone))[:MOST_ENTRIES]


def _write(ws: "Workspace", kind: str, commit: str) -> None:
    """As git writes a ref, without a process for it: nobody else writes these."""
    place = Path(ws.root, ".git", _ref(ws, kind))
    place.parent.mkdir(parents=True, exist_ok=True)
    write_whole(place, f"{commit}\n".encode())


def _ref(ws: "Workspace", kind: str) -> str:
    """One level deep: a branch ``a`` must not be in the way of ``a/b``."""
    return kind + refs.on_branch(ws).replace("/", "%2F")


def _contains(ws: "Workspace", commit: str, other: str) -> bool:
    return ws.git.run("merge-base", "--is-ancestor", other, commit, ok=(0, 1)).code == 0
