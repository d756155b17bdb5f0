"""Tools that write journal.md and inbox.md in their formats. They do not commit."""

from collections.abc import Iterable
from typing import Annotated

import msgspec

from cohabit.workspace.answers import Answer
from cohabit.workspace.clone import facts, plain_git
from cohabit.workspace.formats import INBOX, JOURNAL, journal
from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.journal import Entry, Journal
from cohabit.workspace.formats.stamps import stamp
from cohabit.workspace.limits import MAX_FILE_BYTES
from cohabit.workspace.reading import board
from cohabit.workspace.workspace import Workspace


class Todo(msgspec.Struct, frozen=True, rename={"for_": "for"}):
    """Something left to do."""

    text: str
    for_: str | None = None


def write(ws: Workspace, path: str, text: str, new: Iterable[str] = ()) -> None:
    """Replace a file; bytes that are not UTF-8 are written unchanged. ``new`` are the texts of new entries, which any
    agent in this clone may commit. Raises Conflict during a rebase."""
    plain_git.refuse_rebase(ws.root)
    facts.remember(ws, new)
    ws.tree.write(path, text.encode(errors="surrogateescape"), max_bytes=MAX_FILE_BYTES)


def write_inbox(ws: Workspace, before: Inbox, after: Inbox) -> None:
    old = {item.text for item in before.items}
    write(ws, INBOX, after.text, [item.text.replace("\r\n", "\n") for item in after.items if item.text not in old])


def journal_append(
    ws: Workspace,
    summary: Annotated[str, "What you did, in a line or two."],
    details: Annotated[str | None, "More, if it is worth reading."] = None,
    todos: Annotated[list[Todo] | None, "What is left to do, each for an agent id or for anyone."] = None,
) -> Answer:
    """Append an entry to journal.md: what you did, and what is left to do. Then add, commit and push."""
    left = [journal.Todo(todo.text, todo.for_ or "anyone") for todo in todos or ()]
    before = Journal.parse(ws.tree.text(JOURNAL))
    entry = Entry.new(ws.identity, ws.now(), summary, details, left, before.last_time(ws.identity.agent_id))
    write(ws, JOURNAL, before.append(entry).text, [entry.text])
    answer = {"ok": True, "journal_entry_at": entry.at, "agent_id": entry.agent_id, "id": entry.uid}
    return answer | _warning(ws, [todo.target for todo in entry.todos])


def _warning(ws: Workspace, targets: list[str]) -> Answer:
    warning = board.unknown_targets(ws, targets)
    return {"note": warning} if warning else {}


def inbox_add(
    ws: Workspace,
    title: Annotated[str, "The request, in one line."],
    body: Annotated[str | None, "What they need to know to do it."] = None,
    for_: Annotated[str | None, "The agent id it is for; leave it out for anyone."] = None,
) -> Answer:
    """Add an item to inbox.md that needs another agent's attention. Then add, commit and push.

    Another agent may have used the number at the same time; push then gives the item the next one and says so.
    """
    before = Inbox.parse(ws.tree.text(INBOX))
    inbox, item = before.add(title=title, body=body, for_=for_, by=ws.identity.agent_id, now=ws.now())
    write_inbox(ws, before, inbox)
    answer = {"id": item.id, "target": f"@{item.target}", "added_at": item.added_at}
    return answer | _warning(ws, [item.target])


def inbox_close(
    ws: Workspace,
    id_: Annotated[str, "The item's id, for example INB-014."],
    resolution: Annotated[str, "How it was resolved, in one line."],
    journal_ref: Annotated[str | None, "The time of the journal entry about it, for example 2026-05-22 09:00."] = None,
) -> Answer:
    """Close an open item of inbox.md and say how it was resolved. Then add, commit and push."""
    by, now = ws.identity.agent_id, ws.now()
    inbox = Inbox.parse(ws.tree.text(INBOX))
    closed = inbox.close(id_, by=by, resolution=resolution, now=now, journal_ref=journal_ref)
    write_inbox(ws, inbox, closed)
    return {"id": id_, "closed_at": stamp(now), "by": by}
