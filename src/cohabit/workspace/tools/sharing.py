"""Sharing beyond push: all in one call, items that only one agent works on, and conflicts to decide."""

from typing import Annotated, Literal

from cohabit.workspace.answers import Answer
from cohabit.workspace.sharing import claims, conflicts, publish
from cohabit.workspace.tool import tool
from cohabit.workspace.workspace import Workspace

ItemId = Annotated[str, "an open item, such as INB-014"]


@tool(profile="full", writes=True)
def sync(ws: Workspace) -> Answer:
    """Fetch, merge what others pushed, and push, in one call. Also when you have nothing to push."""
    return publish.sync(ws)


@tool(profile="full", writes=True)
def claim(ws: Workspace, id_: ItemId) -> Answer:
    """Take an open inbox item, so that nobody else works on it; shared at once. Fails if somebody else has it."""
    return claims.claim(ws, id_)


@tool(profile="full", writes=True)
def release(ws: Workspace, id_: ItemId) -> Answer:
    """Give back an inbox item that you claimed; shared at once."""
    return claims.release(ws, id_)


@tool(profile="full", writes=True)
def resolve(
    ws: Workspace,
    path: Annotated[str | None, "the file; without it, all open conflicts are shown"] = None,
    take: Annotated[Literal["ours", "theirs", "both"] | None, "whose version"] = None,
    content: Annotated[str | None, "or the whole text that the file shall have"] = None,
) -> Answer:
    """Look at what conflicts, or decide one file of it. When all are decided, push goes through."""
    if path is None:
        return conflicts.show(ws)
    return conflicts.resolve(ws, path, take, content)


@tool(profile="full", writes=True)
def abandon(ws: Workspace) -> Answer:
    """Let the others' version win in every conflict: the whole file, in journal and inbox the entries that conflict.

    Yours stay in a commit that the answer names. Where the remote's history was rewritten, this lets go what is lost
    there; the next push carries over what only you have.
    """
    return conflicts.abandon(ws)
