"""The remote: fetch one branch, push one commit, and classify its answers."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, TypeVar

from cohabit.errors import GitFailed, Unreachable
from cohabit.workspace.clone import objects, refs
from cohabit.workspace.clone.cancellation import is_cancelled
from cohabit.workspace.clone.git import MAX_OUTPUT
from cohabit.workspace.formats.quoting import quoted
from cohabit.workspace.sharing import rewritten
from cohabit.workspace.workspace import Workspace

T = TypeVar("T")
MAX_ATTEMPTS: Final = 3
RETRY_PAUSE: Final = 0.2
RETRY_SECONDS: Final = 20.0
"""A remote that has not answered for this long is not asked again."""
RACED: Final = (
    "fetch first", "non-fast-forward", "stale info", "cannot lock ref", "failed to update ref", "failed to lock",
    "incorrect old value", "reference already exists", "needs force", "but expected",
)  # fmt: skip
"""Messages of a remote if another push was faster."""
BROKEN: Final = (
    "remote failure", "missing necessary objects", "unpacker error", "unable to migrate objects",
    "not a git repository",
)  # fmt: skip
"""Messages of a remote that failed itself; the commit is not to blame."""
FETCH_OPTIONS: Final = (
    "--progress", "--no-tags", "--no-recurse-submodules", "--no-auto-maintenance", "--no-write-fetch-head",
    "--no-prune",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Pushed:
    """The outcome of a push: accepted; ``raced``, another push was faster; ``refused``, with the remote's reason."""

    outcome: Literal["accepted", "raced", "refused"]
    reason: str = ""


def fetch(ws: Workspace) -> str | None:
    """Fetch the commits of this branch. Returns the remote's commit, None if it does not have the branch."""
    name = refs.on_branch(ws)
    tracking = f"refs/remotes/origin/{name}"
    rewritten.remember(ws, refs.upstream(ws))
    try:
        with_retries(lambda: _fetch(ws, f"+refs/heads/{name}:{tracking}"))
    except GitFailed as error:
        if "couldn't find remote ref" not in error.output:
            raise
        if refs.upstream(ws) is not None:
            ws.git.run("update-ref", "-d", tracking)
    objects.pack_if_needed(ws)
    return refs.upstream(ws)


def _fetch(ws: Workspace, spec: str) -> None:
    with ws.released():
        try:
            ws.git.run("fetch", *FETCH_OPTIONS, "origin", spec, network=True)
        except GitFailed as error:
            if "cannot lock ref" not in error.output:
                raise
            ws.git.run("fetch", *FETCH_OPTIONS, "origin", spec, network=True)  # the same ref was fetched just now


def push(ws: Workspace, commit: str, expected: str | None) -> Pushed:
    """Set the remote's branch to ``commit`` if it is exactly at ``expected``, which ``commit`` contains. The remote
    compares and sets in one step, so a branch that was reset is noticed as well; see ``rewritten``."""
    name = refs.on_branch(ws)
    lease = f"--force-with-lease=refs/heads/{name}:{expected or ''}"
    args = ("push", "--porcelain", "--progress", "--no-verify", lease, "origin", f"{commit}:refs/heads/{name}")
    with ws.released():
        result = ws.git.run(*args, network=True, ok=(0, 1))
    if result.code == 0:
        if refs.upstream(ws) != commit:
            ws.git.run("update-ref", f"refs/remotes/origin/{name}", commit)
        objects.pack_if_needed(ws)
        return Pushed("accepted")
    if "matches more than one" in result.err:  # git cannot be told which one is meant
        return Pushed(
            "refused", f"the remote has a branch or tag named refs/heads/{name} besides {name}; delete it there"
        )
    reason = next((line.split("\t")[-1] for line in result.text.splitlines() if line.startswith("!")), "")
    output = [line.removeprefix("remote:").strip() for line in result.err.splitlines() if line.startswith("remote:")]
    whole = "\n".join([reason, *(line for line in output if line)])[:2_000]
    if not reason or any(sign in whole for sign in BROKEN):  # the next fetch shows whether it was accepted
        raise Unreachable(f"the remote failed during the push: {quoted(whole or result.err.strip(), MAX_OUTPUT)}")
    raced = any(sign in whole.lower() for sign in RACED)
    return Pushed("raced" if raced else "refused", whole)


def with_retries(ask: Callable[[], T]) -> T:
    """Ask the remote, and again a few times if it does not answer."""
    began = time.monotonic()
    for left in reversed(range(MAX_ATTEMPTS)):
        try:
            return ask()
        except Unreachable:
            if not left or time.monotonic() - began > RETRY_SECONDS or is_cancelled():
                raise
            time.sleep(RETRY_PAUSE * 2 ** (MAX_ATTEMPTS - left))
    raise AssertionError("unreachable")
