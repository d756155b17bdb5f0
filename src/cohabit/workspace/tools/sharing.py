"""Tools for sharing beyond push: sync, claims, and resolving conflicts."""

from typing import Annotated, Literal

from cohabit.workspace.answers import Answer
from cohabit.workspace.sharing import claims, conflicts, publish
from cohabit.workspace.tool import tool
from cohabit.workspace.workspace import Workspace

ItemId = Annotated[str, "an open item, such as INB-014"]


@tool(profile="full", writes=True, remote=True)
def sync(ws: Workspace) -> Answer:
    """Fetch, merge commits by others and push, in one call. It also works if you have nothing to push."""
    return publish.sync(ws)


@tool(profile="full", writes=True, remote=True)
def claim(ws: Workspace, id_: ItemId) -> Answer:
    """Claim an open inbox item, so that no other agent works on it; shared at once. Fails if another agent has it."""
    return claims.claim(ws, id_)


@tool(profile="full", writes=True, remote=True)
def release(ws: Workspace, id_: ItemId) -> Answer:
    """Release an inbox item that you claimed; shared at once."""
    return claims.release(ws, id_)


@tool(profile="full", writes=True)
def resolve(
    ws: Workspace,
    path: Annotated[str | None, "the file; without it, all open conflicts are shown"] = None,
    take: Annotated[Literal["ours", "theirs", "both"] | None, "which version to take"] = None,
    content: Annotated[str | None, "or the whole new text of the file"] = None,
) -> Answer:
    """Show conflicts, or resolve one file. When all are resolved, push succeeds."""
    if path is None:
        return conflicts.show(ws)
    return conflicts.resolve(ws, path, take, content)


@tool(profile="full", writes=True)
def abandon(ws: Workspace) -> Answer:
    """Take the others' version in every conflict: the whole file, or in journal and inbox the conflicting entries.

    Your versions stay in a commit that the answer names. If the remote's history was rewritten, this accepts the loss
    of the removed commits; the next push carries over what only you have.
    """
    return conflicts.abandon(ws)
