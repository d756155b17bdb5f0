"""The commits of a workspace, newest first, a page at a time: one ``git log``."""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from cohabit.errors import BadArgs, GitFailed
from cohabit.workspace.clone import refs, signing
from cohabit.workspace.clone.commits import TRAILER
from cohabit.workspace.clone.tree import pathspecs
from cohabit.workspace.formats.plain import HIDDEN
from cohabit.workspace.limits import LONGEST_LINE, MOST_COMMITS, USUAL_COMMITS
from cohabit.workspace.looking.changes import UNKNOWN

if TYPE_CHECKING:
    from cohabit.workspace.workspace import Workspace

LONGEST_NAME: Final = 200
FIELDS: Final = {
    "sha": "%H",
    "date": "%aI",
    "author_name": "%an",
    "author_email": "%ae",
    "message": "%s",
    "refs": "%D",
    "agent_id": f"%(trailers:key={TRAILER},valueonly,separator=%x0a)",
}
LONGEST: Final = {
    "author_name": LONGEST_NAME,
    "author_email": LONGEST_NAME,
    "agent_id": LONGEST_NAME,
    "message": LONGEST_LINE,
    "refs": LONGEST_LINE,
}
"""Characters: whoever can push can write a name of a megabyte."""
CURSOR: Final = re.compile(r"([0-9a-f]{40}):(\d{1,8})")
"""Where a log began, and how many of its commits were shown. A sha alone would not do: after a merge, what was not
shown yet is not all behind one commit."""


def log(
    ws: "Workspace",
    since: str | None = None,
    n: int = USUAL_COMMITS,
    paths: Sequence[str] | None = None,
    cursor: str | None = None,
) -> dict[str, Any]:
    """The answer of ``log``; ``cursor`` of one answer goes on with the next."""
    most = min(n, MOST_COMMITS)
    start, skip = _begin(ws, cursor)
    if start is None:
        return {"total": 0, "commits": [], "truncated": False}
    args = [f"--max-count={most + 1}", f"--skip={skip}"] + ([f"^{refs.checked(since)}"] if since else [])
    try:
        found = list(commits(ws, *args, start, "--", *pathspecs(paths)))
    except GitFailed as wrong:
        raise refs.unknown(since or start) if UNKNOWN.search(wrong.message) else wrong from None
    answer: dict[str, Any] = {"total": len(found[:most]), "commits": found[:most], "truncated": len(found) > most}
    return answer | {"cursor": f"{start}:{skip + most}"} if len(found) > most else answer


def commits(ws: "Workspace", *args: str) -> Iterator[dict[str, Any]]:
    """Commits as ``log`` shows them, by arguments for ``git log``; with ``verified`` where signing is set up."""
    wanted = [*FIELDS.values(), *(signing.FORMAT if ws.signing.signers else ())]
    done = ws.git.run("log", "-z", f"--format={'%x00'.join(wanted)}", *args, config=ws.signing.config())
    text = HIDDEN.sub("", done.text)  # once for all of it; NUL still stands between the fields
    flat = iter(text.split("\0"))
    for values in zip(*[flat] * len(wanted), strict=False):
        yield shown(values)


def shown(values: Sequence[str]) -> dict[str, Any]:
    """A commit, from what git printed for ``FIELDS`` and, where asked for, for its signature."""
    commit: dict[str, Any] = dict(zip(FIELDS, values, strict=False))
    for field in ("date", "author_name", "author_email"):
        if commit[field] == FIELDS[field]:  # git leaves it as it is where the commit has no such thing
            commit[field] = ""
    email = commit["author_email"]
    commit["agent_id"] = commit["agent_id"].rpartition("\n")[2] or None  # the last word is the tool's own
    for field, most in LONGEST.items():
        commit[field] = commit[field] and commit[field][:most]
    if len(values) == len(FIELDS):
        return commit
    code, signer = values[len(FIELDS) :]
    return commit | signing.verdict(code, signer, email)


def _begin(ws: "Workspace", cursor: str | None) -> tuple[str | None, int]:
    if cursor is None:
        return refs.head(ws), 0
    found = CURSOR.fullmatch(cursor)
    if not found:
        raise BadArgs("cursor is what an earlier log gave back; leave it out to begin with the newest commit")
    return found[1], int(found[2])
