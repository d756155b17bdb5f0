"""The board at a glance, for whoever only looks: the journal's end, the inbox and the files of a clone."""

from collections.abc import Container
from typing import Final

from cohabit.workspace.answers import Answer
from cohabit.workspace.clone import refs
from cohabit.workspace.formats.inbox import Inbox
from cohabit.workspace.formats.item import Item
from cohabit.workspace.formats.journal import Block, Journal
from cohabit.workspace.formats.paths import INBOX, JOURNAL
from cohabit.workspace.limits import JOURNAL_TAIL, MOST_ENTRIES
from cohabit.workspace.workspace import Workspace

FOLDERS: Final = ("drafts", "research", "comments", "decisions", "assets")
"""In the order in which a reader wants them."""
MOST_OPEN, MOST_CLOSED = 100, 30
LONGEST: Final = 2_000
"""Characters of a body or of details; the file has all of it."""
LATEST: Final = 5
LONGEST_LINE: Final = 300


def overview(ws: Workspace) -> Answer:
    """Everything a page of the board needs."""
    journal, inbox = _journal(ws), _inbox(ws)
    opened = [item for item in inbox if item.open]
    closed = [item for item in inbox if item.closings]
    tail = journal.tail(JOURNAL_TAIL)
    folders, truncated = _folders(ws)
    return {
        "name": ws.name,
        "head": refs.head(ws) or "",
        "journal": [_entry(block) for block in reversed(tail)],
        "entries": len(journal.entries),
        "open": [_item(item) for item in opened[:MOST_OPEN]],
        "open_count": len(opened),
        "closed": [_item(item) for item in reversed(closed[-MOST_CLOSED:])],
        "closed_count": len(closed),
        "folders": folders,
        "truncated": truncated,
    }


def glance(ws: Workspace, here: Container[str]) -> Answer:
    """How much there is, and the newest of the journal and the inbox; ``here`` has the agents that work in the room."""

    def line(key: str, by: str, words: str) -> Answer:
        flat = " ".join(_plain(words).split())[:LONGEST_LINE]
        return {"key": key, "by": _plain(by), "summary": flat, "here": by in here}

    journal, inbox = _journal(ws), _inbox(ws)
    entries = [(block.key, block.entry) for block in journal.tail(LATEST)]
    opened, closed = ([item for item in inbox if item.open], [(item, item.closing) for item in inbox if item.closing])
    return {
        "head": refs.head(ws) or "",
        "open": len(opened),
        "entries": len(journal.entries),
        "latest": [line(key, entry.agent_id, entry.summary) for key, entry in entries if entry is not None],
        "inbox": [
            *(
                line(item.key, item.added_by, f"{item.id} for @{item.target or 'anyone'}: {item.title}")
                for item in opened[-LATEST:]
            ),
            *(
                line(f"{item.key} closed", closing.by, f"closed {item.id}: {closing.resolution}")
                for item, closing in closed[-LATEST:]
            ),
        ],
    }


def _journal(ws: Workspace) -> Journal:
    return Journal.parse(ws.tree.text(JOURNAL) or "")


def _inbox(ws: Workspace) -> list[Item]:
    return [item for item in Inbox.parse(ws.tree.text(INBOX) or "").items if item.id]


def _entry(block: Block) -> Answer:
    entry = block.entry
    assert entry is not None  # the tail has entries only
    return {
        "at": entry.at,
        "agent_id": _plain(entry.agent_id),
        "agent_name": _plain(entry.agent_name),
        "summary": _cut(entry.summary),
        "details": _cut(entry.details),
        "todos": [{"for": _plain(todo.target), "text": _cut(todo.text)} for todo in entry.todos],
    }


def _item(item: Item) -> Answer:
    shown = {
        "id": item.id,
        "target": _plain(item.target),
        "title": _cut(item.title),
        "body": _cut(item.body),
        "added_at": item.added_at,
        "added_by": _plain(item.added_by),
        "claimed_by": _plain(item.claimed_by),
    }
    if item.closing is None:
        return shown
    return {
        **shown,
        "closed_at": item.closing.at,
        "closed_by": _plain(item.closing.by),
        "resolution": _cut(item.closing.resolution),
    }


def _folders(ws: Workspace) -> tuple[list[Answer], bool]:
    """The files of the last commit by folder; the protocol's own ones are not listed."""
    if refs.head(ws) is None:
        return [], False
    found: dict[str, list[Answer]] = {}
    count = 0
    for field in ws.git.run("ls-tree", "-r", "-l", "-z", "--full-tree", "HEAD").fields:
        about, _, path = field.partition("\t")
        mode, _, _, size = about.split()
        top, slash, _ = path.partition("/")
        if not mode.startswith("100") or top.startswith(".") or path.endswith(".gitkeep"):
            continue
        if path in (JOURNAL, INBOX):
            continue
        count += 1
        if count <= MOST_ENTRIES:
            found.setdefault(top if slash else "", []).append({"path": _plain(path), "size": int(size)})
    order = [*FOLDERS, *sorted(set(found) - {*FOLDERS, ""}), ""]
    return [{"name": _plain(name), "files": found[name]} for name in order if name in found], count > MOST_ENTRIES


def _cut(text: str) -> str:
    text = _plain(text)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _plain(text: str) -> str:
    """Bytes that are no UTF-8 shown as such: every answer can be written as JSON."""
    return text.encode(errors="surrogateescape").decode(errors="replace")
