"""A remote whose history was rewritten: commits that had been shared are gone there, perhaps on purpose.

An ordinary push would bring them back. Therefore the clone remembers what the remote had, no matter who fetched it, and
``pull``, ``push`` and ``sync`` report a conflict until somebody decides: ``abandon`` accepts the loss and carries over
what only this clone has. A person who wants the commits back pushes them with plain git.
"""

from pathlib import Path
from typing import Final

from cohabit.workspace.atomic import write_atomically
from cohabit.workspace.clone import refs
from cohabit.workspace.clone.clone import Clone
from cohabit.workspace.clone.objects import EMPTY_TREE, changes
from cohabit.workspace.limits import MAX_ENTRIES

SHARED: Final = "refs/cohabit/shared/"
"""Followed by the branch: the last known commit of the remote that is not lost there. It is a ref, so that git keeps
the commit after the tracking ref has moved."""
ACCEPTED: Final = "refs/cohabit/let-go/"
"""Followed by the branch: the last of the lost commits, if their loss was accepted."""
MESSAGE: Final = (
    "The remote's history was rewritten: commits that were shared, and that this clone has, are gone there. Nothing "
    "was changed or pushed. Pushing would bring them back, so a person has to decide. Tell your user. To accept the "
    "loss: abandon, if you have that tool, then push, which carries over what only you have; with plain git: "
    "`git rebase --onto origin/{branch}`. To bring them back: push with plain git."
)


def remember(ws: Clone, known: str | None) -> None:
    """Record what the remote had before it is asked for the first time."""
    if known is not None and refs.resolved(ws, _ref(ws, SHARED)) is None:
        set_shared(ws, known)


def set_shared(ws: Clone, theirs: str) -> None:
    """Record the commit of the remote."""
    _write(ws, SHARED, theirs)


def lost_commit(ws: Clone, ours: str | None, theirs: str | None) -> str | None:
    """The last shared commit of ours that the remote has lost; None if nothing is lost."""
    if ours is None or theirs is None or not refs.branch(ws):  # a remote without any commit gets all of them again
        return None
    shared = refs.resolved(ws, _ref(ws, SHARED))
    if shared is None or shared == theirs:
        return None
    if not _contains(ws, theirs, shared):
        gone = ws.git.run("merge-base", ours, shared, ok=(0, 1)).line
        if gone and not _contains(ws, theirs, gone):
            return gone
    set_shared(ws, theirs)
    return None


def accept(ws: Clone, gone: str) -> None:
    """Accept the loss of this commit and those before it."""
    _write(ws, ACCEPTED, gone)


def is_accepted(ws: Clone, gone: str) -> bool:
    return refs.resolved(ws, _ref(ws, ACCEPTED)) == gone


def message(ws: Clone) -> str:
    return MESSAGE.format(branch=refs.on_branch(ws))


def files(ws: Clone, gone: str, theirs: str) -> list[str]:
    """The files that a push would bring back."""
    base = ws.git.run("merge-base", gone, theirs, ok=(0, 1)).line or EMPTY_TREE
    return list(changes(ws, base, gone))[:MAX_ENTRIES]


def _write(ws: Clone, kind: str, commit: str) -> None:
    """Write a ref without a git process; only this program writes these refs."""
    path = Path(ws.root, ".git", _ref(ws, kind))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, f"{commit}\n".encode())


def _ref(ws: Clone, kind: str) -> str:
    """On one level, because a ref for branch ``a`` would prevent one for ``a/b``."""
    return kind + refs.on_branch(ws).replace("/", "%2F")


def _contains(ws: Clone, commit: str, other: str) -> bool:
    return ws.git.run("merge-base", "--is-ancestor", other, commit, ok=(0, 1)).code == 0
