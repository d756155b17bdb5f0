"""The commits of a workspace, newest first: pages of ``log``, and scans that include the changed files."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

from msgspec import Meta

from cohabit.errors import BadArgs
from cohabit.workspace.answers import Answer
from cohabit.workspace.clone import refs, signing
from cohabit.workspace.clone.commits import TRAILER
from cohabit.workspace.clone.tree import pathspecs
from cohabit.workspace.formats.text import UNSAFE, without_unsafe
from cohabit.workspace.limits import DEFAULT_COMMITS, MAX_COMMITS, MAX_LINE_CHARS
from cohabit.workspace.reading.changes import Paths, Since
from cohabit.workspace.workspace import Workspace

MAX_NAME_CHARS: Final = 200
"""Anybody who can push can write a name of a megabyte."""
FIELDS: Final = {
    "sha": "%H",
    "date": "%aI",
    "author_name": "%an",
    "author_email": "%ae",
    "message": "%s",
    "refs": "%D",
    "agent_id": f"%(trailers:key={TRAILER},valueonly,separator=%x0a)",
}
CURSOR: Final = re.compile(r"([0-9a-f]{40}):(\d{1,8})")
"""The first commit of a log, and how many were shown. A single commit would not do: after a merge, the remaining
commits are not all ancestors of one."""
POINTERS: Final = ".pointers/"
NO_GRAPH: Final = {"core.commitGraph": "false"}
"""For a walk over commits that are all shown. Git reads them anyway, so opening the graph costs more than it saves."""


# -- log ------------------------------------------------------------------------------------------
def log(
    ws: Workspace,
    since: Since = None,
    n: Annotated[int, Meta(ge=1), f"number of commits, at most {MAX_COMMITS}"] = DEFAULT_COMMITS,
    paths: Paths = None,
    cursor: Annotated[str | None, "cursor of the previous answer, for older commits"] = None,
) -> Answer:
    """List commits, newest first."""
    limit = min(n, MAX_COMMITS)
    start, skip = _start(ws, cursor)
    if start is None:
        return {"total": 0, "commits": [], "truncated": False}
    args = [f"--max-count={limit + 1}", f"--skip={skip}"] + ([f"^{refs.checked(since)}"] if since else [])
    walks_on = bool(since or paths or skip)  # to commits that are not shown
    with refs.named(since or start):
        found = list(commits(ws, *args, start, "--", *pathspecs(paths), config={} if walks_on else NO_GRAPH))
    answer: Answer = {"total": len(found[:limit]), "commits": found[:limit], "truncated": len(found) > limit}
    return answer | {"cursor": f"{start}:{skip + limit}"} if len(found) > limit else answer


def _start(ws: Workspace, cursor: str | None) -> tuple[str | None, int]:
    if cursor is None:
        return refs.head(ws), 0
    found = CURSOR.fullmatch(cursor)
    if not found:
        raise BadArgs("cursor must come from an earlier answer of log; leave it out to begin with the newest commit")
    return found[1], int(found[2])


def commits(ws: Workspace, *args: str, config: Mapping[str, str] | None = None) -> Iterator[dict[str, Any]]:
    """Commits as in the answer of ``log``, by arguments of ``git log``; with ``verified`` if signing is set up."""
    wanted = [*FIELDS.values(), *(signing.FORMAT if ws.signing.signers else ())]
    settings = {**ws.signing.config(), **(config or {})}
    result = ws.git.run("log", "-z", f"--format={'%x00'.join(wanted)}", *args, config=settings)
    flat = iter(without_unsafe(result.text).split("\0"))
    for values in zip(*[flat] * len(wanted), strict=False):
        yield _commit(values)


def _commit(values: Sequence[str]) -> dict[str, Any]:
    """A commit from the values of ``FIELDS`` and, if present, of its signature."""
    sha, date, name, email, message, names, trailers, *signature = values
    # Git prints the format itself if the commit lacks the field.
    email = "" if email == FIELDS["author_email"] else email
    commit: dict[str, Any] = {
        "sha": sha,
        "date": "" if date == FIELDS["date"] else date,
        "author_name": "" if name == FIELDS["author_name"] else name[:MAX_NAME_CHARS],
        "author_email": email[:MAX_NAME_CHARS],
        "message": message[:MAX_LINE_CHARS],
        "refs": names[:MAX_LINE_CHARS],
        "agent_id": trailers.rpartition("\n")[2][:MAX_NAME_CHARS] or None,  # the last trailer is written by the tool
    }
    if not signature:
        return commit
    code, signer = signature
    return commit | signing.verification(code, signer, email)


# -- commits with their files ---------------------------------------------------------------------
@dataclass(frozen=True, slots=True, eq=False)
class Commit:
    """A commit as in ``log``, without verification, and its files."""

    fields: dict[str, Any]
    files: list[str]
    """The changed files without pointers; a renamed file has its new name."""
    is_work: bool
    """False if it changed only pointers."""

    @property
    def sha(self) -> str:
        return str(self.fields["sha"])

    @property
    def agent_id(self) -> str:
        """The agent named by the trailer, or else by the prefix; "" if there is neither."""
        subject = str(self.fields["message"])
        prefix = subject[1:].partition("] ")[0] if subject.startswith("[") and "] " in subject else ""
        return self.fields["agent_id"] or prefix


def scan(ws: Workspace, span: Sequence[str], limit: int, skip: int = 0) -> list[Commit]:
    """The newest commits of a span (arguments of ``git log``) after ``skip`` of them, without merges, whose changes are
    in the commits that they bring. Commits that only move pointers are marked here, because excluding them in git
    would make it compare every tree of the span."""
    fields = "".join(f"%x00{field}" for field in FIELDS.values())
    options = ["-z", f"--format={fields}", "--name-only", "-M", "--no-merges", f"--max-count={limit}", f"--skip={skip}"]
    # Split first and clean afterwards: a name that is empty after cleaning would look like the end of its commit.
    parts = ws.git.run("log", *options, *span, "--").text.split("\0")
    found, at, width = [], 0, len(FIELDS)
    while at + width < len(parts):  # an empty part, the fields, then names up to the next empty part
        begin, at = at + 1, parts.index("", at + 1 + width)
        values = [UNSAFE.sub("", part) for part in parts[begin:at]]
        names = [name.removeprefix("\n") for name in values[width:]]
        files = [name for name in names if not name.startswith(POINTERS)]
        found.append(Commit(_commit(values[:width]), files, bool(files or not names)))
    return found
