"""Tools of the protocol: entries, items and news. They write journal.md and inbox.md in their formats, and do not
commit."""

from collections.abc import Iterable
from typing import Annotated

import msgspec
from msgspec import Meta

from cohabit.workspace.answers import Answer
from cohabit.workspace.clone import facts
from cohabit.workspace.formats import INBOX, JOURNAL, journal
from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.journal import Entry, Journal
from cohabit.workspace.formats.stamps import stamp
from cohabit.workspace.limits import MAX_COMMITS, MAX_FILE_BYTES, MAX_NEWS
from cohabit.workspace.reading import board, news
from cohabit.workspace.reading.damage import repair as repair_damage
from cohabit.workspace.reading.health import health as check_health
from cohabit.workspace.reading.lost import restore as restore_lost
from cohabit.workspace.tool import tool
from cohabit.workspace.workspace import Workspace


class Todo(msgspec.Struct, frozen=True, rename={"for_": "for"}):
    """Something left to do."""

    text: str
    for_: str | None = None


def write(ws: Workspace, path: str, text: str, new: Iterable[str] = ()) -> None:
    """Replace a file; bytes that are not UTF-8 are written unchanged. ``new`` are the texts of new entries, which any
    agent in this clone may commit."""
    facts.remember(ws, new)
    ws.tree.write(path, text.encode(errors="surrogateescape"), max_bytes=MAX_FILE_BYTES)


def write_inbox(ws: Workspace, before: Inbox, after: Inbox) -> None:
    old = {item.text for item in before.items}
    write(ws, INBOX, after.text, [item.text.replace("\r\n", "\n") for item in after.items if item.text not in old])


@tool(writes=True)
def journal_append(
    ws: Workspace,
    summary: Annotated[str, "What you did, in a line or two."],
    details: Annotated[str | None, "More, if it is worth reading."] = None,
    todos: Annotated[list[Todo] | None, "What is left to do, each for an agent id or for anyone."] = None,
) -> Answer:
    """Append an entry to journal.md: what you did, and what is left to do. Then add, commit and push."""
    left = [journal.Todo(todo.text, todo.for_ or "anyone") for todo in todos or ()]
    before = Journal.parse(ws.tree.text(JOURNAL) or "")
    entry = Entry.new(ws.identity, ws.now(), summary, details, left, before.last_time(ws.identity.agent_id))
    write(ws, JOURNAL, before.append(entry).text, [entry.text])
    answer = {"ok": True, "journal_entry_at": entry.at, "agent_id": entry.agent_id, "id": entry.uid}
    return answer | _warning(ws, [todo.target for todo in entry.todos])


def _warning(ws: Workspace, targets: list[str]) -> Answer:
    warning = board.unknown_targets(ws, targets)
    return {"note": warning} if warning else {}


@tool(writes=True)
def inbox_add(
    ws: Workspace,
    title: Annotated[str, "The request, in one line."],
    body: Annotated[str | None, "What they need to know to do it."] = None,
    for_: Annotated[str | None, "The agent id it is for; leave it out for anyone."] = None,
) -> Answer:
    """Add an item to inbox.md that needs another agent's attention. Then add, commit and push.

    Another agent may have used the number at the same time; push then gives the item the next one and says so.
    """
    before = Inbox.parse(ws.tree.text(INBOX) or "")
    inbox, item = before.add(title=title, body=body, for_=for_, by=ws.identity.agent_id, now=ws.now())
    write_inbox(ws, before, inbox)
    answer = {"id": item.id, "target": f"@{item.target}", "added_at": item.added_at}
    return answer | _warning(ws, [item.target])


@tool(writes=True)
def inbox_close(
    ws: Workspace,
    id_: Annotated[str, "The item's id, for example INB-014."],
    resolution: Annotated[str, "How it was resolved, in one line."],
    journal_ref: Annotated[str | None, "The time of the journal entry about it, for example 2026-05-22 09:00."] = None,
) -> Answer:
    """Close an open item of inbox.md and say how it was resolved. Then add, commit and push."""
    by, now = ws.identity.agent_id, ws.now()
    inbox = Inbox.parse(ws.tree.text(INBOX) or "")
    closed = inbox.close(id_, by=by, resolution=resolution, now=now, journal_ref=journal_ref)
    write_inbox(ws, inbox, closed)
    return {"id": id_, "closed_at": stamp(now), "by": by}


@tool(writes=True)
def whats_new(
    ws: Workspace,
    ack: Annotated[bool, "false: do not mark this as read; use the tool ack later"] = True,
    limit: Annotated[int, Meta(ge=1), f"number of commits, at most {MAX_COMMITS}"] = MAX_NEWS,
    cursor: Annotated[str | None, "cursor of the previous answer, for older commits"] = None,
) -> Answer:
    """What others did since your last visit: open items for you, journal, commits, changed files. Pull first."""
    return news.whats_new(ws, ack=ack, limit=limit, cursor=cursor)


@tool(profile="full", writes=True)
def ack(ws: Workspace, cursor: Annotated[str, "cursor of whats_new"]) -> Answer:
    """Mark as read what whats_new listed, up to its cursor."""
    return news.ack(ws, cursor)


@tool(profile="full")
def health(
    ws: Workspace,
    since: Annotated[str | None, "a commit: only what came after it"] = None,
    limit: Annotated[int, Meta(ge=1), "number of findings of each kind"] = 10,
) -> Answer:
    """Check whether agents follow the protocol, and whether journal and inbox are intact.

    Lists commits without a journal entry, duplicate ids, malformed files, conflict markers, and published entries that
    vanished or were edited.
    """
    return check_health(ws, since, limit)


@tool(profile="full", writes=True)
def repair(ws: Workspace) -> Answer:
    """Repair what plain git damaged in journal and inbox, as listed by health. Then add, commit and push.

    It repairs conflict markers, duplicated entries and items, and the merge driver of this clone.
    """
    return repair_damage(ws)


@tool(profile="full", writes=True)
def restore(ws: Workspace, id_: Annotated[str, "id of the lost entry or item, as in health or whats_new"]) -> Answer:
    """Restore a published entry or item that vanished or was edited. Then add, commit and push."""
    return restore_lost(ws, id_)
