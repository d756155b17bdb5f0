"""A remote whose history was rewritten: commits that had been shared are gone there, perhaps for a good reason.

To push as if nothing had happened would bring them back. So a fetch that sees it writes it down, and whatever shares
says ``conflict`` until it is decided: ``abandon`` lets them go and carries over what this clone alone has. A person
who wants them back pushes with plain git.
"""

from typing import TYPE_CHECKING, Final

from cohabit.workspace.clone import refs

if TYPE_CHECKING:
    from cohabit.workspace.workspace import Workspace

NOTICED: Final = "refs/cohabit/rewritten/"
"""And the branch: the last commit that was shared before."""
LET_GO: Final = "refs/cohabit/let-go/"
"""The same commit, once it is decided."""
TOLD: Final = (
    "The remote's history was rewritten: commits that were shared, and that this clone has, are gone there. Nothing "
    "was changed or pushed. Pushing would bring them back, so a person has to decide. Tell your user. To let them go: "
    "abandon, where you have that tool, then push, which carries over what only you have; with plain git: "
    "`git rebase --onto origin/main`. To bring them back: push with plain git."
)


def notice(ws: "Workspace", before: str) -> None:
    """Remember the first one: what is in this clone was built on it."""
    if refs.resolved(ws, _ref(ws, NOTICED)) is None:
        ws.git.run("update-ref", _ref(ws, NOTICED), before)


def lost(ws: "Workspace", ours: str | None, theirs: str | None) -> str | None:
    """The commit up to which ours were shared, where the remote has lost it; None where nothing is lost."""
    gone = refs.resolved(ws, _ref(ws, NOTICED)) if refs.branch(ws) else None
    if gone is None or ours is None or theirs is None:
        return None
    if _contains(ws, ours, gone) and not _contains(ws, theirs, gone):
        return gone
    for kind in (NOTICED, LET_GO):
        ws.git.run("update-ref", "-d", _ref(ws, kind))
    return None


def let_go(ws: "Workspace", gone: str) -> None:
    """Decide that it stays away."""
    ws.git.run("update-ref", _ref(ws, LET_GO), gone)


def is_let_go(ws: "Workspace", gone: str) -> bool:
    return refs.resolved(ws, _ref(ws, LET_GO)) == gone


def _ref(ws: "Workspace", kind: str) -> str:
    return kind + refs.on_branch(ws)


def _contains(ws: "Workspace", commit: str, other: str) -> bool:
    return ws.git.run("merge-base", "--is-ancestor", other, commit, ok=(0, 1)).code == 0
