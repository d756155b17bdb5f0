"""Asking the remote: fetch one branch, push one commit. What it says is put into few words here."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeVar

from cohabit.errors import GitFailed, Unreachable
from cohabit.workspace.clone import housekeeping, refs
from cohabit.workspace.clone.hangup import HANGUP
from cohabit.workspace.sharing import rewritten

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


def fetch(ws: "Workspace") -> str | None:
    """Bring this branch's commits here. Where the remote's branch is now, None while there is none."""
    name = refs.on_branch(ws)
    tracking = f"refs/remotes/origin/{name}"
    rewritten.remember(ws, refs.upstream(ws))
    try:
        patiently(lambda: _fetch(ws, f"+refs/heads/{name}:{tracking}"))
    except GitFailed as wrong:
        if "couldn't find remote ref" not in wrong.message:
            raise
        if refs.upstream(ws) is not None:
            ws.git.run("update-ref", "-d", tracking)
    housekeeping.tidy(ws)
    return refs.upstream(ws)


def _fetch(ws: "Workspace", spec: str) -> None:
    try:
        ws.git.run("fetch", *ONLY_THIS, "origin", spec, network=True)
    except GitFailed as wrong:
        if "cannot lock ref" not in wrong.message:
            raise
        ws.git.run("fetch", *ONLY_THIS, "origin", spec, network=True)  # a person fetched the same in the same moment


def push(ws: "Workspace", commit: str, expected: str | None) -> Pushed:
    """Make ``commit`` the remote's, if the remote has ``expected``, which ``commit`` contains, and nothing more; nor
    less, see ``rewritten``. It compares and sets in one step."""
    name = refs.on_branch(ws)
    lease = f"--force-with-lease=refs/heads/{name}:{expected or ''}"
    args = ("push", "--porcelain", "--no-verify", lease, "origin", f"{commit}:refs/heads/{name}")
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
