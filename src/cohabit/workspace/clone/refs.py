"""Branches and commits by name: what the clone stands on, and what an agent may call a commit.

A clone's own refs are read from git's files, which costs no process: a log of fifty commits takes git 2.5 ms, and a
second process to ask where ``HEAD`` is would nearly double that.
"""

import re
from typing import TYPE_CHECKING, Final

from cohabit.errors import BadArgs, Conflict, GitFailed, UnknownAsset
from cohabit.workspace.clone import plain_git

if TYPE_CHECKING:
    from cohabit.workspace.workspace import Workspace

SHA: Final = re.compile(r"[0-9a-f]{40}")
NAME: Final = r"[A-Za-z0-9](?:[A-Za-z0-9_+-]|[./](?![./]))*(?<![./])"
REVISION: Final = re.compile(rf"{NAME}(?:[~^]\d{{0,6}}){{0,4}}")
"""A sha, a branch or a tag, and steps back from it: ``HEAD~3``. No range, no option, no path, no search."""
HEADS: Final = "refs/heads/"


def branch(ws: "Workspace") -> str:
    """The branch the clone is on, also before its first commit; "" where it is on none."""
    target = _file(ws, "HEAD")
    if target is None or not target.startswith(f"ref: {HEADS}"):
        return ""
    return target.removeprefix(f"ref: {HEADS}")


def on_branch(ws: "Workspace") -> str:
    """The branch that commits go to and that is shared; raises Conflict where the clone is on none."""
    name = branch(ws)
    if not name:
        if command := plain_git.unfinished(ws):
            raise Conflict(plain_git.finish_first(command))
        raise Conflict(
            "this clone is on no branch (a detached HEAD), where commits get lost: your person has to end that with "
            "plain git, `git switch main`, or `git switch -c NAME` where there are commits to keep"
        )
    return name


def head(ws: "Workspace") -> str | None:
    """The commit the clone stands on, in full, or None before the first one."""
    name = branch(ws)
    if name:
        return resolved(ws, HEADS + name)
    found = _file(ws, "HEAD")
    return found if found is not None and SHA.fullmatch(found) else None


def upstream(ws: "Workspace") -> str | None:
    """The commit that the remote's branch of the same name was at when it was last fetched, or None."""
    name = branch(ws)
    return resolved(ws, f"refs/remotes/origin/{name}") if name else None


def checked(text: str) -> str:
    """A revision as an agent writes it, or BadArgs: nothing that git would read as anything else gets through."""
    if len(text) > 250 or not REVISION.fullmatch(text) or text.endswith(".lock"):
        raise BadArgs(
            f"{text[:80]!r} is not the name of a commit: give a sha (as in log), a branch, or one of them with steps "
            "back, such as HEAD~3"
        )
    return text


def unknown(text: str) -> UnknownAsset:
    """What to say of a revision that is well formed and not here."""
    return UnknownAsset(
        f"this clone knows no commit {text[:80]!r}: it may not be fetched yet (call fetch), or history was rewritten; "
        "log has the commits that are here"
    )


def resolved(ws: "Workspace", ref: str) -> str | None:
    """The commit that a ref of this clone names in full, or None."""
    found = _file(ws, ref)
    if found is None:  # not where it is empty: the packed one is older
        found = _packed(ws, ref)
    if found is None or SHA.fullmatch(found):
        return found
    if not found.startswith("ref: "):
        raise GitFailed(
            f"the file .git/{ref} of this clone is broken, as when the power goes: your person has to write the sha of "
            f"the commit into it that it was at (the second one in the last line of .git/logs/{ref})"
        )
    # A ref that points to another one: git knows what to make of it.
    done = ws.git.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}", ok=(0, 1, 128))
    return done.line if done.code == 0 and SHA.fullmatch(done.line) else None


def _file(ws: "Workspace", name: str) -> str | None:
    try:
        with open(f"{ws.root}/.git/{name}", "rb") as file:
            return file.read().decode(errors="replace").strip()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None


def _packed(ws: "Workspace", ref: str) -> str | None:
    packed = _file(ws, "packed-refs") or ""
    line = re.search(rf"^([0-9a-f]{{40}}) {re.escape(ref)}$", packed, re.MULTILINE)
    return line[1] if line else None
