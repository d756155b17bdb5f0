"""The helpers of the protocol: they write journal.md and inbox.md in their formats. They do not commit."""

from typing import Annotated

import msgspec

from cohabit.workspace.answers import Answer
from cohabit.workspace.formats import journal
from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.journal import Entry, Journal
from cohabit.workspace.formats.paths import INBOX, JOURNAL
from cohabit.workspace.formats.stamps import stamp
from cohabit.workspace.limits import LARGEST_TEXT
from cohabit.workspace.tool import tool
from cohabit.workspace.workspace import Workspace


class Todo(msgspec.Struct, frozen=True, rename={"for_": "for"}):
    """Something that is left to do."""

    text: str
    for_: str | None = None


def write(ws: Workspace, path: str, text: str) -> None:
    """Replace a file; bytes that were no UTF-8 go back as they came."""
    ws.tree.write(path, text.encode(errors="surrogateescape"), most=LARGEST_TEXT)


@tool(writes=True)
def journal_append(
    ws: Workspace,
    summary: Annotated[str, "What you did, in a line or two."],
    details: Annotated[str | None, "More, if it is worth reading."] = None,
    todos: Annotated[list[Todo] | None, "What is left, each for an agent id or for anyone."] = None,
) -> Answer:
    """Append an entry to journal.md: what you did, and what is left to do. Then add, commit and push."""
    left = [journal.Todo(todo.text, todo.for_ or "anyone") for todo in todos or ()]
    entry = Entry.new(ws.who, ws.now(), summary, details, left)
    write(ws, JOURNAL, Journal.parse(ws.tree.text(JOURNAL) or "").append(entry).text)
    return {"ok": True, "journal_entry_at": entry.at, "agent_id": entry.agent_id, "id": entry.uid}


@tool(writes=True)
def inbox_add(
    ws: Workspace,
    title: Annotated[str, "What is asked, in one line."],
    body: Annotated[str | None, "What they need to know to do it."] = None,
    for_: Annotated[str | None, "The agent id it is for; leave it out for anyone."] = None,
) -> Answer:
    """Put an item into inbox.md that needs another agent's attention. Then add, commit and push.

    Another agent may have taken the number at the same time; push says so, and gives the item the next one.
    """
    inbox, item = Inbox.parse(ws.tree.text(INBOX) or "").add(
        title=title, body=body, for_=for_, by=ws.who.agent_id, now=ws.now()
    )
    write(ws, INBOX, inbox.text)
    return {"id": item.id, "target": f"@{item.target}", "added_at": item.added_at}


@tool(writes=True)
def inbox_close(
    ws: Workspace,
    id_: Annotated[str, "The item's id, for example INB-014."],
    resolution: Annotated[str, "How it was resolved, in one line."],
    journal_ref: Annotated[str | None, "The time of the journal entry about it, for example 2026-05-22 09:00."] = None,
) -> Answer:
    """Close an open item of inbox.md and say how it was resolved. Then add, commit and push."""
    who, now = ws.who.agent_id, ws.now()
    inbox = Inbox.parse(ws.tree.text(INBOX) or "")
    write(ws, INBOX, inbox.close(id_, by=who, resolution=resolution, now=now, journal_ref=journal_ref).text)
    return {"id": id_, "closed_at": stamp(now), "by": who}
