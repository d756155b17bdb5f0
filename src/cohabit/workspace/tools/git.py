"""Tools for git: inspect, stage, commit and share."""

from typing import Annotated

from msgspec import Meta

from cohabit.workspace.answers import Answer
from cohabit.workspace.clone import commits
from cohabit.workspace.limits import DEFAULT_COMMITS, MAX_COMMITS
from cohabit.workspace.reading import changes, history
from cohabit.workspace.sharing import publish
from cohabit.workspace.tool import tool
from cohabit.workspace.workspace import Workspace

Since = Annotated[str | None, "a commit: what came after it. A sha as in log, a branch, or HEAD~3"]
Paths = Annotated[list[str] | None, "only these files and folders"]


@tool(writes=True, remote=True)
def fetch(ws: Workspace) -> Answer:
    """Fetch from the remote without changing any file: {updated, behind, ahead}."""
    return publish.fetch(ws)


@tool(writes=True, remote=True)
def pull(ws: Workspace) -> Answer:
    """Bring the files up to date, by fast-forward only: {updated, new_head, files}, or {error: "conflict", …}."""
    return publish.pull(ws)


@tool()
def status(ws: Workspace) -> Answer:
    """Changed, staged and untracked files, and how far this clone is ahead and behind."""
    return changes.status(ws)


@tool()
def diff(
    ws: Workspace,
    since: Since = None,
    paths: Paths = None,
    offset: Annotated[int, Meta(ge=0), "next_offset of the previous answer, for the next page"] = 0,
) -> Answer:
    """Unified diff of unstaged changes, or, with since, of everything committed after it."""
    return changes.diff(ws, since, paths, offset)


@tool()
def log(
    ws: Workspace,
    since: Since = None,
    n: Annotated[int, Meta(ge=1), f"number of commits, at most {MAX_COMMITS}"] = DEFAULT_COMMITS,
    paths: Paths = None,
    cursor: Annotated[str | None, "cursor of the previous answer, for older commits"] = None,
) -> Answer:
    """List commits, newest first."""
    return history.log(ws, since, n, paths, cursor)


@tool(writes=True)
def add(ws: Workspace, paths: Annotated[list[str], "files and folders; a missing file is staged as removed"]) -> Answer:
    """Stage files for the next commit."""
    commits.add(ws, paths)
    return {"added": paths}


@tool(writes=True)
def commit(ws: Workspace, message: Annotated[str, "what you did; [agent-id] is put in front"]) -> Answer:
    """Commit what is staged, with you as the author. Your own pointer is included."""
    made = commits.commit_index(ws, message)
    if made is None:
        return {
            "sha": "",
            "branch": "",
            "summary": {"changes": 0, "insertions": 0, "deletions": 0},
            "note": "Nothing was committed because nothing is staged. Call add with the files you changed (status "
            "lists them), then commit again.",
        }
    summary = {"changes": made.changes, "insertions": made.insertions, "deletions": made.deletions}
    return {"sha": made.sha, "branch": made.branch, "summary": summary}


@tool(writes=True, remote=True)
def push(ws: Workspace) -> Answer:
    """Share your commits. New commits by others are merged first; a real conflict is reported and left to you."""
    return publish.push(ws)
