"""Looking at the board without reading whole files, and what keeps it in order."""

from typing import Annotated, Any, Final, Literal

from msgspec import Meta

from cohabit.errors import BadArgs
from cohabit.workspace.answers import Answer
from cohabit.workspace.formats import archive as archives
from cohabit.workspace.formats import decisions, fields
from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.item import Item
from cohabit.workspace.formats.journal import Block, Journal, content_key
from cohabit.workspace.formats.paths import INBOX, JOURNAL
from cohabit.workspace.formats.stamps import stamp
from cohabit.workspace.limits import JOURNAL_TAIL, MOST_TODOS
from cohabit.workspace.looking.board import LONGEST_NAME, fitting
from cohabit.workspace.tool import tool
from cohabit.workspace.tools.protocol import write
from cohabit.workspace.workspace import Workspace

MOST: Final = 200
LONGEST: Final = 8 * 1024
"""Characters of a text in an answer; the file has the rest."""
LONGEST_TODO: Final = 1_000
Count = Annotated[int, Meta(ge=1, le=MOST)]


@tool(profile="full")
def journal_tail(
    ws: Workspace,
    n: Annotated[Count, "How many entries."] = JOURNAL_TAIL,
    before: Annotated[str | None, "The cursor of an earlier answer: the entries before those."] = None,
) -> Answer:
    """Read the last entries of journal.md, the newest at the end."""
    every = Journal.parse(ws.tree.text(JOURNAL) or "").entries
    end = len(every) if before is None else _position([_key(block) for block in every], before)
    shown = fitting([_entry(block) for block in reversed(every[max(0, end - n) : end])])[::-1]
    start = end - len(shown)
    return {
        "entries": shown,
        "total": len(every),
        "truncated": start > 0,
        "cursor": _key(every[start]) if start > 0 else None,
    }


@tool(profile="full")
def inbox_list(
    ws: Workspace,
    for_: Annotated[str | None, "Only items for exactly this agent id; anyone: those for anybody."] = None,
    state: Annotated[Literal["open", "closed", "all"], "Which items."] = "open",
    limit: Annotated[Count, "How many items."] = 50,
    cursor: Annotated[str | None, "The cursor of an earlier answer: the items after those."] = None,
) -> Answer:
    """List the items of inbox.md: those for you first, then those for anyone, then the others."""
    me = ws.who.agent_id
    every = Inbox.parse(ws.tree.text(INBOX) or "").items
    wanted = [item for item in every if state == "all" or item.open == (state == "open")]
    if for_ is not None:
        whom = fields.target(for_)
        wanted = [item for item in wanted if (item.is_for_anyone if whom == fields.ANYONE else item.is_for(whom))]
    wanted.sort(key=lambda item: 0 if item.is_for(me) else 1 if item.is_for_anyone else 2)
    start = 0 if cursor is None else _position([_key(item) for item in wanted], cursor) + 1
    shown = fitting([_item(item) for item in wanted[start : start + limit]])
    end = start + len(shown)
    open_ = [item for item in every if item.open]
    return {
        "items": shown,
        "counts": {
            "open": len(open_),
            "closed": len(every) - len(open_),
            "for_me": sum(item.is_for(me) for item in open_),
            "for_anyone": sum(item.is_for_anyone for item in open_),
        },
        "truncated": end < len(wanted),
        "cursor": _key(wanted[end - 1]) if end < len(wanted) else None,
    }


@tool(profile="full", writes=True)
def decision_add(
    ws: Workspace,
    title: Annotated[str, "What was decided, in one line."],
    context: Annotated[str, "What there was to choose, and why now."],
    decision: Annotated[str, "What was chosen, and why."],
    consequences: Annotated[str | None, "What follows from it."] = None,
    decided_by: Annotated[list[str] | None, "Agent ids; leave it out if it was you."] = None,
    status: Annotated[decisions.Status, "Whether it holds."] = "accepted",
) -> Answer:
    """Write a decision into decisions/, in a file of its own. Then add, commit and push."""
    made = decisions.Decision.new(
        title=title,
        date=stamp(ws.now())[:10],
        decided_by=decided_by or [ws.who.agent_id],
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


@tool(profile="full", writes=True)
def archive(
    ws: Workspace,
    before: Annotated[
        str | None, "Move the months before this one, YYYY-MM; if left out, all months that are over."
    ] = None,
) -> Answer:
    """Move journal entries of months that are over to journal-archive/YYYY-MM.md. Then add, commit and push."""
    month = before or stamp(ws.now())[:7]
    done = archives.archive(ws.tree.text(JOURNAL) or "", month, ws.tree.text)
    for path, text in done.months.items():  # the months first: an entry that is twice here is better than none
        write(ws, path, text)
    if done.entries:
        write(ws, JOURNAL, done.journal)
    return {"moved": done.entries, "files": list(done.months), "before": month}


# -- answers --------------------------------------------------------------------------------------
def _position(keys: list[str], cursor: str) -> int:
    if cursor not in keys:
        raise BadArgs("what this cursor pointed at is gone: ask again without it")
    return keys.index(cursor)


def _key(of: Block | Item) -> str:
    """Its key, which may be as long as somebody made it, in a length that fits an answer."""
    return of.key if len(of.key) <= LONGEST_NAME else content_key(of.key, {})


def _short(text: str, most: int = LONGEST) -> str:
    return text if len(text) <= most else text[:most] + " […]"


def _name(text: str) -> str:
    return _short(text, LONGEST_NAME)


def _entry(block: Block) -> dict[str, Any]:
    entry = block.entry
    assert entry is not None  # `tail` gives entries alone
    found: dict[str, Any] = {
        "id": _key(block),
        "at": entry.at,
        "agent_id": _name(entry.agent_id),
        "agent_name": _name(entry.agent_name),
        "summary": _short(entry.summary),
        "details": _short(entry.details),
        "todos": [
            {"for": _name(todo.target), "text": _short(todo.text, LONGEST_TODO)} for todo in entry.todos[:MOST_TODOS]
        ],
    }
    left_out = len(entry.todos) - MOST_TODOS
    return found | ({"more_todos": left_out} if left_out > 0 else {})


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
