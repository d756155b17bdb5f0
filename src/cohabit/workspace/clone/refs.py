"""Branches and commits by name: where the clone is, and which names an agent may use for a commit.

The refs of a clone are read from git's files. A log of fifty commits takes git 2.5 ms, and a second process to ask for
``HEAD`` would nearly double that.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from cohabit.errors import BadArgs, Conflict, GitFailed, UnknownAsset
from cohabit.workspace.clone import plain_git
from cohabit.workspace.clone.clone import Clone

SHA: Final = re.compile(r"[0-9a-f]{40}")
NAME: Final = r"[A-Za-z0-9](?:[A-Za-z0-9_+-]|[./](?![./]))*(?<![./])"
REVISION: Final = re.compile(rf"{NAME}(?:[~^]\d{{0,6}}){{0,4}}")
"""A sha, a branch or a tag, optionally with steps back: ``HEAD~3``. Not a range, an option, a path or a search."""
UNKNOWN: Final = re.compile(r"bad revision|unknown revision|bad object|Invalid revision range|ambiguous argument")
"""Git's messages for a commit that it does not have."""
HEADS: Final = "refs/heads/"


def branch(ws: Clone) -> str:
    """The current branch, even before its first commit; "" if the clone is on none."""
    target = _file(ws, "HEAD")
    if target is None or not target.startswith(f"ref: {HEADS}"):
        return ""
    return target.removeprefix(f"ref: {HEADS}")


def on_branch(ws: Clone) -> str:
    """The current branch, which commits go to; raises Conflict if the clone is on none."""
    name = branch(ws)
    if not name:
        if command := plain_git.unfinished(ws.root):
            raise Conflict(plain_git.finish_first(command))
        raise Conflict(
            "this clone is on no branch (a detached HEAD), where commits get lost: your user has to switch to one "
            "with plain git, `git switch main`, or `git switch -c NAME` if there are commits to keep"
        )
    return name


def head(ws: Clone) -> str | None:
    """The full sha of the current commit, or None before the first one."""
    name = branch(ws)
    if name:
        return resolved(ws, HEADS + name)
    found = _file(ws, "HEAD")
    return found if found is not None and SHA.fullmatch(found) else None


def upstream(ws: Clone) -> str | None:
    """The commit of the remote's branch of the same name when it was last fetched, or None."""
    name = branch(ws)
    return resolved(ws, f"refs/remotes/origin/{name}") if name else None


def checked(text: str) -> str:
    """A revision that an agent gave, or BadArgs if git could read it as anything else."""
    if len(text) > 250 or not REVISION.fullmatch(text) or text.endswith(".lock"):
        raise BadArgs(
            f"{text[:80]!r} is not the name of a commit: use a sha (as in log), a branch, or one of them with steps "
            "back, such as HEAD~3"
        )
    return text


@contextmanager
def named(revision: str | None) -> Iterator[None]:
    """Within the block git is asked about a commit that an agent gave, which this clone may not have."""
    try:
        yield
    except GitFailed as error:
        raise unknown(revision) if revision and UNKNOWN.search(error.output) else error from None


def unknown(text: str) -> UnknownAsset:
    """The error for a valid revision that this clone does not have."""
    return UnknownAsset(
        f"this clone has no commit {text[:80]!r}: it may not be fetched yet (call fetch), or history was rewritten; "
        "log has the commits of this clone"
    )


def resolved(ws: Clone, ref: str) -> str | None:
    """The full sha that a ref of this clone points to, or None."""
    found = _file(ws, ref)
    if found is None:  # an empty file is an error: the packed ref is older
        found = _packed(ws, ref)
    if found is None or SHA.fullmatch(found):
        return found
    if not found.startswith("ref: "):
        raise GitFailed(
            f"the file .git/{ref} of this clone is damaged, as after a power failure: your user has to write the sha "
            f"of its last commit into it (the second one in the last line of .git/logs/{ref})"
        )
    # A ref that points to another ref.
    result = ws.git.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}", ok=(0, 1, 128))
    return result.line if result.code == 0 and SHA.fullmatch(result.line) else None


def _file(ws: Clone, name: str) -> str | None:
    try:
        with open(f"{ws.root}/.git/{name}", "rb") as file:
            return file.read().decode(errors="replace").strip()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None


def _packed(ws: Clone, ref: str) -> str | None:
    packed = _file(ws, "packed-refs") or ""
    line = re.search(rf"^([0-9a-f]{{40}}) {re.escape(ref)}$", packed, re.MULTILINE)
    return line[1] if line else None
