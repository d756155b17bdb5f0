"""Asking the remote: fetch one branch, push one commit. What it says is put into few words here."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeVar

from cohabit.errors import Conflict, GitFailed, Unreachable
from cohabit.workspace.clone import housekeeping, refs
from cohabit.workspace.clone.hangup import HANGUP

if TYPE_CHECKING:
    from cohabit.workspace.workspace import Workspace

T = TypeVar("T")
TRIES: Final = 3
PAUSE: Final = 0.2
PATIENCE: Final = 20.0
"""A remote that takes longer than this to say nothing is not asked again."""
RACED: Final = (
    "fetch first", "non-fast-forward", "stale info", "cannot lock ref", "failed to update ref", "failed to lock",
    "incorrect old value", "reference already exists", "needs force", "but expected",
)  # fmt: skip
"""How a remote says that somebody else was faster."""

BROKEN: Final = (
    "remote failure", "missing necessary objects", "unpacker error", "unable to migrate objects",
    "not a git repository",
)  # fmt: skip
"""How it says that it failed in the middle: nothing about the commit is wrong."""
ONLY_THIS: Final = (
    "--quiet", "--no-tags", "--no-recurse-submodules", "--no-auto-maintenance", "--no-write-fetch-head", "--no-prune",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Pushed:
    """How a push ended: taken; ``raced``, somebody else was faster; ``refused``, with the remote's reason."""

    how: Literal["taken", "raced", "refused"]
    reason: str = ""


def branch(ws: "Workspace") -> str:
    """The branch that is shared; raises Conflict where the clone is on none."""
    name = refs.branch(ws)
    if not name:
        raise Conflict("this clone is on no branch (a detached HEAD); check one out first: `git switch main`")
    return name


def fetch(ws: "Workspace") -> str | None:
    """Bring this branch's commits here. Where the remote's branch is now, None while there is none."""
    name = branch(ws)
    tracking = f"refs/remotes/origin/{name}"
    try:
        patiently(lambda: ws.git.run("fetch", *ONLY_THIS, "origin", f"+refs/heads/{name}:{tracking}", network=True))
    except GitFailed as wrong:
        if "couldn't find remote ref" not in wrong.message:
            raise
        if refs.upstream(ws) is not None:
            ws.git.run("update-ref", "-d", tracking)
    housekeeping.tidy(ws)
    return refs.upstream(ws)


def push(ws: "Workspace", commit: str) -> Pushed:
    """Make ``commit`` the remote's, if it contains what the remote has: the remote compares and sets in one step."""
    name = branch(ws)
    args = ("push", "--porcelain", "--no-verify", "origin", f"{commit}:refs/heads/{name}")
    done = ws.git.run(*args, network=True, ok=(0, 1))
    if done.code == 0:
        if refs.upstream(ws) != commit:
            ws.git.run("update-ref", f"refs/remotes/origin/{name}", commit)
        housekeeping.tidy(ws)
        return Pushed("taken")
    if "matches more than one" in done.err:  # git has no way to say which is meant
        return Pushed(
            "refused", f"the remote has a branch or tag called refs/heads/{name} besides {name}; delete it there"
        )
    reason = next((line.split("\t")[-1] for line in done.text.splitlines() if line.startswith("!")), "")
    said = [line.removeprefix("remote:").strip() for line in done.err.splitlines() if line.startswith("remote:")]
    whole = "\n".join([reason, *(line for line in said if line)])[:2_000]
    if not reason or any(sign in whole for sign in BROKEN):  # whether it was taken, the next fetch tells
        raise Unreachable(f"the remote did not get through with the push: {whole or done.err.strip()[:500]}")
    raced = any(sign in whole.lower() for sign in RACED)
    return Pushed("raced" if raced else "refused", whole)


def patiently(ask: Callable[[], T]) -> T:
    """Ask again, a few times, while the remote does not answer."""
    began = time.monotonic()
    for left in reversed(range(TRIES)):
        try:
            return ask()
        except Unreachable:
            hangup = HANGUP.get()
            if not left or time.monotonic() - began > PATIENCE or (hangup is not None and hangup.happened):
                raise
            time.sleep(PAUSE * 2 ** (TRIES - left))
    raise AssertionError("unreachable")
