"""Tools to read the journal and the inbox without reading whole files, to record decisions and to archive."""

from typing import Annotated, Any, Final, Literal

from msgspec import Meta

from cohabit.errors import BadArgs
from cohabit.workspace.answers import Answer
from cohabit.workspace.formats import INBOX, JOURNAL, decisions, fields, journal
from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.item import Item
from cohabit.workspace.formats.journal import Block, Journal, content_key
from cohabit.workspace.formats.stamps import stamp
from cohabit.workspace.limits import JOURNAL_TAIL
from cohabit.workspace.reading import authors
from cohabit.workspace.reading.board import MAX_NAME_CHARS, entry_row, fitting
from cohabit.workspace.tools.protocol import write
from cohabit.workspace.workspace import Workspace

MAX_COUNT: Final = 200
MAX_CHARS: Final = 8 * 1024
"""Of a text in an answer; the file has the rest."""
MAX_TODO_CHARS: Final = 1_000
Count = Annotated[int, Meta(ge=1, le=MAX_COUNT)]


def journal_tail(
    ws: Workspace,
    n: Annotated[Count, "Number of entries."] = JOURNAL_TAIL,
    before: Annotated[str | None, "The cursor of an earlier answer: the entries before those."] = None,
) -> Answer:
    """Read the last entries of journal.md, newest last."""
    found = Journal.parse(ws.tree.text(JOURNAL))
    every = found.entries
    end = len(every) if before is None else _position([_key(block) for block in every], before)
    newest = reversed(every[max(0, end - n) : end])
    shown = fitting([{"id": _key(block)} | entry_row(block, _short, MAX_TODO_CHARS) for block in newest])[::-1]
    start = end - len(shown)
    proofs = authors.of_entries(ws, found, every[start:end])
    return {
        "entries": [row | proofs[block.key] for row, block in zip(shown, every[start:end], strict=True)],
        "total": len(every),
        "truncated": start > 0,
        "cursor": _key(every[start]) if start > 0 else None,
    }


def inbox_list(
    ws: Workspace,
    for_: Annotated[str | None, "Only items for exactly this agent id; anyone: those for anyone."] = None,
    state: Annotated[Literal["open", "closed", "all"], "Which items."] = "open",
    limit: Annotated[Count, "Number of items."] = 50,
    cursor: Annotated[str | None, "The cursor of an earlier answer: the items after those."] = None,
) -> Answer:
    """List the items of inbox.md: those for you first, then those for anyone, then the others."""
    me = ws.identity.agent_id
    inbox = Inbox.parse(ws.tree.text(INBOX))
    every = inbox.items
    wanted = [item for item in every if state == "all" or item.open == (state == "open")]
    if for_ is not None:
        target = fields.target(for_)
        wanted = [item for item in wanted if (item.is_for_anyone if target == fields.ANYONE else item.is_for(target))]
    wanted.sort(key=lambda item: _distance(item, me))
    start = 0 if cursor is None else _position([_key(item) for item in wanted], cursor) + 1
    shown = fitting([_item(item) for item in wanted[start : start + limit]])
    end = start + len(shown)
    open_ = [item for item in every if item.open]
    proofs = authors.of_items(ws, inbox, wanted[start:end])
    return {
        "items": [row | proofs[item.key] for row, item in zip(shown, wanted[start:end], strict=True)],
        "counts": {
            "open": len(open_),
            "closed": len(every) - len(open_),
            "for_me": sum(_distance(item, me) <= 1 for item in open_),
            "for_anyone": sum(item.is_for_anyone for item in open_),
        },
        "truncated": end < len(wanted),
        "cursor": _key(wanted[end - 1]) if end < len(wanted) else None,
    }


def decision_add(
    ws: Workspace,
    title: Annotated[str, "What was decided, in one line."],
    context: Annotated[str, "The options, and why a decision was needed."],
    decision: Annotated[str, "What was chosen, and why."],
    consequences: Annotated[str | None, "What follows from it."] = None,
    decided_by: Annotated[list[str] | None, "Agent ids; leave it out if it was you."] = None,
    status: Annotated[decisions.Status, "The state of the decision."] = "accepted",
) -> Answer:
    """Write a decision to a new file in decisions/. Then add, commit and push."""
    made = decisions.Decision(
        title=title,
        date=stamp(ws.now())[:10],
        decided_by=decided_by or [ws.identity.agent_id],
        status=status,
        context=context,
        decision=decision,
        consequences=consequences,
    )
    try:
        taken = [entry.name for entry in ws.tree.entries(decisions.FOLDER)]
    except FileNotFoundError:
        taken = []
    path = made.path(taken)
    write(ws, path, made.text)
    return {"path": path, "date": made.date, "status": made.status}


def archive(
    ws: Workspace,
    before: Annotated[
        str | None, "Move the months before this one, YYYY-MM; if left out, all months before the current one."
    ] = None,
) -> Answer:
    """Move journal entries of past months to journal-archive/YYYY-MM.md. Then add, commit and push."""
    month = before or stamp(ws.now())[:7]
    done = journal.archive(ws.tree.text(JOURNAL) or "", month, ws.tree.text)
    for path, text in done.months.items():  # the archive first: if this is interrupted, no entry is lost
        write(ws, path, text)
    if done.entries:
        write(ws, JOURNAL, done.journal)
    return {"moved": done.entries, "files": list(done.months), "before": month}


# -- answers --------------------------------------------------------------------------------------
def _position(keys: list[str], cursor: str) -> int:
    if cursor not in keys:
        raise BadArgs("the entry of this cursor no longer exists: call again without it")
    return keys.index(cursor)


def _distance(item: Item, me: str) -> int:
    """0 for an item for the caller, 1 for one for an agent of the person, 2 for anyone, 3 for others."""
    return 0 if item.is_for(me) else 1 if fields.is_for_agent_of(item.target, me) else 2 if item.is_for_anyone else 3


def _key(of: Block | Item) -> str:
    """The key of an entry or an item; a very long one is replaced by a digest."""
    return of.key if len(of.key) <= MAX_NAME_CHARS else content_key(of.key, {})


def _short(text: str, max_chars: int = MAX_CHARS) -> str:
    return text if len(text) <= max_chars else text[:max_chars] + " […]"


def _name(text: str) -> str:
    return _short(text, MAX_NAME_CHARS)


def _item(item: Item) -> dict[str, Any]:
    found = {
        "id": _name(item.id),
        "target": f"@{_name(item.target) or 'anyone'}",
        "title": _short(item.title),
        "body": _short(item.body),
        "state": "open" if item.open else "closed",
        "added_at": item.added_at,
        "added_by": _name(item.added_by),
    }
    if item.claim:
        found |= {"claimed_at": item.claim.at, "claimed_by": _name(item.claim.by)}
    if item.closing:
        closing = item.closing
        found |= {"closed_at": closing.at, "closed_by": _name(closing.by), "resolution": _short(closing.resolution)}
    return found
