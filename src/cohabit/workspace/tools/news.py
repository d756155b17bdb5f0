"""What happened while you were away."""

from typing import Annotated

from msgspec import Meta

from cohabit.workspace.answers import Answer
from cohabit.workspace.limits import MOST_COMMITS, MOST_NEWS
from cohabit.workspace.looking import health as protocol
from cohabit.workspace.looking import news
from cohabit.workspace.tool import tool
from cohabit.workspace.workspace import Workspace


@tool(writes=True)
def whats_new(
    ws: Workspace,
    ack: Annotated[bool, "false: do not mark this as read; call again, or ack"] = True,
    limit: Annotated[int, Meta(ge=1), f"how many commits, at most {MOST_COMMITS}"] = MOST_NEWS,
    cursor: Annotated[str | None, "cursor of the answer before, for older commits"] = None,
) -> Answer:
    """What others did since you were last here: open items for you, the journal, commits, changed files. Pull first."""
    return news.whats_new(ws, ack=ack, limit=limit, cursor=cursor)


@tool(profile="full", writes=True)
def ack(ws: Workspace, cursor: Annotated[str, "cursor of whats_new"]) -> Answer:
    """Mark as read what whats_new told, up to its cursor."""
    return news.ack(ws, cursor)


@tool(profile="full")
def health(
    ws: Workspace,
    since: Annotated[str | None, "a commit: only what came after it"] = None,
    limit: Annotated[int, Meta(ge=1), "how many findings of a kind"] = 10,
) -> Answer:
    """Whether agents keep to the protocol: commits without a journal entry, ids given twice, malformed files."""
    return protocol.health(ws, since, limit)
